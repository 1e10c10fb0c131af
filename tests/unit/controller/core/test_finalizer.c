/* Tests that adding or removing drover's finalizer leaves all other finalizers as they are. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/data/json.h"
#include "controller/core/finalizer.h"

#define OURS "drover.dev/ours"

static const char *const two[] = {"a.example/x", "b.example/y"}, *const three[] = {"a.example/x",
										   OURS,
										   "b.example/y"};
static const struct strings none = {0}, others = {.v = (const char **)two, .n = 2},
			    mixed = {.v = (const char **)three, .n = 3},
			    alone = {.v = (const char **)three + 1, .n = 1};

static void is_list(json_t *list, const char *text)
{
	char *got = json_text(list);

	assert_string_equal(got, text);
	free(got);
	json_decref(list);
}

static void it_is_put_after_the_others(void **state)
{
	(void)state;
	is_list(finalizer_with(&others, OURS), "[\"a.example/x\",\"b.example/y\",\"" OURS "\"]");
	is_list(finalizer_with(&none, OURS), "[\"" OURS "\"]");
}

static void it_is_taken_out_from_among_the_others(void **state)
{
	(void)state;
	is_list(finalizer_without(&mixed, OURS), "[\"a.example/x\",\"b.example/y\"]");
	is_list(finalizer_without(&alone, OURS), "[]");
}

static void what_stands_already_is_no_change(void **state)
{
	(void)state;
	assert_true(finalizer_is_on(&mixed, OURS));
	assert_false(finalizer_is_on(&others, OURS));
	assert_null(finalizer_with(&mixed, OURS));
	assert_null(finalizer_without(&others, OURS));
	assert_null(finalizer_without(&none, OURS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_put_after_the_others),
		cmocka_unit_test(it_is_taken_out_from_among_the_others),
		cmocka_unit_test(what_stands_already_is_no_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
