#include "controller/claims/gang_holds.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "controller/billing/held_gpus.h"
#include "controller/core/notify.h"

#define USUAL_MS (30 * 60 * 1000)
#define MOST(h) ((h)->ms << GANG_HOLDS_DOUBLINGS)
/* Budget of a tenant: at first BUDGET_HOLDS times H (gang_holds.h). It is refilled by 1 /
 * BUDGET_PART of the elapsed time. */
#define BUDGET_HOLDS 6
#define BUDGET_PART 8

struct hold_level {
	int64_t ms;
	/* held: the last plan reserved the machine, or a machine for the tenant. rests: nothing is
	 * reserved, until the pause ends. */
	bool held;
	bool rests;
};

struct tenant_row {
	struct hold_level level;
	/* Number of reservations that ran out since the row was created */
	unsigned over;
	/* Part of the tenant's budget that is used up, ms */
	int64_t spent_ms;
	/* GPUs reserved by the last plan, in thousandths */
	int64_t gpus;
};

struct gang_holds {
	const struct context *c;
	/* ms: H of gang_holds.h. at: Unix ms of the last update of the levels; 0: never updated */
	int64_t ms, at;
	/* Key: name of a tenant; value: struct tenant_row */
	struct map *tenants;
	/* Key: name of a Machine; value: struct hold_level */
	struct map *machines;
};

struct gang_holds *gang_holds_new(const struct context *c)
{
	struct gang_holds *h = mem_new(struct gang_holds);

	h->c = c;
	h->ms = gang_holds_ms(c);
	h->tenants = map_new(free);
	h->machines = map_new(free);
	return h;
}

void gang_holds_free(struct gang_holds *h)
{
	if (!h)
		return;
	map_free(h->tenants);
	map_free(h->machines);
	free(h);
}

int64_t gang_holds_ms(const struct context *c)
{
	return c->o.gang_hold_ms < 0 ? 0 : c->o.gang_hold_ms ? c->o.gang_hold_ms : USUAL_MS;
}

/* --- levels ----------------------------------------------------------------------------------- */

static void pass(struct hold_level *l, int64_t ms)
{
	l->ms += l->held ? ms : -ms;
	if (l->ms < 0)
		l->ms = 0;
}

static void pass_budget(struct tenant_row *r, int64_t ms)
{
	r->spent_ms += (r->level.held ? ms : 0) - ms / BUDGET_PART;
	if (r->spent_ms < 0)
		r->spent_ms = 0;
}

static void count(struct gang_holds *h, int64_t now)
{
	const int64_t ms = h->at && now > h->at ? now - h->at : 0;
	struct map_iter it;

	h->at = now;
	map_for_each (it, h->tenants) {
		struct tenant_row *r = it.value;

		pass(&r->level, ms);
		pass_budget(r, ms);
	}
	map_for_each (it, h->machines)
		pass(it.value, ms);
}

/* --- tenants --------------------------------------------------------------------------------- */

static int64_t less(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t more(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Returns for how many ms machines may be reserved for the tenant from now on. */
static int64_t may_hold(const struct gang_holds *h, const struct tenant_row *r)
{
	const int64_t in_a_row = h->ms << less(r->over, GANG_HOLDS_DOUBLINGS),
		      budget = (BUDGET_HOLDS * h->ms - r->spent_ms) * BUDGET_PART /
			       (BUDGET_PART - 1);

	return less(in_a_row - r->level.ms, budget);
}

/* Returns for how many ms the tenant gets no reservation from now on. The pause ends when the
 * tenant's level is 0 and the tenant's budget allows a reservation of H (gang_holds.h) again. */
static int64_t must_rest(const struct gang_holds *h, const struct tenant_row *r)
{
	return more(r->level.ms, (r->spent_ms - (BUDGET_HOLDS - 1) * h->ms) * BUDGET_PART);
}

static void end_hold(struct gang_holds *h, struct tenant_row *r, const char *tenant)
{
	r->over++;
	r->level.rests = true;
	r->level.held = false;
	log_info("gang hold over", LOG_S("tenant", tenant), LOG_I("gpus_milli", r->gpus),
		 LOG_I("holds", r->over), LOG_I("rests_ms", must_rest(h, r)));
	notify(h->c, NOTICE_POOL, NULL);
}

/* Begins or ends the tenant's pause if that is due. Then writes to the planner's world w until when
 * machines may be reserved for the tenant's gangs, or, during a pause, until when none may be.
 * Returns false if nothing is reserved and all times in r have run down to 0, so that the row can
 * be deleted. */
static bool tenant_before(struct gang_holds *h, struct world *w, const char *tenant,
			  struct tenant_row *r, int64_t now)
{
	if (r->level.rests)
		r->level.rests = must_rest(h, r) > 0;
	else if (/* mutant: hold-without-end */ may_hold(h, r) <= 0)
		end_hold(h, r, tenant);
	if (r->level.rests)
		world_put_tenant_hold(w, tenant, now + must_rest(h, r), 0);
	else
		world_put_tenant_hold(w, tenant, 0, now + may_hold(h, r));
	return r->level.held || r->level.rests || r->level.ms || r->spent_ms;
}

/* --- machines -------------------------------------------------------------------------------- */

static bool machine_before(const struct gang_holds *h, struct world *w, const char *machine,
			   struct hold_level *l, int64_t now)
{
	if (l->rests)
		l->rests = l->ms > 0;
	else
		l->rests = /* mutant: machine-without-rest */ l->ms >= MOST(h);
	l->held &= !l->rests;
	world_put_machine_rest(w, machine, l->rests ? now + l->ms : 0);
	return l->held || l->ms;
}

/* --- plans ----------------------------------------------------------------------------------- */

void gang_holds_before(struct gang_holds *h, struct world *w, int64_t now)
{
	struct map_iter it;

	count(h, now);
	map_for_each (it, h->tenants)
		if (!tenant_before(h, w, it.key, it.value, now)) {
			world_put_tenant_hold(w, it.key, 0, 0);
			map_del(h->tenants, it.key);
		}
	map_for_each (it, h->machines)
		if (!machine_before(h, w, it.key, it.value, now))
			map_del(h->machines, it.key);
}

static void clear(struct gang_holds *h)
{
	struct map_iter it;

	map_for_each (it, h->tenants) {
		((struct tenant_row *)it.value)->level.held = false;
		((struct tenant_row *)it.value)->gpus = 0;
	}
	map_for_each (it, h->machines)
		((struct hold_level *)it.value)->held = false;
}

static void note(struct gang_holds *h, const struct plan_hold *x)
{
	struct tenant_row *r = map_get(h->tenants, x->tenant);

	if (!r) {
		r = mem_new(struct tenant_row);
		map_put(h->tenants, x->tenant, r);
	}
	r->level.held = true;
	r->gpus += x->gpus_milli;
	for (size_t i = 0; i < x->free; i++) {
		struct hold_level *l = map_get(h->machines, x->machines[i]);

		if (!l) {
			l = mem_new(struct hold_level);
			map_put(h->machines, x->machines[i], l);
		}
		l->held = true;
	}
}

/* Returns the ms after which the level l begins or ends a pause; INT64_MAX: it does neither. may:
 * ms for which the reservation may continue; must: ms for which the pause continues. */
static int64_t due_of(const struct hold_level *l, int64_t may, int64_t must)
{
	return l->rests ? must : l->held ? may : INT64_MAX;
}

int64_t gang_holds_after(struct gang_holds *h, const struct plan *p, int64_t now)
{
	int64_t due = INT64_MAX;
	struct map_iter it;

	count(h, now);
	clear(h);
	for (size_t i = 0; i < p->nholds; i++)
		if (p->holds[i].free)
			note(h, &p->holds[i]);
	map_for_each (it, h->tenants) {
		const struct tenant_row *r = it.value;

		if (h->c->held_gpus)
			held_gpus_set(h->c->held_gpus, it.key, r->gpus, now);
		due = less(due, due_of(&r->level, may_hold(h, r), must_rest(h, r)));
	}
	map_for_each (it, h->machines) {
		const struct hold_level *l = it.value;

		due = less(due, due_of(l, MOST(h) - l->ms, l->ms));
	}
	return due == INT64_MAX ? 0 : now + more(due, 1);
}
