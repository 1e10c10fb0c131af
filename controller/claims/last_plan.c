#include "controller/claims/last_plan.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "planner/plan.h"

struct last_plan {
	struct arena *a;
	struct last_plan_view view;
};

/* Returns a copy of s as valid UTF-8, truncated to LAST_PLAN_TEXT bytes. */
static const char *copy(struct arena *a, const char *s)
{
	char *out = arena_printf(a, "%.*s", LAST_PLAN_TEXT, str_or(s, ""));

	str_clean(out);
	return out;
}

static size_t bounded(size_t n, size_t most)
{
	return n < most ? n : most;
}

static void copy_claims(struct last_plan_view *v, struct arena *a, const struct plan *plan,
			const char *const *claims)
{
	v->total_claims = plan->nclaims;
	v->nclaims = bounded(plan->nclaims, LAST_PLAN_ROWS);
	v->claims = arena_calloc(a, v->nclaims + 1, sizeof(*v->claims));
	for (size_t i = 0; i < v->nclaims; i++) {
		const struct plan_claim *p = &plan->claims[i];

		v->claims[i] = (struct last_plan_claim){
			.tenant = copy(a, p->tenant),
			.pool = copy(a, p->pool),
			.provider = copy(a, p->provider),
			.machine = copy(a, p->machine),
			.instance_type = copy(a, p->instance_type),
			.claim = claims[i] ? copy(a, claims[i]) : NULL,
			.gang = p->gang_key ? copy(a, p->gang_key) : NULL,
			.pods = p->npods,
		};
	}
}

static void copy_holds(struct last_plan_view *v, struct arena *a, const struct plan *plan)
{
	v->total_holds = plan->nholds;
	v->nholds = bounded(plan->nholds, LAST_PLAN_ROWS);
	v->holds = arena_calloc(a, v->nholds + 1, sizeof(*v->holds));
	for (size_t i = 0; i < v->nholds; i++) {
		const struct plan_hold *p = &plan->holds[i];
		struct last_plan_hold *h = &v->holds[i];

		*h = (struct last_plan_hold){.tenant = copy(a, p->tenant),
					     .gang = copy(a, p->gang),
					     .n = bounded(p->free, LAST_PLAN_MACHINES),
					     .total = p->free,
					     .gpus_milli = p->gpus_milli,
					     .rests = p->rests};
		h->machines = arena_calloc(a, h->n + 1, sizeof(*h->machines));
		for (size_t k = 0; k < h->n; k++)
			h->machines[k] = copy(a, p->machines[k]);
	}
}

static void copy_reclaims(struct last_plan_view *v, struct arena *a, const struct plan *plan)
{
	v->total_reclaims = plan->nreclaims;
	v->nreclaims = bounded(plan->nreclaims, LAST_PLAN_ROWS);
	v->reclaims = arena_calloc(a, v->nreclaims + 1, sizeof(*v->reclaims));
	for (size_t i = 0; i < v->nreclaims; i++) {
		const struct plan_reclaim *p = &plan->reclaims[i];

		v->reclaims[i] = (struct last_plan_reclaim){
			.claim = copy(a, p->claim),
			.machine = copy(a, p->machine),
			.tenant = copy(a, p->tenant),
			.pool = copy(a, p->pool),
			.for_tenant = copy(a, p->to),
			.for_pod = copy(a, arena_printf(a, "%s/%s", p->ns, p->name)),
			.borrowed = p->borrowed,
		};
	}
}

/* Counts pods by outcome, and unplaced pods by their first reason. */
static void count_pods(struct last_plan_view *v, struct arena *a, const struct plan *plan)
{
	OWN(map) known = map_new(NULL);

	v->reasons = arena_calloc(a, LAST_PLAN_ROWS, sizeof(*v->reasons));
	for (size_t i = 0; i < plan->npods; i++) {
		const struct plan_pod *p = &plan->pods[i];
		const struct plan_reason *r = p->nreasons ? p->reasons : NULL;
		char key[LAST_PLAN_TEXT];
		void **slot;

		if (p->check)
			continue;
		v->on_node += p->outcome == PLAN_ON_NODE;
		v->on_claim += p->outcome == PLAN_ON_CLAIM;
		v->on_new += p->outcome == PLAN_ON_NEW;
		v->unplaced += p->outcome == PLAN_NOTHING;
		if (p->outcome != PLAN_NOTHING || !r)
			continue;
		str_format(key, sizeof(key), "%d/%s", (int)r->code, r->pool);
		slot = map_slot(known, key);
		if (*slot) {
			((struct last_plan_reason *)*slot)->pods++;
		} else if (v->nreasons < LAST_PLAN_ROWS) {
			*slot = &v->reasons[v->nreasons++];
			*(struct last_plan_reason *)*slot =
				(struct last_plan_reason){.reason = plan_reason_names[r->code],
							  .pool = copy(a, r->pool),
							  .pods = 1};
		}
	}
	v->total_reasons = map_size(known);
}

void last_plan_set(struct last_plan *k, const struct plan *plan, const char *const *claims,
		   int64_t at, int64_t took_ms)
{
	const uint64_t number = k->view.number + 1;

	arena_free(k->a);
	k->a = arena_new();
	k->view = (struct last_plan_view){.number = number, .at = at, .took_ms = took_ms};
	copy_claims(&k->view, k->a, plan, claims);
	copy_holds(&k->view, k->a, plan);
	copy_reclaims(&k->view, k->a, plan);
	count_pods(&k->view, k->a, plan);
}

const struct last_plan_view *last_plan_get(const struct last_plan *k)
{
	return &k->view;
}

struct last_plan *last_plan_new(void)
{
	struct last_plan *k = mem_new(struct last_plan);

	k->a = arena_new();
	return k;
}

void last_plan_free(struct last_plan *k)
{
	if (!k)
		return;
	arena_free(k->a);
	free(k);
}
