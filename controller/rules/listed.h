#ifndef CONTROLLER_RULES_LISTED_H
#define CONTROLLER_RULES_LISTED_H

#include <stdint.h>
#include "api/kinds.h"
#include "wipe/proto.h"

/*
 * listed: determines which drives the BMC lists and the agent did not see. Pure functions.
 *
 * A listed drive and a seen drive are the same if their serial numbers or their durable names
 * match. Letter case, blanks and prefixes such as "eui." do not count. If one serial number is a
 * prefix of the other (BMCs and SCSI truncate serial numbers), they match if the prefix has at
 * least 8 characters.
 *
 * A drive that is part of a volume is accounted for if the agent saw the volume, because
 * overwriting the volume overwrites its parts.
 *
 * Drives for which the BMC reports neither serial number nor name are counted by model, but only if
 * the agent saw a drive of that model: spellings differ, so a model that only the BMC knows proves
 * nothing. If the BMC lists fewer drives than the agent saw, or none, that proves nothing either:
 * many BMCs do so.
 * Tests: tests/unit/controller/rules/test_listed.c, tests/world/test_listed.c
 */
struct listed_drive {
	/* durable: durable name, such as an EUI or WWN. Each text is NULL if the BMC does not
	 * report it. */
	const char *serial, *model, *durable, *slot;
	int64_t bytes;
	/* volume that contains the drive, and durable name of the volume; NULL: none */
	const char *volume, *volume_durable;
	int64_t volume_bytes;
};

struct listed_unseen {
	/* serial number of the drive, or its durable name; MODEL#N if the BMC reports neither, the
	 * drive is the Nth of its model, and the agent saw fewer than N drives of that model */
	const char *id;
	const struct listed_drive *drive;
};

/* Writes each listed drive that no seen drive or volume accounts for to `out`, and returns their
 * number. `out` must have space for n. Strings belong to the arena or to v. */
size_t listed_unseen(const struct listed_drive *v, size_t n, const struct proto_inventory *inv,
		     struct arena *a, struct listed_unseen *out);

/* True if spec.unseenDrives contains id: the operator has accounted for that drive. */
bool listed_accounted(const struct machine *m, const char *id);

/* Returns a text by which an operator finds the drive: "S6C1 (bay 3, part of virtual disk OS)"; in
 * the arena. */
const char *listed_text(const struct listed_unseen *u, struct arena *a);

#endif
