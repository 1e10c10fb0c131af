#ifndef CONTROLLER_DRAIN_LEAVE_H
#define CONTROLLER_DRAIN_LEAVE_H

#include "controller/core/context.h"

/*
 * leave: how a machine leaves its tenant, and whose pods have to go for it.
 * Tests: tests/world/test_drain.c
 */
struct tenant;

struct leave {
	const char *reason; /* LEAVE_* of api/annotations.h; NULL: it stays */
	const char *drain;
	enum drain_then then;
	const char *then_by; /* the Drain that wants this `then`; NULL: `drain` */
	int64_t deadline;    /* wall ms when its pods are not waited for any more; 0: never */
	const char *
		deadline_by; /* the Drain whose deadline it is; NULL: of `drain`, or of the claim */
	bool stop; /* at the deadline it is let in peace and serves on, instead of being switched off */
	bool now;     /* pods are not waited for at all */
	bool quietly; /* only while nothing runs on it: a pod that comes lets it stay */
};

/* For evict_new() and checkpoint_new(). */
struct leave_of {
	struct context *c;
	struct tenant *t;
	const char *node, *machine; /* machine: for events */
	void (*changed)(void *arg); /* an answer came: look again; deferred by the callee */
	void *arg;
};

#endif
