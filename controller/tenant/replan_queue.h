#ifndef CONTROLLER_TENANT_REPLAN_QUEUE_H
#define CONTROLLER_TENANT_REPLAN_QUEUE_H

#include "base/loop/loop.h"

/*
 * replan_queue: collects the pods and Nodes of a tenant that must be passed to the planner again
 * , because an object that they refer to changed. Changes come in bursts, so the marked
 * names are passed on after a short delay, some names per loop turn. Each name is passed once,
 * however often it was marked.
 *
 * On the loop thread.
 * Tests: tests/unit/controller/tenant/test_volumes.c, tests/unit/controller/tenant/test_devices.c,
 * tests/unit/controller/tenant/test_pod_groups.c
 */
struct replan_queue;
struct replan_queue_hooks {
	/* called at the beginning of each turn, before pod() and node() */
	void (*turn)(void *arg);
	void (*pod)(const char *ns, const char *name, void *arg);
	/* may be NULL if Nodes are never marked */
	void (*node)(const char *name, void *arg);
	void *arg;
};
struct replan_queue *replan_queue_new(struct loop_group *g, const struct replan_queue_hooks *hooks);
void replan_queue_free(struct replan_queue *r);
/* Forgets all marked names. */
void replan_queue_clear(struct replan_queue *r);

/* replan_queue_pod() and replan_queue_node() mark a pod (key: "NAMESPACE/POD") or a Node. */
void replan_queue_pod(struct replan_queue *r, const char *key);
void replan_queue_node(struct replan_queue *r, const char *name);
/* Schedules a turn without delay, even if no name is marked. */
void replan_queue_soon(struct replan_queue *r);

#endif
