#include <stdlib.h>
#include <string.h>

#include "planner/world_impl.h"

/* Tests: tests/unit/planner/test_world.c */

void *world_copy_array(struct arena *a, size_t n, size_t size)
{
	return n ? arena_calloc(a, n, size) : NULL;
}

struct labels world_copy_labels(const struct labels *l, struct arena *a)
{
	struct labels c = {.v = world_copy_array(a, l->n, sizeof(*c.v)), .n = l->n};

	for (size_t i = 0; i < l->n; i++)
		c.v[i] = (struct label){arena_strdup(a, l->v[i].key),
					arena_strdup(a, l->v[i].value)};
	if (c.n > 1)
		labels_sort(&c);
	return c;
}

struct labels world_name_labels(const struct labels *l, const char *name, struct arena *a)
{
	struct labels c = {.v = arena_calloc(a, l->n + 1, sizeof(*c.v)), .n = l->n + 1};

	if (l->n)
		memcpy(c.v, l->v, l->n * sizeof(*c.v));
	c.v[l->n] = (struct label){WORLD_NODE_NAME, name};
	return world_copy_labels(&c, a);
}

/* Returns the name itself, or one text that all objects share if nearly all have the resource. */
static const char *resource_name(const char *name, struct arena *a)
{
	static const char *const common[] = {"cpu", "memory", "pods", "ephemeral-storage",
					     "nvidia.com/gpu"};

	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
		if (strcmp(name, common[i]) == 0)
			return common[i];
	return arena_strdup(a, name);
}

struct resources world_copy_resources(const struct resources *r, struct arena *a)
{
	struct resources c = {.v = world_copy_array(a, r->n, sizeof(*c.v)), .n = r->n};

	for (size_t i = 0; i < r->n; i++)
		c.v[i] = (struct resource){resource_name(r->v[i].name, a), r->v[i].q};
	if (c.n > 1)
		resources_sort(&c);
	return c;
}

const char **world_copy_strings(const char *const *v, size_t n, struct arena *a)
{
	const char **c = world_copy_array(a, n, sizeof(*c));

	for (size_t i = 0; i < n; i++)
		c[i] = arena_strdup(a, v[i]);
	return c;
}

struct selector world_copy_selector(const struct selector *s, struct arena *a)
{
	struct selector c = {.v = world_copy_array(a, s->n, sizeof(*c.v)), .n = s->n};

	for (size_t i = 0; i < s->n; i++) {
		c.v[i] = s->v[i];
		c.v[i].key = arena_strdup(a, s->v[i].key);
		c.v[i].values = world_copy_strings(s->v[i].values, s->v[i].nvalues, a);
	}
	return c;
}

struct world_taints world_copy_taints(const struct world_taints *t, struct arena *a)
{
	struct world_taints c = {.v = world_copy_array(a, t->n, sizeof(*c.v)), .n = t->n};

	for (size_t i = 0; i < t->n; i++)
		c.v[i] = (struct world_taint){arena_strdup(a, t->v[i].key),
					      arena_strdup(a, t->v[i].value),
					      arena_strdup(a, t->v[i].effect)};
	return c;
}
