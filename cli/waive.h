#ifndef CLI_WAIVE_H
#define CLI_WAIVE_H

#include "base/arena.h"
#include "cli/client.h"
#include "wipe/evidence.h"

/*
 * waive: adds entries to spec.waivers of a Machine: what its administrator lets go without a wipe,
 * with the user's name, the time and the reason. The next wipe records repeat the entries.
 * Tests: tests/unit/cli/test_verbs.c
 */
struct waive {
	struct cli_client *c;
	struct arena *a;
	/* the Machine */
	const json_t *machine;
	/* tenancy of the new entries */
	int64_t tenancy;
	/* reason of the user; NULL: none */
	const char *reason;
	/* new spec.waivers, owned by this struct; NULL: nothing was added */
	json_t *list;
};

/* Adds an entry. wwn, serial: the drive; NULL: not known. Returns 0, or 1 after printing the
 * error. */
int waive_add(struct waive *w, enum evidence_waived what, const char *wwn, const char *serial);
/* Adds an entry for each drive of spec.drives; if drover knows none, one entry for the machine.
 * Returns as waive_add(). */
int waive_all(struct waive *w, enum evidence_waived what);
/* Moves the entries, if any, into spec, a merge patch of the Machine's spec. */
void waive_put(struct waive *w, json_t *spec);

#endif
