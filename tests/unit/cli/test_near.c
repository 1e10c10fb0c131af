/* Tests which names are near a word. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "cli/near.h"

static const char *const names[] = {"DriveMissing", "DriveUnexpected", "draining", "dirty",
				    "wiping",	    "verifying",       "free",	   "Machine"};

/* Asserts what near_print() prints for a word. */
static void assert_near(const char *word, const char *want)
{
	struct near near = {.word = word};
	char *got;
	size_t len;
	FILE *f = open_memstream(&got, &len);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		near_try(&near, names[i]);
	near_print(&near, "x.", f);
	fclose(f);
	if (strcmp(got, want) != 0)
		fail_msg("%s: want '%s', got '%s'", word, want, got);
	free(got);
}

static void words_with_a_slip_are_near_and_others_are_not(void **state)
{
	(void)state;
	assert_near("DriveMising", "; did you mean x.DriveMissing?");
	assert_near("drivemissnig", "; did you mean x.DriveMissing?");
	assert_near("wipng", "; did you mean x.wiping?");
	assert_near("driyt", "; did you mean x.dirty?");
	assert_near("drive", "; did you mean x.DriveMissing or x.DriveUnexpected?");
	assert_near("fre", "; did you mean x.free?");
	assert_near("unlike", "");
	assert_near("", "");
	assert_near("fr", "");
	assert_near("wiping", "; did you mean x.wiping?");
}

static void the_nearest_come_first_and_only_few(void **state)
{
	static const char *const many[] = {"abcdefgh4", "abcdefgh3xx", "abcdefgh",
					   "abcdefg",	"abcdefgh2",   "abcdefgh1"};
	struct near near = {.word = "abcdefgh"};

	(void)state;
	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++)
		near_try(&near, many[i]);
	assert_int_equal(near.n, NEAR_NAMES);
	assert_string_equal(near.v[0].name, "abcdefgh");
	assert_string_equal(near.v[1].name, "abcdefgh4");
	assert_string_equal(near.v[2].name, "abcdefg");
	assert_string_equal(near.v[3].name, "abcdefgh2");
}

static void a_long_word_is_near_nothing(void **state)
{
	char word[5000];

	(void)state;
	memset(word, 'a', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_near(word, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_with_a_slip_are_near_and_others_are_not),
		cmocka_unit_test(the_nearest_come_first_and_only_few),
		cmocka_unit_test(a_long_word_is_near_nothing),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
