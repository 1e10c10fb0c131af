/* Tests the pages of GET /v1/burst. */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "controller/view/burst.h"

static void each_page_goes_on_after_the_last_row(void **state)
{
	static const struct burst_work v[] = {
		{.tenant = "b", .name = "x", .pods = 1, .since = 1000},
		{.tenant = "a", .name = "z", .pods = 1, .since = 1000},
		{.tenant = "a", .name = "y", .pods = 1, .since = 1000}};
	struct bursts_aside aside = {&v[0], "NotPlaced", "tried again later"};
	const struct bursts_now x = {
		.in = {.now = 1000, .work = v, .nwork = 3}, .aside = &aside, .naside = 1};
	OWN(arena) a = arena_new();
	const char *last;

	(void)state;
	OWN_JSON one = view_burst_page(&x, "", 2, &last, a);
	const json_t *work = json_at(one, "work");

	assert_string_equal(last, "a/z");
	assert_int_equal(json_array_size(work), 2);
	assert_string_equal(json_str_at(json_array_get(work, 0), "name"), "y");
	assert_non_null(json_str_at(one, "state", "now"));
	assert_string_equal(json_str_at(json_array_get(json_at(one, "aside"), 0), "reason"),
			    "NotPlaced");
	OWN_JSON two = view_burst_page(&x, last, 2, &last, a);

	assert_null(last);
	work = json_at(two, "work");
	assert_int_equal(json_array_size(work), 1);
	assert_string_equal(json_str_at(json_array_get(work, 0), "tenant"), "b");
	assert_null(json_at(two, "state"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_page_goes_on_after_the_last_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
