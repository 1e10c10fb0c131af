#ifndef API_BURSTPOLICY_H
#define API_BURSTPOLICY_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"

/*
 * burstpolicy: the kind BurstPolicy: when to go to a cloud.  No field of it is supported by this version; it is refused by name.
 * Field tables and checks: api/burstpolicy.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

struct burst_policy_status {
	struct conditions conditions;
};
struct burst_policy {
	struct object_meta meta;
	struct burst_policy_status status;
};

#endif
