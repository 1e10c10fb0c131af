#ifndef CONTROLLER_DRAIN_LEAVE_H
#define CONTROLLER_DRAIN_LEAVE_H

#include "controller/core/context.h"

/*
 * leave: how and why a machine leaves its tenant, and whose pods are evicted for it.
 * Tests: tests/world/test_drain.c
 */
struct tenant;

struct leave {
	/* LEAVE_* of api/annotations.h; NULL: the machine stays */
	const char *reason;
	const char *drain;
	enum drain_then then;
	/* Drain that set `then`; NULL: the one in `drain` */
	const char *then_by;
	/* wall ms after which drover no longer waits for the pods; 0: never */
	int64_t deadline;
	/* Drain that set the deadline; NULL: the one in `drain`, or the claim */
	const char *deadline_by;
	/* at the deadline the drain ends and the machine continues to serve, instead of being
	 * switched off */
	bool stop;
	/* does not wait for pods at all */
	bool now;
	/* only while no pods run on it: a new pod makes the machine stay */
	bool quietly;
};

/* Arguments of evict_new() and checkpoint_new(). */
struct leave_of {
	struct context *c;
	struct tenant *t;
	/* machine: name of the Machine, for events */
	const char *node, *machine;
	/* Called after an answer: evaluate again. The callback must defer its work. */
	void (*changed)(void *arg);
	void *arg;
};

#endif
