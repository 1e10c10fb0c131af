#ifndef API_REASONS_H
#define API_REASONS_H

/*
 * reasons: why a machine waits, fails or is quarantined, from the closed list of reasons.def:
 * REASON_NotApproved is written as "NotApproved" in status, events and metrics.
 * Tests: tests/unit/api/test_reasons.c
 */
enum reason {
	/* nothing is wrong; never written */
	REASON_NONE,
#define REASON(name_, ...) REASON_##name_,
#include "api/reasons.def"
	REASONS
};

/* What is known of a reason: its name, what it means, what a person can do (%s: the machine's
 * name). */
struct reason_info {
	const char *name, *means, *helps;
};
/* [REASON_NONE]: empty texts */
extern const struct reason_info reason_info[REASONS];

/* NULL for REASON_NONE */
const char *reason_name(enum reason r);
/* REASON_NONE: NULL, "", or none of the list */
enum reason reason_find(const char *name);

#endif
