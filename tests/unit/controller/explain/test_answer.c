/* Tests how answer_command() finds a command of drover in the text of a remedy, and other helpers
 * of explanations. */
#include "tests/unit/testing.h"

#include <jansson.h>
#include "base/arena.h"
#include "base/data/json.h"
#include "base/str.h"
#include "controller/explain/answer.h"

static void a_command_ends_where_its_words_end(void **state)
{
	static const struct {
		const char *help, *command;
	} rows[] = {
		{"drover approve gpu-3 --wipe (if nothing on the machine is needed)",
		 "drover approve gpu-3 --wipe"},
		{"put the drive back, then drover approve gpu-3 --wipe; or drover approve gpu-3 "
		 "--drives",
		 "drover approve gpu-3 --wipe"},
		{"at once with drover retry gpu-1", "drover retry gpu-1"},
		{"drover retry gpu-1 or wait", "drover retry gpu-1"},
		{"drover release gpu-1, or uncordon its Node", "drover release gpu-1"},
		{"drover resume pool/h100", "drover resume pool/h100"},
		{"drover tries again by itself, or at once with drover retry gpu-1",
		 "drover retry gpu-1"},
		{"drover drain gpu-1 --reason 'a; b, it'\\''s (c)' --deadline 10m --on-deadline "
		 "Escalate; to cancel",
		 "drover drain gpu-1 --reason 'a; b, it'\\''s (c)' --deadline 10m --on-deadline "
		 "Escalate"},
		/* No command is found: a placeholder, a missing operand or value, or an
		 * unterminated quote. */
		{"drover resume pool/NAME or provider/NAME", NULL},
		{"drover approve gpu-1 --adopt CLAIM", NULL},
		{"drover retry MACHINE", NULL},
		{"drover retry", NULL},
		{"drover retry ; reboot", NULL},
		{"drover drain gpu-1 --reason", NULL},
		{"drover drain gpu-1 --reason 'x", NULL},
		/* not a command that changes something */
		{"drover get machines", NULL},
		{"nothing to do", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		OWN(arena) a = arena_new();
		OWN_JSON o = json_pack("{s:[s, s]}", "helps", "wait", rows[i].help);
		const char *found = answer_command(o, a);

		if (!str_eq(found, rows[i].command))
			fail_msg("'%s' in '%s'", str_or(found, "none"), rows[i].help);
	}
}

static void nothing_helps_without_a_list(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON o = json_object();

	(void)state;
	assert_null(answer_command(o, a));
}

static void a_quoted_text_is_one_word_of_a_shell(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_string_equal(answer_quoted("", a), "''");
	assert_string_equal(answer_quoted("fan $(reboot)", a), "'fan $(reboot)'");
	assert_string_equal(answer_quoted("it's\n\033[2Jx\x7f", a), "'it'\\''s  [2Jx '");
}

static void a_condition_counts_as_false_by_type_and_status(void **state)
{
	struct condition v[] = {{.type = "Ready", .status = CONDITION_FALSE, .reason = "a"},
				{.type = "Valid", .status = CONDITION_TRUE, .reason = "b"},
				{.type = "Healthy", .status = CONDITION_UNKNOWN, .reason = "c"}};
	const struct conditions cs = {v, 3};
	OWN_JSON o = json_object();

	(void)state;
	assert_null(answer_false_condition(o, "Ready"));
	answer_conditions(o, &cs);
	assert_string_equal(json_str_at(answer_false_condition(o, "Ready"), "reason"), "a");
	assert_null(answer_false_condition(o, "Valid"));
	assert_null(answer_false_condition(o, "Healthy"));
	assert_null(answer_false_condition(o, "Reachable"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_ends_where_its_words_end),
		cmocka_unit_test(nothing_helps_without_a_list),
		cmocka_unit_test(a_quoted_text_is_one_word_of_a_shell),
		cmocka_unit_test(a_condition_counts_as_false_by_type_and_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
