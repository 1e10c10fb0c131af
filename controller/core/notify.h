#ifndef CONTROLLER_CORE_NOTIFY_H
#define CONTROLLER_CORE_NOTIFY_H

/*
 * notify: how a lower room tells that something changed, without knowing who acts on it.
 *
 * The composition (controller/controller.c) subscribes. It marks and defers: nothing is called back
 * into the room that is in the middle of its own work. On the loop thread.
 * Tests: tests/world/test_review.c, tests/world/test_drain.c
 */
struct context;

enum notice {
	/* look at this Machine again; name NULL: at all */
	NOTICE_MACHINE,
	/* whether this Machine may be planned with has changed */
	NOTICE_OFFER,
	/* look at the Machines again that this VirtualCluster concerns */
	NOTICE_TENANT,
	/* look at this NodeClaim again */
	NOTICE_CLAIM,
	/* the status of pools, or of tenants' pods, may have to be written */
	NOTICE_POOL,
};

/* name is valid during the call alone. Without a subscriber nothing happens: a part that runs alone
 * in a test. */
void notify(const struct context *c, enum notice what, const char *name);

#endif
