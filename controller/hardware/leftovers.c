#include "controller/hardware/leftovers.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/clock_jumps.h"

#define LAST_TRY_MS (10 * 60 * 1000)

struct leftovers {
	struct leftovers_spec s;
	/* name of the VirtualCluster -> the entry (the owner's struct that begins with a struct
	 * leftover) */
	struct map *entries;
};

const struct virtual_cluster *leftover_cluster(const struct leftover *l)
{
	const struct virtual_cluster *vc =
		CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, l->tenant);

	return vc && str_eq(str_or(vc->meta.uid, ""), l->uid) ? vc : NULL;
}

struct leftover *leftovers_find(const struct leftovers *ls, const char *tenant)
{
	return map_get(ls->entries, tenant);
}

void leftovers_drop(struct leftovers *ls, struct leftover *l)
{
	char tenant[sizeof(l->tenant)];

	str_copy(tenant, sizeof(tenant), l->tenant);
	map_del(ls->entries, tenant);
}

struct leftover *leftovers_of(struct leftovers *ls, const struct virtual_cluster *vc)
{
	struct leftover *l = leftovers_find(ls, vc->meta.name);

	if (l && /* mutant: leftover-of-another */ str_eq(l->uid, str_or(vc->meta.uid, "")))
		return l;
	if (l && ls->s.in_progress(l))
		return NULL;
	l = ls->s.make(vc, ls->s.arg);
	l->c = ls->s.c;
	str_copy(l->tenant, sizeof(l->tenant), vc->meta.name);
	str_copy(l->uid, sizeof(l->uid), str_or(vc->meta.uid, ""));
	map_put(ls->entries, vc->meta.name, l);
	return l;
}

void leftovers_sweep(struct leftovers *ls)
{
	struct map_iter it;

	map_for_each (it, ls->entries)
		if (!leftover_cluster(it.value) && !ls->s.in_progress(it.value))
			map_del(ls->entries, it.key);
}

bool leftover_given_up(struct leftover *l, const struct virtual_cluster *vc, const char *reason,
		       const char *note)
{
	int64_t gone = vc->meta.deletion_timestamp;

	if (!ctx_may_act(l->c) ||
	    loop_wall(l->c->loop) - clock_jumps_since(l->c, gone) - gone <= LAST_TRY_MS)
		return false;
	if (!l->told)
		ctx_event(l->c, OBJECT_VIRTUAL_CLUSTER, &vc->meta, "Warning", reason, note);
	l->told = true;
	return true;
}

struct leftovers *leftovers_new(const struct leftovers_spec *s)
{
	struct leftovers *ls = mem_new(struct leftovers);

	ls->s = *s;
	ls->entries = map_new(s->free);
	return ls;
}

void leftovers_free(struct leftovers *ls)
{
	if (!ls)
		return;
	map_free(ls->entries);
	free(ls);
}
