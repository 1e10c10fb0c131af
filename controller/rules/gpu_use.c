#include "controller/rules/gpu_use.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define WHOLE "nvidia.com/gpu"
/* Name of WHOLE if time slicing or MPS rename it (renameByDefault) */
#define SHARED "nvidia.com/gpu.shared"
#define PART "nvidia.com/mig-"

void gpu_parts_add(struct gpu_parts *p, const struct resources *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const char *name = r->v[i].name;
		const double n = (double)quantity_milli_floor(r->v[i].q) / 1000;

		p->any |= str_eq(name, WHOLE) || str_eq(name, SHARED) || str_starts(name, PART);
		if (str_eq(name, WHOLE) || str_eq(name, SHARED))
			p->whole += n;
		else if (str_starts(name, PART))
			/* "3g.40gb" and "3c.4g.40gb" begin with the number of compute slices. */
			p->slices += n * (double)strtoul(name + strlen(PART), NULL, 10);
	}
}

static double at_most(double x, double limit)
{
	return x > limit ? limit : x;
}

/* Returns the part x of all units as a number of GPUs. */
static double share(double gpus, double x, double all)
{
	return all > 0 ? gpus * at_most(x / all, 1) : 0;
}

/* Returns the number of units that each of `gpus` GPUs has at least if together they have `units`:
 * all GPUs of a Node have the same number. */
static double units_of_each(double gpus, double units)
{
	const double each = gpus > 0 && units > gpus ? (double)(uint64_t)(units / gpus) : 1;

	return each * gpus < units ? each + 1 : each;
}

struct gpu_use gpu_use_of(double gpus, const struct resources *capacity,
			  const struct resources *allocatable, struct gpu_parts requested,
			  bool by_claims)
{
	struct gpu_parts has = {0}, offers = {0};
	double each, units, whole, divided, missing;
	struct gpu_use u = {0};

	gpu_parts_add(&has, capacity);
	gpu_parts_add(&offers, allocatable);
	/* whole: GPUs that count by nvidia.com/gpu; units: their number of nvidia.com/gpu if no GPU
	 * is missing; divided: GPUs in MIG mode */
	whole = has.slices > 0 ? at_most(has.whole, gpus) : gpus;
	divided = gpus - whole;
	each = units_of_each(whole, has.whole);
	units = whole * each;
	missing = has.any && !by_claims ? whole - has.whole / each : 0;
	u.failed = missing + share(whole, has.whole - at_most(offers.whole, has.whole), units) +
		   share(divided, has.slices - at_most(offers.slices, has.slices), has.slices);
	u.requested =
		share(whole, requested.whole, units) + share(divided, requested.slices, has.slices);
	u.requested = at_most(u.requested, gpus - u.failed);
	u.idle = gpus - u.failed - u.requested;
	return u;
}
