#include "controller/gauges_use.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/gauge_counts.h"
#include "controller/gauges_gpus.h"
#include "controller/tenant/tenant.h"

struct gauges_use {
	const struct context *c;
	struct gauges_gpus *gpus;
	struct metric *oldest, *unreachable, *stopped, *waiting, *longest;
	/* Reason -> number of unreachable BMCs */
	struct map *reasons;
	/* "KIND/reason" -> number of tripped circuit breakers. KIND is NodePool or Provider. A
	 * tripped circuit breaker pauses new claims there. */
	struct map *lines;
	/* pods: tenant -> number of waiting pods. pod_wait: tenant -> seconds that the tenant's
	 * longest waiting pod has waited. */
	struct map *pods, *pod_wait;
	/* Wall ms at which the count in progress began */
	int64_t now;
	/* By state: longest time in s that a Machine has been in the state, in this count */
	double oldest_s[MACHINE_STATES];
};

/* --- machines --------------------------------------------------------------------------------- */

void gauges_use_machine(struct gauges_use *u, const struct machine *m)
{
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));
	const struct condition *reachable = condition_get(&m->status.conditions, "Reachable");
	double age = (double)(u->now - m->status.state_since) / 1000;

	gauges_gpus_machine(u->gpus, m);
	if (s == MACHINE_STATE_NONE)
		return;
	if (m->status.state_since && age > u->oldest_s[s])
		u->oldest_s[s] = age;
	if (reachable && reachable->status == CONDITION_FALSE)
		gauge_counts_add(u->reasons, str_or(reachable->reason, "Unknown"), 1);
}

/* --- circuit breakers ------------------------------------------------------------------------- */

static void tally_line(struct gauges_use *u, const char *kind, const struct conditions *cs)
{
	const struct condition *line = condition_get(cs, BREAKER_CONDITION);
	char key[192];

	if (!line || line->status != CONDITION_TRUE)
		return;
	str_format(key, sizeof(key), "%s/%s", kind, str_or(line->reason, "Unknown"));
	gauge_counts_add(u->lines, key, 1);
}

static bool tally_pool(const struct kube_entry *en, void *arg)
{
	tally_line(arg, "NodePool", &((const struct node_pool *)en->object)->status.conditions);
	return true;
}

static bool tally_provider(const struct kube_entry *en, void *arg)
{
	tally_line(arg, "Provider",
		   &((const struct provider_object *)en->object)->status.conditions);
	return true;
}

static void read_lines(struct gauges_use *u)
{
	gauge_counts_reset(u->lines);
	kube_cache_each(u->c->cache[OBJECT_NODE_POOL], tally_pool, u);
	kube_cache_each(u->c->cache[OBJECT_PROVIDER], tally_provider, u);
	gauge_counts_show_pairs(u->stopped, u->lines);
}

/* --- tenants ---------------------------------------------------------------------------------- */

struct tenant_waits {
	int64_t now;
	double pods, longest;
};

static bool tally_pod(const struct kube_entry *en, void *arg)
{
	const struct world_pod *p = en->object;
	struct tenant_waits *y = arg;
	double waits;

	if (!p->node && p->unschedulable && !p->daemon && !p->terminating) {
		y->pods++;
		waits = (double)(y->now - p->since) / 1000;
		if (p->since && waits > y->longest)
			y->longest = waits;
	}
	return true;
}

void gauges_use_tenant(struct gauges_use *u, const struct tenant *t)
{
	struct tenant_waits y = {.now = u->now};

	if (t->pods)
		kube_cache_each(t->pods, tally_pod, &y);
	gauge_counts_add(u->pods, t->name, y.pods);
	gauge_counts_add(u->pod_wait, t->name, y.longest);
	gauges_gpus_tenant(u->gpus, t);
}

/* --- counts ----------------------------------------------------------------------------------- */

void gauges_use_begin(struct gauges_use *u)
{
	u->now = loop_wall(u->c->loop);
	memset(u->oldest_s, 0, sizeof(u->oldest_s));
	gauge_counts_reset(u->reasons);
	gauge_counts_reset(u->pods);
	gauge_counts_reset(u->pod_wait);
	gauges_gpus_begin(u->gpus);
}

void gauges_use_show(struct gauges_use *u)
{
	for (int i = 0; i < MACHINE_STATES; i++)
		metric_set(u->oldest, LABELS(machine_state_info[i].name), u->oldest_s[i]);
	gauge_counts_show(u->unreachable, u->reasons);
	read_lines(u);
	gauge_counts_show(u->waiting, u->pods);
	gauge_counts_show(u->longest, u->pod_wait);
	gauges_gpus_show(u->gpus);
}

struct gauges_use *gauges_use_new(const struct context *c, const struct tenants *tenants)
{
	struct gauges_use *u = mem_new(struct gauges_use);
	struct metrics *m = c->metrics;

	u->c = c;
	u->reasons = gauge_counts_new();
	u->lines = gauge_counts_new();
	u->pods = gauge_counts_new();
	u->pod_wait = gauge_counts_new();
	u->gpus = gauges_gpus_new(c, tenants);
	u->oldest = gauge_of_fleet(m, "drover_machine_oldest_seconds",
				   "Longest time that a machine has been in its state, by state.",
				   LABELS("state"));
	u->unreachable = gauge_of_fleet(m, "drover_machines_unreachable",
					"Machines whose BMC or manager does not answer, by reason.",
					LABELS("reason"));
	u->stopped = gauge_of_fleet(
		m, "drover_lines_stopped",
		"NodePools and Providers whose new claims are paused because claims fail there.",
		LABELS("kind", "reason"));
	u->waiting = gauge_of_fleet(m, "drover_pods_waiting",
				    "Pods marked unschedulable, by tenant.", LABELS("tenant"));
	u->longest = gauge_of_fleet(m, "drover_pod_longest_wait_seconds",
				    "Time since the longest waiting pod was marked unschedulable.",
				    LABELS("tenant"));
	return u;
}

void gauges_use_free(struct gauges_use *u)
{
	if (!u)
		return;
	map_free(u->reasons);
	map_free(u->lines);
	gauges_gpus_free(u->gpus);
	map_free(u->pods);
	map_free(u->pod_wait);
	free(u);
}
