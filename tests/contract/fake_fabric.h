#ifndef TESTS_CONTRACT_FAKE_FABRIC_H
#define TESTS_CONTRACT_FAKE_FABRIC_H

#include <stdbool.h>
#include "base/loop/loop_sim.h"
#include "base/map.h"

/*
 * fake_fabric: a network driver for the simulated loop, found as FAKE_FABRIC, that
 * speaks the protocol of docs/exec-fabric.md or, told so, something else.
 */
#define FAKE_FABRIC "/fake/port-move"

struct fake_fabric {
	/* misdeeds, for the requests that follow */
	bool silent;	     /* never answers place and observe */
	bool dies;	     /* ends with status 3 instead of answering */
	bool garbage;	     /* answers with a line that is none */
	bool wrong_protocol; /* answers hello with protocol 2 */
	const char *error;   /* kind of the error that it answers with */
	const char *proof;   /* NULL: Strong */
	bool unknown_id;     /* answers an id that was never sent, then properly */
	/* what happened */
	struct map *segments; /* of machine */
	char *journal[256];   /* "place gpu-1 q-1 3", "observe gpu-1 3" */
	unsigned njournal, starts, ends;
	int64_t held_id; /* of the newest request that a silent one did not answer */
	struct loop_child *child;
};

void fake_fabric_init(struct fake_fabric *f, struct loop *l);
void fake_fabric_done(struct fake_fabric *f);

#endif
