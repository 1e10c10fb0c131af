#include "tests/world/gang_rule.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "tests/world/world.h"

#define SIZE "drover.dev/gang-size"
#define NAME "drover.dev/gang"
#define LOOK_MS 1000

struct tally {
	unsigned size, there, by_claims;
};

struct look {
	struct sim_world *w;
	const struct cluster *cluster;
	struct arena *a;
	/* UIDs of the pods that claims name; NULL: the claims were not read yet. */
	struct map *claimed;
	/* CLUSTER/GANG -> struct tally. */
	struct map *gangs;
};

static bool take_claim(const json_t *claim, void *arg)
{
	struct look *k = arg;
	json_t *uid;
	size_t i;

	json_array_foreach (json_at(claim, "spec", "pods"), i, uid)
		map_put(k->claimed, json_string_value(uid), k);
	return true;
}

static bool is_claimed(struct look *k, const char *uid)
{
	if (!k->claimed) {
		k->claimed = map_new(NULL);
		cluster_each(&k->w->host, "nodeclaims.drover.dev/", take_claim, k);
	}
	return map_has(k->claimed, uid);
}

static bool take_pod(const struct store_entry *en, void *arg)
{
	struct look *k = arg;
	const char *gang, *size;
	struct tally *t;
	struct err e;

	if (!memmem(en->value, en->value_len, SIZE, strlen(SIZE)))
		return true; /* cheap filter: most worlds have no gang, so no pod is parsed */
	OWN_JSON pod = json_parse(en->value, en->value_len, &e);
	gang = json_str_at(pod, "metadata", "annotations", NAME);
	size = json_str_at(pod, "metadata", "annotations", SIZE);
	if (!gang || !size)
		return true;
	gang = arena_printf(k->a, "%s/%s", k->cluster->name, gang);
	t = map_get(k->gangs, gang);
	if (!t) {
		t = arena_new_obj(k->a, struct tally);
		map_put(k->gangs, gang, t);
	}
	t->size = (unsigned)strtoul(size, NULL, 10);
	if (is_claimed(k, json_str_at(pod, "metadata", "uid")))
		t->by_claims++, t->there++;
	else if (json_at(pod, "spec", "nodeName"))
		t->there++;
	return true;
}

static struct gang_seen *seen(struct gang_rule *r, const char *name)
{
	for (unsigned i = 0; i < r->n; i++)
		if (str_eq(r->v[i].name, name))
			return &r->v[i];
	if (r->n == sizeof(r->v) / sizeof(r->v[0]))
		return NULL;
	str_copy(r->v[r->n].name, sizeof(r->v[0].name), name);
	return &r->v[r->n++];
}

static bool judge(struct sim_world *w, const char *name, const struct tally *t,
		  char why[static 200])
{
	struct gang_seen *g = seen(&w->gangs, name);
	int64_t now = loop_now(w->loop);

	if (!g)
		return true;
	g->begun |= t->there >= t->size;
	if (g->begun || !t->by_claims) {
		g->in_part_since = 0;
		return true;
	}
	if (!g->in_part_since)
		g->in_part_since = now;
	if (now - g->in_part_since <= GANG_RULE_LIMIT_MS)
		return true;
	str_format(why, 200, "gang %.100s holds machines for %u of %u pods for %lld s", name,
		   t->there, t->size, (long long)(now - g->in_part_since) / 1000);
	return false;
}

static bool look(struct sim_world *w, char why[static 200])
{
	OWN(arena) a = arena_new();
	struct look k = {.w = w, .a = a, .gangs = map_new(NULL)};
	struct map_iter it;
	bool well = true;

	w->gangs.looked_at = loop_now(w->loop);
	for (int i = 0; i < 2; i++) {
		k.cluster = &w->tenants[i];
		store_list(k.cluster->store, "pods/", NULL, 0, take_pod, &k);
	}
	map_for_each (it, k.gangs)
		well = well && judge(w, it.key, it.value, why);
	map_free(k.gangs);
	map_free(k.claimed);
	return well;
}

bool gang_rule_look(struct sim_world *w, char why[static 200])
{
	return loop_now(w->loop) - w->gangs.looked_at < LOOK_MS || look(w, why);
}
