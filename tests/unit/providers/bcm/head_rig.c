#include "tests/unit/providers/bcm/head_rig.h"

#include <stdlib.h>
#include "base/crypto.h"
#include "tests/unit/testing.h"

#define WALL 1764000000000

void head_rig_start(struct head_rig *r)
{
	struct secret *password = secret_from_str("correct horse"), *key = NULL;
	struct sim_head_spec hs = {.user = "drover", .password = password, .cert_cn = "drover"};
	struct bcm_spec bs = {.endpoint = HEAD};
	char *cert = NULL;
	struct err e;

	*r = (struct head_rig){.loop = loop_sim_new(7, WALL)};
	r->server = loop_group_new(r->loop, "head");
	r->group = loop_group_new(r->loop, "drover");
	r->net = http_mem_net_new(r->loop);
	r->httpd = httpd_new(r->server);
	r->head = sim_head_new(r->server, &hs);
	sim_head_routes(r->head, r->httpd);
	r->node = sim_head_add(r->head, "n1", "b8:ce:f6:00:00:01", "10.0.8.17", NULL, NULL);
	http_mem_serve(r->net, HEAD, r->httpd);
	r->http = http_new(r->group,
			   http_mem_transport(r->net, r->group, "10.0.0.1", "drover", NULL), 0);
	assert_ok(crypto_ca_new("drover", WALL, 30, &cert, &key, &e), &e);
	bs.cert_pem = cert;
	bs.key_pem = key;
	r->bcm = bcm_new(r->group, r->http, &bs, &e);
	assert_non_null(r->bcm);
	secret_free(password);
	secret_free(key);
	free(cert);
}

void head_rig_end(struct head_rig *r)
{
	bcm_free(r->bcm);
	http_free(r->http);
	httpd_free(r->httpd);
	sim_head_free(r->head);
	http_mem_net_free(r->net);
	loop_group_free(r->group);
	loop_group_free(r->server);
	loop_free(r->loop);
}

void head_rig_fault(struct head_rig *r, const char *json)
{
	struct err e;

	assert_ok(sim_head_fault(r->head, json, &e), &e);
}

static bool is_set(void *arg)
{
	return *(const unsigned *)arg > 0;
}

void head_rig_wait(struct head_rig *r, const unsigned *flag, int64_t limit_ms)
{
	loop_sim_run_cond(r->loop, is_set, (void *)flag, loop_now(r->loop) + limit_ms);
}
