#ifndef API_WIPERECORD_H
#define API_WIPERECORD_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * wiperecord: the kind WipeRecord: the signed evidence of one wipe attempt. It never changes, so it
 * has no status. Field tables and checks: api/wiperecord.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

struct wipe_record_spec {
	/* in place: spec.machine, spec.tenancy, ... */
	struct evidence evidence;
	/* DSSE; the truth */
	const char *envelope;
};
/* no status: a record never changes */
struct wipe_record {
	struct object_meta meta;
	struct wipe_record_spec spec;
};

#endif
