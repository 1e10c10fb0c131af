#include "controller/core/api_paths.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

/* api_paths: one entry per tenant with the observed state of the network path from the tenant's
 * machines to its API server. An entry counts only while the settings of that path (known.key) are
 * the same as at the observation.
 * Tests: tests/unit/controller/core/test_api_paths.c */

struct api_paths {
	/* name of the VirtualCluster -> struct known_path */
	struct map *known;
};

struct known_path {
	/* identifies the observed network path from the tenant's machines to its API server
	 * (api_path_key(), controller/rules/api_path.h) */
	char *key;
	struct api_path_state seen;
};

static void known_free(void *p)
{
	struct known_path *k = p;

	free(k->key);
	free(k);
}

struct api_paths *api_paths_new(void)
{
	struct api_paths *w = mem_new(struct api_paths);

	w->known = map_new(known_free);
	return w;
}

void api_paths_free(struct api_paths *w)
{
	if (!w)
		return;
	map_free(w->known);
	free(w);
}

const struct api_path_state *api_paths_get(const struct api_paths *w, const char *tenant,
					   const char *key)
{
	const struct known_path *k = map_get(w->known, tenant);

	return k && str_eq(k->key, key) ? &k->seen : NULL;
}

bool api_paths_put(struct api_paths *w, const char *tenant, const char *key,
		   const struct api_path_state *seen)
{
	const struct api_path_state *was = api_paths_get(w, tenant, key);
	struct known_path *k;

	if (was && was->up == seen->up && str_eq(was->reason, seen->reason) &&
	    str_eq(was->why, seen->why))
		return false;
	map_del(w->known, tenant);
	k = mem_new(struct known_path);
	k->key = mem_strdup(key);
	k->seen = *seen;
	map_put(w->known, tenant, k);
	return true;
}

void api_paths_forget(struct api_paths *w, const char *tenant)
{
	map_del(w->known, tenant);
}
