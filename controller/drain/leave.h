#ifndef CONTROLLER_DRAIN_LEAVE_H
#define CONTROLLER_DRAIN_LEAVE_H

#include "controller/core/context.h"

/*
 * leave: how a machine leaves its tenant, and whose pods have to go for it.
 * Tests: tests/world/test_drain.c
 */
struct tenant;

struct leave {
	/* LEAVE_* of api/annotations.h; NULL: it stays */
	const char *reason;
	const char *drain;
	enum drain_then then;
	/* the Drain that wants this `then`; NULL: `drain` */
	const char *then_by;
	/* wall ms when its pods are not waited for any more; 0: never */
	int64_t deadline;
	/* the Drain whose deadline it is; NULL: of `drain`, or of the claim */
	const char *deadline_by;
	/* at the deadline it is let in peace and serves on, instead of being switched off */
	bool stop;
	/* pods are not waited for at all */
	bool now;
	/* only while nothing runs on it: a pod that comes lets it stay */
	bool quietly;
};

/* For evict_new() and checkpoint_new(). */
struct leave_of {
	struct context *c;
	struct tenant *t;
	/* machine: for events */
	const char *node, *machine;
	/* an answer came: look again; deferred by the callee */
	void (*changed)(void *arg);
	void *arg;
};

#endif
