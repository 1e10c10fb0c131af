#ifndef SIM_COMMON_FAULT_H
#define SIM_COMMON_FAULT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"

/*
 * fault: the injected faults of a simulator, in the order in which they were added. The simulator
 * knows the kinds of its faults, and decides which of its requests and objects a fault concerns.
 * Tests: tests/unit/sim/machine/test_faults.c, tests/unit/sim/bcm/test_head.c,
 * tests/unit/sim/netris/test_netris.c, tests/unit/sim/ec2/test_fault.c
 */
struct fault {
	struct list link;
	/* Kind. */
	const char *what;
	/* on: phase, request or call. name, type, zone: object. text: message. NULL: not set. */
	const char *on, *name, *type, *zone, *text;
	/* Parameter of the fault; its meaning depends on the kind. */
	int64_t value;
	/* count: number of times that the fault applies; 0: no limit. struck: number of times that
	 * it has applied. */
	int64_t count, struck;
	/* Probability with which the fault applies, 0 to 1. */
	double probability;
	/* Loop times from which and until which the fault applies. */
	int64_t from, until;
};

/* Returns the kind named `what` in kinds, which ends with NULL; NULL: no such kind. */
const char *fault_kind(const char *const *kinds, const char *what);
/* Adds a copy of *f to the list. */
void fault_add(struct list *l, const struct fault *f);
/* Removes the faults with this name; name NULL: removes all faults. */
void fault_clear(struct list *l, const char *name);
/* True if the fault has applied `count` times; it then has no effect. */
bool fault_is_over(const struct fault *f);
/* Counts that the fault applied. f NULL: no effect. */
void fault_struck(struct fault *f);
/* True if a fault for `wanted` concerns `is`; wanted NULL: anything. */
bool fault_is_of(const char *wanted, const char *is);

#endif
