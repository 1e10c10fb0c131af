/* drover as a program: its verbs and how it is told which one. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/verb.h"

#define DROVER(...) verb_run("drover", drover, NULL, (const char *const[]){__VA_ARGS__, NULL})

static int drover(int argc, char **argv)
{
	(void)argc;
	return program_exec("drover", argv);
}

static void help_lists_verbs_and_each_of_them_has_help_of_its_own(void **state)
{
	static char list[8192];
	char verb[32];
	int n, verbs = 0;

	(void)state;
	assert_int_equal(DROVER("help"), 0);
	verb_assert_said("Usage: drover VERB");
	str_copy(list, sizeof(list), strstr(verb_said, "\n  "));
	for (const char *p = list; sscanf(p, " %31s%*[^\n]%n", verb, &n) == 1 && *verb != '`';
	     p += n) {
		bool plain = str_eq(verb, "crds") || str_eq(verb, "version");

		verbs++;
		assert_int_equal(DROVER(verb, "--help"), 0);
		if (!plain && !strstr(verb_said, verb))
			fail_msg("the help of %s does not name it: %s", verb, verb_said);
	}
	assert_in_range(verbs, 15, 40);
	assert_int_equal(DROVER("--help"), 0);
	assert_int_equal(DROVER("-h"), 0);
}

static void without_a_verb_or_with_an_unknown_one_it_says_what_there_is(void **state)
{
	(void)state;
	assert_int_equal(verb_run("drover", drover, NULL, (const char *const[]){NULL}), 2);
	verb_assert_said("Usage: drover VERB");
	assert_int_equal(DROVER("dance"), 2);
	verb_assert_said("there is no verb 'dance'");
	assert_int_equal(DROVER("drain", "--nonsense"), 2);
	verb_assert_said("drover drain: "); /* its full name in its errors */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_lists_verbs_and_each_of_them_has_help_of_its_own),
		cmocka_unit_test(without_a_verb_or_with_an_unknown_one_it_says_what_there_is),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
