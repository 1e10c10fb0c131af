#include "controller/claims/whole.h"

/* Marks in broken[] the gangs that have a pod on a claim that is not created. False: no further
 * gang was marked. */
static bool find_broken(const struct plan *p, const struct whole_claim *v, bool *broken)
{
	bool more = false;

	for (size_t i = 0; i < p->npods; i++) {
		const struct plan_pod *d = &p->pods[i];

		if (!d->gang || d->outcome != PLAN_ON_NEW || v[d->new_claim].goes ||
		    broken[d->gang])
			continue;
		broken[d->gang] = true;
		more = true;
	}
	return more;
}

void whole_gangs(const struct plan *p, struct whole_claim *v, struct arena *a)
{
	bool *broken = p->ngangs ? arena_calloc(a, p->ngangs + 1, sizeof(*broken)) : NULL;

	while (broken && find_broken(p, v, broken))
		for (size_t i = 0; i < p->nclaims; i++)
			/* mutant: gang-half-sent */ v[i].goes &=
				!(broken[p->claims[i].gang] && !v[i].probe);
}
