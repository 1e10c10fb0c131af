/* Tests the command line of `drover up` and the errors that it reports before it starts anything.
 * tests/real/up.py tests the rest. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/up/files.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/verb.h"

#define VERB(...) verb_run("drover up", cli_up, NULL, (const char *const[]){__VA_ARGS__, NULL})

static char folder[64];

static int setup(void **state)
{
	(void)state;
	program_folder(folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	program_folder_done(folder);
	return 0;
}

static void put(const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", folder, name);
	struct err e;

	assert_ok(file_write(path, text, strlen(text), 0600, true, &e), &e);
	free(path);
}

static void a_wrong_option_is_named_with_what_is_allowed(void **state)
{
	(void)state;
	assert_int_equal(VERB("--machines", "10001"), 2);
	verb_assert_said("--machines: want 1 to 10000, got 10001");
	assert_int_equal(VERB("--racks", "0"), 2);
	verb_assert_said("--racks: want 1 to 10000, got 0");
	assert_int_equal(VERB("--racks", "9"), 2);
	verb_assert_said("--racks: want at most one for each of the 8 machines, got 9");
	assert_int_equal(VERB("--racks", "3", "--machines", "2"), 2);
	verb_assert_said("--racks: want at most one for each of the 2 machines, got 3");
	assert_int_equal(VERB("--port", "80"), 2);
	verb_assert_said("--port: want 1024 to 65525, got 80");
	assert_int_equal(VERB("--speed", "0"), 2);
	verb_assert_said("--speed: want 1 to 100, got 0");
	assert_int_equal(VERB("now"), 2);
	verb_assert_said("unexpected argument: now");
}

/* The error comes before anything is created. */
static void faults_that_cannot_be_read_are_named(void **state)
{
	char path[128];

	(void)state;
	assert_int_equal(VERB("--faults", "/nonexistent/faults", "--data", "/dev/null/up"), 1);
	verb_assert_said("--faults /nonexistent/faults: ");
	str_format(path, sizeof(path), "%s/faults", folder);
	put("faults", "faults:\n- {machine: gpu-1, what: Explode}\n");
	assert_int_equal(VERB("--faults", path, "--data", "/dev/null/up"), 1);
	verb_assert_said("faults[0].what: ");
}

static void a_folder_that_cannot_be_is_named_with_the_option_for_another(void **state)
{
	(void)state;
	assert_int_equal(VERB("--data", "/dev/null/up"), 1);
	verb_assert_said("folder /dev/null/up");
	verb_assert_said("; choose another directory with --data DIR");
}

static void a_folder_keeps_the_port_that_its_objects_name(void **state)
{
	(void)state;
	put("port", "29100");
	assert_int_equal(VERB("--data", folder, "--port", "29200"), 1);
	verb_assert_said("was created with --port 29100");
	verb_assert_said("another --data");
	put("port", "soon");
	assert_int_equal(VERB("--data", folder), 1);
	verb_assert_said("/port: want 1024 to 65525, got 'soon'");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_wrong_option_is_named_with_what_is_allowed),
		TEST(faults_that_cannot_be_read_are_named),
		TEST(a_folder_that_cannot_be_is_named_with_the_option_for_another),
		TEST(a_folder_keeps_the_port_that_its_objects_name),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
