#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/data/yaml.h"
#include "cli/audit.h"
#include "cli/wipe_report.h"
#include "tests/unit/controller/rules/evidence_made.h"

static void add_json(struct audit *a, const json_t *o)
{
	char *text = json_text(o);

	audit_add(a, "test", text, strlen(text));
	free(text);
}

/* Returns the array of records that `drover wipe verify -o json` prints, in order. *whole owns the
 * array. */
static const json_t *records_of(const struct audit *a, json_t **whole)
{
	*whole = audit_json(a);
	return json_at(*whole, "records");
}

static const char *text_at(const json_t *records, size_t i, const char *member)
{
	return str_or(json_str_at(json_array_get(records, i), member), "");
}

static void expect(const json_t *records, size_t i, const char *member, const char *want)
{
	if (!str_eq(text_at(records, i, member), want))
		fail_msg("record %zu: %s: \"%s\" instead of \"%s\": %s", i, member,
			 text_at(records, i, member), want, text_at(records, i, "error"));
}

struct shown {
	/* Columns of one record. error: "" for a record without an error */
	char result[16], error[256];
};

/* Verifies the record in this object alone and returns its columns. */
static struct shown judged(const json_t *o)
{
	OWN(audit) a = audit_new();
	OWN_JSON whole = NULL;
	struct shown shown;
	const json_t *r;

	audit_keys(a, made.drover_text);
	add_json(a, o);
	audit_run(a, NULL);
	r = records_of(a, &whole);
	assert_int_equal(json_array_size(r), 1);
	str_copy(shown.result, sizeof(shown.result), text_at(r, 0, "result"));
	str_copy(shown.error, sizeof(shown.error), text_at(r, 0, "error"));
	return shown;
}

static void expect_result(const json_t *o, const char *want)
{
	struct shown shown = judged(o);

	if (!str_eq(shown.result, want))
		fail_msg("\"%s\" instead of \"%s\": %s", shown.result, want, shown.error);
}

static void expect_bad(const json_t *o, const char *names)
{
	struct shown shown = judged(o);

	if (!str_eq(shown.result, "bad"))
		fail_msg("%s: was accepted", names);
	if (!strstr(shown.error, names))
		fail_msg("\"%s\" does not name %s", shown.error, names);
}

/* --- valid records ---------------------------------------------------------------------------- */

static void a_record_is_good_in_every_shape(void **state)
{
	struct evidence ev = made_sample();
	OWN_JSON o = made_record(&ev);
	OWN_JSON list =
		json_pack("{s:s, s:s, s:[O]}", "apiVersion", "v1", "kind", "List", "items", o);
	const char *b64 = json_str_at(o, "spec", "envelope");
	struct buf yaml;
	struct err e;
	size_t n;
	char *texts[6], *dsse = crypto_base64_decode(b64, strlen(b64), &n, &e);

	(void)state;
	buf_init(&yaml, 1 << 20);
	yaml_print(o, &yaml);
	texts[0] = json_text(o);
	texts[1] = json_text(list);
	texts[2] = mem_strdup(b64);
	texts[3] = mem_printf("%s\n", dsse);
	texts[4] = mem_strdup(yaml.data);
	texts[5] = mem_printf("---\n%s---\n", yaml.data);
	for (size_t i = 0; i < 6; i++) {
		OWN(audit) a = audit_new();
		OWN_JSON whole = NULL;
		const json_t *r;

		audit_keys(a, made.drover_text);
		audit_add(a, "x", texts[i], strlen(texts[i]));
		audit_run(a, NULL);
		r = records_of(a, &whole);
		assert_int_equal(json_array_size(r), 1);
		if (!str_eq(text_at(r, 0, "result"), "proved"))
			fail_msg("shape %zu: %s", i, text_at(r, 0, "error"));
		expect(r, 0, "record", "gpu-1-41-1");
		expect(r, 0, "verdict", "Clear");
		expect(r, 0, "chain", "not given");
		assert_int_equal(json_integer_value(json_at(json_array_get(r, 0), "drives")), 2);
		free(texts[i]);
	}
	free(dsse);
	buf_done(&yaml);
}

static void what_was_let_go_without_a_wipe_is_told(void **state)
{
	struct evidence_waiver gone = {.what = WAIVED_DRIVE,
				       .wwn = "eui.9",
				       .serial = "S9",
				       .by = "alice",
				       .time = 1790000000000,
				       .reason = "shredded\033[2J",
				       .tenancy = 41};
	struct evidence ev = made_sample();
	OWN(audit) a = audit_new();
	OWN_JSON o = NULL;
	OWN_JSON whole = NULL;
	struct buf out, report;
	char *text;

	(void)state;
	ev.waivers.v = &gone;
	ev.waivers.n = 1;
	o = made_record(&ev);
	text = json_text(o);
	audit_keys(a, made.drover_text);
	audit_add(a, "x", text, strlen(text));
	audit_run(a, NULL);
	buf_init(&out, 1 << 20);
	audit_print(a, &out);
	buf_init(&report, 1 << 20);
	assert_true(wipe_report(a, NULL, false, &report));
	/* Control characters of a reason do not reach the terminal. */
	if (!strstr(out.data, "  not wiped: drive S9 (eui.9) left the machine without a wipe: "
			      "alice, 2026-09-21T14:13:20Z, shredded?[2J\n"))
		fail_msg("%s", out.data);
	if (!strstr(report.data, "Not wiped      drive S9 (eui.9) left the machine without a "
				 "wipe: alice, 2026-09-21T14:13:20Z, shredded?[2J\n"))
		fail_msg("%s", report.data);
	assert_string_equal(
		json_str_at(
			json_array_get(json_at(json_array_get(records_of(a, &whole), 0), "waivers"),
				       0),
			"serialNumber"),
		"S9");
	buf_done(&out);
	buf_done(&report);
	free(text);
	/* The shown entry was changed after it was signed. */
	json_object_set_new(json_array_get(json_at(o, "spec", "waivers"), 0), "by",
			    json_string("bob"));
	expect_bad(o, "spec.waivers[0].by");
}

static void failed_and_unfinished_attempts_are_not_bad_and_not_proof(void **state)
{
	struct evidence ev = made_sample();
	OWN_JSON failed = NULL;
	OWN_JSON lone = NULL;

	(void)state;
	made_drives[1].level = WIPE_FAIL;
	made_drives[1].reads.dirty = 7;
	ev.verdict = WIPE_FAIL;
	failed = made_record(&ev);
	expect_result(failed, "failed");
	made_drives[0].level = WIPE_FAIL;
	ev.unfinished = "AgentSilent: nothing for 5 minutes";
	lone = made_record(&ev);
	expect_result(lone, "unfinished");
	/* Without `unfinished`, the record claims that an agent signed it. */
	json_object_del(json_at(lone, "spec"), "unfinished");
	expect_bad(lone, "spec.unfinished");
}

static void a_level_that_technique_answer_or_time_do_not_bear_out_is_bad(void **state)
{
	static int64_t failed[] = {5};

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct evidence ev = made_sample();
		OWN_JSON o = NULL;

		if (i == 0)
			made_drives[0].technique = "None";
		else if (i == 1)
			made_drives[0].raw_status.v = failed;
		else if (i == 2)
			made_drives[0].raw_status.n = 0;
		else
			ev.end_time = ev.start_time + 1000;
		o = made_record(&ev);
		expect_bad(o, i == 0   ? "technique None reaches Fail at most"
			      : i == 3 ? "the minimum is"
				       : "rawStatus");
	}
}

static void without_the_right_key_nothing_is_good(void **state)
{
	struct evidence ev = made_sample();
	char *forged = made_envelope(&ev, made.other);
	OWN_JSON o = made_record_with(&ev, forged);

	(void)state;
	expect_bad(o, "drover's signature is by an unknown key");
	free(forged);
}

/* --- changed records -------------------------------------------------------------------------- */

typedef void leaf_fn(json_t *whole, json_t *parent, const char *key, size_t index, json_t *v,
		     const char *path, void *arg);

static void each_leaf(json_t *whole, json_t *j, const char *path, leaf_fn *fn, void *arg)
{
	OWN(arena) a = arena_new();
	OWN_JSON keys = json_array(); /* A copy, because fn may remove members and put them back. */
	const char *key;
	size_t i;
	json_t *v;

	json_object_foreach (j, key, v)
		json_array_append_new(keys, json_string(key));
	for (i = 0; i < json_array_size(json_is_object(j) ? keys : j); i++) {
		const char *p;

		key = json_string_value(json_array_get(keys, i));
		v = key ? json_object_get(j, key) : json_array_get(j, i);
		p = key ? arena_printf(a, "%s%s%s", path, path[0] ? "." : "", key)
			: arena_printf(a, "%s[%zu]", path, i);
		if (json_is_object(v) || json_is_array(v))
			each_leaf(whole, v, p, fn, arg);
		else
			fn(whole, j, key, i, v, p, arg);
	}
}

static json_t *changed(const json_t *v)
{
	OWN(arena) a = arena_new();

	if (json_is_integer(v))
		return json_integer(json_integer_value(v) + 1);
	if (json_is_boolean(v))
		return json_boolean(!json_is_true(v));
	return json_string(arena_printf(a, "%sx", str_or(json_string_value(v), "")));
}

static void put(json_t *parent, const char *key, size_t index, json_t *v)
{
	if (key)
		json_object_set_new(parent, key, v);
	else
		json_array_set_new(parent, index, v);
}

static void change_shown(json_t *whole, json_t *parent, const char *key, size_t index, json_t *v,
			 const char *path, void *arg)
{
	json_t *was = json_incref(v);
	bool envelope = str_eq(path, "spec.envelope"), label = str_starts(path, "metadata.labels");

	++*(unsigned *)arg;
	put(parent, key, index, changed(v));
	expect_bad(whole, envelope ? "envelope" : label ? "metadata.labels" : path);
	if (json_is_integer(was)) { /* A number that is written as text is a different value. */
		char text[32];

		str_format(text, sizeof(text), "%lld", (long long)json_integer_value(was));
		put(parent, key, index, json_string(text));
		expect_bad(whole, path);
	}
	put(parent, key, index, json_incref(was));
	if (key && !label) {
		json_object_del(parent, key);
		expect_bad(whole, path);
		put(parent, key, index, json_incref(was));
	}
	json_decref(was);
}

static void every_field_that_is_shown_is_checked_and_named(void **state)
{
	struct evidence ev = made_sample();
	OWN_JSON o = made_record(&ev);
	unsigned leaves = 0;

	(void)state;
	expect_result(o, "proved");
	each_leaf(o, o, "", change_shown, &leaves);
	assert_true(leaves > 45);
	expect_result(o, "proved"); /* Every member has its original value again. */
	json_object_set_new(json_at(o, "spec"), "approvedBy", json_string("the auditor"));
	expect_bad(o, "spec.approvedBy");
}

/* Older records have a single number as the rawStatus of a drive. Such a record is reported as
 * invalid, and the error names the field. */
static void a_record_whose_status_is_one_number_is_bad_and_named(void **state)
{
	struct evidence ev = made_sample();
	OWN_JSON o = made_record(&ev);
	json_t *drive = json_array_get(json_at(o, "spec", "devices"), 0);

	(void)state;
	json_object_set_new(drive, "rawStatus", json_integer(0));
	expect_bad(o, "spec.devices[0].rawStatus");
	json_object_set_new(drive, "rawStatus", json_null());
	expect_bad(o, "spec.devices[0].rawStatus");
}

static void change_payload(json_t *whole, json_t *parent, const char *key, size_t index, json_t *v,
			   const char *path, void *arg)
{
	json_t *was = json_incref(v), *envelope = arg;
	OWN(audit) a = audit_new();
	OWN_JSON shown = NULL;
	const json_t *r;
	char *text;

	put(parent, key, index, changed(v));
	text = made_around(envelope, whole);
	audit_keys(a, made.drover_text);
	audit_add(a, "x", text, strlen(text));
	audit_run(a, NULL);
	r = records_of(a, &shown);
	if (!str_eq(text_at(r, 0, "result"), "bad") ||
	    !strstr(text_at(r, 0, "error"), "agent's signature is bad"))
		fail_msg("%s: %s", path, text_at(r, 0, "error"));
	free(text);
	put(parent, key, index, was);
}

static void no_field_of_the_payload_can_be_changed(void **state)
{
	struct evidence ev = made_sample();
	OWN_JSON o = made_record(&ev);
	OWN_JSON envelope = made_decoded(json_str_at(o, "spec", "envelope"));
	OWN_JSON statement = made_decoded(json_str_at(envelope, "payload"));

	(void)state;
	each_leaf(statement, statement, "", change_payload, envelope);
}

static void no_byte_of_the_envelope_can_be_changed(void **state)
{
	static const char instead[] = "A0+/=-\n ";
	struct evidence ev = made_sample();
	char *envelope = made_envelope(&ev, made.drover);
	size_t n = strlen(envelope);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		char was = envelope[i];
		OWN_JSON o = NULL;

		envelope[i] = instead[i % (sizeof(instead) - 1)];
		if (envelope[i] == was)
			envelope[i] = was == 'B' ? 'C' : 'B';
		o = made_record_with(&ev, envelope);
		if (!str_eq(judged(o).result, "bad"))
			fail_msg("byte %zu of %zu", i, n);
		envelope[i] = was;
	}
	free(envelope);
}

/* Agent and drover signed these records, and they are wrong nevertheless: the agent lied about its
 * own counts. */
static void a_verdict_that_its_drives_do_not_bear_out_is_bad(void **state)
{
	static const char *gone[] = {"eui.9"};
	struct evidence ev = made_sample();
	OWN_JSON found = NULL;
	OWN_JSON missing = NULL;
	OWN_JSON extra = NULL;
	OWN_JSON told = NULL;
	OWN_JSON fewer = NULL;
	OWN_JSON twice = NULL;
	OWN_JSON low = NULL;
	OWN_JSON none = NULL;

	(void)state;
	made_drives[1].reads.dirty = 1;
	found = made_record(&ev);
	expect_bad(found, "spec.devices[1].level: Clear, but after the wipe the drive still had "
			  "data or unreadable blocks");
	ev = made_sample();
	ev.inventory.missing = (struct strings){gone, 1};
	missing = made_record(&ev);
	expect_bad(missing, "drive eui.9 was missing");
	ev = made_sample();
	ev.inventory.extra = (struct strings){gone, 1};
	extra = made_record(&ev);
	expect_bad(extra, "drive eui.9 was not expected and not wiped");
	ev.verdict = WIPE_FAIL; /* With the verdict Fail, the record agrees with its drives. */
	told = made_record(&ev);
	expect_result(told, "failed");
	ev = made_sample();
	ev.inventory.expected = 3;
	fewer = made_record(&ev);
	expect_bad(fewer, "3 drives were expected and 2 are listed");
	ev = made_sample();
	made_drives[1].wwn = made_drives[0].wwn;
	twice = made_record(&ev);
	expect_bad(twice, "drive eui.0001 is listed twice");
	ev = made_sample();
	ev.verdict = WIPE_FAIL;
	low = made_record(&ev);
	expect_bad(low, "spec.verdict: Fail, but the worst drive has level Clear");
	ev = made_sample();
	ev.devices.n = 0;
	none = made_record(&ev);
	expect_bad(none, "predicate.verdict: Clear, but there is no device");
}

/* A wipe is not proved if the agent wrote no canaries before it, or read no blocks after it: who
 * reads nothing cannot find old data. */
static void a_wipe_that_nobody_looked_at_is_no_proof_and_a_failed_one_stays_readable(void **state)
{
	struct evidence ev = made_sample();
	OWN_JSON unplanted = NULL;
	OWN_JSON unread = NULL;
	OWN_JSON failed = NULL;

	(void)state;
	made_drives[1].canaries.planted = 63;
	unplanted = made_record(&ev);
	expect_bad(unplanted, "spec.devices[1].level: Clear: of 64 canaries 63 planted");
	ev = made_sample();
	made_drives[0].reads.clean = 10511;
	unread = made_record(&ev);
	expect_bad(unread, "spec.devices[0].level: Purge: of 64 canaries 64 planted, 0 found "
			   "afterwards; of 10512 reads 10511 clean");
	made_drives[1].level = ev.verdict = WIPE_FAIL;
	failed = made_record(&ev);
	expect_result(failed, "failed");
}

/* --- the chain -------------------------------------------------------------------------------- */

static struct audit *audit_of(json_t *const *list, size_t n)
{
	struct audit *a = audit_new();

	audit_keys(a, made.drover_text);
	for (size_t i = 0; i < n; i++)
		if (list[i])
			add_json(a, list[i]);
	audit_run(a, NULL);
	return a;
}

static void records_are_linked_to_the_one_before(void **state)
{
	json_t *list[3], *mixed[4];
	OWN_JSON whole = NULL;
	const json_t *r;
	struct audit *a;

	(void)state;
	made_chain(list);
	mixed[0] = list[2];
	mixed[1] = list[0];
	mixed[2] = list[1];
	mixed[3] = list[0]; /* One record is given twice. */
	a = audit_of(mixed, 4);
	r = records_of(a, &whole);
	assert_int_equal(json_array_size(r), 3);
	expect(r, 0, "record", "gpu-1-40-1");
	expect(r, 0, "chain", "first");
	expect(r, 1, "chain", "linked");
	expect(r, 1, "result", "unfinished");
	expect(r, 2, "chain", "linked");
	assert_true(json_true_at(whole, "ok"));
	assert_int_equal(audit_count(a, AUDIT_BAD), 0);
	audit_free(a);
	for (int i = 0; i < 3; i++)
		json_decref(list[i]);
}

static void a_record_that_was_taken_out_is_missed(void **state)
{
	json_t *list[3], *ends[2];
	OWN_JSON whole = NULL;
	const json_t *r;
	struct audit *a;
	struct buf out;

	(void)state;
	made_chain(list);
	ends[0] = list[0];
	ends[1] = list[2];
	a = audit_of(ends, 2);
	r = records_of(a, &whole);
	assert_int_equal(json_array_size(r), 2);
	expect(r, 0, "chain", "first");
	expect(r, 1, "chain", "gap");
	assert_false(json_true_at(whole, "ok"));
	assert_int_equal(audit_count(a, AUDIT_BAD), 0);
	assert_int_equal(audit_gaps(a), 1);
	buf_init(&out, 1 << 20);
	audit_print(a, &out);
	assert_non_null(strstr(out.data,
			       "INCOMPLETE: 1 record names a previous record that was not given"));
	assert_non_null(strstr(out.data, "COVERED"));
	buf_done(&out);
	audit_free(a);
	for (int i = 0; i < 3; i++)
		json_decref(list[i]);
}

/* Parts that were wiped besides the drives (such as memory) are shown, and the signature covers
 * them. */
static void parts_that_are_covered_are_named(void **state)
{
	struct evidence ev = made_sample();
	struct statement s = {.part = STATEMENT_SYSTEM_MEMORY,
			      .outcome = STATEMENT_COVERED,
			      .technique = "Overwritten",
			      .total_bytes = 100,
			      .covered_bytes = 99};
	OWN_JSON good = NULL;
	OWN_JSON bad = NULL;
	OWN_JSON whole = NULL;
	struct audit *a;
	json_t *one[1];

	(void)state;
	ev.statements.v = &s;
	ev.statements.n = 1;
	one[0] = good = made_record(&ev);
	a = audit_of(one, 1);
	expect(records_of(a, &whole), 0, "covered", "SystemMemory");
	assert_int_equal(audit_count(a, AUDIT_PROVED), 1);
	audit_free(a);
	bad = made_record(&ev);
	json_object_set_new(json_array_get(json_at(bad, "spec", "statements"), 0), "coveredBytes",
			    json_integer(100));
	expect_bad(bad, "spec.statements[0].coveredBytes: not what was signed");
}

static void what_came_first_may_lie_elsewhere(void **state)
{
	json_t *list[3];
	OWN_JSON whole = NULL;
	const json_t *r;
	struct audit *a;

	(void)state;
	made_chain(list);
	a = audit_of(list + 1, 2);
	r = records_of(a, &whole);
	expect(r, 0, "chain", "not given");
	expect(r, 1, "chain", "linked");
	assert_int_equal(audit_gaps(a), 0);
	audit_free(a);
	for (int i = 0; i < 3; i++)
		json_decref(list[i]);
}

static void expect_broken(json_t *const *list, size_t n, const char *record, const char *why)
{
	struct audit *a = audit_of(list, n);
	OWN_JSON whole = NULL;
	const json_t *r = records_of(a, &whole);
	bool found = false;

	for (size_t i = 0; i < json_array_size(r); i++)
		if (str_eq(text_at(r, i, "record"), record) &&
		    str_eq(text_at(r, i, "result"), "bad")) {
			found = true;
			expect(r, i, "chain", "broken");
			if (!strstr(text_at(r, i, "error"), why))
				fail_msg("\"%s\" does not say \"%s\"", text_at(r, i, "error"), why);
		}
	if (!found)
		fail_msg("%s is not bad", record);
	audit_free(a);
}

static void a_record_that_was_replaced_breaks_the_chain(void **state)
{
	json_t *list[3], *other[3];
	struct evidence ev = made_sample();

	(void)state;
	made_chain(list);
	ev.tenancy = 40; /* A different record, which drover has signed, too. */
	ev.previous.name = ev.previous.digest = NULL;
	ev.end_time += 1000;
	other[0] = made_record(&ev);
	other[1] = list[1];
	expect_broken(other, 2, "gpu-1-41-1", "differs from the digest of record");
	other[1] = list[0];
	expect_broken(other, 2, "gpu-1-40-1", "differs from this one");
	json_decref(other[0]);
	ev = made_sample();
	ev.attempt = 2;
	ev.previous.name = ev.previous.digest = NULL;
	other[0] = made_record(&ev);
	expect_broken(other, 1, "gpu-1-41-2",
		      "although attempt 1 came before; only the first record");
	ev.attempt = 1;
	json_decref(other[0]);
	other[0] = made_record(&ev);
	other[1] = list[0];
	expect_broken(other, 2, "gpu-1-41-1",
		      "although record gpu-1-40-1 came before; "
		      "only the first record of a machine has no spec.previous");
	json_decref(other[0]);
	/* Record 41-2 names 40-1 as its predecessor, so it omits 41-1. */
	ev = made_sample();
	ev.attempt = 2;
	ev.previous.name = "gpu-1-40-1";
	ev.previous.digest = json_str_at(list[1], "spec", "previous", "digest");
	other[0] = made_record(&ev);
	other[1] = list[0];
	other[2] = list[1];
	expect_broken(other, 2, "gpu-1-41-2", "gpu-1-40-1 is not the record directly before");
	expect_broken(other, 3, "gpu-1-41-2", "gpu-1-40-1 is not the record directly before");
	json_decref(other[0]);
	for (int i = 0; i < 3; i++)
		json_decref(list[i]);
}

/* Unsigned text is shown on the operator's terminal, so control characters must be escaped. */
static void no_name_can_paint_over_the_result(void **state)
{
	OWN_JSON o = json_pack("{s:{s:s}, s:{s:{s:s}}}", "metadata", "name",
			       "a\x1b[2K\rgpu-1-40-1 good\n\xc2\x9b"
			       "2J",
			       "spec", "machine", "name", "\x1b]0;x\x07 b");
	struct audit *a = audit_new();
	char *text = json_text(o);
	unsigned lines = 0;
	struct buf out;

	(void)state;
	audit_keys(a, made.drover_text);
	audit_add(a, "dir/\x1b[1mfile.json", text, strlen(text));
	audit_add(a, "dir/\x1b[1mother.json", "}", 1);
	free(text);
	audit_run(a, NULL);
	buf_init(&out, 1 << 20);
	audit_print(a, &out);
	for (size_t i = 0; i < out.len; i++) {
		assert_true(out.data[i] == '\n' || (unsigned char)out.data[i] >= 0x20);
		assert_int_not_equal((unsigned char)out.data[i], 0x9b);
		lines += out.data[i] == '\n';
	}
	/* Six lines: header, two rows, an empty line, the sum, the conclusion. */
	assert_int_equal(lines, 6);
	buf_done(&out);
	audit_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_good_in_every_shape),
		cmocka_unit_test(what_was_let_go_without_a_wipe_is_told),
		cmocka_unit_test(failed_and_unfinished_attempts_are_not_bad_and_not_proof),
		cmocka_unit_test(a_level_that_technique_answer_or_time_do_not_bear_out_is_bad),
		cmocka_unit_test(without_the_right_key_nothing_is_good),
		cmocka_unit_test(every_field_that_is_shown_is_checked_and_named),
		cmocka_unit_test(a_record_whose_status_is_one_number_is_bad_and_named),
		cmocka_unit_test(no_field_of_the_payload_can_be_changed),
		cmocka_unit_test(no_byte_of_the_envelope_can_be_changed),
		cmocka_unit_test(a_verdict_that_its_drives_do_not_bear_out_is_bad),
		cmocka_unit_test(
			a_wipe_that_nobody_looked_at_is_no_proof_and_a_failed_one_stays_readable),
		cmocka_unit_test(records_are_linked_to_the_one_before),
		cmocka_unit_test(a_record_that_was_taken_out_is_missed),
		cmocka_unit_test(parts_that_are_covered_are_named),
		cmocka_unit_test(what_came_first_may_lie_elsewhere),
		cmocka_unit_test(a_record_that_was_replaced_breaks_the_chain),
		cmocka_unit_test(no_name_can_paint_over_the_result),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, made_setup, made_teardown);
}
