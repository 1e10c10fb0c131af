#include "controller/claims/requests.h"

#include <stdlib.h>

#include "base/map.h"
#include "controller/tenant/provisioning_requests.h"
#include "controller/tenant/tenant.h"

struct request_sum {
	const char *tenant, *ns, *name;
	struct request_outcome is;
	/* Index, in the plan's pods, of the pod whose outcome is reported for the
	 * ProvisioningRequest */
	size_t speaks;
};

static size_t rank(const struct plan_pod *p)
{
	static const size_t ranks[] = {
		[PLAN_NOTHING] = 3, [PLAN_ON_NEW] = 2, [PLAN_ON_CLAIM] = 1, [PLAN_ON_NODE] = 0};

	return ranks[p->outcome];
}

static void add(struct map *sums, const struct plan *plan, size_t i, struct arena *a)
{
	const struct plan_pod *p = &plan->pods[i];
	const char *name, *key;
	struct request_sum *s;

	if (!request_of_pod(p->name, &name, a))
		return;
	key = arena_printf(a, "%s/%s/%s", p->tenant, p->ns, name);
	s = map_get(sums, key);
	if (!s) {
		s = arena_new_obj(a, struct request_sum);
		*s = (struct request_sum){
			.tenant = p->tenant, .ns = p->ns, .name = name, .speaks = i};
		map_put(sums, key, s);
	}
	if (rank(p) > rank(&plan->pods[s->speaks]))
		s->speaks = i;
	s->is.pods++;
	s->is.on_node += p->outcome == PLAN_ON_NODE;
	s->is.coming += p->outcome == PLAN_ON_CLAIM || p->outcome == PLAN_ON_NEW;
	if (p->outcome != PLAN_NOTHING)
		return;
	s->is.never |= !p->place;
	if (!s->is.missing && p->nreasons)
		s->is.missing = p->reasons[0].text;
}

static void keep(const struct tenants *ts, const struct plan_pod *p)
{
	const struct tenant *t = tenant_get(ts, p->tenant);

	/* p->target is a Node or a claim; both may be passed, because a Node has the same name as
	 * its claim. */
	if (t && (p->outcome == PLAN_ON_CLAIM ||
		  (p->outcome == PLAN_ON_NODE && request_of_pod(p->name, NULL, NULL))))
		provisioning_requests_reserve(t->requests, p->target);
}

static void keep_nodes(const struct tenants *ts, const struct plan *p)
{
	struct map_iter it;

	map_for_each (it, ts->map)
		provisioning_requests_reserve_begin(((struct tenant *)it.value)->requests);
	for (size_t i = 0; i < p->npods; i++)
		keep(ts, &p->pods[i]);
	map_for_each (it, ts->map)
		provisioning_requests_reserve_end(((struct tenant *)it.value)->requests);
}

bool *requests_plan(const struct tenants *ts, const struct plan *p, struct arena *a)
{
	OWN(map) sums = map_new(NULL);
	struct map_iter it;
	bool *speaks;

	keep_nodes(ts, p);
	for (size_t i = 0; i < p->npods; i++)
		add(sums, p, i, a);
	if (!map_size(sums))
		return NULL;
	speaks = arena_calloc(a, p->npods, sizeof(*speaks));
	map_for_each (it, sums) {
		const struct request_sum *s = it.value;
		const struct tenant *t = tenant_get(ts, s->tenant);

		if (!t)
			continue;
		provisioning_requests_plan(t->requests, s->ns, s->name, &s->is);
		/* A check-capacity request already reports what is missing now. Do not report when
		 * a machine may come, because none is created for it. */
		speaks[s->speaks] = !p->pods[s->speaks].check;
	}
	return speaks;
}

void requests_only_check(const struct plan *p, struct whole_claim *v, struct arena *a)
{
	bool *wanted = arena_calloc(a, p->nclaims + 1, sizeof(*wanted)),
	     *checked = arena_calloc(a, p->nclaims + 1, sizeof(*checked));

	for (size_t i = 0; i < p->npods && p->nclaims; i++)
		if (p->pods[i].outcome == PLAN_ON_NEW) {
			bool *const of = p->pods[i].check ? checked : wanted;

			of[p->pods[i].new_claim] = true;
		}
	for (size_t i = 0; i < p->nclaims; i++)
		v[i].goes = v[i].goes && (!checked[i] || wanted[i]);
}
