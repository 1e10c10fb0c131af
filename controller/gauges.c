/* gauges: what /metrics says of now, read from the caches when it is asked; what happened is counted in core/counters.c. */
#include "controller/gauges.h"

#include <stdlib.h>

#include "api/machine_states.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/host_clock.h"
#include "controller/rules/machine.h"
#include "controller/tenant/tenant.h"

#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct count {
	double n;
};

struct gauges {
	const struct context *c;
	const struct tenants *tenants_of;
	struct metric *machines, *quarantined, *warm, *tenants, *asleep, *leading, *turn, *ahead;
	struct map *reasons; /* of quarantine, that were ever shown -> struct count */
	struct map *pools;   /* with warm machines, that were ever shown -> struct count */
};

static void add(struct map *counts, const char *what)
{
	struct count *c = map_get(counts, what);

	if (!c) {
		c = mem_new(struct count);
		map_put(counts, what, c);
	}
	c->n++;
}

static void reset(struct map *counts)
{
	struct map_iter it;

	map_for_each (it, counts)
		((struct count *)it.value)->n = 0;
}

static void show(struct metric *gauge, const struct map *counts)
{
	struct map_iter it;

	map_for_each (it, counts)
		metric_set(gauge, LABELS(it.key), ((struct count *)it.value)->n);
}

struct machine_tally {
	struct gauges *f;
	unsigned n[MACHINE_STATES];
};

static bool count_machine(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	struct machine_tally *y = arg;
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));

	if (s == MACHINE_STATE_NONE)
		return true;
	y->n[s]++;
	if (s == MACHINE_QUARANTINED)
		add(y->f->reasons,
		    str_or(m->status.quarantine ? m->status.quarantine->reason : NULL, "Unknown"));
	if (warm_is_ready(m))
		add(y->f->pools, m->status.warm_for->name);
	return true;
}

static void read_machines(struct gauges *f)
{
	struct machine_tally y = {.f = f};

	reset(f->reasons);
	reset(f->pools);
	kube_cache_each(f->c->cache[OBJECT_MACHINE], count_machine, &y);
	for (int i = 0; i < MACHINE_STATES; i++)
		metric_set(f->machines, LABELS(machine_state_info[i].name), y.n[i]);
	show(f->quarantined, f->reasons);
	show(f->warm, f->pools);
}

static bool count_asleep(const struct kube_entry *en, void *arg)
{
	const struct virtual_cluster *vc = en->object;

	*(double *)arg += vc->status.asleep_since != 0;
	return true;
}

void gauges_read(struct gauges *f)
{
	double usable = 0, asleep = 0;
	struct map_iter it;

	read_machines(f);
	map_for_each (it, f->tenants_of->map)
		usable += tenant_usable(it.value);
	metric_set(f->tenants, NULL, usable);
	kube_cache_each(f->c->cache[OBJECT_VIRTUAL_CLUSTER], count_asleep, &asleep);
	metric_set(f->asleep, NULL, asleep);
	metric_set(f->leading, NULL, f->c->leading);
	metric_set(f->ahead, NULL, (double)host_clock_ahead(f->c) / 1000);
	metric_set(f->turn, NULL, (double)loop_stats(f->c->loop).longest_ms);
}

struct gauges *gauges_new(const struct context *c, const struct tenants *tenants)
{
	struct gauges *f = mem_new(struct gauges);
	struct metrics *m = c->metrics;

	f->c = c;
	f->tenants_of = tenants;
	f->reasons = map_new(free);
	f->pools = map_new(free);
	f->machines = metrics_gauge(m, "drover_machines", "Machines by state.", LABELS("state"));
	f->quarantined = metrics_gauge(m, "drover_machines_quarantined",
				       "Machines in quarantine by reason.", LABELS("reason"));
	f->warm = metrics_gauge(m, "drover_machines_warm",
				"Free machines that a pool keeps on with their agent there.",
				LABELS("pool"));
	f->tenants = metrics_gauge(m, "drover_tenants_usable", "Tenants whose API answers.", NULL);
	f->asleep = metrics_gauge(m, "drover_tenants_asleep",
				  "Tenants whose control plane is paused or scaled to 0.", NULL);
	f->leading = metrics_gauge(m, "drover_leading", "1 while this replica leads.", NULL);
	f->turn = metrics_gauge(m, "drover_loop_longest_turn_ms", "Longest turn of the event loop.",
				NULL);
	f->ahead = metrics_gauge(
		m, "drover_clock_ahead_seconds",
		"By how much this replica's clock is ahead of that of the host's API server.",
		NULL);
	return f;
}

void gauges_free(struct gauges *f)
{
	if (!f)
		return;
	map_free(f->reasons);
	map_free(f->pools);
	free(f);
}
