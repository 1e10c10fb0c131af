#ifndef CONTROLLER_HARDWARE_LEFTOVERS_H
#define CONTROLLER_HARDWARE_LEFTOVERS_H

#include "controller/core/context.h"

/*
 * leftovers: what networks made for VirtualClusters, and owe to remove: one entry for each, by name
 * and UID.
 *
 * A VirtualCluster that is deleted and made again under its name is another one: nothing that is
 * known of the first counts for the second. An entry whose call is under way stays until that has
 * ended, as the answer comes to it; the second waits for that.
 *
 * 10 min after a deletion what is owed is given up with an event, so that a network's controller
 * that is gone keeps no VirtualCluster. The time runs as deadlines do: not over a jump of the clock
 * (core/clock_jumps.h), and not while the clock disagrees with the host's (core/host_clock.h).
 *
 * On the loop thread.
 * Tests: tests/unit/controller/hardware/test_leftovers.c, tests/world/test_way.c
 */
/* the first member of what its owner keeps of it */
struct leftover {
	struct context *c;
	char tenant[254], uid[64];
	/* given up */
	bool told;
};
struct leftovers_spec {
	struct context *c;
	/* All but the first member; takes nothing. */
	struct leftover *(*make)(const struct virtual_cluster *vc, void *arg);
	/* is a call of it? */
	bool (*under_way)(const struct leftover *l);
	void (*free)(void *l);
	void *arg;
};
struct leftovers;
struct leftovers *leftovers_new(const struct leftovers_spec *s);
void leftovers_free(struct leftovers *ls);

/* The entry of this VirtualCluster, which is made where there is none. NULL: the call of an earlier
 * one of its name is under way. */
struct leftover *leftovers_of(struct leftovers *ls, const struct virtual_cluster *vc);
/* Of whichever had that name last; NULL: none. */
struct leftover *leftovers_find(const struct leftovers *ls, const char *tenant);
void leftovers_drop(struct leftovers *ls, struct leftover *l);
/* All whose VirtualCluster is gone, but for those with a call under way. */
void leftovers_sweep(struct leftovers *ls);

/* Its VirtualCluster; NULL: it is gone, or another one by now. */
const struct virtual_cluster *leftover_cluster(const struct leftover *l);
/* May what it owes be forgotten?  reason and note: the event that says so. */
bool leftover_given_up(struct leftover *l, const struct virtual_cluster *vc, const char *reason,
		       const char *note);

#endif
