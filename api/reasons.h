#ifndef API_REASONS_H
#define API_REASONS_H

/*
 * reasons: the reasons for which a machine waits, fails or is quarantined, from the closed list in
 * reasons.def. REASON_NotApproved is written as "NotApproved" in status, events and metrics.
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
/* [REASON_NONE] has empty texts. */
extern const struct reason_info reason_info[REASONS];

/* Returns NULL for REASON_NONE. */
const char *reason_name(enum reason r);
/* Returns REASON_NONE if name is NULL, empty or unknown. */
enum reason reason_find(const char *name);

#endif
