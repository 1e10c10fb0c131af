/*
 * gpu_history: a ring of GPU_HISTORY_STEPS samples. The sample of a step is at index step modulo
 * GPU_HISTORY_STEPS in `present` and in each column.
 */
#include "controller/view/gpu_history.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

const char *const gpu_group_names[GPU_GROUPS] = {
	[GPU_SERVING] = "serving", [GPU_MOVING] = "moving",	      [GPU_LEAVING] = "leaving",
	[GPU_FREE] = "free",	   [GPU_QUARANTINED] = "quarantined", [GPU_OTHER] = "other",
};

struct gpu_column {
	/* Name of the tenant; NULL: column of a group of states, or of other tenants */
	char *name;
	/* Newest step at which the column has GPUs; -1: none */
	int64_t last;
	uint32_t n[GPU_HISTORY_STEPS];
};

struct gpu_history {
	/* Step of the newest sample; -1: no sample */
	int64_t newest;
	uint64_t version;
	bool present[GPU_HISTORY_STEPS];
	struct gpu_column groups[GPU_GROUPS], others;
	/* Sorted by name */
	struct gpu_column *tenants[GPU_HISTORY_TENANTS];
	size_t ntenants;
};

static size_t index_of(int64_t step)
{
	return (size_t)(step % GPU_HISTORY_STEPS);
}

struct gpu_history *gpu_history_new(void)
{
	struct gpu_history *h = mem_new(struct gpu_history);

	h->newest = h->others.last = -1;
	for (int g = 0; g < GPU_GROUPS; g++)
		h->groups[g].last = -1;
	return h;
}

static void free_column(struct gpu_column *x)
{
	free(x->name);
	free(x);
}

void gpu_history_free(struct gpu_history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->ntenants; i++)
		free_column(h->tenants[i]);
	free(h);
}

int64_t gpu_history_newest(const struct gpu_history *h)
{
	return h->newest;
}

uint64_t gpu_history_version(const struct gpu_history *h)
{
	return h->version;
}

bool gpu_history_has(const struct gpu_history *h, int64_t step)
{
	return step >= 0 && step <= h->newest && step > h->newest - GPU_HISTORY_STEPS &&
	       h->present[index_of(step)];
}

static void clear(struct gpu_history *h, size_t i)
{
	h->present[i] = false;
	h->others.n[i] = 0;
	for (int g = 0; g < GPU_GROUPS; g++)
		h->groups[g].n[i] = 0;
	for (size_t t = 0; t < h->ntenants; t++)
		h->tenants[t]->n[i] = 0;
}

/* Moves the window so that `step` is its newest step, and frees the columns without GPUs. */
static void move(struct gpu_history *h, int64_t step)
{
	const int64_t oldest = step - GPU_HISTORY_STEPS + 1;
	int64_t at = h->newest + 1 > oldest ? h->newest + 1 : oldest;
	size_t left = 0;

	for (; at <= step; at++)
		if (at >= 0)
			clear(h, index_of(at));
	h->newest = step;
	for (size_t t = 0; t < h->ntenants; t++) {
		if (h->tenants[t]->last >= oldest)
			h->tenants[left++] = h->tenants[t];
		else
			free_column(h->tenants[t]);
	}
	h->ntenants = left;
}

bool gpu_history_open(struct gpu_history *h, int64_t step)
{
	if (step < 0 || gpu_history_has(h, step) || step <= h->newest - GPU_HISTORY_STEPS)
		return false;
	if (step > h->newest)
		move(h, step);
	h->present[index_of(step)] = true;
	h->version++;
	return true;
}

/* --- columns ---------------------------------------------------------------------------------- */

struct gpu_column *gpu_history_group(struct gpu_history *h, enum gpu_group g)
{
	return &h->groups[g];
}

struct gpu_column *gpu_history_others(struct gpu_history *h)
{
	return &h->others;
}

struct gpu_column *gpu_history_tenant(struct gpu_history *h, const char *name)
{
	size_t low = 0, high = h->ntenants;
	struct gpu_column *x;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const int order = strcmp(h->tenants[mid]->name, name);

		if (!order)
			return h->tenants[mid];
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (h->ntenants == GPU_HISTORY_TENANTS || !str_is_dns_subdomain(name))
		return &h->others;
	x = mem_new(struct gpu_column);
	x->name = mem_strdup(name);
	x->last = -1;
	memmove(&h->tenants[low + 1], &h->tenants[low], (h->ntenants - low) * sizeof(x));
	h->tenants[low] = x;
	h->ntenants++;
	return x;
}

struct gpu_column *const *gpu_history_tenants(const struct gpu_history *h, size_t *n)
{
	*n = h->ntenants;
	return h->tenants;
}

const char *gpu_column_name(const struct gpu_column *x)
{
	return x->name;
}

void gpu_column_add(struct gpu_column *x, int64_t step, int64_t n)
{
	uint32_t *at = &x->n[index_of(step)];

	if (n <= 0)
		return;
	*at = n < UINT32_MAX - *at ? *at + (uint32_t)n : UINT32_MAX;
	if (step > x->last)
		x->last = step;
}

uint32_t gpu_column_at(const struct gpu_column *x, int64_t step)
{
	return x->n[index_of(step)];
}

bool gpu_history_mean(const struct gpu_history *h, const struct gpu_column *x, int64_t from,
		      unsigned steps, int64_t *hundredths)
{
	int64_t sum = 0, samples = 0;

	for (int64_t s = from; s < from + steps; s++) {
		if (!gpu_history_has(h, s))
			continue;
		sum += gpu_column_at(x, s);
		samples++;
	}
	if (samples)
		*hundredths = (sum * 100 + samples / 2) / samples;
	return samples > 0;
}
