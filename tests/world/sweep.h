#ifndef TESTS_WORLD_SWEEP_H
#define TESTS_WORLD_SWEEP_H

#include "tests/world/world.h"

/*
 * sweep: repeats one scenario (the trip). In each run another request or effect, selected by its
 * number, meets a fault:
 *
 *   fails          the receiver never gets it
 *   times out      it happens, but its answer never arrives
 *   reply lost     it happens, but the connection breaks before the answer
 *   twice          it happens twice
 *   killed before  it does not happen, and the leader dies
 *   killed after   it happens, and the leader dies
 *
 * Each trip must end as it ends without a fault.
 */
struct sweep {
	uint64_t seed;
	unsigned servers;
	/* True: faults meet only effects (requests that change something, see world.h). False: all
	 * requests. */
	bool by_effect;
	/* Step from one number to the next that is tried; WORLD_EVERY in the environment overrides
	 * it. */
	unsigned every;
	/* Called once the world has started; NULL: nothing to prepare. */
	void (*prepare)(struct sim_world *w, uint64_t at);
	void (*trip)(struct sim_world *w);
};

/* Runs all trips. Returns the number of trips in which the fault occurred. The test fails at the
 * first trip that does not end well. */
unsigned sweep_run(const struct sweep *s);

#endif
