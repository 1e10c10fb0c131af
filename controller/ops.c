/*
 * ops: /healthz, /readyz and /metrics.
 */
#include "base/buf.h"
#include "base/str.h"
#include "controller/controller.h"
#include "controller/life.h"
#include "controller/tenant.h"

#define METRICS_MAX (4u << 20)

static void on_healthz(struct httpd_req *q, void *arg)
{
	(void)arg;
	httpd_reply(q, 200, "text/plain", "ok\n", 3);
}

static void on_readyz(struct httpd_req *q, void *arg)
{
	if (controller_ready(arg))
		httpd_reply(q, 200, "text/plain", "ok\n", 3);
	else
		httpd_reply(q, 503, "text/plain", "caches or keys are missing\n", 27);
}

static void gauges(struct controller *c)
{
	static const char *const by_state[] = {"state", NULL};
	struct metric *machines = metrics_gauge(c->metrics, "drover_machines", "Machines by state.", by_state);
	struct metric *tenants = metrics_gauge(c->metrics, "drover_tenants_usable", "Tenants whose API answers.", NULL);
	struct metric *leading = metrics_gauge(c->metrics, "drover_leading", "1 while this replica leads.", NULL);
	struct metric *turn = metrics_gauge(c->metrics, "drover_loop_longest_turn_ms", "Longest turn of the event loop.", NULL);
	unsigned n[MACHINE_STATES] = {0};
	double usable = 0;
	struct map_iter it;

	map_for_each(it, c->lives) {
		const struct machine *m = CONTROLLER_GET(c, OBJECT_MACHINE, machine, it.key);
		enum machine_state s = m ? machine_state_find(str_or(m->status.state, "known")) : MACHINE_STATE_NONE;

		if (s != MACHINE_STATE_NONE)
			n[s]++;
	}
	for (int i = 0; i < MACHINE_STATES; i++)
		metric_set(machines, (const char *const[]){machine_state_info[i].name}, n[i]);
	map_for_each(it, c->tenants)
		usable += tenant_usable(it.value);
	metric_set(tenants, NULL, usable);
	metric_set(leading, NULL, c->leading);
	metric_set(turn, NULL, (double)loop_stats(c->loop).longest_ms);
}

static void on_metrics(struct httpd_req *q, void *arg)
{
	struct controller *c = arg;
	struct buf b;

	gauges(c);
	buf_init(&b, METRICS_MAX);
	metrics_write(c->metrics, &b);
	httpd_reply(q, 200, "text/plain; version=0.0.4", b.data, b.len);
	buf_done(&b);
}

void controller_ops_routes(struct controller *c, struct httpd *d)
{
	httpd_route(d, "GET", "/healthz", 0, on_healthz, c);
	httpd_route(d, "GET", "/readyz", 0, on_readyz, c);
	httpd_route(d, "GET", "/metrics", 0, on_metrics, c);
}
