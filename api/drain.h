#ifndef API_DRAIN_H
#define API_DRAIN_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"

/*
 * drain: the kind Drain: an operator's request to empty machines. It states which machines, why,
 * until when, and what happens to them afterwards. Field tables and checks: api/drain.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

enum drain_on_deadline { DRAIN_ESCALATE, DRAIN_STOP };
enum drain_gangs { DRAIN_WHOLE, DRAIN_SPLIT };
enum drain_then { DRAIN_RELEASE, DRAIN_HOLD, DRAIN_QUARANTINE, DRAIN_RETIRE };
extern const char *const drain_then_names[];
enum drain_phase { DRAIN_PENDING, DRAIN_DRAINING, DRAIN_SUCCEEDED, DRAIN_PARTIAL, DRAIN_CANCELLED };
extern const char *const drain_phase_names[];
struct drain_spec {
	const char *reason;
	/* exactly one of machine_selector, machine_names and node_claim_names is set */
	struct object_label_selector *machine_selector;
	struct strings machine_names, node_claim_names;
	int64_t not_before, deadline;
	/* enum drain_on_deadline */
	int on_deadline;
	int64_t concurrent;
	/* enum drain_gangs */
	int gangs;
	/* enum drain_then */
	int then;
	bool cancelled;
	int64_t ttl_seconds_after_finished;
};
struct drain_target {
	/* phase: state of the drain of this machine (controller/drain/drains.h lists them) */
	const char *machine, *claim, *phase;
	int64_t pods_left;
	const char *blocked_by;
};
struct drain_status {
	int64_t observed_generation;
	/* enum drain_phase */
	int phase;
	int64_t start_time, completion_time;
	/* the machines of the Drain with their progress; the list is determined once, when the
	 * drain starts */
	struct {
		struct drain_target *v;
		size_t n;
	} targets;
	struct conditions conditions;
};
struct drain {
	struct object_meta meta;
	struct drain_spec spec;
	struct drain_status status;
};

#endif
