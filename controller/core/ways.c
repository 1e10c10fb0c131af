#include "controller/core/ways.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

/* ways: one entry per tenant with the observed state of the network path from the tenant's machines
 * to its API server. An entry counts only while the settings of that path (known.key) are the same
 * as at the observation.
 * Tests: tests/unit/controller/core/test_ways.c */

struct ways {
	/* name of the VirtualCluster -> struct known */
	struct map *known;
};

struct known {
	/* identifies the observed network path from the tenant's machines to its API server
	 * (way_key(), controller/rules/way.h) */
	char *key;
	struct way_seen seen;
};

static void known_free(void *p)
{
	struct known *k = p;

	free(k->key);
	free(k);
}

struct ways *ways_new(void)
{
	struct ways *w = mem_new(struct ways);

	w->known = map_new(known_free);
	return w;
}

void ways_free(struct ways *w)
{
	if (!w)
		return;
	map_free(w->known);
	free(w);
}

const struct way_seen *ways_get(const struct ways *w, const char *tenant, const char *key)
{
	const struct known *k = map_get(w->known, tenant);

	return k && str_eq(k->key, key) ? &k->seen : NULL;
}

bool ways_put(struct ways *w, const char *tenant, const char *key, const struct way_seen *seen)
{
	const struct way_seen *was = ways_get(w, tenant, key);
	struct known *k;

	if (was && was->up == seen->up && str_eq(was->reason, seen->reason) &&
	    str_eq(was->why, seen->why))
		return false;
	map_del(w->known, tenant);
	k = mem_new(struct known);
	k->key = mem_strdup(key);
	k->seen = *seen;
	map_put(w->known, tenant, k);
	return true;
}

void ways_forget(struct ways *w, const char *tenant)
{
	map_del(w->known, tenant);
}
