#ifndef API_AUDITLOG_H
#define API_AUDITLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/crypto.h"
#include "base/own.h"
#include "base/data/fields.h"
#include "base/data/json.h"

/*
 * auditlog: entries of the audit log, and the check of their chain. Pure: no I/O, no clock.
 *
 * An entry is a JSON object (audit_entry_fields). Its digest is the SHA-256 of its compact JSON
 * text with sorted keys and without the member digest, so `jq -cS 'del(.digest)'` and `sha256sum`
 * compute it too. Each entry contains the digest of the entry before it. Entries are numbered
 * without gaps from 1.
 */

/* Highest sequence number, and highest number of a segment. At one segment a second it is reached
 * after 30,000 years; a higher number is refused. */
#define AUDIT_NUMBER_MAX 999999999999

/* Digest that the first entry names as the one before it. */
#define AUDIT_GENESIS "sha256:0000000000000000000000000000000000000000000000000000000000000000"

struct audit_entry {
	/* sequence number, counted from 1 */
	int64_t seq;
	/* wall ms at which drover observed the change */
	int64_t time;
	/* user or program that made the change; "unknown" if the object does not name one */
	const char *who;
	/* program that made the change, as it named itself in metadata.managedFields; NULL: not
	 * known, or who is drover */
	const char *program;
	/* kind of change, one of AUDIT_* */
	const char *event;
	/* the changed object; NULL for an entry about the log itself */
	const char *kind, *name, *uid;
	/* VirtualCluster that the object serves; NULL: none */
	const char *tenant;
	/* metadata.resourceVersion of the object after the change; with event, uid and field it
	 * identifies the change */
	const char *version;
	/* name of the changed field or annotation; NULL: not about one field */
	const char *field;
	/* values before and after the change; NULL: no value */
	const char *from, *to;
	/* status.operation.id of the Machine; NULL: none */
	const char *operation;
	/* reason of the change, as the object has it; NULL: none */
	const char *why;
	/* number of changes that the entry stands for; 0: one */
	int64_t count;
	/* true: no replica saw the change happen. drover found it by comparing the objects with the
	 * log. */
	bool late;
	/* digest of the entry before this one, and digest of this entry */
	const char *previous, *digest;
};
extern const struct field audit_entry_fields[];

/* Values of audit_entry.event. */
#define AUDIT_LEADER "LeaderStarted"
#define AUDIT_LOST "EntriesLost"
#define AUDIT_DAMAGED "LogDamaged"
#define AUDIT_CREATED "Created"
#define AUDIT_DELETING "DeletionRequested"
#define AUDIT_DELETED "Deleted"
#define AUDIT_STATE "StateChanged"
#define AUDIT_SPEC "SpecChanged"
#define AUDIT_ANNOTATION "AnnotationChanged"
#define AUDIT_WAIVED "WipeWaived"

/* Computes the digest of an entry, as text "sha256:...". Ignores the member digest. */
const char *audit_entry_digest(const json_t *entry, char out[static CRYPTO_DIGEST_TEXT]);
/* Returns the entry as JSON, a new reference. previous and digest may be NULL; audit_entry_seal()
 * must set them then. */
json_t *audit_entry_encode(const struct audit_entry *entry);
/* Sets seq, previous and digest of the entry. */
void audit_entry_seal(json_t *entry, int64_t seq, const char *previous);

/* Returns the highest number of bytes that a JSON writer may use for the entry: Go writes some
 * characters, such as '<', as six bytes. */
size_t audit_entry_bytes(const json_t *entry);
/* Returns the highest number of bytes that a JSON writer may use for the character c of a string;
 * c is one byte of it. */
size_t audit_char_bytes(char c);

/* --- check of a log --------------------------------------------------------------------------- */

enum audit_fault {
	AUDIT_GOOD,
	/* an entry was changed or replaced after it was written */
	AUDIT_BENT,
	/* entries are missing */
	AUDIT_MISSING,
	/* one input contains the same sequence number twice */
	AUDIT_DOUBLED,
	/* an entry is after a later one in the same input */
	AUDIT_REORDERED,
};
extern const char *const audit_fault_names[];

struct audit_verdict {
	enum audit_fault fault;
	/* sequence numbers of the first and last entry that have the fault; 0: none */
	int64_t at, until;
	/* description of the fault; "" if fault is AUDIT_GOOD */
	char text[320];
	/* different entries in all inputs; lowest and highest sequence number, 0: no entry */
	size_t entries;
	int64_t first, last;
	/* digest of the entry `last`; "": no entry */
	char head[CRYPTO_DIGEST_TEXT];
};

/* An audit_check collects what the check needs of each entry (about 100 bytes). */
struct audit_check;
struct audit_check *audit_check_new(void);
void audit_check_free(struct audit_check *c);
DEFINE_OWN(audit_check)
/* Begins an input, such as a file: a sequence of entries in the order in which they were written.
 * name is copied; it appears in audit_verdict.text. */
void audit_check_input(struct audit_check *c, const char *name);
/* Adds the next entry of the input. Returns false if j is no entry of an audit log; it is then
 * ignored. audit_check_input() must have been called. */
bool audit_check_add(struct audit_check *c, const json_t *j);
/* Checks all added entries and returns the first fault by sequence number. Inputs may overlap, such
 * as the files of two replicas, if they agree: an entry that is missing in one input may be in
 * another one. A log may begin with any sequence number and end at any; verdict.first and
 * verdict.last report them. */
struct audit_verdict audit_check_run(struct audit_check *c);

#endif
