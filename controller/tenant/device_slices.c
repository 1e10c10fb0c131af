#include "controller/tenant/device_slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "base/str.h"

#define OF_NODE_MAX 64 /* maximum number of slices that are read per Node or pool */
/* marks the name of a part of a GPU: NVIDIA's driver names it WHOLE-mig-PROFILE... */
#define PART "-mig-"

enum key { BY_NODE, BY_POOL, KEYS };

struct device_slices {
	struct index *names;
};

struct device_slices *device_slices_new(void)
{
	struct device_slices *s = mem_new(struct device_slices);

	s->names = index_new(KEYS);
	return s;
}

void device_slices_free(struct device_slices *s)
{
	if (!s)
		return;
	index_free(s->names);
	free(s);
}

void device_slices_put(struct device_slices *all, const char *name, const struct device_slice *s)
{
	const struct index_text texts[] = {{BY_NODE, s ? s->node : NULL},
					   {BY_POOL, s ? s->pool : NULL}};

	index_put(all->names, name, texts, s ? 2 : 0);
}

struct found_slices {
	const struct kube_cache *cache;
	const struct device_slice *v[OF_NODE_MAX];
	size_t n;
};

static bool add(const char *name, void *arg)
{
	struct found_slices *f = arg;
	const struct device_slice *s = KUBE_CACHE_GET(f->cache, device_slice, "", name);

	if (s && s->pool && str_eq(s->driver, DEVICE_GPU_DRIVER))
		f->v[f->n++] = s;
	return f->n < OF_NODE_MAX;
}

static bool is_complete(const struct found_slices *f, const struct device_slice *s)
{
	int64_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (!str_eq(f->v[i]->pool, s->pool))
			continue;
		if (f->v[i]->generation > s->generation)
			return false;
		n += f->v[i]->generation == s->generation;
	}
	return n == s->slices;
}

size_t device_slices_on(const struct device_slices *all, const struct kube_cache *cache,
			const char *node, struct labels *labels)
{
	struct found_slices f = {.cache = cache};
	size_t n = 0;

	*labels = (struct labels){0};
	if (!cache)
		return 0;
	index_each(all->names, BY_NODE, node, add, &f);
	for (size_t i = 0; i < f.n; i++) {
		if (!f.v[i]->nwhole || !is_complete(&f, f.v[i]))
			continue;
		if (!n)
			*labels = f.v[i]->labels;
		n += f.v[i]->nwhole;
	}
	return n;
}

static bool has(const struct device_slice *s, const char *name, size_t len)
{
	for (size_t i = 0; i < s->nwhole; i++)
		if (strlen(s->whole[i]) == len && strncmp(s->whole[i], name, len) == 0)
			return true;
	return false;
}

size_t device_slices_takes(const struct device_slices *all, const struct kube_cache *cache,
			   const struct device_result *r)
{
	struct found_slices f = {.cache = cache};
	const char *part;

	if (!str_eq(r->driver, DEVICE_GPU_DRIVER) || !r->device)
		return 0;
	if (cache && r->pool)
		index_each(all->names, BY_POOL, r->pool, add, &f);
	part = strstr(r->device, PART);
	for (size_t i = 0; i < f.n; i++)
		if (has(f.v[i], r->device, strlen(r->device)) ||
		    (part && has(f.v[i], r->device, (size_t)(part - r->device))))
			return 1;
	/* The GPU is not listed. If its pool is known, it is a whole GPU that got a taint after its
	 * allocation: such a GPU counts neither as available nor as occupied, so return 0. If the
	 * pool is unknown, return 1. */
	return f.n == 0;
}
