#include "tests/unit/testing.h"

#include "base/data/age.h"
#include "base/str.h"

static void ages_are_as_kubectl_writes_them(void **state)
{
	static const struct {
		int64_t ago_s;
		const char *text;
	} ages[] = {
		{0, "0s"},	     {119, "119s"},	 {120, "2m"},	    {130, "2m10s"},
		{599, "9m59s"},	     {600, "10m"},	 {10799, "179m"},   {10800, "3h"},
		{11460, "3h11m"},    {28800, "8h"},	 {172799, "47h"},   {172800, "2d"},
		{180000, "2d2h"},    {691199, "7d23h"},	 {691200, "8d"},    {63071999, "729d"},
		{63072000, "2y"},    {94694400, "3y1d"}, {252288000, "8y"}, {-1, "0s"},
		{-100, "<invalid>"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ages) / sizeof(*ages); i++) {
		char time[STR_TIME_SIZE];
		int64_t now = INT64_C(1800000000000);
		OWN_JSON j = age_json(str_time(time, now - ages[i].ago_s * 1000), now);

		assert_string_equal(json_string_value(j), ages[i].text);
	}

	OWN_JSON unknown = age_json("soon", 0);

	assert_string_equal(json_string_value(unknown), "<unknown>");
}

static void a_span_says_whether_it_is_past(void **state)
{
	const int64_t now = INT64_C(1800000000000);
	OWN(arena) a = arena_new();
	char time[STR_TIME_SIZE];

	(void)state;
	assert_string_equal(age_span(str_time(time, now - 123000), now, a), "2m3s ago");
	assert_string_equal(age_span(str_time(time, now), now, a), "0s ago");
	assert_string_equal(age_span(str_time(time, now + 5000), now, a), "in 5s");
	assert_string_equal(age_span(NULL, now, a), "");
	assert_string_equal(age_span("soon", now, a), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ages_are_as_kubectl_writes_them),
		cmocka_unit_test(a_span_says_whether_it_is_past),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
