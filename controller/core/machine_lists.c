#include "controller/core/machine_lists.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/finalizer.h"

struct machine_lists {
	/* Key: name of a Machine; value: not used */
	struct map *on[MACHINE_LISTS];
};

struct machine_lists *machine_lists_new(void)
{
	struct machine_lists *x = mem_new(struct machine_lists);

	for (int i = 0; i < MACHINE_LISTS; i++)
		x->on[i] = map_new(NULL);
	return x;
}

void machine_lists_free(struct machine_lists *x)
{
	if (!x)
		return;
	for (int i = 0; i < MACHINE_LISTS; i++)
		map_free(x->on[i]);
	free(x);
}

static bool belongs(enum machine_list list, const struct machine *m)
{
	switch (list) {
	case MACHINES_FAILED:
		return m->status.failures.n;
	case MACHINES_SPARE:
		return m->status.warm_for ||
		       str_eq(m->status.state, machine_state_info[MACHINE_FREE].name);
	case MACHINES_KNOWN:
		return !m->status.state ||
		       str_eq(m->status.state, machine_state_info[MACHINE_KNOWN].name);
	case MACHINES_PROVISIONED:
		return finalizer_is_on(&m->meta.finalizers, FINALIZER_PROVISIONED);
	case MACHINE_LISTS:
		break;
	}
	return false;
}

bool machine_lists_put(struct machine_lists *x, const char *name, const struct machine *m)
{
	bool changed = false;

	for (enum machine_list i = 0; i < MACHINE_LISTS; i++) {
		const bool is = m && belongs(i, m), was = map_has(x->on[i], name);

		if (is && !was)
			map_put(x->on[i], name, x);
		else if (!is && was)
			map_del(x->on[i], name);
		changed |= is != was;
	}
	return changed;
}

void machine_lists_each(const struct context *c, enum machine_list list,
			bool (*fn)(const struct machine *m, void *arg), void *arg)
{
	struct map_iter it;

	map_for_each (it, c->machine_lists->on[list]) {
		const struct machine *m = CTX_GET(c, OBJECT_MACHINE, machine, it.key);

		if (m && !fn(m, arg))
			break;
	}
}
