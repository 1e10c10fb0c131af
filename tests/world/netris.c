#include "tests/world/netris.h"

#include <string.h>

#include "base/str.h"

static void on_move(const struct sim_netris_move *m, void *arg)
{
	struct world_netris *n = arg;

	for (unsigned i = 0; i < n->w->nboxes; i++) {
		struct server *b = &n->w->servers[i];

		char *at = str_eq(m->nic, "eth1")   ? b->segment
			   : str_eq(m->nic, "ib1")  ? b->infiniband
			   : str_eq(m->nic, "nvl1") ? b->nvlink
						    : NULL;

		if (!str_eq(b->name, m->server) || !at)
			continue;
		if (m->cluster && str_starts(m->cluster, "drover-"))
			str_format(at, sizeof(b->segment), "tenant/%s",
				   m->cluster + strlen("drover-"));
		else
			str_copy(at, sizeof(b->segment), str_or(m->cluster, ""));
	}
}

void world_netris_fabrics(struct sim_world *w)
{
	world_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:{s:s}}}}", "spec", "network", "netris", "template",
			   "gpu-fabrics"));
}

void world_netris_start(struct world_netris *n, struct sim_world *w, int64_t latency_ms, bool loose)
{
	struct sim_netris_spec s = {.servers = w->nboxes,
				    .user = "drover",
				    .password = WORLD_PASSWORD,
				    .latency_ms = latency_ms,
				    .plan_ms = 300,
				    .beat_ms = 2000,
				    .loose = loose,
				    .begin_in = "quarantine",
				    .on_move = on_move,
				    .arg = n};

	*n = (struct world_netris){.w = w};
	n->group = loop_group_new(w->loop, "netris");
	s.group = n->group;
	n->sim = sim_netris_new(&s);
	n->httpd = httpd_new(n->group);
	sim_netris_routes(n->sim, n->httpd);
	http_mem_serve(w->net, WORLD_NETRIS, n->httpd);
	world_do(w, &w->host, "POST", "/api/v1/namespaces/drover-system/secrets",
		 json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s}}", "apiVersion", "v1",
			   "kind", "Secret", "metadata", "name", "netris", "namespace",
			   "drover-system", "stringData", "username", "drover", "password",
			   WORLD_PASSWORD, "endpoint", WORLD_NETRIS));
	world_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:s, s:n, s:{s:s, s:{s:s}, s:s, s:s, s:[s]}}}}", "spec",
			   "network", "type", "netris", "exec", "netris", "endpoint", WORLD_NETRIS,
			   "credentialsSecretRef", "name", "netris", "site", "hall", "template",
			   "gpu-tenant", "hostServers", "host-1"));
}

void world_netris_stop(struct world_netris *n)
{
	http_mem_serve(n->w->net, WORLD_NETRIS, NULL);
	httpd_free(n->httpd);
	sim_netris_free(n->sim);
	loop_group_free(n->group);
	world_stop(n->w);
}
