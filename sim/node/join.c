/*
 * node_join: which CA the node accepts for the API server, by kubeadm's token discovery. The node
 * reads the ConfigMap cluster-info from a server that is not verified, without sending any secret.
 * It accepts the CA in the ConfigMap if that CA has the hash on the config drive.
 * Tests: tests/unit/sim/node/test_node.c
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "base/data/yaml.h"
#include "sim/node/node_impl.h"

#define CLUSTER_INFO "/api/v1/namespaces/kube-public/configmaps/cluster-info"

static bool is_ours(const struct sim_node *n, const char *pem)
{
	uint8_t d[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];
	struct err e;

	return crypto_cert_spki_sha256(pem, d, &e) == 0 &&
	       str_eq(crypto_digest_text(d, text), n->ca_hash);
}

int node_connect(struct sim_node *n, struct err *e)
{
	struct http_peer_spec s = {.base_url = n->origin,
				   .ca_pem = n->ca,
				   .client_cert_pem = n->cert,
				   .client_key_pem = n->cert ? n->key : NULL,
				   .user_agent = "sim-kubelet"};
	struct http_peer *p = http_peer_new(n->machine->site->http, &s, e);

	if (!p)
		return -1;
	http_peer_free(n->peer);
	n->peer = p;
	return 0;
}

static void believe(struct sim_node *n, const char *ca_pem)
{
	struct err e;

	free(n->ca);
	n->ca = mem_strdup(ca_pem);
	if (node_connect(n, &e) < 0)
		sim_machine_say(n->machine, "kubelet: %s", e.text);
}

/* Returns the CA of the kubeconfig in a ConfigMap, malloc'd; NULL: no kubeconfig, or no CA in the
 * kubeconfig. */
static char *ca_in(const json_t *config_map)
{
	const char *text = json_str_at(config_map, "data", "kubeconfig"), *data;
	struct err e;
	OWN_JSON conf = text ? yaml_parse(text, strlen(text), &e) : NULL;
	size_t n;

	data = json_str_at(json_array_get(json_at(conf, "clusters"), 0), "cluster",
			   "certificate-authority-data");
	return data ? crypto_base64_decode(data, strlen(data), &n, &e) : NULL;
}

static void on_info(const struct http_reply *r, const struct err *e, void *arg)
{
	struct sim_node *n = arg;
	struct err bad;
	OWN_JSON map = r && r->status == 200 ? json_parse(r->body, r->body_len, &bad) : NULL;
	char *ca = map ? ca_in(map) : NULL;

	if (ca && is_ours(n, ca))
		believe(n, ca);
	else if (e)
		sim_machine_say(n->machine, "join: cluster-info: %s", e->text);
	else
		sim_machine_say(n->machine, "join: cluster-info of %s: %s", n->origin,
				ca ? "its CA does not have the hash CA_CERT_HASH" : "not found");
	free(ca);
	n->discovery = NULL;
	n->discovered(n);
}

void node_find_cluster(struct sim_node *n, void (*done)(struct sim_node *n))
{
	const struct sim_site *site = n->machine->site;
	struct http_peer_spec s = {
		.base_url = n->origin, .learn_pin = true, .user_agent = "sim-kubelet"};
	struct http_call c = {.path = CLUSTER_INFO, .done = on_info, .arg = n};
	struct err e;

	for (size_t i = 0; site->cluster_cas && site->cluster_cas[i]; i++)
		if (is_ours(n, site->cluster_cas[i])) {
			believe(n, site->cluster_cas[i]);
			done(n);
			return;
		}
	http_peer_free(n->stranger);
	n->stranger = http_peer_new(site->http, &s, &e);
	if (!n->stranger) {
		sim_machine_say(n->machine, "join: %s", e.text);
		done(n);
		return;
	}
	n->discovered = done;
	n->discovery = http_start(n->stranger, &c);
}

char *sim_cluster_info(const char *server, const char *ca_pem)
{
	char *ca = crypto_base64(ca_pem, strlen(ca_pem));
	char *conf = mem_printf("apiVersion: v1\nkind: Config\nclusters:\n- name: \"\"\n"
				"  cluster:\n    server: \"%s\"\n"
				"    certificate-authority-data: %s\n",
				server, ca);
	OWN_JSON map = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s}}", "apiVersion", "v1", "kind",
				 "ConfigMap", "metadata", "name", "cluster-info", "namespace",
				 "kube-public", "data", "kubeconfig", conf);
	char *text = json_text(map);

	free(conf);
	free(ca);
	return text;
}
