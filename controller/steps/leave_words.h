#ifndef CONTROLLER_STEPS_LEAVE_WORDS_H
#define CONTROLLER_STEPS_LEAVE_WORDS_H

#include "controller/steps/leave_reason.h"

/*
 * leave_words: how a leave is told, in status.leave, in events and in the log.
 * Tests: tests/world/test_leave.c, tests/world/test_drain.c
 */
/* status.leave; gives */
json_t *leave_json(const struct leave *lv);
/* An event on the Machine and its claim (n may be NULL), and the log. */
void leave_tell(struct life *l, const struct node_claim *n, const char *type, const char *reason,
		const char *text);
/* "2 pods are left; kept by WHAT", into out, which is returned.  blocked: NULL: nothing. */
const char *leave_left(int64_t pods, const char *blocked, char *out, size_t size);
/* Why a machine that drains serves on: from what status.leave said last, into out, which is
 * returned. */
const char *leave_withdrawn(const struct life *l, char *out, size_t size);
/* Who wants it, why, by when, and what then: into out, which is returned. */
const char *leave_why(const struct life *l, const struct leave *lv, char *out, size_t size);

#endif
