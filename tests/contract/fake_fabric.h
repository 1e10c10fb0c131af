#ifndef TESTS_CONTRACT_FAKE_FABRIC_H
#define TESTS_CONTRACT_FAKE_FABRIC_H

#include <stdbool.h>
#include "base/loop/loop_sim.h"
#include "base/map.h"

/*
 * fake_fabric: a network driver for the simulated loop, started as FAKE_FABRIC. Speaks the protocol
 * of docs/exec-fabric.md, or violates it on request.
 */
#define FAKE_FABRIC "/fake/port-move"

struct fake_fabric {
	/* --- faults, for the requests that follow --------------------------------------------- */
	/* Never answers place and observe. */
	bool silent;
	/* Ends with status 3 instead of answering. */
	bool dies;
	/* Answers with a line that is not a reply. */
	bool garbage;
	/* Answers hello with protocol 2. */
	bool wrong_protocol;
	/* Error kind of all answers. */
	const char *error;
	/* NULL: Strong. */
	const char *proof;
	/* Answers an id that was never sent, then the right one. */
	bool unknown_id;
	/* --- results -------------------------------------------------------------------------- */
	/* Machine name -> segment. */
	struct map *segments;
	/* For example "place gpu-1 q-1 3", "observe gpu-1 3". */
	char *journal[256];
	unsigned njournal, starts, ends;
	/* ID of the newest request that was not answered because of silent. */
	int64_t held_id;
	struct loop_child *child;
};

void fake_fabric_init(struct fake_fabric *f, struct loop *l);
void fake_fabric_done(struct fake_fabric *f);

#endif
