#ifndef CONTROLLER_CORE_WAYS_H
#define CONTROLLER_CORE_WAYS_H

#include <stdbool.h>

/*
 * ways: what is known just now of the ways to tenants' API servers (spec.network.apiServer of
 * VirtualClusters).
 *
 * Filled by whoever asks the networks (hardware/way_looks.h), read by whoever lets machines join.
 * It is in memory alone: a replica that begins knows nothing, and no machine joins by what another
 * one saw. On the loop thread.
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
/* key: which way it is (way_key() of controller/rules/way.h). True: what is known of it is another
 * now. */
bool ways_put(struct ways *w, const char *tenant, const char *key, const struct way_seen *seen);
void ways_forget(struct ways *w, const char *tenant);
/* NULL: that way was not looked at yet. */
const struct way_seen *ways_get(const struct ways *w, const char *tenant, const char *key);

#endif
