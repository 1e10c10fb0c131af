#include "controller/claims/whole.h"

/* Who has a pod on a claim that does not go; gangs: the claim, + 1. */
static bool find_broken(const struct plan *p, const struct whole_claim *v, size_t *gangs)
{
	bool more = false;

	for (size_t i = 0; i < p->npods; i++) {
		const struct plan_pod *d = &p->pods[i];

		if (!d->gang || d->outcome != PLAN_ON_NEW || v[d->new_claim].goes || gangs[d->gang])
			continue;
		gangs[d->gang] =
			v[d->new_claim].because ? v[d->new_claim].because : d->new_claim + 1;
		more = true;
	}
	return more;
}

void whole_gangs(const struct plan *p, struct whole_claim *v, struct arena *a)
{
	size_t *gangs = p->ngangs ? arena_calloc(a, p->ngangs + 1, sizeof(*gangs)) : NULL;

	while (gangs && find_broken(p, v, gangs))
		for (size_t i = 0; i < p->nclaims; i++) {
			const size_t g = p->claims[i].gang;

			if (!g || !gangs[g] || !v[i].goes || v[i].probe)
				continue;
			v[i].goes = false;
			v[i].because = gangs[g];
		}
}
