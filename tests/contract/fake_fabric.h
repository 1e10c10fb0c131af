#ifndef TESTS_CONTRACT_FAKE_FABRIC_H
#define TESTS_CONTRACT_FAKE_FABRIC_H

#include <stdbool.h>
#include "tests/simulated/loop_sim.h"
#include "base/map.h"

/*
 * fake_fabric: a network driver on the simulated loop, started as FAKE_FABRIC. It speaks the
 * protocol of docs/exec-fabric.md, or violates it if a fault is set.
 */
#define FAKE_FABRIC "/fake/port-move"

struct fake_fabric {
	/* --- faults of the next requests ------------------------------------------------------ */
	/* True: place and observe are never answered */
	bool silent;
	/* True: the driver ends with status 3 instead of answering */
	bool dies;
	/* True: the answer is a line that is no reply */
	bool garbage;
	/* True: hello is answered with protocol 2 */
	bool wrong_protocol;
	/* Kind of the error in all answers; NULL: none */
	const char *error;
	/* Proof in all answers; NULL: Strong */
	const char *proof;
	/* True: an answer with an id that was never sent comes before the right one */
	bool unknown_id;
	/* --- results -------------------------------------------------------------------------- */
	/* Segment of each machine, by its name */
	struct map *segments;
	/* Requests received, such as "place gpu-1 q-1 3" or "observe gpu-1 3" */
	char *journal[256];
	unsigned njournal, starts, ends;
	/* ID of the newest request that was not answered because of `silent` */
	int64_t held_id;
	struct loop_child *child;
};

void fake_fabric_init(struct fake_fabric *f, struct loop *l);
void fake_fabric_done(struct fake_fabric *f);

#endif
