#ifndef CONTROLLER_CORE_WAYS_H
#define CONTROLLER_CORE_WAYS_H

#include <stdbool.h>

/*
 * ways: the observed state of each tenant's "way", the network path from the tenant's machines to
 * the tenant's API server (spec.network.apiServer of the VirtualCluster).
 *
 * Written by hardware/way_looks.h, which reads the networks; read by the code that lets machines
 * join. Only in memory: a new process has observed no path, so no machine joins because of what
 * another replica saw. On the loop thread.
 * Tests: tests/unit/controller/core/test_ways.c
 */
struct ways;
struct way_seen {
	bool up;
	/* machine-readable reason in CamelCase; a static string */
	const char *reason;
	char why[400];
};

struct ways *ways_new(void);
void ways_free(struct ways *w);
/* Stores the observed state of a tenant's path. key: identifies the path (way_key() of
 * controller/rules/way.h). Returns true if the state differs from the stored one. */
bool ways_put(struct ways *w, const char *tenant, const char *key, const struct way_seen *seen);
void ways_forget(struct ways *w, const char *tenant);
/* Returns the observed state of the tenant's path `key`; NULL: not observed yet. */
const struct way_seen *ways_get(const struct ways *w, const char *tenant, const char *key);

#endif
