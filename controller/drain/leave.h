#ifndef CONTROLLER_DRAIN_LEAVE_H
#define CONTROLLER_DRAIN_LEAVE_H

#include "controller/core/context.h"

/*
 * leave: how and why a machine leaves its tenant, and whose pods are evicted for it.
 * Tests: tests/world/test_drain.c
 */
struct tenant;

struct leave {
	/* LEAVE_* of api/annotations.h; NULL: the machine does not leave */
	const char *reason;
	const char *drain;
	enum drain_then then;
	/* name of the Drain that set `then`; NULL: the Drain in `drain` */
	const char *then_by;
	/* wall ms after which drover no longer waits for the pods; 0: no deadline */
	int64_t deadline;
	/* name of the Drain that set the deadline; NULL: the Drain in `drain`, or the claim */
	const char *deadline_by;
	/* True: at the deadline the drain ends and the machine continues to serve. False: at the
	 * deadline the machine is switched off. */
	bool stop;
	/* True: does not wait for pods at all */
	bool now;
	/* True: the machine leaves only while no pods run on it; a new pod makes it stay */
	bool quietly;
	/* How the drain treats checkpoints. LEAVE_SAVED: a pod that does not report its checkpoint
	 * as done ends the drain, and the machine serves on. LEAVE_UNSAVED: no checkpoint is
	 * requested. */
	enum leave_saves { LEAVE_SAVES_IN_TIME, LEAVE_SAVED, LEAVE_UNSAVED } saves;
};

/* Arguments of evict_new() and checkpoint_new(). */
struct leave_of {
	struct context *c;
	struct tenant *t;
	/* node: name of the Node; machine: name of the Machine, for events */
	const char *node, *machine;
	/* Called after the answer to a request, so that the caller evaluates the drain again.
	 * changed() must defer its work. */
	void (*changed)(void *arg);
	void *arg;
};

#endif
