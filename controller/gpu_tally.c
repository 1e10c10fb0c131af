#include "controller/gpu_tally.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/gauge_counts.h"

const char *const gpu_state_names[GPU_STATES] = {
	[GPU_ALLOCATED] = "allocated", [GPU_IDLE] = "idle",
	[GPU_FREE] = "free",	       [GPU_STARTING] = "starting",
	[GPU_LEAVING] = "leaving",     [GPU_WIPING] = "wiping",
	[GPU_UNKNOWN] = "unknown",     [GPU_OUT_OF_ORDER] = "out_of_order",
};

struct pair {
	char *pool, *tenant;
	double n[GPU_STATES];
	/* True: the series is shown, also with 0 GPUs */
	bool shown[GPU_STATES];
};

struct gpu_tally {
	struct metric *gauge;
	/* "POOL/TENANT" -> struct pair */
	struct map *pairs;
};

static void pair_free(void *p)
{
	struct pair *x = p;

	free(x->pool);
	free(x->tenant);
	free(x);
}

static struct pair *pair_of(struct gpu_tally *t, const char *pool, const char *tenant)
{
	struct pair *x;
	char key[600];

	str_format(key, sizeof(key), "%.253s/%.253s", pool, tenant);
	x = map_get(t->pairs, key);
	if (!x) {
		x = mem_new(struct pair);
		x->pool = mem_strdup(pool);
		x->tenant = mem_strdup(tenant);
		map_put(t->pairs, key, x);
	}
	return x;
}

static bool is_full(const struct gpu_tally *t, const char *pool, const char *tenant)
{
	char key[600];

	str_format(key, sizeof(key), "%.253s/%.253s", pool, tenant);
	return map_size(t->pairs) >= GPU_PAIRS && !map_has(t->pairs, key);
}

void gpu_tally_begin(struct gpu_tally *t)
{
	struct pair *none;

	map_clear(t->pairs);
	none = pair_of(t, "", "");
	for (int i = GPU_FREE; i < GPU_STATES; i++)
		none->shown[i] = true;
}

void gpu_tally_add(struct gpu_tally *t, const char *pool, const char *tenant, enum gpu_state s,
		   double n)
{
	struct pair *x;

	pool = str_or(pool, "");
	tenant = str_or(tenant, "");
	x = is_full(t, pool, tenant) ? pair_of(t, "other", "other") : pair_of(t, pool, tenant);
	x->n[s] += n;
	if (s == GPU_ALLOCATED || s == GPU_IDLE)
		x->shown[GPU_ALLOCATED] = x->shown[GPU_IDLE] = true;
	else if (n > 0)
		x->shown[s] = true;
}

void gpu_tally_show(struct gpu_tally *t)
{
	struct map_iter it;

	metric_clear(t->gauge);
	map_for_each (it, t->pairs) {
		const struct pair *x = it.value;

		for (int i = 0; i < GPU_STATES; i++)
			if (x->shown[i])
				/* Added, because two names may be equal once they are cut. */
				metric_add(t->gauge, LABELS(x->pool, x->tenant, gpu_state_names[i]),
					   x->n[i]);
	}
}

struct gpu_tally *gpu_tally_new(struct metrics *m)
{
	struct gpu_tally *t = mem_new(struct gpu_tally);

	t->pairs = map_new(pair_free);
	t->gauge = gauge_of_fleet(m, "drover_gpus", "GPUs of the fleet by pool, tenant and state.",
				  LABELS("pool", "tenant", "state"));
	/* One more pair for "other". */
	metric_limit(t->gauge, (GPU_PAIRS + 1) * GPU_STATES);
	return t;
}

void gpu_tally_free(struct gpu_tally *t)
{
	if (!t)
		return;
	map_free(t->pairs);
	free(t);
}
