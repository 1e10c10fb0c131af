#ifndef CONTROLLER_CORE_WAYS_H
#define CONTROLLER_CORE_WAYS_H

#include <stdbool.h>

/*
 * ways: the current state of the API server paths of tenants (spec.network.apiServer of
 * VirtualClusters).
 *
 * Written by hardware/way_looks.h, which reads the networks; read by the code that lets machines
 * join. Only in memory: a new process knows nothing, so no machine joins because of what another
 * replica saw. On the loop thread.
 * Tests: tests/unit/controller/core/test_ways.c
 */
struct ways;
struct way_seen {
	bool up;
	/* CamelCase, static */
	const char *reason;
	char why[400];
};

struct ways *ways_new(void);
void ways_free(struct ways *w);
/* Stores what is known of a path; key: identifies the path (way_key() of controller/rules/way.h).
 * Returns true if that differs from what was known. */
bool ways_put(struct ways *w, const char *tenant, const char *key, const struct way_seen *seen);
void ways_forget(struct ways *w, const char *tenant);
/* Returns what is known of the path; NULL: not observed yet. */
const struct way_seen *ways_get(const struct ways *w, const char *tenant, const char *key);

#endif
