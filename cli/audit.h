#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "base/data/json.h"
#include "base/own.h"

/*
 * audit: verifies wipe records with only the public keys of the countersigners: that the signatures
 * are valid, that the shown fields are what was signed, that the verdict follows from the drives,
 * and that each record names the previous one. Needs no clock, network or controller. Used by
 * `drover wipe verify` and tests.
 */
struct audit;

enum audit_result {
	/* The record is invalid; audit_print() and audit_json() report why. */
	AUDIT_BAD,
	/* Signed by agent and drover: the drives reached the verdict. */
	AUDIT_PROVED,
	/* Signed by agent and drover: the wipe failed. */
	AUDIT_FAILED,
	/* Not signed by the agent: the attempt did not finish. */
	AUDIT_UNFINISHED,
};

struct audit *audit_new(void);
void audit_free(struct audit *a);
DEFINE_OWN(audit)
/* Adds each "ed25519:..." in text as a public key of drover. Returns how many text has. */
size_t audit_keys(struct audit *a, const char *text);
/* Adds a WipeRecord, a List of WipeRecords, several documents (YAML or JSON), or an envelope, as
 * JSON or as the base64 text of spec.envelope. Anything else becomes a row with result AUDIT_BAD.
 * source: file name for the report. */
void audit_add(struct audit *a, const char *source, const char *text, size_t len);
/* Verifies all records, sorted by machine, tenancy and attempt. machine: only report this machine;
 * NULL: all. */
void audit_run(struct audit *a, const char *machine);
/* True if there was a record to verify. */
bool audit_any(const struct audit *a);
size_t audit_count(const struct audit *a, enum audit_result r);
/* Returns the number of records whose previous record is missing although an earlier one is
 * present. */
size_t audit_gaps(const struct audit *a);
/* Writes a table of the records and a summary. */
void audit_print(const struct audit *a, struct buf *out);
/* Returns {records: [...], gaps, ok}, owned by the caller. A record has source, result (bad,
 * proved, failed, unfinished), error if bad, and chain (first, linked, not given, gap, broken). */
json_t *audit_json(const struct audit *a);

#endif
