#include "tests/unit/testing.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "tests/unit/cli/verb.h"

/* Tests output and exit status of `drover provider test`; tests/contract/test_exec_check.c tests
 * the checks. */
static int run(const char *const *args)
{
	return verb_run("drover provider", cli_provider, NULL, args);
}

static void a_program_that_keeps_to_the_protocol(void **state)
{
	char folder[] = "/tmp/drover-exec-XXXXXX", table[64], program[PATH_MAX];
	const char *const args[] = {"test", "--machine", "u-7", "--", program, table, NULL};
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_non_null(realpath("examples/exec-provider/machines", program));
	str_format(table, sizeof(table), "%s/machines.json", folder);
	f = fopen(table, "w");
	fputs("{\"u-7\": {}}", f);
	fclose(f);
	assert_int_equal(run(args), 0);
	verb_assert_said("note   observe: no uuid");
	verb_assert_said("nothing wrong");
	unlink(table);
	rmdir(folder);
}

static void a_program_that_is_none(void **state)
{
	(void)state;
	assert_int_equal(run((const char *const[]){"test", "--machine", "u-7", "-o", "json", "--",
						   "/bin/false", NULL}),
			 1);
	verb_assert_said("\"result\": \"wrong\"");
}

static void what_is_missing_is_named(void **state)
{
	(void)state;
	assert_int_equal(run((const char *const[]){"test", "--", "/bin/true", NULL}), 2);
	verb_assert_said("give --machine NAME or --cloud TYPE");
	assert_int_equal(run((const char *const[]){"test", "--machine", "a", "--", "true", NULL}),
			 2);
	verb_assert_said("give the program by its absolute path");
	assert_int_equal(run((const char *const[]){"try", NULL}), 2);
	verb_assert_said("unknown subcommand 'try': want test");
	assert_int_equal(run((const char *const[]){"--help", NULL}), 0);
	verb_assert_said("drover provider test --machine gpu-7 --");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_keeps_to_the_protocol),
		cmocka_unit_test(a_program_that_is_none),
		cmocka_unit_test(what_is_missing_is_named),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
