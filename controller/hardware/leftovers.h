#ifndef CONTROLLER_HARDWARE_LEFTOVERS_H
#define CONTROLLER_HARDWARE_LEFTOVERS_H

#include "controller/core/context.h"

/*
 * leftovers: entries for what a network backend created for a VirtualCluster and has to remove when
 * the VirtualCluster is deleted. One entry per VirtualCluster, identified by name and UID.
 *
 * A VirtualCluster that is deleted and created again under the same name has another UID, and
 * nothing recorded for the first applies to the second. An entry with a call in progress is kept
 * until the call ends, because its answer goes to the entry; the second VirtualCluster gets no
 * entry until then.
 *
 * 10 min after the deletion, cleanup is given up with an event, so that an unreachable network
 * controller does not block the deletion for ever. The 10 min count like deadlines: clock jumps are
 * excluded (core/clock_jumps.h), and nothing expires while the clock disagrees with the host API
 * server's (core/host_clock.h).
 *
 * On the loop thread.
 * Tests: tests/unit/controller/hardware/test_leftovers.c, tests/world/test_way.c
 */
/* Must be the first member of the owner's entry. */
struct leftover {
	struct context *c;
	char tenant[254], uid[64];
	/* Cleanup was given up, and the event was sent */
	bool told;
};
struct leftovers_spec {
	struct context *c;
	/* Allocates an entry and fills all members but the first. Takes no reference to vc. */
	struct leftover *(*make)(const struct virtual_cluster *vc, void *arg);
	/* True if a call of this entry is in progress. */
	bool (*under_way)(const struct leftover *l);
	void (*free)(void *l);
	void *arg;
};
struct leftovers;
struct leftovers *leftovers_new(const struct leftovers_spec *s);
void leftovers_free(struct leftovers *ls);

/* Returns the entry of vc; creates it if missing. NULL: a call for an earlier VirtualCluster of the
 * same name is still in progress. */
struct leftover *leftovers_of(struct leftovers *ls, const struct virtual_cluster *vc);
/* Returns the entry of the latest VirtualCluster of that name; NULL: none. */
struct leftover *leftovers_find(const struct leftovers *ls, const char *tenant);
void leftovers_drop(struct leftovers *ls, struct leftover *l);
/* Drops all entries whose VirtualCluster is gone and that have no call in progress. */
void leftovers_sweep(struct leftovers *ls);

/* Returns the entry's VirtualCluster. NULL: it is gone, or was created again with another UID. */
const struct virtual_cluster *leftover_cluster(const struct leftover *l);
/* True if cleanup may be given up, because vc was deleted more than 10 min ago. Sends the event
 * (reason, note) the first time. */
bool leftover_given_up(struct leftover *l, const struct virtual_cluster *vc, const char *reason,
		       const char *note);

#endif
