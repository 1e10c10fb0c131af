#ifndef CONTROLLER_STEPS_LEAVE_WORDS_H
#define CONTROLLER_STEPS_LEAVE_WORDS_H

#include "controller/steps/leave_reason.h"

/*
 * leave_words: the texts that report in status.leave, events and logs that a machine leaves its
 * tenant.
 * Tests: tests/world/test_leave.c, tests/world/test_drain.c
 */
/* Returns *lv as JSON for status.leave, as a new reference that the caller owns. */
json_t *leave_json(const struct leave *lv);
/* Sends an event to the Machine and to its claim n, and logs the event. n NULL: event of the
 * Machine only. */
void leave_report(struct life *l, const struct node_claim *n, const char *type, const char *reason,
		  const char *text);
/* Writes how many pods are left to out, as "2 pods are left; blocked by WHAT"; returns out. blocked
 * NULL: without the second part. */
const char *leave_left(int64_t pods, const char *blocked, char *out, size_t size);
/* Writes to out why a draining machine serves again, derived from the last status.leave; returns
 * out. */
const char *leave_withdrawn(const struct life *l, char *out, size_t size);
/* Writes to out who wants the machine to leave, why, by when, and what follows; returns out. */
const char *leave_why(const struct life *l, const struct leave *lv, char *out, size_t size);

#endif
