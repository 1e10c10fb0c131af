#include "base/data/scan_names.h"

#include <stdlib.h>
#include "base/hash.h"
#include "base/mem.h"

#define FEW 64
#define MANY_MIN 512

static bool put(struct scan_names *t, uint64_t h)
{
	size_t i = h & (t->many_cap - 1);

	while (t->many[i] && t->many[i] != h)
		i = (i + 1) & (t->many_cap - 1);
	if (t->many[i])
		return false;
	t->many[i] = h;
	return true;
}

static bool add(struct scan_names *t, uint64_t h)
{
	uint64_t *old = t->many;
	size_t cap = t->many_cap;

	h |= !h;
	if (t->nmany * 2 >= cap) {
		t->many_cap = cap ? cap * 4 : MANY_MIN;
		t->many = mem_calloc(t->many_cap, sizeof(*t->many));
		for (size_t i = 0; i < cap; i++)
			if (old[i])
				(void)put(t, old[i]);
		free(old);
	}
	if (!put(t, h))
		return false;
	t->nmany++;
	return true;
}

bool scan_names_add(struct scan_names *t, struct scan_object *o, const char *name, size_t len)
{
	uint64_t h = hash_keyed(name, len, o->number);
	size_t at = t->nfew - o->few;

	if (o->few == FEW && !o->many) {
		for (; at < t->nfew; at++)
			(void)add(t, t->few[at]);
		o->many = true;
	}
	if (o->many)
		return add(t, h);
	for (; at < t->nfew; at++)
		if (t->few[at] == h)
			return false;
	mem_grow(t->few, t->nfew, t->few_cap);
	t->few[t->nfew++] = h;
	o->few++;
	return true;
}

void scan_names_leave(struct scan_names *t, const struct scan_object *o)
{
	t->nfew -= o->few;
}

void scan_names_forget(struct scan_names *t)
{
	free(t->many);
	t->many = NULL;
	t->nmany = t->many_cap = t->nfew = 0;
}

void scan_names_done(struct scan_names *t)
{
	scan_names_forget(t);
	free(t->few);
	*t = (struct scan_names){0};
}
