#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
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
	AUDIT_BAD,	  /* why: in the row's err */
	AUDIT_PROVED,	  /* both signed: the drives reached the verdict */
	AUDIT_FAILED,	  /* both signed: the wipe failed */
	AUDIT_UNFINISHED, /* no agent signature: the attempt did not come to its end */
};
enum audit_chain {
	AUDIT_FIRST,	 /* it says that there was none before */
	AUDIT_LINKED,	 /* the one before is here, with that digest */
	AUDIT_NOT_GIVEN, /* the one before is not here, nor is any earlier one */
	AUDIT_GAP,	 /* the one before is not here, but earlier ones are */
	AUDIT_BROKEN,
};
extern const char *const audit_chain_names[]; /* first, linked, not given, gap, broken */

struct audit_row {
	const char *source; /* file, or what the caller said */
	const char *record, *machine, *verdict, *trust, *unfinished;
	int64_t tenancy, attempt;
	size_t drives;
	enum audit_result result;
	enum audit_chain chain;
	struct err err;
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
const struct audit_row *audit_rows(const struct audit *a, size_t *n); /* after audit_run() */
bool audit_any(const struct audit *a); /* there was something to check */
size_t audit_count(const struct audit *a, enum audit_result r);
size_t audit_gaps(const struct audit *a); /* records before which others are missing */
/* A table and a last line; and the same as {records: [...], gaps, ok}. */
void audit_print(const struct audit *a, struct buf *out);
json_t *audit_json(const struct audit *a);

#endif
