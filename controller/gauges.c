/*
 * gauges: computes the current values for /metrics from the caches at each scrape, in slices,
 * because the fleet may have 10,000 machines. Events are counted in core/counters.c instead.
 *
 *   tenants (pods) --> machines --> claims --> show: bills, breakers, all values at once
 */
#include "controller/gauges.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/core/host_clock.h"
#include "controller/core/sweep.h"
#include "controller/gauge_counts.h"
#include "controller/gauges_use.h"
#include "controller/rules/ledger.h"
#include "controller/rules/machine.h"
#include "controller/tenant/tenant.h"

/* Numbers of objects that one slice counts. A slice ends with the tenant that reaches the number of
 * pods. */
#define PODS_EACH_SLICE 500
#define MACHINES_EACH_SLICE 200
#define CLAIMS_EACH_SLICE 500

/* The count in progress */
struct gauges_pass {
	/* Memory of the pass; NULL: none is in progress */
	struct arena *arena;
	enum { PASS_TENANTS, PASS_MACHINES, PASS_CLAIMS } at;
	/* Names of the tenants, of which `next` have been counted */
	const char **tenants;
	size_t ntenants, next;
	struct sweep sweep;
	/* Number of Machines by state */
	unsigned machines[MACHINE_STATES];
};

struct gauges {
	const struct context *c;
	const struct tenants *tenants_of;
	struct gauges_use *use;
	struct metric *machines, *quarantined, *warm, *drifted, *unapproved, *tenants, *asleep,
		*leading, *turn, *turn_cpu, *slowest, *ahead, *gpu_seconds, *amount;
	/* Reason of quarantine -> struct count (number of machines); entries are never removed */
	struct map *reasons;
	/* Pool -> struct count (number of its warm machines); entries are never removed */
	struct map *pools;
	/* Pool -> struct count (number of its drifted claims); entries are never removed */
	struct map *drifting;
	/* Tenant -> struct count (number of its claims that wait for an approval); entries are
	 * never removed */
	struct map *waiting;
	/* "tenant/phase" -> struct count (GPU seconds on the bill); entries are never removed */
	struct map *phases;
	/* "tenant/currency" -> struct count (amount on the bill); entries are never removed */
	struct map *money;
	struct gauges_pass pass;
	struct loop_timer timer;
	/* Callers of gauges_refresh() that wait (struct gauges_wait) */
	struct list waits;
};

static bool count_machine(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	struct gauges *f = arg;
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));

	gauges_use_machine(f->use, m);
	if (s == MACHINE_STATE_NONE)
		return true;
	f->pass.machines[s]++;
	if (s == MACHINE_QUARANTINED)
		gauge_counts_add(f->reasons,
				 str_or(m->status.quarantine ? m->status.quarantine->reason : NULL,
					"Unknown"),
				 1);
	if (warm_is_ready(m))
		gauge_counts_add(f->pools, m->status.warm_for->name, 1);
	return true;
}

static bool count_claim(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	const struct condition *approved = condition_get(&n->status.conditions, APPROVED_CONDITION);
	struct gauges *f = arg;

	if (approved && approved->status == CONDITION_UNKNOWN && !n->meta.deletion_timestamp)
		gauge_counts_add(f->waiting, str_or(n->spec.virtual_cluster_ref.name, ""), 1);

	if (condition_is_true(&n->status.conditions, "Drifted"))
		gauge_counts_add(f->drifting, str_or(n->spec.node_pool_ref.name, ""), 1);
	return true;
}

static bool count_asleep(const struct kube_entry *en, void *arg)
{
	const struct virtual_cluster *vc = en->object;

	*(double *)arg += vc->status.asleep_since != 0;
	return true;
}

static bool count_bill(const struct kube_entry *en, void *arg)
{
	const struct virtual_cluster *vc = en->object;
	struct gauges *f = arg;
	const int64_t now = loop_wall(f->c->loop);
	OWN(arena) a = arena_new();
	const struct virtual_cluster_cost c = ledger_at(vc->status.cost, now, a);
	char month[LEDGER_MONTH_SIZE];

	ledger_month(now, month);
	for (size_t i = 0; i < c.charges.n; i++) {
		const struct virtual_cluster_charge *x = &c.charges.v[i];
		int64_t n;

		if (!str_eq(x->month, month))
			continue;
		if (ledger_gpu_seconds(x, &n))
			gauge_counts_add(f->phases,
					 arena_printf(a, "%s/%s", vc->meta.name,
						      virtual_cluster_phase_names[x->phase]),
					 (double)n);
		if (x->currency && ledger_amount(x, &n))
			gauge_counts_add(f->money,
					 arena_printf(a, "%s/%s", vc->meta.name, x->currency),
					 (double)n / MONEY_UNIT);
	}
	return true;
}

static void read_bills(struct gauges *f)
{
	gauge_counts_reset(f->phases);
	gauge_counts_reset(f->money);
	kube_cache_each(f->c->cache[OBJECT_VIRTUAL_CLUSTER], count_bill, f);
	gauge_counts_show_pairs(f->gpu_seconds, f->phases);
	gauge_counts_show_pairs(f->amount, f->money);
}

static void read_tenants(struct gauges *f)
{
	double usable = 0, asleep = 0;
	struct map_iter it;

	map_for_each (it, f->tenants_of->map)
		usable += tenant_usable(it.value);
	metric_set(f->tenants, NULL, usable);
	kube_cache_each(f->c->cache[OBJECT_VIRTUAL_CLUSTER], count_asleep, &asleep);
	metric_set(f->asleep, NULL, asleep);
}

/* True if this replica shows the gauges of the fleet. */
static bool shows_fleet(const struct context *c)
{
	return c->leading && c->ready &&
	       (!c->lease || /* NULL in unit tests */ kube_lease_held(c->lease));
}

/* --- the pass --------------------------------------------------------------------------------- */

static void pass_over(struct gauges *f)
{
	arena_free(f->pass.arena);
	f->pass.arena = NULL;
}

static void pass_begin(struct gauges *f)
{
	struct gauges_pass *p = &f->pass;
	struct map_iter it;

	pass_over(f);
	*p = (struct gauges_pass){.arena = arena_new()};
	p->tenants = arena_calloc(p->arena, map_size(f->tenants_of->map) + 1, sizeof(*p->tenants));
	map_for_each (it, f->tenants_of->map)
		p->tenants[p->ntenants++] = arena_strdup(p->arena, it.key);
	gauge_counts_reset(f->reasons);
	gauge_counts_reset(f->pools);
	gauge_counts_reset(f->drifting);
	gauge_counts_reset(f->waiting);
	gauges_use_begin(f->use);
}

/* Returns true if tenants are left for the next slice. */
static bool count_tenants(struct gauges *f)
{
	struct gauges_pass *p = &f->pass;
	size_t pods = 0;

	while (p->next < p->ntenants && pods < PODS_EACH_SLICE) {
		const struct tenant *t = tenant_get(f->tenants_of, p->tenants[p->next++]);

		pods += 1 + (t && t->pods ? kube_cache_size(t->pods) : 0);
		if (t)
			gauges_use_tenant(f->use, t);
	}
	return p->next < p->ntenants;
}

/* Counts a slice of the objects. Returns true until all are counted. */
static bool pass_go_on(struct gauges *f)
{
	struct gauges_pass *p = &f->pass;

	switch (p->at) {
	case PASS_TENANTS:
		if (count_tenants(f))
			return true;
		p->at = PASS_MACHINES;
		sweep_begin(&p->sweep, f->c->cache[OBJECT_MACHINE], p->arena);
		return true;
	case PASS_MACHINES:
		if (sweep_go_on(&p->sweep, MACHINES_EACH_SLICE, count_machine, f))
			return true;
		p->at = PASS_CLAIMS;
		sweep_begin(&p->sweep, f->c->cache[OBJECT_NODE_CLAIM], p->arena);
		return true;
	case PASS_CLAIMS:
		break;
	}
	return sweep_go_on(&p->sweep, CLAIMS_EACH_SLICE, count_claim, f);
}

static void show(struct gauges *f)
{
	for (int i = 0; i < MACHINE_STATES; i++)
		metric_set(f->machines, LABELS(machine_state_info[i].name), f->pass.machines[i]);
	gauge_counts_show(f->quarantined, f->reasons);
	gauge_counts_show(f->warm, f->pools);
	gauge_counts_show(f->unapproved, f->waiting);
	gauge_counts_show(f->drifted, f->drifting);
	read_bills(f);
	gauges_use_show(f->use);
	read_tenants(f);
	pass_over(f);
}

/* Sets the gauges that each replica has. */
static void read_own(struct gauges *f)
{
	const struct loop_stats stats = loop_stats(f->c->loop);

	metric_set(f->leading, NULL, f->c->leading);
	metric_set(f->ahead, NULL, (double)host_clock_ahead(f->c) / 1000);
	metric_set(f->turn, NULL, (double)stats.longest_ms);
	metric_set(f->turn_cpu, NULL, (double)stats.longest_cpu_us / 1000);
	if (stats.slowest)
		metric_set(f->slowest, LABELS(stats.slowest), (double)stats.slowest_ms);
}

void gauges_read(struct gauges *f)
{
	if (shows_fleet(f->c)) {
		pass_begin(f);
		while (pass_go_on(f))
			;
		show(f);
	} else {
		pass_over(f);
		metrics_forget(f->c->metrics);
	}
	read_own(f);
}

static void on_timer(void *arg)
{
	struct gauges *f = arg;
	struct gauges_wait *w;

	if (shows_fleet(f->c)) {
		if (!f->pass.arena)
			pass_begin(f);
		if (pass_go_on(f)) {
			loop_timer_start(&f->timer, 0);
			return;
		}
		show(f);
	} else {
		pass_over(f);
		metrics_forget(f->c->metrics);
	}
	read_own(f);
	while ((w = list_first(&f->waits, struct gauges_wait, link))) {
		list_remove(&w->link);
		w->done(w->arg);
	}
}

void gauges_refresh(struct gauges *f, struct gauges_wait *w)
{
	list_init(&w->link);
	list_push_back(&f->waits, &w->link);
	if (!loop_timer_active(&f->timer))
		loop_timer_start(&f->timer, 0);
}

void gauges_cancel(struct gauges_wait *w)
{
	list_remove(&w->link);
}

struct gauges *gauges_new(const struct context *c, const struct tenants *tenants)
{
	struct gauges *f = mem_new(struct gauges);
	struct metrics *m = c->metrics;

	f->c = c;
	f->tenants_of = tenants;
	f->use = gauges_use_new(c, tenants);
	list_init(&f->waits);
	loop_timer_init(&f->timer, c->group, on_timer, f);
	f->reasons = gauge_counts_new();
	f->pools = gauge_counts_new();
	f->drifting = gauge_counts_new();
	f->waiting = gauge_counts_new();
	f->phases = gauge_counts_new();
	f->money = gauge_counts_new();
	f->gpu_seconds = gauge_of_fleet(
		m, "drover_cost_month_gpu_seconds",
		"GPU seconds on a tenant's bill since the start of this month (UTC).",
		LABELS("tenant", "phase"));
	f->amount = gauge_of_fleet(m, "drover_cost_month_amount",
				   "Amount on a tenant's bill since the start of this month (UTC).",
				   LABELS("tenant", "currency"));
	f->machines = gauge_of_fleet(m, "drover_machines", "Machines by state.", LABELS("state"));
	f->quarantined = gauge_of_fleet(m, "drover_machines_quarantined",
					"Machines in quarantine, by reason.", LABELS("reason"));
	f->warm = gauge_of_fleet(m, "drover_machines_warm",
				 "Free machines that a pool keeps on with their agent running.",
				 LABELS("pool"));
	f->drifted = gauge_of_fleet(m, "drover_claims_drifted",
				    "NodeClaims that no longer match their pool's template.",
				    LABELS("pool"));
	f->unapproved = gauge_of_fleet(m, "drover_claims_unapproved",
				       "NodeClaims that wait for an approval.", LABELS("tenant"));
	f->tenants = gauge_of_fleet(m, "drover_tenants_usable", "Tenants whose API server answers.",
				    NULL);
	f->asleep = gauge_of_fleet(m, "drover_tenants_asleep",
				   "Tenants whose control plane is paused or scaled to 0.", NULL);
	f->leading = metrics_gauge(m, "drover_leading", "1 if this replica is the leader, else 0.",
				   NULL);
	f->turn = metrics_gauge(
		m, "drover_loop_longest_turn_ms",
		"Duration of the longest turn of the event loop since drover started.", NULL);
	f->ahead = metrics_gauge(m, "drover_clock_ahead_seconds",
				 "How far this replica's clock is ahead of the host API server's; "
				 "negative if behind.",
				 NULL);
	f->turn_cpu = metrics_gauge(
		m, "drover_loop_longest_turn_cpu_ms",
		"Processor time of the turn of the event loop that used the most.", NULL);
	f->slowest = metrics_gauge(m, "drover_loop_slowest_callback_ms",
				   "Duration of the slowest callback of the event loop; earlier "
				   "record holders stay listed.",
				   LABELS("callback"));
	return f;
}

void gauges_free(struct gauges *f)
{
	if (!f)
		return;
	list_for_each (w, &f->waits, struct gauges_wait, link)
		list_remove(&w->link);
	loop_timer_stop(&f->timer);
	pass_over(f);
	gauges_use_free(f->use);
	map_free(f->reasons);
	map_free(f->pools);
	map_free(f->drifting);
	map_free(f->waiting);
	map_free(f->phases);
	map_free(f->money);
	free(f);
}
