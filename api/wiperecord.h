#ifndef API_WIPERECORD_H
#define API_WIPERECORD_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * wiperecord: the kind WipeRecord: the signed evidence of one wipe attempt. A WipeRecord is
 * immutable and has no status. Field tables and checks: api/wiperecord.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

struct wipe_record_spec {
	/* the evidence; its members are encoded directly in spec, as spec.machine, spec.tenancy and
	 * so on */
	struct evidence evidence;
	/* the signed evidence as a DSSE envelope. It is authoritative: the members of `evidence`
	 * are a copy for reading. */
	const char *envelope;
};
struct wipe_record {
	struct object_meta meta;
	struct wipe_record_spec spec;
};

#endif
