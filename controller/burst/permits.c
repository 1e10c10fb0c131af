/* permits: stores the permits by work (a pod or a gang); each piece of work has at most one
 * permit. */
#include "controller/burst/permits.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/rules/claim.h"

#define MARK "/permit/" /* Part of the name of each machine of a permit */

struct kept_permit {
	struct permit it;
	struct arena *arena;
	bool planned, used;
};

struct permits {
	/* Key: id of a permit; value: struct kept_permit */
	struct map *map;
	void (*changed)(const struct permit *p, void *arg);
	void *arg;
};

static const char *id_of(const char *tenant, const char *work, bool gang, struct arena *a)
{
	return arena_printf(a, "%s/%s/%s", tenant, gang ? "gang" : "pod", work);
}

static void kept_free(void *p)
{
	struct kept_permit *k = p;

	arena_free(k->arena);
	free(k);
}

static void copy(struct permit *to, const struct permit *p, struct arena *a)
{
	const char **texts[] = {&to->tenant,
				&to->work,
				&to->provider,
				&to->type,
				&to->burst.policy_ref.name,
				&to->burst.policy_ref.uid,
				&to->burst.work,
				&to->burst.workload,
				&to->burst.region,
				&to->burst.zone,
				&to->burst.currency};
	struct permit_pod *pods = arena_calloc(a, p->npods + 1, sizeof(*pods));

	*to = *p;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		*texts[i] = arena_strdup(a, *texts[i]);
	for (size_t i = 0; i < p->npods; i++)
		pods[i] = (struct permit_pod){arena_strdup(a, p->pods[i].ns),
					      arena_strdup(a, p->pods[i].name)};
	to->pods = pods;
}

/* Returns a UID for the gang of permit p, in the arena. It is different for each decision, because
 * gangs.c counts the claims of one decision by this UID. */
static const char *gang_uid(const struct permit *p, struct arena *a)
{
	return claim_gang_uid(
		p->tenant, arena_printf(a, "%s\n%lld", p->work, (long long)p->burst.decided_time),
		a);
}

void permits_add(struct permits *s, const struct permit *p, bool gang)
{
	struct kept_permit *k = mem_new(struct kept_permit);

	k->arena = arena_new();
	copy(&k->it, p, k->arena);
	k->it.id = id_of(p->tenant, p->work, gang, k->arena);
	k->it.gang.uid = gang ? gang_uid(&k->it, k->arena) : NULL;
	map_put(s->map, k->it.id, k);
	s->changed(&k->it, s->arg);
}

static const struct permit *find(const struct permits *s, const char *tenant, const char *work,
				 bool gang)
{
	OWN(arena) a = arena_new();
	const struct kept_permit *k = map_get(s->map, id_of(tenant, work, gang, a));

	return k ? &k->it : NULL;
}

bool permits_has(const struct permits *s, const char *tenant, const char *work, bool gang)
{
	return find(s, tenant, work, gang);
}

const struct permit *permits_of_pod(const struct permits *s, const struct world_pod *p)
{
	OWN(arena) a = NULL;

	if (!map_size(s->map))
		return NULL;
	if (p->gang.key)
		return find(s, p->tenant, p->gang.key, true);
	a = arena_new();
	return find(s, p->tenant, arena_printf(a, "%s/%s", p->ns, p->name), false);
}

static struct kept_permit *of_machine(const struct permits *s, const char *machine)
{
	OWN(arena) a = arena_new();
	const char *mark = machine ? strstr(machine, MARK) : NULL;
	char *id = mark ? arena_strdup(a, mark + strlen(MARK)) : NULL,
	     *number = id ? strrchr(id, '/') : NULL;

	if (!number)
		return NULL;
	*number = '\0';
	return map_get(s->map, id);
}

const struct permit *permits_of_machine(const struct permits *s, const char *machine)
{
	const struct kept_permit *k = of_machine(s, machine);

	return k ? &k->it : NULL;
}

bool permits_is(const char *machine)
{
	return machine && strstr(machine, MARK);
}

const char *permits_machine(const struct permit *p, int64_t i, struct arena *a)
{
	return arena_printf(a, "%s/%s" MARK "%s/%lld", p->provider, p->type, p->id, (long long)i);
}

void permits_each(const struct permits *s, void (*fn)(const struct permit *p, void *arg), void *arg)
{
	struct map_iter it;

	map_for_each (it, s->map)
		fn(&((struct kept_permit *)it.value)->it, arg);
}

void permits_used(struct permits *s, const char *machine)
{
	struct kept_permit *k = of_machine(s, machine);

	if (k)
		k->used = true;
}

void permits_count(struct permits *s, const char *machine)
{
	struct kept_permit *k = of_machine(s, machine);

	if (k)
		k->it.gang.size++;
}

void permits_begin(struct permits *s)
{
	struct map_iter it;

	map_for_each (it, s->map)
		((struct kept_permit *)it.value)->planned = true;
}

/* Removes the permit from the map before calling changed(), which looks up permits. */
static void drop(struct permits *s, struct kept_permit *k)
{
	(void)map_take(s->map, k->it.id);
	s->changed(&k->it, s->arg);
	kept_free(k);
}

void permits_end(struct permits *s, void (*over)(const struct permit *p, bool used, void *arg),
		 void *arg)
{
	struct map_iter it;

	map_for_each (it, s->map) {
		struct kept_permit *k = it.value;

		if (!k->planned)
			continue;
		over(&k->it, k->used, arg);
		drop(s, k);
	}
}

void permits_clear(struct permits *s)
{
	struct map_iter it;

	map_for_each (it, s->map)
		drop(s, it.value);
}

struct permits *permits_new(void (*changed)(const struct permit *p, void *arg), void *arg)
{
	struct permits *s = mem_new(struct permits);

	*s = (struct permits){.map = map_new(kept_free), .changed = changed, .arg = arg};
	return s;
}

void permits_free(struct permits *s)
{
	if (!s)
		return;
	map_free(s->map);
	free(s);
}
