#include "tests/contract/fake_netris.h"
#include "tests/contract/unsaid.h"

#include "base/str.h"

static void on_move(const struct sim_netris_move *m, void *arg)
{
	struct fake_netris *f = arg;

	(void)m;
	f->moves++;
}

static enum http_mem_fault_kind fate(const char *origin, const char *method, const char *target,
				     void *arg)
{
	struct fake_netris *f = arg;
	enum http_mem_fault_kind is = f->fate;

	(void)origin;
	f->looks += str_eq(target, "/api/v2/vnet");
	f->balancer_lists += str_eq(method, "GET") && str_eq(target, "/api/v2/l4lb");
	if (str_eq(method, "GET") || str_eq(target, "/api/auth"))
		return HTTP_MEM_WELL;
	f->fate = HTTP_MEM_WELL;
	return is;
}

void fake_netris_init(struct fake_netris *f, struct loop *l, struct loop_group *client,
		      unsigned servers, int64_t latency_ms, bool loose)
{
	struct sim_netris_spec s = {.servers = servers,
				    .user = "drover",
				    .password = FAKE_NETRIS_PASSWORD,
				    .latency_ms = latency_ms,
				    .plan_ms = 300,
				    .loose = loose,
				    .on_move = on_move,
				    .arg = f};
	static const char *const hosts[] = {"host-1", NULL};

	*f = (struct fake_netris){.loop = l};
	f->group = loop_group_new(l, "netris");
	s.group = f->group;
	f->sim = sim_netris_new(&s);
	f->httpd = httpd_new(f->group);
	sim_netris_routes(f->sim, f->httpd);
	f->net = http_mem_net_new(l);
	http_mem_serve(f->net, FAKE_NETRIS, f->httpd);
	http_mem_fault(f->net, fate, f);
	f->http = http_new(client, http_mem_transport(f->net, client, "10.0.0.1", NULL, NULL), 0);
	f->password = secret_from_str(FAKE_NETRIS_PASSWORD);
	unsaid_begin("drover", FAKE_NETRIS_PASSWORD);
	f->config = (struct fabric_netris){.http = f->http,
					   .url = FAKE_NETRIS,
					   .user = "drover",
					   .password = f->password,
					   .site = "hall",
					   .template_ = "gpu-tenant",
					   .admin = "Admin",
					   .prefix = "drover",
					   .host_servers = hosts};
}

void fake_netris_done(struct fake_netris *f)
{
	unsaid_end();
	http_free(f->http);
	httpd_free(f->httpd);
	http_mem_net_free(f->net);
	sim_netris_free(f->sim);
	secret_free(f->password);
	loop_group_free(f->group);
}
