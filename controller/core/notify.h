#ifndef CONTROLLER_CORE_NOTIFY_H
#define CONTROLLER_CORE_NOTIFY_H

/*
 * notify: lets lower layers report a change without knowing who acts on it.
 *
 * controller/controller.c subscribes. It only marks objects and defers the work: the part that
 * calls notify() is never called back before it returns. On the loop thread.
 * Tests: tests/world/test_review.c, tests/world/test_drain.c
 */
struct context;

enum notice {
	/* reconcile this Machine again; name NULL: all Machines */
	NOTICE_MACHINE,
	/* whether the planner may use this Machine has changed */
	NOTICE_OFFER,
	/* reconcile all Machines of this VirtualCluster again */
	NOTICE_TENANT,
	/* reconcile this NodeClaim again */
	NOTICE_CLAIM,
	/* the status of pools or the conditions of tenants' pods may need a write */
	NOTICE_POOL,
};

/* Reports the change to the subscriber. name is valid only during the call. Does nothing without a
 * subscriber (a module alone in a test). */
void notify(const struct context *c, enum notice what, const char *name);

#endif
