#include "tests/unit/testing.h"

#include "providers/allowed.h"

#define COMMAND(...) ((const char *const[]){__VA_ARGS__, NULL})

static void a_command_begins_with_what_is_allowed_letter_for_letter(void **state)
{
	static const char *const allowed[] = {"/etc/drover/port-move",
					      "/usr/bin/drover  sim port-move", "  ",
					      "/my tools/move", NULL};

	(void)state;
	assert_true(allowed_runs(allowed, COMMAND("/etc/drover/port-move")));
	assert_true(allowed_runs(allowed, COMMAND("/etc/drover/port-move", "--site", "a")));
	assert_false(allowed_runs(allowed, COMMAND("/etc/drover/port-move2")));
	assert_false(allowed_runs(allowed, COMMAND("/etc/drover/port")));
	assert_false(allowed_runs(allowed, COMMAND("/etc/drover/../drover/port-move")));
	assert_true(allowed_runs(
		allowed, COMMAND("/usr/bin/drover", "sim", "port-move", "https://127.0.0.1:9443")));
	assert_false(allowed_runs(allowed, COMMAND("/usr/bin/drover")));
	assert_false(allowed_runs(allowed, COMMAND("/usr/bin/drover", "sim")));
	assert_false(allowed_runs(allowed,
				  COMMAND("/usr/bin/drover", "provider", "test", "--", "/bin/sh")));
	assert_false(allowed_runs(allowed, COMMAND("/usr/bin/drover", "sim port-move")));
	assert_true(allowed_runs(allowed, COMMAND("/my tools/move", "x")));
	assert_false(allowed_runs(allowed, COMMAND("")));
	assert_false(allowed_runs(NULL, COMMAND("/etc/drover/port-move")));
}

static void what_runs_anything_is_not_allowed_by_itself(void **state)
{
	static const char *const refused[] = {
		"port-move",	"/usr/bin/drover",     "/usr/bin/drover ", "/bin/sh",
		"/usr/bin/env", "/usr/bin/python3.11", "/usr/bin/sudo",	   ""};
	static const char *const taken[] = {
		"/usr/bin/drover sim port-move", "/etc/drover/port-move",
		"/usr/bin/python3 /etc/drover/move.py", "/opt/shell-less", "/opt/drover-moves"};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (!allowed_refuses(refused[i]))
			fail_msg("%s", refused[i]);
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (allowed_refuses(taken[i]))
			fail_msg("%s", taken[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_begins_with_what_is_allowed_letter_for_letter),
		cmocka_unit_test(what_runs_anything_is_not_allowed_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
