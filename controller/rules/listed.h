#ifndef CONTROLLER_RULES_LISTED_H
#define CONTROLLER_RULES_LISTED_H

#include <stdint.h>
#include "api/kinds.h"
#include "wipe/proto.h"

/*
 * listed: which drives does the BMC list that the agent did not see? Pure.
 *
 * A drive is the same when serial number or durable name are: letter case, blanks, "eui." and such
 * do not count, and one that ends earlier than the other (BMCs and SCSI cut serial numbers) is the
 * same from 8 letters on. A part of a volume is accounted for when the agent saw the volume: what
 * it overwrites is on its parts. Where the BMC gives neither serial nor name, drives of one model
 * are counted, if the agent saw one of that model at all: spellings differ, and a model that only
 * the BMC knows proves nothing. That the BMC lists fewer than the agent saw, or none, says nothing:
 * many do.
 * Tests: tests/unit/controller/rules/test_listed.c, tests/world/test_listed.c
 */
struct listed_drive {
	/* NULL: not said */
	const char *serial, *model, *durable, *slot;
	int64_t bytes;
	/* that it is a part of; NULL: none */
	const char *volume, *volume_durable;
	int64_t volume_bytes;
};

struct listed_unseen {
	/* its serial number, its durable name, or MODEL#N: the Nth of that model is missing */
	const char *id;
	const struct listed_drive *drive;
};

/* Those that nothing of what was seen accounts for, each once; into out, which has room for n, in
 * the arena. Gives how many. */
size_t listed_unseen(const struct listed_drive *v, size_t n, const struct proto_inventory *inv,
		     struct arena *a, struct listed_unseen *out);

/* spec.unseenDrives names it: a person accounts for it. */
bool listed_accounted(const struct machine *m, const char *id);

/* "S6C1 (bay 3, part of virtual disk OS)": how a person finds it; in the arena. */
const char *listed_text(const struct listed_unseen *u, struct arena *a);

#endif
