#ifndef API_REASONS_H
#define API_REASONS_H

/*
 * reasons: why a machine waits, fails or is quarantined, from the closed list of reasons.def:
 * REASON_NotApproved is written as "NotApproved" in status, events and metrics.
 * Tests: tests/unit/api/test_reasons.c
 */
enum reason {
	REASON_NONE, /* nothing is wrong; never written */
#define REASON(name_, ...) REASON_##name_,
#include "api/reasons.def"
	REASONS
};

/* What is known of a reason: its name, what it means, what a person can do (%s: the machine's name). */
struct reason_info {
	const char *name, *means, *helps;
};
extern const struct reason_info reason_info[REASONS]; /* [REASON_NONE]: empty texts */

const char *reason_name(enum reason r);	   /* NULL for REASON_NONE */
enum reason reason_find(const char *name); /* REASON_NONE: NULL, "", or none of the list */

#endif
