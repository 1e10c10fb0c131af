#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "base/data/json.h"
#include "base/own.h"
#include "wipe/evidence.h"

/*
 * audit: verifies wipe records with nothing but the public keys of drover, which countersigns each
 * record. Used by `drover wipe verify`, `drover wipe report` and tests. Needs no clock, network or
 * controller.
 *
 * A record is good if its signatures are valid, the fields of its object equal those in the signed
 * evidence, its verdict follows from the drives, and it names the previous record of its machine.
 */
struct audit;

enum audit_result {
	/* The record is invalid. audit_print() and audit_json() report why. */
	AUDIT_BAD,
	/* The record is signed by agent and drover: every drive was wiped to the level of the
	 * verdict. */
	AUDIT_PROVED,
	/* The record is signed by agent and drover: the wipe failed. */
	AUDIT_FAILED,
	/* The record is not signed by the agent: the attempt did not finish. */
	AUDIT_UNFINISHED,
};

struct audit *audit_new(void);
void audit_free(struct audit *a);
DEFINE_OWN(audit)
/* Adds each "ed25519:..." in text as a public key of drover. Returns the number of keys in text. */
size_t audit_keys(struct audit *a, const char *text);
/* Adds records from text: a WipeRecord, a List of WipeRecords, several documents (YAML or JSON), or
 * one envelope, as JSON or as the base64 text of spec.envelope. Any other text becomes a row with
 * result AUDIT_BAD. source: file name for the report. */
void audit_add(struct audit *a, const char *source, const char *text, size_t len);
/* Verifies all added records, sorted by machine, tenancy and attempt. machine: report only records
 * of this machine; NULL: all. */
void audit_run(struct audit *a, const char *machine);
/* True if audit_run() found a record to report. */
bool audit_any(const struct audit *a);
size_t audit_count(const struct audit *a, enum audit_result r);
/* Returns the number of records that name a missing previous record, although an earlier record of
 * the machine is present. */
size_t audit_gaps(const struct audit *a);
/* Writes a table of the records and a summary. */
void audit_print(const struct audit *a, struct buf *out);
/* Returns {records: [...], gaps, ok}, owned by the caller. Each record has source, result (bad,
 * proved, failed, unfinished), error if it is bad, and chain (first, linked, not given, gap,
 * broken): the state of the link to its previous record. */
json_t *audit_json(const struct audit *a);

/* One record after audit_run(). Texts are those of the record: they may contain any character. */
struct audit_record {
	/* record, machine: names; NULL if the input contains none. error: why the record is bad;
	 * NULL: the record is good. */
	const char *source, *record, *machine, *error;
	enum audit_result result;
	/* state of the link to the previous record, as in audit_json() */
	const char *chain;
	/* the signed evidence; NULL unless its signatures are valid */
	const struct evidence *evidence;
	/* digest of the envelope, "sha256:..."; "" if evidence is NULL */
	const char *digest;
};
/* Returns the number of records to report. */
size_t audit_records(const struct audit *a);
/* Returns record i < audit_records(a); its pointers are valid as long as *a. */
struct audit_record audit_record_at(const struct audit *a, size_t i);

#endif
