#include "tests/unit/testing.h"

#include <errno.h>
#include <stdio.h>
#include "base/err.h"

static void a_failure_is_said_once_with_its_place(void **state)
{
	struct err e = {.scope = ERR_ZONE, .retry_after_ms = 9};

	(void)state;
	assert_int_equal(err_set(&e, ERR_CONFLICT, 409, "node %s", "gpu-1"), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_int_equal(e.code, 409);
	assert_int_equal(e.scope, ERR_REQUEST);
	assert_int_equal(e.retry_after_ms, 0);
	assert_string_equal(e.text, "node gpu-1");
	assert_non_null(strstr(e.where, "test_err.c:"));
}

static void wrapping_adds_a_clause_and_keeps_the_rest(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(err_set(&e, ERR_TIMEOUT, 7, "no answer"), -1);
	e.scope = ERR_PROVIDER;
	e.retry_after_ms = 1500;
	assert_int_equal(err_wrap(&e, "bmc %d", 4), -1);
	assert_string_equal(e.text, "bmc 4: no answer");
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_int_equal(e.code, 7);
	assert_int_equal(e.scope, ERR_PROVIDER);
	assert_int_equal(e.retry_after_ms, 1500);
}

static void a_text_may_quote_itself(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(err_set(&e, ERR_INVALID, 0, "inner"), -1);
	assert_int_equal(err_set(&e, ERR_DENIED, 0, "outer (%s)", e.text), -1);
	assert_string_equal(e.text, "outer (inner)");
	assert_int_equal(err_wrap(&e, "again (%s)", e.text), -1);
	assert_string_equal(e.text, "again (outer (inner)): outer (inner)");
}

static void foreign_bytes_cannot_move_the_cursor(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(err_set(&e, ERR_PROTOCOL, 0, "got %s", "a\nb\033[2J\x7f\r"), -1);
	assert_string_equal(e.text, "got a b [2J  ");
}

static void a_long_text_is_cut_between_characters(void **state)
{
	char text[400];
	struct err e;

	(void)state;
	/* Each "é" has 2 bytes, so 255 bytes contain 127 of them and the first byte of one more. */
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	text[sizeof(text) - 2] = '\0';
	assert_int_equal(err_set(&e, ERR_INVALID, 0, "%s", text), -1);
	assert_int_equal(strlen(e.text), 254);
	assert_int_equal(err_wrap(&e, "x"), -1);
	assert_int_equal(strlen(e.text), 255);
	assert_int_equal(err_wrap(&e, "%s", text), -1);
	assert_int_equal(strlen(e.text), 255); /* 254 bytes of text and ":" */
}

/* Each character length, at each position relative to the end of the buffer. */
static void a_cut_never_leaves_part_of_a_character(void **state)
{
	static const char *const characters[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xe0\xa0\x80",
						 "\xf0\x9f\x98\x80"};
	struct err e;

	(void)state;
	for (size_t c = 0; c < sizeof(characters) / sizeof(characters[0]); c++) {
		size_t n = strlen(characters[c]);

		for (size_t before = 245; before <= 258; before++) {
			char text[300] = "", head[300] = "";
			size_t want = before + n <= 255 ? before + n : before < 255 ? before : 255;

			memset(head, 'x', before);
			snprintf(text, sizeof(text), "%.290s%s", head, characters[c]);
			assert_int_equal(err_set(&e, ERR_INVALID, 0, "%s", text), -1);
			assert_int_equal(strlen(e.text), want);
			assert_memory_equal(e.text, text, want);

			/* With a prefix of one letter and ": ", the text is truncated at the same
			 * length. */
			assert_int_equal(err_set(&e, ERR_INVALID, 0, "%s", text + 3), -1);
			assert_int_equal(err_wrap(&e, "a"), -1);
			assert_int_equal(strlen(e.text), want);
		}
	}
}

static void errno_chooses_the_kind(void **state)
{
	static const struct {
		int num;
		enum err_kind kind;
	} cases[] = {
		{EINVAL, ERR_INVALID},	       {EACCES, ERR_DENIED},
		{ENOENT, ERR_NOT_FOUND},       {EEXIST, ERR_CONFLICT},
		{EOPNOTSUPP, ERR_UNSUPPORTED}, {EBADMSG, ERR_PROTOCOL},
		{ETIMEDOUT, ERR_TIMEOUT},      {ECONNREFUSED, ERR_UNAVAILABLE},
		{EIO, ERR_UNAVAILABLE},	       {ENOSPC, ERR_CAPACITY},
		{EDQUOT, ERR_QUOTA},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(err_errno(&e, cases[i].num, "open %s", "f"), -1);
		assert_int_equal(e.kind, cases[i].kind);
		assert_int_equal(e.code, cases[i].num);
	}
	assert_int_equal(err_errno(&e, ENOENT, "open %s", "f"), -1);
	assert_string_equal(e.text, "open f: No such file or directory");
}

static void an_http_status_chooses_the_kind(void **state)
{
	static const struct {
		int status;
		enum err_kind kind;
	} cases[] = {
		{200, ERR_NONE},	{204, ERR_NONE},	{299, ERR_NONE},
		{301, ERR_PROTOCOL},	{0, ERR_PROTOCOL},	{100, ERR_PROTOCOL},
		{400, ERR_INVALID},	{422, ERR_INVALID},	{401, ERR_DENIED},
		{403, ERR_DENIED},	{404, ERR_NOT_FOUND},	{410, ERR_NOT_FOUND},
		{405, ERR_UNSUPPORTED}, {501, ERR_UNSUPPORTED}, {408, ERR_TIMEOUT},
		{409, ERR_CONFLICT},	{412, ERR_CONFLICT},	{429, ERR_UNAVAILABLE},
		{500, ERR_UNAVAILABLE}, {502, ERR_UNAVAILABLE}, {503, ERR_UNAVAILABLE},
		{504, ERR_UNAVAILABLE}, {507, ERR_CAPACITY},	{600, ERR_PROTOCOL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (err_kind_of_http(cases[i].status) != cases[i].kind)
			fail_msg("%d is %s", cases[i].status,
				 err_kind_name(err_kind_of_http(cases[i].status)));
}

static void only_what_time_may_cure_is_tried_again(void **state)
{
	const unsigned transient =
		1u << ERR_TIMEOUT | 1u << ERR_UNAVAILABLE | 1u << ERR_CAPACITY | 1u << ERR_PRICE;

	(void)state;
	for (unsigned k = 0; k < ERR_KINDS; k++) {
		struct err e = {.kind = (enum err_kind)k};

		assert_int_equal(err_is_transient(&e), transient >> k & 1);
	}
}

static void every_kind_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (unsigned a = 0; a < ERR_KINDS; a++) {
		assert_non_null(err_kind_name((enum err_kind)a));
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(err_kind_name((enum err_kind)a),
						err_kind_name((enum err_kind)b));
	}
	assert_string_equal(err_kind_name(ERR_KINDS), "unknown");
}

static void clearing_leaves_nothing(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(err_set(&e, ERR_DENIED, 5, "x"), -1);
	err_clear(&e);
	assert_int_equal(e.kind, ERR_NONE);
	assert_string_equal(e.text, "");
}

static void a_saved_error_replaces_the_one_before(void **state)
{
	struct err *saved = NULL, e;

	(void)state;
	err_save(&saved, NULL);
	assert_null(saved);
	err_note(&e, ERR_DENIED, 401, "refused");
	err_save(&saved, &e);
	assert_string_equal(saved->text, "refused");
	assert_int_equal(saved->code, 401);
	err_note(&e, ERR_TIMEOUT, 0, "late");
	err_save(&saved, &e);
	assert_int_equal(saved->kind, ERR_TIMEOUT);
	assert_string_equal(saved->text, "late");
	err_save(&saved, NULL);
	assert_null(saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_is_said_once_with_its_place),
		cmocka_unit_test(wrapping_adds_a_clause_and_keeps_the_rest),
		cmocka_unit_test(a_text_may_quote_itself),
		cmocka_unit_test(foreign_bytes_cannot_move_the_cursor),
		cmocka_unit_test(a_long_text_is_cut_between_characters),
		cmocka_unit_test(a_cut_never_leaves_part_of_a_character),
		cmocka_unit_test(errno_chooses_the_kind),
		cmocka_unit_test(an_http_status_chooses_the_kind),
		cmocka_unit_test(only_what_time_may_cure_is_tried_again),
		cmocka_unit_test(every_kind_has_a_name_of_its_own),
		cmocka_unit_test(clearing_leaves_nothing),
		cmocka_unit_test(a_saved_error_replaces_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
