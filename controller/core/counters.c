#include <stdlib.h>
#include <string.h>

#include "controller/core/counters.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/rules/machine.h"
#include "controller/tenant/tenant.h"

struct counters {
	struct controller *c;
	struct metric *state_seconds, *act_failures, *claims_created, *claims_failed, *claims_warm,
		*wipes;
	struct metric *machines, *quarantined, *warm, *tenants, *asleep, *leading, *turn;
	struct map *since; /* machine that was taken back -> struct began */
	int64_t recycle_ms;
	struct map *reasons; /* of quarantine, that were ever shown -> struct count */
	struct map *pools;   /* with warm machines, that were ever shown -> struct count */
};

struct count {
	double n;
};
struct began {
	int64_t at; /* wall ms */
};

#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const double seconds[] = {1,   2,   5,	 10,   20,   30,   60,	 120,
				 300, 600, 1200, 1800, 3600, 7200, 21600};

/* From draining, or from stopping where nothing was drained, to free. */
static void recycle(struct counters *f, const struct machine *was, const struct machine *is)
{
	struct began *b = map_get(f->since, is->meta.name);
	enum machine_state from = machine_state_find(was->status.state),
			   to = machine_state_find(str_or(is->status.state, ""));
	int64_t ms;

	if (from == MACHINE_SERVING && (to == MACHINE_DRAINING || to == MACHINE_STOPPING)) {
		b = mem_new(struct began);
		b->at = is->status.state_since;
		map_put(f->since, is->meta.name, b);
	} else if (b && (to == MACHINE_SERVING || to == MACHINE_QUARANTINED)) {
		map_del(f->since, is->meta.name);
	} else if (b && to == MACHINE_FREE) {
		ms = is->status.state_since - b->at;
		f->recycle_ms = f->recycle_ms ? (3 * f->recycle_ms + ms) / 4 : ms;
		map_del(f->since, is->meta.name);
	}
}

int64_t counters_recycle_ms(const struct counters *f)
{
	return f ? f->recycle_ms : 0;
}

void counters_machine(struct counters *f, const struct machine *was, const struct machine *is)
{
	int64_t ms;

	if (!f || !was || !is || !f->c->leading || !was->status.state ||
	    str_eq(was->status.state, is->status.state) ||
	    machine_state_find(was->status.state) == MACHINE_STATE_NONE)
		return;
	recycle(f, was, is);
	ms = is->status.state_since - was->status.state_since;
	if (was->status.state_since && ms >= 0)
		metric_observe(f->state_seconds, LABELS(was->status.state), (double)ms / 1000);
}

void counters_act_failed(struct counters *f, const char *act, const char *reason)
{
	/* Segments have names of tenants in them. */
	if (f)
		metric_add(f->act_failures,
			   LABELS(str_starts(act, "place ") ? "place" : act, reason), 1);
}

void counters_claim_created(struct counters *f, const char *pool)
{
	if (f)
		metric_add(f->claims_created, LABELS(str_or(pool, "")), 1);
}

void counters_claim_failed(struct counters *f, const char *pool, const char *reason)
{
	if (f)
		metric_add(f->claims_failed, LABELS(str_or(pool, ""), reason), 1);
}

void counters_claimed_warm(struct counters *f, bool answered)
{
	if (f)
		metric_add(f->claims_warm, LABELS(answered ? "answered" : "booted"), 1);
}

void counters_wipe(struct counters *f, const char *verdict)
{
	if (f)
		metric_add(f->wipes, LABELS(str_or(verdict, "Fail")), 1);
}

static void add(struct map *counts, const char *what)
{
	struct count *c = map_get(counts, what);

	if (!c) {
		c = mem_new(struct count);
		map_put(counts, what, c);
	}
	c->n++;
}

static void clear(struct map *counts)
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

static void read_machines(struct counters *f)
{
	unsigned n[MACHINE_STATES] = {0};
	struct map_iter it;

	clear(f->reasons);
	clear(f->pools);
	map_for_each (it, f->c->lives) {
		const struct machine *m = CONTROLLER_GET(f->c, OBJECT_MACHINE, machine, it.key);
		enum machine_state s = m ? machine_state_find(str_or(m->status.state, "known"))
					 : MACHINE_STATE_NONE;
		const char *why = m && m->status.quarantine
					  ? str_or(m->status.quarantine->reason, "Unknown")
					  : "Unknown";

		if (s == MACHINE_STATE_NONE)
			continue;
		n[s]++;
		if (s == MACHINE_QUARANTINED)
			add(f->reasons, why);
		if (warm_is_ready(m))
			add(f->pools, m->status.warm_for->name);
	}
	for (int i = 0; i < MACHINE_STATES; i++)
		metric_set(f->machines, LABELS(machine_state_info[i].name), n[i]);
	show(f->quarantined, f->reasons);
	show(f->warm, f->pools);
}

static bool count_asleep(const struct kube_entry *en, void *arg)
{
	const struct virtual_cluster *vc = en->object;

	*(double *)arg += vc->status.asleep_since != 0;
	return true;
}

void counters_read(struct counters *f)
{
	double usable = 0, asleep = 0;
	struct map_iter it;

	read_machines(f);
	map_for_each (it, f->c->tenants)
		usable += tenant_usable(it.value);
	metric_set(f->tenants, NULL, usable);
	kube_cache_each(f->c->cache[OBJECT_VIRTUAL_CLUSTER], count_asleep, &asleep);
	metric_set(f->asleep, NULL, asleep);
	metric_set(f->leading, NULL, f->c->leading);
	metric_set(f->turn, NULL, (double)loop_stats(f->c->loop).longest_ms);
}

struct counters *counters_new(struct controller *c)
{
	struct counters *f = mem_new(struct counters);
	struct metrics *m = c->metrics;

	f->c = c;
	f->reasons = map_new(free);
	f->pools = map_new(free);
	f->since = map_new(free);
	f->machines = metrics_gauge(m, "drover_machines", "Machines by state.", LABELS("state"));
	f->quarantined = metrics_gauge(m, "drover_machines_quarantined",
				       "Machines in quarantine by reason.", LABELS("reason"));
	f->warm = metrics_gauge(m, "drover_machines_warm",
				"Free machines that a pool keeps on with their agent there.",
				LABELS("pool"));
	f->state_seconds =
		metrics_histogram(m, "drover_machine_state_seconds",
				  "How long machines were in a state, when they left it.",
				  LABELS("state"), seconds, sizeof(seconds) / sizeof(seconds[0]));
	f->act_failures = metrics_counter(m, "drover_act_failures_total",
					  "Acts on BMC, fabric or agent that failed.",
					  LABELS("act", "reason"));
	f->claims_created = metrics_counter(m, "drover_claims_created_total", "NodeClaims created.",
					    LABELS("pool"));
	f->claims_failed = metrics_counter(m, "drover_claims_failed_total",
					   "NodeClaims that failed.", LABELS("pool", "reason"));
	f->claims_warm =
		metrics_counter(m, "drover_claims_warm_total",
				"Claims of warm machines, by whether the agent answered or was "
				"booted after all.",
				LABELS("agent"));
	f->wipes = metrics_counter(m, "drover_wipes_total",
				   "Wipes that ended with a record, by its verdict.",
				   LABELS("verdict"));
	f->tenants = metrics_gauge(m, "drover_tenants_usable", "Tenants whose API answers.", NULL);
	f->asleep = metrics_gauge(m, "drover_tenants_asleep",
				  "Tenants whose control plane is paused or scaled to 0.", NULL);
	f->leading = metrics_gauge(m, "drover_leading", "1 while this replica leads.", NULL);
	f->turn = metrics_gauge(m, "drover_loop_longest_turn_ms", "Longest turn of the event loop.",
				NULL);
	return f;
}

void counters_free(struct counters *f)
{
	if (!f)
		return;
	map_free(f->reasons);
	map_free(f->pools);
	map_free(f->since);
	free(f);
}
