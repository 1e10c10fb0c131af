#ifndef CONTROLLER_TENANT_RETOLD_H
#define CONTROLLER_TENANT_RETOLD_H

#include "base/loop/loop.h"

/*
 * retold: pods and Nodes of a tenant that the planner is to see anew, for what they refer to has
 * changed: each once, however often it was marked, some in each turn of the loop.
 *
 * Changes come in bursts, so what is marked is told a moment later. On the loop thread.
 * Tests: tests/unit/controller/tenant/test_volumes.c, tests/unit/controller/tenant/test_devices.c,
 * tests/unit/controller/tenant/test_pod_groups.c
 */
struct retold;
struct retold_hooks {
	/* before any of them are told */
	void (*turn)(void *arg);
	void (*pod)(const char *ns, const char *name, void *arg);
	/* NULL: Nodes are never marked */
	void (*node)(const char *name, void *arg);
	void *arg;
};
struct retold *retold_new(struct loop_group *g, const struct retold_hooks *hooks);
void retold_free(struct retold *r);
/* none is marked any more */
void retold_clear(struct retold *r);

/* "NAMESPACE/POD" */
void retold_pod(struct retold *r, const char *key);
void retold_node(struct retold *r, const char *name);
/* a turn at once, whether anything is marked or not */
void retold_soon(struct retold *r);

#endif
