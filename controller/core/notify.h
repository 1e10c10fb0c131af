#ifndef CONTROLLER_CORE_NOTIFY_H
#define CONTROLLER_CORE_NOTIFY_H

/*
 * notify: lets lower layers report a change without knowing who acts on it.
 *
 * controller/controller.c is the subscriber. It only marks objects and defers the work, so the
 * caller of notify() is never called back before notify() returns. On the loop thread.
 * Tests: tests/world/test_review.c, tests/world/test_drain.c
 */
struct context;

enum notice {
	/* Machine `name` must be reconciled again; name NULL: all Machines */
	NOTICE_MACHINE,
	/* the planner may now use Machine `name`, or may no longer use it */
	NOTICE_OFFER,
	/* all Machines of VirtualCluster `name` must be reconciled again */
	NOTICE_TENANT,
	/* NodeClaim `name` must be reconciled again */
	NOTICE_CLAIM,
	/* the status of NodePools, Providers or VirtualClusters (queued pods, cost, usage) may have
	 * to be written */
	NOTICE_POOL,
};

/* Reports a change to the subscriber. `name` is valid only during the call. Does nothing if nobody
 * subscribed (tests of one module). */
void notify(const struct context *c, enum notice what, const char *name);

#endif
