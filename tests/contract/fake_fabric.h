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
	/* never answers place and observe */
	bool silent;
	/* ends with status 3 instead of answering */
	bool dies;
	/* answers with a line that is none */
	bool garbage;
	/* answers hello with protocol 2 */
	bool wrong_protocol;
	/* kind of the error that it answers with */
	const char *error;
	/* NULL: Strong */
	const char *proof;
	/* answers an id that was never sent, then properly */
	bool unknown_id;
	/* what happened */
	/* of machine */
	struct map *segments;
	/* "place gpu-1 q-1 3", "observe gpu-1 3" */
	char *journal[256];
	unsigned njournal, starts, ends;
	/* of the newest request that a silent one did not answer */
	int64_t held_id;
	struct loop_child *child;
};

void fake_fabric_init(struct fake_fabric *f, struct loop *l);
void fake_fabric_done(struct fake_fabric *f);

#endif
