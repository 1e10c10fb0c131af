#ifndef CONTROLLER_HARDWARE_LEFTOVERS_H
#define CONTROLLER_HARDWARE_LEFTOVERS_H

#include "controller/core/context.h"

/*
 * leftovers: entries for what a network backend created for a VirtualCluster (a segment, a load
 * balancer) and has to remove when the VirtualCluster is deleted. One entry per VirtualCluster,
 * identified by name and UID. The module that owns an entry ("owner") extends struct leftover.
 *
 * A VirtualCluster that is deleted and created again under the same name has another UID, and
 * nothing recorded for the first applies to the second. An entry with a call in progress stays
 * until the call ends, because the call refers to the entry; the second VirtualCluster gets no
 * entry until then.
 *
 * 10 min after the deletion, cleanup is given up with an event, so that an unreachable network
 * controller does not block the deletion for ever. Jumps of the wall clock do not count
 * (core/clock_jumps.h), and the 10 min do not end while the clock differs from that of the host API
 * server (core/host_clock.h).
 *
 * On the loop thread.
 * Tests: tests/unit/controller/hardware/test_leftovers.c, tests/world/test_api_path.c
 */
/* Common part of an entry; must be the first member of the struct by which the owner extends it. */
struct leftover {
	struct context *c;
	char tenant[254], uid[64];
	/* True once cleanup was given up and the event was sent */
	bool told;
};
struct leftovers_spec {
	struct context *c;
	/* Allocates the owner's struct and fills all its members except the struct leftover. Must
	 * not store vc. */
	struct leftover *(*make)(const struct virtual_cluster *vc, void *arg);
	/* True if an earlier call for this entry is still in progress */
	bool (*in_progress)(const struct leftover *l);
	void (*free)(void *l);
	void *arg;
};
struct leftovers;
struct leftovers *leftovers_new(const struct leftovers_spec *s);
void leftovers_free(struct leftovers *ls);

/* Returns the entry of vc; creates it if it is missing. NULL: a call for an earlier VirtualCluster
 * of the same name is still in progress. */
struct leftover *leftovers_of(struct leftovers *ls, const struct virtual_cluster *vc);
/* Returns the entry for the VirtualCluster name `tenant`, whatever its UID; NULL: none. */
struct leftover *leftovers_find(const struct leftovers *ls, const char *tenant);
void leftovers_drop(struct leftovers *ls, struct leftover *l);
/* Drops all entries whose VirtualCluster is gone and that have no call in progress. */
void leftovers_sweep(struct leftovers *ls);

/* Returns the VirtualCluster of the entry. NULL: it was deleted; a new one under the same name does
 * not count. */
const struct virtual_cluster *leftover_cluster(const struct leftover *l);
/* True if cleanup may be given up, because vc was deleted more than 10 min ago. The first time,
 * sends the event with `reason` and `note`. */
bool leftover_given_up(struct leftover *l, const struct virtual_cluster *vc, const char *reason,
		       const char *note);

#endif
