#ifndef CLI_LEASE_HOLDER_H
#define CLI_LEASE_HOLDER_H

#include "api/auditsegment.h"
#include "base/str.h"
#include "cli/client.h"

/*
 * lease_holder: which replica of the controller leads, as its Lease in drover's namespace shows.
 * Tests: tests/unit/cli/test_check.c, tests/unit/cli/test_uninstall.c
 */
enum lease_state {
	/* there is no Lease: no controller has ever run */
	LEASE_NONE,
	/* no replica leads: the last leader has released the Lease */
	LEASE_FREE,
	/* the leader has not renewed the Lease in time */
	LEASE_EXPIRED,
	LEASE_HELD
};
struct lease_holder {
	enum lease_state state;
	/* identity of the leader; "" unless LEASE_EXPIRED or LEASE_HELD */
	char name[254];
	/* ms since the last renewal, by the API server's clock if it is known; 0 unless
	 * LEASE_EXPIRED or LEASE_HELD */
	int64_t age_ms;
	/* why the leader cannot write the file of its audit log, and since when; "": it can, or has
	 * none */
	char audit_file_fails[400], audit_file_since[STR_TIME_SIZE];
	/* newest segment of the audit log that a leader recorded; number 0: none */
	struct audit_newest newest;
};
/* Reads the Lease in namespace ns. Returns 0, or -1 with *e if it cannot be read. */
int lease_holder_read(struct cli_client *c, const char *ns, struct lease_holder *out,
		      struct err *e);

#endif
