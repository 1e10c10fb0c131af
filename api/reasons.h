#ifndef API_REASONS_H
#define API_REASONS_H

/*
 * reasons: why a machine waits, fails or is quarantined: the closed list of reasons.def as an enum.
 * REASON_NotApproved is written as "NotApproved" in status, events and metrics.
 * Tests: tests/unit/api/test_reasons.c
 */
enum reason {
	/* no reason; never written to status */
	REASON_NONE,
#define REASON(name_, ...) REASON_##name_,
#include "api/reasons.def"
	REASONS
};

/* Where a reason is seen. A reason may have several of these. */
enum reason_seen {
	/* a machine waits with it: status.operation.lastError */
	REASON_WAITS = 1,
	/* the deadline of the machine's state ends that wait, with this reason */
	REASON_TIMED = 2,
	/* a NodeClaim fails with it: status.failures */
	REASON_FAILS = 4,
	/* a machine is quarantined with it, and tried again by drover */
	REASON_RETRIED = 8,
	/* a machine is quarantined with it until an operator acts */
	REASON_KEPT = 16,
	/* a condition or event has it, but not the machine's operation */
	REASON_OTHERS = 32,
};
/* Texts of a reason; %s in them is the machine's name. */
struct reason_info {
	/* name; meaning; what the operator can do; what drover does by itself */
	const char *name, *means, *helps, *alone;
	/* set of enum reason_seen */
	unsigned seen;
	/* names of related reasons, separated by spaces */
	const char *related;
	/* command that shows more than `drover why`; "": none */
	const char *more;
};
/* Texts of all reasons, indexed by enum reason; those of REASON_NONE are empty. */
extern const struct reason_info reason_info[REASONS];

/* Returns the name of r as it is written to status; NULL for REASON_NONE. */
const char *reason_name(enum reason r);
/* Returns the reason with this name; REASON_NONE if name is NULL, empty or unknown. */
enum reason reason_find(const char *name);

#endif
