/*
 * auditlog: a check keeps one row for each entry, in the order of the inputs, and finds the faults
 * after it has sorted the rows by sequence number.
 * Tests: tests/unit/api/test_auditlog.c
 */
#include "api/auditlog.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "api/tables.h"

#define AS_ENTRY_DIGEST AS_DIGEST, .required = true, .immutable = true

const struct field audit_entry_fields[] = {
	FIELD(audit_entry, seq, "seq", FIELD_I64, .required = true, .immutable = true, .min = 1,
	      .max = AUDIT_NUMBER_MAX, .doc = "Sequence number of the entry, counted from 1."),
	FIELD(audit_entry, time, "time", FIELD_TIME, .required = true, .immutable = true,
	      .doc = "Time at which drover observed the change."),
	FIELD(audit_entry, who, "who", FIELD_STR, .required = true, .immutable = true,
	      .max_len = 253,
	      .doc = "User or program that made the change; `unknown` if the object names none."),
	FIELD(audit_entry, program, "program", FIELD_STR, .immutable = true, .max_len = 128,
	      .doc = "Program that made the change, by the name that it gave to itself "
		     "(metadata.managedFields, such as kubectl-edit). Not set if several programs "
		     "wrote in that second, and for changes of status and deletions."),
	FIELD(audit_entry, event, "event", FIELD_STR, .required = true, .immutable = true,
	      .max_len = 32, .doc = "Kind of change, such as StateChanged."),
	FIELD(audit_entry, kind, "kind", FIELD_STR, .immutable = true, .max_len = 63,
	      .doc = "Kind of the changed object; not set for an entry about the log itself."),
	FIELD(audit_entry, name, "name", FIELD_STR, .immutable = true, .max_len = 253,
	      .doc = "Name of the changed object."),
	FIELD(audit_entry, uid, "uid", FIELD_STR, .immutable = true, .max_len = 64,
	      .doc = "UID of the changed object."),
	FIELD(audit_entry, tenant, "tenant", FIELD_STR, .immutable = true, .max_len = 253,
	      .doc = "Name of the VirtualCluster that the object serves."),
	FIELD(audit_entry, version, "version", FIELD_STR, .immutable = true, .max_len = 64,
	      .doc = "metadata.resourceVersion of the object after the change."),
	FIELD(audit_entry, field, "field", FIELD_STR, .immutable = true, .max_len = 317,
	      .doc = "Name of the changed field or annotation."),
	FIELD(audit_entry, from, "from", FIELD_STR, .immutable = true, .max_len = 512,
	      .doc = "Value before the change."),
	FIELD(audit_entry, to, "to", FIELD_STR, .immutable = true, .max_len = 512,
	      .doc = "Value after the change."),
	FIELD(audit_entry, operation, "operation", FIELD_STR, .immutable = true, .max_len = 128,
	      .doc = "status.operation.id of the Machine."),
	FIELD(audit_entry, why, "why", FIELD_STR, .immutable = true, .max_len = 512,
	      .doc = "Reason of the change, as the object has it."),
	FIELD(audit_entry, count, "count", FIELD_I64, .immutable = true, .min = 0, .max = INT64_MAX,
	      .doc = "Number of changes that the entry stands for; not set for one change."),
	FIELD(audit_entry, late, "late", FIELD_BOOL, .immutable = true,
	      .doc = "True if no replica of drover saw the change happen, so that drover found it "
		     "later by comparing the objects with the log."),
	FIELD(audit_entry, previous, "previous", FIELD_STR, AS_ENTRY_DIGEST,
	      .doc = "Digest of the entry before this one. The first entry has 64 zeros."),
	FIELD(audit_entry, digest, "digest", FIELD_STR, AS_ENTRY_DIGEST,
	      .doc = "SHA-256 of this entry as compact JSON with sorted keys, without digest."),
	FIELDS_END,
};

const char *const audit_fault_names[] = {"good", "bent", "missing", "doubled", "reordered", NULL};

static void digest_of(const json_t *entry, uint8_t out[static CRYPTO_SHA256])
{
	OWN_JSON rest = json_copy((json_t *)entry);
	char *text;

	json_object_del(rest, "digest");
	text = json_text_sorted(rest);
	crypto_sha256(text, strlen(text), out);
	free(text);
}

const char *audit_entry_digest(const json_t *entry, char out[static CRYPTO_DIGEST_TEXT])
{
	uint8_t d[CRYPTO_SHA256];

	digest_of(entry, d);
	return crypto_digest_text(d, out);
}

json_t *audit_entry_encode(const struct audit_entry *entry)
{
	struct audit_entry whole = *entry;

	whole.previous = str_or(entry->previous, AUDIT_GENESIS);
	whole.digest = str_or(entry->digest, AUDIT_GENESIS);
	return fields_encode(audit_entry_fields, &whole);
}

void audit_entry_seal(json_t *entry, int64_t seq, const char *previous)
{
	char text[CRYPTO_DIGEST_TEXT];

	json_object_set_new(entry, "seq", json_integer(seq));
	json_object_set_new(entry, "previous", json_string(previous));
	json_object_set_new(entry, "digest", json_string(audit_entry_digest(entry, text)));
}

size_t audit_char_bytes(char c)
{
	if ((unsigned char)c < ' ' || c == '<' || c == '>' || c == '&' || c == 0x7f)
		return 6;
	/* U+2028 and U+2029 begin with 0xe2 and have three bytes. */
	return (unsigned char)c == 0xe2 ? 4 : c == '"' || c == '\\' ? 2 : 1;
}

size_t audit_entry_bytes(const json_t *entry)
{
	size_t bytes = 2;
	const char *key;
	json_t *v;

	/* Each member has two quotes, a colon, a comma; a value has two quotes or is a number. */
	json_object_foreach ((json_t *)entry, key, v) {
		bytes += strlen(key) + 4;
		if (!json_is_string(v))
			bytes += 20;
		for (const char *c = str_or(json_string_value(v), ""); *c; c++)
			bytes += audit_char_bytes(*c);
		bytes += 2;
	}
	return bytes;
}

/* --- rows ------------------------------------------------------------------------------------- */

struct row {
	int64_t seq;
	/* index of the input; position among all rows */
	size_t input, at;
	uint8_t digest[CRYPTO_SHA256], previous[CRYPTO_SHA256];
	/* bent: the digest is not that of the content. misplaced: an earlier row of the input has a
	 * higher sequence number. */
	bool bent, misplaced;
};

struct audit_check {
	struct row *v;
	size_t n, cap;
	char **inputs;
	size_t ninputs;
	struct audit_verdict verdict;
};

struct audit_check *audit_check_new(void)
{
	return mem_new(struct audit_check);
}

void audit_check_free(struct audit_check *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->ninputs; i++)
		free(c->inputs[i]);
	free(c->inputs);
	free(c->v);
	free(c);
}

void audit_check_input(struct audit_check *c, const char *name)
{
	c->inputs = mem_realloc_array(c->inputs, c->ninputs + 1, sizeof(*c->inputs));
	c->inputs[c->ninputs++] = mem_strdup(name);
}

bool audit_check_add(struct audit_check *c, const json_t *j)
{
	const json_t *seq = json_at(j, "seq");
	const char *digest = json_str_at(j, "digest"), *previous = json_str_at(j, "previous");
	uint8_t content[CRYPTO_SHA256];
	struct row r = {.input = c->ninputs - 1, .at = c->n};

	if (!json_is_integer(seq) || json_integer_value(seq) < 1 || !digest || !previous)
		return false;
	r.seq = json_integer_value(seq);
	digest_of(j, content);
	r.bent = !crypto_digest_parse(digest, r.digest) ||
		 !crypto_digest_parse(previous, r.previous) ||
		 /* mutant: audit-content-unchecked */
		 memcmp(content, r.digest, sizeof(content)) != 0;
	if (c->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 256;
		c->v = mem_realloc_array(c->v, c->cap, sizeof(*c->v));
	}
	c->v[c->n++] = r;
	return true;
}

/* --- faults ----------------------------------------------------------------------------------- */

/* Stores the fault if no fault with a lower sequence number is stored. */
static void found(struct audit_check *c, enum audit_fault fault, int64_t at, int64_t until,
		  const char *text)
{
	struct audit_verdict *v = &c->verdict;

	if (v->fault != AUDIT_GOOD && v->at <= at)
		return;
	v->fault = fault;
	v->at = at;
	v->until = until;
	str_copy(v->text, sizeof(v->text), text);
}

static void found_in(struct audit_check *c, enum audit_fault fault, const struct row *r,
		     const char *what)
{
	char *text =
		mem_printf("entry %lld of %s %s", (long long)r->seq, c->inputs[r->input], what);

	found(c, fault, r->seq, r->seq, text);
	free(text);
}

/* Orders by sequence number, then by position. */
static int by_seq(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	return a->at < b->at ? -1 : 1;
}

/* Sets row.misplaced. The rows are in the order of the inputs. */
static void check_order(struct audit_check *c)
{
	int64_t highest = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct row *r = &c->v[i];

		if (!i || r->input != r[-1].input)
			highest = 0;
		r->misplaced = r->seq < highest;
		highest = r->seq > highest ? r->seq : highest;
	}
}

static bool same_digest(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, CRYPTO_SHA256) == 0;
}

/* Checks row r against an earlier row with the same sequence number. */
static void check_twin(struct audit_check *c, const struct row *twin, const struct row *r)
{
	char *text;

	if (/* mutant: audit-doubled-unchecked */ r->input == twin->input) {
		found_in(c, AUDIT_DOUBLED, r, "is there twice");
	} else if (/* mutant: audit-twin-unchecked */ !same_digest(twin->digest, r->digest)) {
		text = mem_printf("differs from entry %lld of %s: one of them was changed, or two "
				  "logs were begun",
				  (long long)r->seq, c->inputs[twin->input]);
		found_in(c, AUDIT_BENT, r, text);
		free(text);
	}
}

static void check_gap(struct audit_check *c, const struct row *last, const struct row *r)
{
	const long long from = (long long)last->seq + 1, to = (long long)r->seq - 1;
	char *text = from == to ? mem_printf("entry %lld is missing", from)
				: mem_printf("entries %lld to %lld are missing", from, to);

	found(c, AUDIT_MISSING, from, to, text);
	free(text);
}

/* Checks that r, whose number follows that of `last`, contains the digest of `last`. */
static void check_link(struct audit_check *c, const struct row *last, const struct row *r)
{
	char *text;

	if (/* mutant: audit-link-unchecked */ same_digest(r->previous, last->digest))
		return;
	text = mem_printf("was replaced: entry %lld of %s follows a different entry",
			  (long long)r->seq, c->inputs[r->input]);
	found_in(c, AUDIT_BENT, last, text);
	free(text);
}

/* The rows are sorted by sequence number. */
static void check_chain(struct audit_check *c)
{
	const struct row *last = NULL;

	for (size_t i = 0; i < c->n; i++) {
		const struct row *r = &c->v[i];

		if (r->bent)
			found_in(c, AUDIT_BENT, r,
				 "was changed: its digest is not the digest of its content");
		for (size_t k = i; k-- > 0 && c->v[k].seq == r->seq;)
			check_twin(c, &c->v[k], r);
		if (/* mutant: audit-order-unchecked */ r->misplaced)
			found_in(c, AUDIT_REORDERED, r, "is after a later entry");
		if (last && last->seq == r->seq)
			continue;
		c->verdict.entries++;
		if (last && /* mutant: audit-gap-unchecked */ r->seq > last->seq + 1)
			check_gap(c, last, r);
		else if (last)
			check_link(c, last, r);
		last = r;
	}
}

struct audit_verdict audit_check_run(struct audit_check *c)
{
	static const uint8_t genesis[CRYPTO_SHA256];

	c->verdict = (struct audit_verdict){0};
	check_order(c);
	if (c->n)
		qsort(c->v, c->n, sizeof(*c->v), by_seq);
	if (c->n && c->v[0].seq == 1 &&
	    /* mutant: audit-genesis-unchecked */ !same_digest(c->v[0].previous, genesis))
		found_in(c, AUDIT_BENT, &c->v[0], "was changed: it names an entry before it");
	check_chain(c);
	if (c->n) {
		c->verdict.first = c->v[0].seq;
		c->verdict.last = c->v[c->n - 1].seq;
		crypto_digest_text(c->v[c->n - 1].digest, c->verdict.head);
	}
	return c->verdict;
}
