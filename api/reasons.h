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

/* Texts of a reason: its name, its meaning, and what the operator can do (%s: the machine's
 * name). */
struct reason_info {
	const char *name, *means, *helps;
};
/* Texts of all reasons, indexed by enum reason; those of REASON_NONE are empty. */
extern const struct reason_info reason_info[REASONS];

/* Returns the name of r as it is written to status; NULL for REASON_NONE. */
const char *reason_name(enum reason r);
/* Returns the reason with this name; REASON_NONE if name is NULL, empty or unknown. */
enum reason reason_find(const char *name);

#endif
