#ifndef CONTROLLER_TENANT_RETOLD_H
#define CONTROLLER_TENANT_RETOLD_H

#include "base/loop/loop.h"

/*
 * retold: collects the pods and Nodes of a tenant that must be passed to the planner again
 * ("retold"), because an object that they refer to changed. Changes come in bursts, so the marked
 * names are passed on after a short delay, some names per loop turn. Each name is passed once,
 * however often it was marked.
 *
 * On the loop thread.
 * Tests: tests/unit/controller/tenant/test_volumes.c, tests/unit/controller/tenant/test_devices.c,
 * tests/unit/controller/tenant/test_pod_groups.c
 */
struct retold;
struct retold_hooks {
	/* called at the beginning of each turn, before pod() and node() */
	void (*turn)(void *arg);
	void (*pod)(const char *ns, const char *name, void *arg);
	/* may be NULL if Nodes are never marked */
	void (*node)(const char *name, void *arg);
	void *arg;
};
struct retold *retold_new(struct loop_group *g, const struct retold_hooks *hooks);
void retold_free(struct retold *r);
/* Forgets all marked names. */
void retold_clear(struct retold *r);

/* retold_pod() and retold_node() mark a pod (key: "NAMESPACE/POD") or a Node. */
void retold_pod(struct retold *r, const char *key);
void retold_node(struct retold *r, const char *name);
/* Schedules a turn without delay, even if no name is marked. */
void retold_soon(struct retold *r);

#endif
