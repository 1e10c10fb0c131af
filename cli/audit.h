#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "base/data/json.h"
#include "base/own.h"

/*
 * audit: checks wipe records with nothing but the public keys of those who
 * countersigned them: signatures, that what is shown is what was signed, that the verdict
 * follows from the drives, and that each record names the one before.  No clock, no
 * network, no controller: `drover wipe verify` and tests.
 */
struct audit;

enum audit_result {
	/* why: audit_print() and audit_json() say it */
	AUDIT_BAD,
	/* both signed: the drives reached the verdict */
	AUDIT_PROVED,
	/* both signed: the wipe failed */
	AUDIT_FAILED,
	/* no agent signature: the attempt did not come to its end */
	AUDIT_UNFINISHED,
};

struct audit *audit_new(void);
void audit_free(struct audit *a);
DEFINE_OWN(audit)
/* Take every "ed25519:..." of the text as a key of drover's; gives how many. */
size_t audit_keys(struct audit *a, const char *text);
/* A WipeRecord, a List of them or several documents (YAML or JSON), an envelope as JSON or as the
 * base64 text of spec.envelope.  What is none of these becomes a bad row. */
void audit_add(struct audit *a, const char *source, const char *text, size_t len);
/* Check them all, sorted by machine, tenancy and attempt; machine NULL: of every one. */
void audit_run(struct audit *a, const char *machine);
/* there was something to check */
bool audit_any(const struct audit *a);
size_t audit_count(const struct audit *a, enum audit_result r);
/* records before which others are missing */
size_t audit_gaps(const struct audit *a);
/* A table and a last line; and the same as {records: [...], gaps, ok}, where a record has source,
 * result (bad, proved, failed, unfinished), error if bad, and chain (first, linked, not given, gap,
 * broken). */
void audit_print(const struct audit *a, struct buf *out);
json_t *audit_json(const struct audit *a);

#endif
