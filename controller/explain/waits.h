#ifndef CONTROLLER_EXPLAIN_WAITS_H
#define CONTROLLER_EXPLAIN_WAITS_H

#include <stdbool.h>

/*
 * waits: what a machine or a Drain waits for: the texts of member waitingFor of an explanation
 * (controller/explain/explain.h), and what follows from each.
 * Tests: tests/unit/controller/explain/test_owner.c, tests/unit/cli/test_explain.c
 */
enum wait {
	WAIT_HARDWARE,
	WAIT_RATE,
	WAIT_BUDGET,
	WAIT_OPERATOR,
	WAIT_APPROVAL,
	WAIT_SECRET,
	WAIT_BMC_ADDRESS,
	WAIT_PODS,
	WAIT_PODS_NO_DEADLINE,
	WAIT_CHECKPOINT,
	WAIT_TENANT,
	WAIT_NEXT_TRY,
	WAITS
};

struct wait_info {
	const char *text;
	/* Owner of the wait, one of the names in owner.h. */
	const char *owner;
	/* True: nothing changes until an operator acts. */
	bool needs_operator;
};
extern const struct wait_info wait_info[WAITS];

/* Returns the row with this text; NULL: text is NULL, or no row has it. */
const struct wait_info *wait_find(const char *text);

#endif
