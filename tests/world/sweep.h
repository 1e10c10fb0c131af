#ifndef TESTS_WORLD_SWEEP_H
#define TESTS_WORLD_SWEEP_H

#include "tests/world/world.h"

/*
 * sweep: one trip of machines, gone through again and again; each time another
 * request, or another external effect, meets a fate:
 *
 *	fails          nobody got it
 *	times out      it happens, and its answer never comes
 *	reply lost     it happens, and the connection breaks before its answer
 *	twice          it happens twice
 *	killed before  it does not happen, and the leader dies
 *	killed after   it happens, and the leader dies
 *
 * A trip must end in each of them as it ends in a good world.
 */
struct sweep {
	uint64_t seed;
	unsigned servers;
	/* effects (world.h) meet their fate, not all requests */
	bool by_effect;
	/* each such one; WORLD_EVERY in the environment is stronger */
	unsigned every;
	/* once the world has started; NULL: nothing */
	void (*prepare)(struct sim_world *w, uint64_t at);
	void (*trip)(struct sim_world *w);
};

/* How many met their fate.  The test fails at the first trip that does not end well. */
unsigned sweep_run(const struct sweep *s);

#endif
