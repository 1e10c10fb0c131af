/*
 * audit: reads files of wipe records and keys. Verifies first each record by itself, then the chain
 * of records of each machine. It uses no network and no clock, so an auditor needs nothing else of
 * drover.
 */
#include "cli/audit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/crypto.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/data/yaml.h"
#include "api/kinds.h"
#include "wipe/evidence.h"

#define KEY_MARK "ed25519:"
#define KEYS_MAX 64

enum audit_chain {
	/* The record names no previous record. */
	AUDIT_FIRST,
	/* The previous record is present and has the named digest. */
	AUDIT_LINKED,
	/* The previous record is missing, and so is every earlier one. */
	AUDIT_NOT_GIVEN,
	/* The previous record is missing, but earlier ones are present. */
	AUDIT_GAP,
	AUDIT_BROKEN,
};
static const char *const chain_names[] = {"first", "linked", "not given", "gap", "broken"};

struct item;
struct audit_row {
	/* file name, or another name that the caller gave */
	const char *source;
	const char *record, *machine, *verdict, *trust, *unfinished;
	int64_t tenancy, attempt;
	size_t drives;
	/* parts besides drives that the wipe covered, comma-separated; NULL: none */
	const char *covered;
	enum audit_result result;
	enum audit_chain chain;
	struct err err;
	/* the record that the row belongs to; NULL before audit_run() */
	const struct item *item;
};

struct item {
	struct audit_row row;
	/* the WipeRecord; NULL: the input was only an envelope, or unreadable */
	json_t *object;
	const char *envelope;
	struct evidence ev;
	bool opened;
	char digest[CRYPTO_DIGEST_TEXT];
};

struct audit {
	struct arena *arena;
	const char *keys[KEYS_MAX];
	size_t nkeys;
	/* all records that were added */
	struct item *v;
	size_t n, cap;
	/* record name -> struct item; set after v is sorted */
	struct map *by_name;
	/* rows of the machine to report, or of all machines */
	struct audit_row *rows;
	size_t nrows;
};

struct audit *audit_new(void)
{
	struct audit *a = mem_new(struct audit);

	a->arena = arena_new();
	return a;
}

void audit_free(struct audit *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n; i++)
		json_decref(a->v[i].object);
	free(a->v);
	map_free(a->by_name);
	free(a->rows);
	arena_free(a->arena);
	free(a);
}

/* --- input ------------------------------------------------------------------------------------ */

static bool is_key_byte(char c)
{
	return isalnum((unsigned char)c) || c == '+' || c == '/' || c == '=' || c == '-' ||
	       c == '_';
}

static bool known_key(const struct audit *a, const char *key)
{
	for (size_t i = 0; i < a->nkeys; i++)
		if (str_eq(a->keys[i], key))
			return true;
	return false;
}

size_t audit_keys(struct audit *a, const char *text)
{
	size_t found = 0;

	for (const char *at = strstr(text, KEY_MARK); at; at = strstr(at, KEY_MARK)) {
		size_t n = strlen(KEY_MARK);
		const char *key;

		while (is_key_byte(at[n]))
			n++;
		key = arena_strndup(a->arena, at, n);
		at += n;
		found++;
		if (a->nkeys < KEYS_MAX && !known_key(a, key))
			a->keys[a->nkeys++] = key;
	}
	return found;
}

static struct item *add_item(struct audit *a, const char *source)
{
	if (a->n == a->cap) {
		a->cap = a->cap ? 2 * a->cap : 16;
		a->v = mem_realloc_array(a->v, a->cap, sizeof(*a->v));
	}
	a->v[a->n] = (struct item){.row = {.source = arena_strdup(a->arena, source)}};
	return &a->v[a->n++];
}

static void add_record(struct audit *a, const char *source, json_t *o)
{
	struct item *it = add_item(a, source);

	it->object = json_incref(o);
	it->envelope = json_str_at(o, "spec", "envelope");
}

static void add_object(struct audit *a, const char *source, json_t *o)
{
	json_t *items = json_at(o, "items"), *item;
	size_t i;

	if (json_is_array(items) && !json_at(o, "spec"))
		json_array_foreach (items, i, item)
			add_record(a, source, item);
	else
		add_record(a, source, o);
}

/* True if text consists of base64 characters only, as spec.envelope does. */
static bool is_base64(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '+' && text[i] != '/' &&
		    text[i] != '=')
			return false;
	return len > 0;
}

void audit_add(struct audit *a, const char *source, const char *text, size_t len)
{
	struct err e = {0};
	OWN_JSON j = NULL;
	struct item *it;
	size_t i;
	json_t *o;

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (is_base64(text, len)) {
		it = add_item(a, source);
		it->envelope = arena_strndup(a->arena, text, len);
		return;
	}
	if (len && text[0] == '{') {
		/* an envelope is stored with its exact bytes, because the signature covers them */
		/* no size limit, because a list can hold all records of a site */
		j = json_parse_most(text, len, SIZE_MAX, &e);
		if (json_str_at(j, "payloadType")) {
			char *b64 = crypto_base64(text, len);

			it = add_item(a, source);
			it->envelope = arena_strdup(a->arena, b64);
			free(b64);
			return;
		}
		if (j) {
			add_object(a, source, j);
			return;
		}
	}
	j = yaml_parse_all(text, len, &e);
	json_array_foreach (j, i, o)
		if (!json_is_null(o))
			add_object(a, source, o);
	if (!j) {
		it = add_item(a, source);
		it->row.err = e;
	}
}

/* --- one record ------------------------------------------------------------------------------- */

static int check_names(const struct evidence *ev, struct err *e)
{
	for (size_t i = 1; i < ev->devices.n; i++)
		for (size_t k = 0; k < i; k++)
			if (str_eq(ev->devices.v[k].wwn, ev->devices.v[i].wwn))
				return err_set(e, ERR_DENIED, 0,
					       "spec.devices[%zu].wwn: drive %s is listed twice", i,
					       str_or(ev->devices.v[i].wwn, "(none)"));
	return 0;
}

/* Checks that the verdict of the record follows from its drives. -1: *e names the contradiction. */
static int check_drives(const struct evidence *ev, struct err *e)
{
	int worst = ev->devices.n ? WIPE_PURGE : WIPE_FAIL;

	for (size_t i = 0; i < ev->devices.n; i++) {
		const struct evidence_device *d = &ev->devices.v[i];

		if (d->level < worst)
			worst = d->level;
		if (d->level > WIPE_FAIL &&
		    (d->canaries.found || d->reads.dirty || d->reads.unreadable))
			return err_set(e, ERR_DENIED, 0,
				       "spec.devices[%zu].level: %s, but after the wipe the drive "
				       "still had data or unreadable blocks",
				       i, wipe_level_names[d->level]);
		/* Check this only if the wipe succeeded: in a failed wipe, a drive need not have
		 * been verified. */
		if (ev->verdict > WIPE_FAIL && d->level > WIPE_FAIL &&
		    evidence_bears_out(d, EVIDENCE_SAMPLES, evidence_took_ms(ev), e) < 0)
			return err_wrap(e, "spec.devices[%zu].level: %s", i,
					wipe_level_names[d->level]);
	}
	if (ev->verdict > WIPE_FAIL && ev->inventory.extra.n)
		return err_set(e, ERR_DENIED, 0,
			       "spec.verdict: %s, but drive %s was not expected and not wiped",
			       wipe_level_names[ev->verdict], ev->inventory.extra.v[0]);
	if (ev->verdict > WIPE_FAIL && ev->inventory.expected != (int64_t)ev->devices.n)
		return err_set(e, ERR_DENIED, 0,
			       "spec.verdict: %s, but %lld drives were expected and %zu are listed",
			       wipe_level_names[ev->verdict], (long long)ev->inventory.expected,
			       ev->devices.n);
	/* an unexpected drive was not wiped, so the wipe failed whatever the other drives
	 * reached */
	if (ev->inventory.extra.n)
		worst = WIPE_FAIL;
	if (ev->verdict != worst)
		return err_set(e, ERR_DENIED, 0,
			       "spec.verdict: %s, but the worst drive has level %s",
			       wipe_level_names[ev->verdict], wipe_level_names[worst]);
	if (ev->verdict > WIPE_FAIL && ev->inventory.missing.n)
		return err_set(e, ERR_DENIED, 0, "spec.verdict: %s, but drive %s was missing",
			       wipe_level_names[ev->verdict], ev->inventory.missing.v[0]);
	return 0;
}

/* Checks that the name, the labels and the spec of the object equal the signed evidence. -1: *e
 * names the difference. */
static int check_object(const struct item *it, struct arena *a, struct err *e)
{
	const json_t *o = it->object;
	const char *name = json_str_at(o, "metadata", "name"),
		   *label = json_str_at(o, "metadata", "labels", "drover.dev/machine"),
		   *want = arena_printf(a, "%s-%lld-%lld", it->ev.machine.name,
					(long long)it->ev.tenancy, (long long)it->ev.attempt);

	if (!str_eq(json_str_at(o, "apiVersion"), OBJECT_API_VERSION))
		return err_set(e, ERR_DENIED, 0, "apiVersion: want " OBJECT_API_VERSION);
	if (!str_eq(json_str_at(o, "kind"), "WipeRecord"))
		return err_set(e, ERR_DENIED, 0, "kind: want WipeRecord");
	if (!str_eq(name, want))
		return err_set(e, ERR_DENIED, 0,
			       "metadata.name: differs from the signed name, which is %s", want);
	if (json_at(o, "metadata", "labels", "drover.dev/machine") &&
	    !str_eq(label, it->ev.machine.name))
		return err_set(
			e, ERR_DENIED, 0,
			"metadata.labels[drover.dev/machine]: differs from the signed machine, "
			"which is %s",
			it->ev.machine.name);
	return evidence_compare_shown(json_at(o, "spec"), &it->ev, e);
}

static int open_item(struct audit *a, struct item *it, struct err *e)
{
	bool lone;

	if (!it->envelope)
		return err_set(e, ERR_INVALID, 0,
			       it->object ? "spec.envelope: missing, so this is no complete "
					    "WipeRecord"
					  : "neither a WipeRecord nor the signed envelope of one");
	lone = evidence_is_unfinished(it->envelope);
	if ((lone ? evidence_open_unfinished(it->envelope, a->keys, a->nkeys, a->arena, &it->ev, e)
		  : evidence_open_countersigned(it->envelope, a->keys, a->nkeys, a->arena, &it->ev,
						e)) < 0)
		return -1;
	it->opened = true;
	it->row.result = lone			      ? AUDIT_UNFINISHED
			 : it->ev.verdict > WIPE_FAIL ? AUDIT_PROVED
						      : AUDIT_FAILED;
	return 0;
}

static const char *covered_parts(const struct evidence *ev, struct arena *a)
{
	const unsigned bits = statement_covered(ev->statements.v, ev->statements.n);
	const char *text = NULL;

	for (unsigned k = 0; k < STATEMENT_PARTS; k++)
		if (bits & 1u << k)
			text = arena_printf(a, "%s%s%s", str_or(text, ""), text ? "," : "",
					    statement_part_names[k]);
	return text;
}

static void check(struct audit *a, struct item *it)
{
	struct audit_row *r = &it->row;
	struct evidence *ev = &it->ev;
	uint8_t d[CRYPTO_SHA256];

	/* Until the envelope is opened, report the unsigned values of the object. */
	r->record = json_str_at(it->object, "metadata", "name");
	r->machine = json_str_at(it->object, "spec", "machine", "name");
	r->chain = AUDIT_NOT_GIVEN;
	if (r->err.kind != ERR_NONE)
		return;
	if (open_item(a, it, &r->err) < 0) {
		r->result = AUDIT_BAD;
		return;
	}
	evidence_digest(it->envelope, d);
	crypto_digest_text(d, it->digest);
	r->record = arena_printf(a->arena, "%s-%lld-%lld", ev->machine.name, (long long)ev->tenancy,
				 (long long)ev->attempt);
	r->machine = ev->machine.name;
	r->tenancy = ev->tenancy;
	r->attempt = ev->attempt;
	r->verdict = wipe_level_names[ev->verdict];
	r->trust = wipe_trust_names[ev->agent_trust];
	r->unfinished = ev->unfinished;
	r->drives = ev->devices.n;
	r->covered = covered_parts(ev, a->arena);
	if (check_names(ev, &r->err) < 0 || check_drives(ev, &r->err) < 0 ||
	    (it->object && check_object(it, a->arena, &r->err) < 0))
		r->result = AUDIT_BAD;
}

/* --- the chain of WipeRecords of each machine ------------------------------------------------- */

static int order(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int c = strcmp(str_or(a->row.machine, ""), str_or(b->row.machine, ""));

	if (c)
		return c;
	if (a->row.tenancy != b->row.tenancy)
		return a->row.tenancy < b->row.tenancy ? -1 : 1;
	if (a->row.attempt != b->row.attempt)
		return a->row.attempt < b->row.attempt ? -1 : 1;
	return strcmp(a->digest, b->digest);
}

static void broken(struct item *it)
{
	it->row.chain = AUDIT_BROKEN;
	it->row.result = AUDIT_BAD;
}

/* True if a record with the evidence `next` may directly follow one with `prev`: the next attempt
 * of the same tenancy, or the first attempt of a later tenancy. */
static bool follows(const struct evidence *next, const struct evidence *prev)
{
	return next->attempt > 1
		       ? prev->tenancy == next->tenancy && prev->attempt == next->attempt - 1
		       : prev->tenancy < next->tenancy;
}

/* Checks that a record names its predecessor, and sets it->row.chain. before: the record that
 * precedes this one in the order of the machine's records; NULL: none. */
static void link_item(const struct audit *a, struct item *it, const struct item *before)
{
	const char *name = it->ev.previous.name, *digest = it->ev.previous.digest;
	const struct item *prev = name ? map_get(a->by_name, name) : NULL;
	struct err *e = &it->row.err;

	if (before && before->row.tenancy == it->row.tenancy &&
	    before->row.attempt == it->row.attempt) {
		err_note(e, ERR_DENIED, 0,
			 "another record of this machine, tenancy and attempt differs "
			 "from this one");
		broken(it);
	} else if (!name) {
		it->row.chain = AUDIT_FIRST;
		if (before || it->ev.attempt > 1) {
			err_note(e, ERR_DENIED, 0,
				 "spec.previous: missing, although %s; only the first record of a "
				 "machine has no spec.previous",
				 before ? arena_printf(a->arena, "record %s came before",
						       before->row.record)
					: "attempt 1 came before");
			broken(it);
		}
	} else if (!prev) {
		it->row.chain = before ? AUDIT_GAP : AUDIT_NOT_GIVEN;
	} else if (!str_eq(prev->digest, digest)) {
		err_note(e, ERR_DENIED, 0,
			 "spec.previous.digest: differs from the digest of record %s", name);
		broken(it);
	} else if (!before || !str_eq(prev->digest, before->digest) ||
		   !follows(&it->ev, &prev->ev)) {
		err_note(e, ERR_DENIED, 0,
			 "spec.previous: %s is not the record directly "
			 "before this one",
			 name);
		broken(it);
	} else {
		it->row.chain = AUDIT_LINKED;
	}
}

/* Removes duplicates, so that a record given twice counts once. */
static void drop_twins(struct audit *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->n; i++) {
		struct item *it = &a->v[i], *last = kept ? &a->v[kept - 1] : NULL;

		if (last && last->opened && it->opened && str_eq(last->digest, it->digest) &&
		    last->row.result == it->row.result) {
			json_decref(it->object);
			continue;
		}
		a->v[kept++] = *it;
	}
	a->n = kept;
}

/* Returns the nearest earlier record of the same machine whose envelope differs from that of
 * a->v[i]; NULL: none. The same envelope in another file is the same record. */
static const struct item *before_of(const struct audit *a, size_t i)
{
	for (size_t k = i; k-- > 0;) {
		if (!str_eq(a->v[k].row.machine, a->v[i].row.machine))
			return NULL;
		if (a->v[k].opened && !str_eq(a->v[k].digest, a->v[i].digest))
			return &a->v[k];
	}
	return NULL;
}

void audit_run(struct audit *a, const char *machine)
{
	for (size_t i = 0; i < a->n; i++)
		check(a, &a->v[i]);
	if (a->n)
		qsort(a->v, a->n, sizeof(*a->v), order);
	drop_twins(a);
	a->by_name = map_new(NULL);
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].opened)
			map_put(a->by_name, a->v[i].row.record, &a->v[i]);
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].opened && a->v[i].row.result != AUDIT_BAD)
			link_item(a, &a->v[i], before_of(a, i));
	a->rows = mem_calloc(a->n + 1, sizeof(*a->rows));
	for (size_t i = 0; i < a->n; i++)
		if (!machine || !a->v[i].row.machine || str_eq(a->v[i].row.machine, machine)) {
			a->v[i].row.item = &a->v[i];
			a->rows[a->nrows++] = a->v[i].row;
		}
}

bool audit_any(const struct audit *a)
{
	return a->nrows > 0;
}

size_t audit_count(const struct audit *a, enum audit_result r)
{
	size_t n = 0;

	for (size_t i = 0; i < a->nrows; i++)
		n += a->rows[i].result == r;
	return n;
}

size_t audit_gaps(const struct audit *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->nrows; i++)
		n += a->rows[i].chain == AUDIT_GAP;
	return n;
}

size_t audit_records(const struct audit *a)
{
	return a->nrows;
}

struct audit_record audit_record_at(const struct audit *a, size_t i)
{
	const struct audit_row *r = &a->rows[i];

	return (struct audit_record){
		.source = r->source,
		.record = r->record,
		.machine = r->machine,
		.error = r->result == AUDIT_BAD ? r->err.text : NULL,
		.result = r->result,
		.chain = chain_names[r->chain],
		.evidence = r->item->opened ? &r->item->ev : NULL,
		.digest = r->item->digest,
	};
}

/* --- output ----------------------------------------------------------------------------------- */

static const char *result_text(const struct audit_row *r)
{
	switch (r->result) {
	case AUDIT_PROVED:
		return "good";
	case AUDIT_FAILED:
		return "good record of a FAILED wipe";
	case AUDIT_UNFINISHED:
		return "no agent signature: attempt not finished";
	case AUDIT_BAD:
		break;
	}
	return "BAD";
}

/* Returns a copy of text without control characters. Texts come from untrusted files and must not
 * control the terminal. */
static const char *harmless(struct arena *a, const char *text)
{
	char *copy = arena_strdup(a, text);

	str_printable(copy);
	return copy;
}

#define COLUMNS 9

static void cells(const struct audit_row *r, const char *out[COLUMNS], struct arena *a)
{
	bool known = r->verdict;

	out[0] = str_or(r->record, r->source);
	out[1] = str_or(r->machine, "-");
	out[2] = known ? arena_printf(a, "%lld", (long long)r->tenancy) : "-";
	out[3] = known ? arena_printf(a, "%lld", (long long)r->attempt) : "-";
	out[4] = str_or(r->verdict, "-");
	out[5] = r->result == AUDIT_UNFINISHED ? "-" : str_or(r->trust, "-");
	out[6] = known ? arena_printf(a, "%zu", r->drives) : "-";
	out[7] = str_or(r->covered, "-");
	out[8] = known ? chain_names[r->chain] : "-";
	for (int k = 0; k < COLUMNS; k++)
		out[k] = harmless(a, out[k]);
}

static void print_row(const char *const v[COLUMNS], const size_t *width, struct buf *out)
{
	for (int k = 0; k < COLUMNS; k++)
		buf_printf(out, "%-*s  ", (int)width[k], v[k]);
}

static void print_waivers(const struct evidence *ev, struct buf *out, struct arena *a)
{
	for (size_t i = 0; i < ev->waivers.n; i++)
		buf_printf(out, "  not wiped: %s\n",
			   harmless(a, evidence_waiver_text(&ev->waivers.v[i], a)));
}

void audit_print(const struct audit *a, struct buf *out)
{
	static const char *const head[COLUMNS] = {"RECORD",  "MACHINE", "TENANCY",
						  "ATTEMPT", "VERDICT", "TRUST",
						  "DRIVES",  "COVERED", "CHAIN"};
	OWN(arena) tmp = arena_new();
	size_t width[COLUMNS], bad = audit_count(a, AUDIT_BAD), gaps = audit_gaps(a);
	const char *v[COLUMNS];

	for (int k = 0; k < COLUMNS; k++)
		width[k] = strlen(head[k]);
	for (size_t i = 0; i < a->nrows; i++) {
		cells(&a->rows[i], v, tmp);
		for (int k = 0; k < COLUMNS; k++)
			if (strlen(v[k]) > width[k])
				width[k] = strlen(v[k]);
	}
	print_row(head, width, out);
	buf_puts(out, "RESULT\n");
	for (size_t i = 0; i < a->nrows; i++) {
		const struct audit_row *r = &a->rows[i];

		cells(r, v, tmp);
		print_row(v, width, out);
		buf_puts(out, result_text(r));
		if (r->result == AUDIT_BAD)
			buf_printf(out, ": %s", harmless(tmp, r->err.text));
		else if (r->unfinished)
			buf_printf(out, " (%s)", harmless(tmp, r->unfinished));
		buf_puts(out, "\n");
		if (r->result != AUDIT_BAD)
			print_waivers(&r->item->ev, out, tmp);
	}
	buf_printf(out,
		   "\n%zu record%s: %zu proved clean, %zu failed, %zu not finished, %zu bad.\n%s\n",
		   a->nrows, a->nrows == 1 ? "" : "s", audit_count(a, AUDIT_PROVED),
		   audit_count(a, AUDIT_FAILED), audit_count(a, AUDIT_UNFINISHED), bad,
		   bad ? "DO NOT TRUST the bad records: they differ from what was signed, or "
			 "contain no proof of a wipe."
		   : a->nrows ? "Every record matches what was signed."
			      : "There is nothing to check.");
	if (gaps)
		buf_printf(out,
			   "INCOMPLETE: %zu record%s a previous record that was not given. Add the "
			   "missing files, or find out who removed them.\n",
			   gaps, gaps == 1 ? " names" : "s name");
}

static json_t *waivers_json(const struct evidence *ev)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ev->waivers.n; i++)
		json_array_append_new(list,
				      fields_encode(evidence_waiver_fields, &ev->waivers.v[i]));
	return list;
}

json_t *audit_json(const struct audit *a)
{
	static const char *const results[] = {"bad", "proved", "failed", "unfinished"};
	json_t *list = json_array();

	for (size_t i = 0; i < a->nrows; i++) {
		const struct audit_row *r = &a->rows[i];
		json_t *o = json_pack("{s:s, s:s*, s:s*, s:s, s:s*, s:s*}", "source", r->source,
				      "record", r->record, "machine", r->machine, "result",
				      results[r->result], "unfinished", r->unfinished, "error",
				      r->result == AUDIT_BAD ? r->err.text : NULL);

		if (r->result != AUDIT_BAD && r->item->ev.waivers.n)
			json_object_set_new(o, "waivers", waivers_json(&r->item->ev));
		if (r->verdict)
			json_object_update_new(
				o,
				json_pack("{s:I, s:I, s:s, s:s, s:I, s:s*, s:s}", "tenancy",
					  (json_int_t)r->tenancy, "attempt", (json_int_t)r->attempt,
					  "verdict", r->verdict, "agentTrust", r->trust, "drives",
					  (json_int_t)r->drives, "covered", r->covered, "chain",
					  chain_names[r->chain]));
		json_array_append_new(list, o);
	}
	return json_pack("{s:o, s:I, s:b}", "records", list, "gaps", (json_int_t)audit_gaps(a),
			 "ok", a->nrows > 0 && !audit_count(a, AUDIT_BAD) && !audit_gaps(a));
}
