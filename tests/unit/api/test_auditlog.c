/* Tests the check of the audit log with each kind of damage. */
#include "tests/unit/testing.h"

#include <stdlib.h>

#include "api/auditlog.h"
#include "base/mem.h"
#include "base/str.h"

#define N 6

/* The entries 1 to N of a log, in v[1] to v[N]. */
static void make_log(json_t *v[N + 1], const char *name)
{
	const char *last = AUDIT_GENESIS;

	v[0] = NULL;
	for (int i = 1; i <= N; i++) {
		v[i] = json_pack("{s:s, s:s, s:s, s:s}", "time", "2026-12-01T10:00:00Z", "who",
				 "drover", "event", AUDIT_STATE, "name", name);
		audit_entry_seal(v[i], i, last);
		last = json_str_at(v[i], "digest");
	}
}

static void free_log(json_t *v[N + 1])
{
	for (int i = 1; i <= N; i++)
		json_decref(v[i]);
}

/* Adds the entries of the log whose numbers are the digits of order, as one input. */
static void add(struct audit_check *c, const char *input, json_t *v[N + 1], const char *order)
{
	audit_check_input(c, input);
	for (; *order; order++)
		assert_true(audit_check_add(c, v[*order - '0']));
}

static struct audit_verdict run(json_t *v[N + 1], const char *order)
{
	OWN(audit_check) c = audit_check_new();

	add(c, "file", v, order);
	return audit_check_run(c);
}

#define assert_fault(verdict, fault_, at_, until_, text_)                                          \
	do {                                                                                       \
		const struct audit_verdict got_ = (verdict);                                       \
		assert_string_equal(got_.text, text_);                                             \
		assert_int_equal(got_.fault, fault_);                                              \
		assert_int_equal(got_.at, at_);                                                    \
		assert_int_equal(got_.until, until_);                                              \
	} while (0)

static void a_log_as_it_was_written_is_good(void **state)
{
	json_t *v[N + 1];
	struct audit_verdict got;

	(void)state;
	make_log(v, "gpu-1");
	got = run(v, "123456");
	assert_fault(got, AUDIT_GOOD, 0, 0, "");
	assert_int_equal(got.entries, N);
	assert_int_equal(got.first, 1);
	assert_int_equal(got.last, N);
	assert_string_equal(got.head, json_str_at(v[N], "digest"));
	got = run(v, "345");
	assert_fault(got, AUDIT_GOOD, 0, 0, "");
	assert_int_equal(got.first, 3);
	assert_int_equal(got.last, 5);
	assert_fault(run(v, ""), AUDIT_GOOD, 0, 0, "");
	free_log(v);
}

static void missing_doubled_and_reordered_entries_are_named(void **state)
{
	json_t *v[N + 1];

	(void)state;
	make_log(v, "gpu-1");
	assert_fault(run(v, "12456"), AUDIT_MISSING, 3, 3, "entry 3 is missing");
	assert_fault(run(v, "126"), AUDIT_MISSING, 3, 5, "entries 3 to 5 are missing");
	assert_fault(run(v, "1233456"), AUDIT_DOUBLED, 3, 3, "entry 3 of file is there twice");
	assert_fault(run(v, "1234536"), AUDIT_DOUBLED, 3, 3, "entry 3 of file is there twice");
	assert_fault(run(v, "124356"), AUDIT_REORDERED, 3, 3,
		     "entry 3 of file is after a later entry");
	/* the lowest number counts */
	assert_fault(run(v, "13245"), AUDIT_REORDERED, 2, 2,
		     "entry 2 of file is after a later entry");
	assert_fault(run(v, "1356644"), AUDIT_MISSING, 2, 2, "entry 2 is missing");
	free_log(v);
}

static void a_bent_entry_is_named(void **state)
{
	json_t *v[N + 1];

	(void)state;
	make_log(v, "gpu-1");
	json_object_set_new(v[4], "who", json_string("jane"));
	assert_fault(run(v, "123456"), AUDIT_BENT, 4, 4,
		     "entry 4 of file was changed: its digest is not the digest of its content");
	/* the forger computes the digest again */
	audit_entry_seal(v[4], 4, json_str_at(v[3], "digest"));
	assert_fault(run(v, "123456"), AUDIT_BENT, 4, 4,
		     "entry 4 of file was replaced: entry 5 of file follows a different entry");
	/* a member that the log does not have */
	json_object_set_new(v[2], "note", json_string("x"));
	assert_fault(run(v, "123"), AUDIT_BENT, 2, 2,
		     "entry 2 of file was changed: its digest is not the digest of its content");
	json_object_set_new(v[1], "digest", json_string("md5:0"));
	assert_fault(run(v, "12"), AUDIT_BENT, 1, 1,
		     "entry 1 of file was changed: its digest is not the digest of its content");
	audit_entry_seal(v[1], 1, json_str_at(v[3], "digest"));
	assert_fault(run(v, "1"), AUDIT_BENT, 1, 1,
		     "entry 1 of file was changed: it names an entry before it");
	free_log(v);
}

static void two_inputs_may_overlap_only_if_they_agree(void **state)
{
	OWN(audit_check) c = audit_check_new();
	OWN(audit_check) d = audit_check_new();
	struct audit_verdict got;
	json_t *v[N + 1], *x[N + 1];

	(void)state;
	make_log(v, "gpu-1");
	make_log(x, "gpu-2");
	add(c, "a", v, "456");
	add(c, "b", v, "1234");
	got = audit_check_run(c);
	assert_fault(got, AUDIT_GOOD, 0, 0, "");
	assert_int_equal(got.entries, N);

	add(d, "a", v, "1234");
	add(d, "b", x, "123456");
	assert_fault(audit_check_run(d), AUDIT_BENT, 1, 1,
		     "entry 1 of b differs from entry 1 of a: one of them was changed, or two logs "
		     "were begun");
	free_log(v);
	free_log(x);
}

static void what_is_no_entry_is_ignored(void **state)
{
	static const char *const others[] = {
		"7", "{}", "{\"seq\": \"1\", \"digest\": \"\", \"previous\": \"\"}",
		"{\"seq\": 0, \"digest\": \"\", \"previous\": \"\"}",
		"{\"seq\": 1, \"digest\": \"\"}"};
	OWN(audit_check) c = audit_check_new();

	(void)state;
	audit_check_input(c, "file");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		OWN_JSON j = json_loads(others[i], JSON_DECODE_ANY, NULL);

		assert_false(audit_check_add(c, j));
	}
	assert_fault(audit_check_run(c), AUDIT_GOOD, 0, 0, "");
}

/* The documented way without drover: jq -cS 'del(.digest)', then sha256sum. */
static void the_digest_is_that_of_sorted_compact_json(void **state)
{
	OWN_JSON j = json_pack("{s:s, s:i, s:s}", "who", "jürgen/x", "seq", 1, "digest", "old");
	const char *text = "{\"seq\":1,\"who\":\"jürgen/x\"}";
	char got[CRYPTO_DIGEST_TEXT], want[CRYPTO_DIGEST_TEXT];
	uint8_t d[CRYPTO_SHA256];

	(void)state;
	crypto_sha256(text, strlen(text), d);
	assert_string_equal(audit_entry_digest(j, got), crypto_digest_text(d, want));
}

static void an_entry_keeps_its_digest_when_it_is_decoded_and_encoded(void **state)
{
	struct audit_entry in = {.seq = 7,
				 .time = 1790000000000,
				 .who = "jane",
				 .event = AUDIT_STATE,
				 .kind = "Machine",
				 .name = "gpu-1",
				 .from = "free",
				 .to = "claimed",
				 .count = 3,
				 .late = true},
			   out = {0};
	OWN_JSON j = audit_entry_encode(&in);
	OWN_JSON again = NULL;
	OWN(arena) a = arena_new();
	struct err e;

	(void)state;
	audit_entry_seal(j, 7, AUDIT_GENESIS);
	assert_ok(fields_decode_strict(audit_entry_fields, j, NULL, &out, a, &e), &e);
	again = fields_encode(audit_entry_fields, &out);
	assert_true(json_equal(j, again));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_as_it_was_written_is_good),
		cmocka_unit_test(missing_doubled_and_reordered_entries_are_named),
		cmocka_unit_test(a_bent_entry_is_named),
		cmocka_unit_test(two_inputs_may_overlap_only_if_they_agree),
		cmocka_unit_test(what_is_no_entry_is_ignored),
		cmocka_unit_test(the_digest_is_that_of_sorted_compact_json),
		cmocka_unit_test(an_entry_keeps_its_digest_when_it_is_decoded_and_encoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
