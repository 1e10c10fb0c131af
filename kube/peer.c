/* peer: the connections of a client to its API server, which a new kubeconfig replaces (call.h).
 * Tests: tests/unit/kube/test_client.c */
#include "kube/call.h"

#include <stdlib.h>
#include "base/mem.h"

struct kube_peer *kube_peer_new(struct kube_client *c, const struct kube_config *k, struct err *e)
{
	char *agent = mem_printf("drover/" DROVER_VERSION " (%s)", c->name);
	struct http_peer *http = http_peer_new(c->http,
					       &(struct http_peer_spec){
						       .base_url = k->server,
						       .ca_pem = k->ca_pem,
						       .server_name = k->tls_server_name,
						       .client_cert_pem = k->client_cert_pem,
						       .client_key_pem = k->client_key_pem,
						       .pem_read = k->pem_read,
						       .plain_ok = c->plain_ok,
						       .local_ok = k->local_ok,
						       .may_reach = c->may_reach,
						       .may_reach_arg = c->may_reach_arg,
						       .user_agent = agent,
					       },
					       e);
	struct kube_peer *p = NULL;

	free(agent);
	if (!http)
		return NULL;
	p = mem_new(struct kube_peer);
	p->http = http;
	list_push_back(&c->peers, &p->link);
	return p;
}

void kube_peer_free(struct kube_peer *p)
{
	list_remove(&p->link);
	http_peer_free(p->http);
	free(p);
}

void kube_peer_release(struct kube_client *c, struct kube_peer *p)
{
	if (--p->calls == 0 && p != c->peer)
		kube_peer_free(p);
}
