#ifndef CONTROLLER_CORE_MACHINE_LISTS_H
#define CONTROLLER_CORE_MACHINE_LISTS_H

#include "controller/core/context.h"

/*
 * machine_lists: lists of the few Machines that a frequent pass concerns, so that the pass does not
 * scan the whole fleet.
 *
 * The owner of the Machine cache (controller/object_changes.c) updates the lists before it notifies
 * anyone of a change. On the loop thread.
 * Tests: tests/unit/controller/core/test_machine_lists.c
 */
enum machine_list {
	/* Machines with an entry in status.failures */
	MACHINES_FAILED,
	/* Machines that are in state free, or have status.warmFor */
	MACHINES_SPARE,
	/* Machines in state known, or without a state */
	MACHINES_KNOWN,
	/* Machines with the finalizer of machines that drover defines at libvirt */
	MACHINES_PROVISIONED,
	MACHINE_LISTS,
};

struct machine_lists;
struct machine_lists *machine_lists_new(void);
void machine_lists_free(struct machine_lists *x);

/* Puts Machine `name` on the lists to which it belongs, and removes it from the others; m NULL:
 * removes it from all. Returns true if a list has changed. */
bool machine_lists_put(struct machine_lists *x, const char *name, const struct machine *m);

/* Calls fn for each cached Machine of the list, until fn returns false. fn must not call
 * machine_lists_put(). */
void machine_lists_each(const struct context *c, enum machine_list list,
			bool (*fn)(const struct machine *m, void *arg), void *arg);

#endif
