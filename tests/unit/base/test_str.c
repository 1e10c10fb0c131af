#include "tests/unit/testing.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/str.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void comparing_takes_null(void **state)
{
	(void)state;
	assert_true(str_eq("a", "a"));
	assert_false(str_eq("a", "b"));
	assert_true(str_eq(NULL, NULL));
	assert_false(str_eq(NULL, ""));
	assert_false(str_eq("", NULL));
	assert_true(str_among("b", (const char *const[]){"a", "b", NULL}));
	assert_false(str_among("c", (const char *const[]){"a", "b", NULL}));
	assert_false(str_among("", (const char *const[]){NULL}));
	assert_true(str_empty(NULL));
	assert_true(str_empty(""));
	assert_false(str_empty(" "));
	assert_string_equal(str_or(NULL, "x"), "x");
	assert_string_equal(str_or("", "x"), "x");
	assert_string_equal(str_or("a", "x"), "a");
	assert_true(str_starts("gpu-1", "gpu"));
	assert_true(str_starts("gpu", ""));
	assert_false(str_starts("gp", "gpu"));
	assert_false(str_starts(NULL, ""));
	assert_true(str_ends("a.iso", ".iso"));
	assert_false(str_ends("iso", ".iso"));
	assert_false(str_ends(NULL, ""));
}

static void a_copy_says_whether_it_was_cut(void **state)
{
	char out[4] = "zzz";

	(void)state;
	assert_true(str_copy(out, sizeof(out), "abc"));
	assert_string_equal(out, "abc");
	assert_false(str_copy(out, sizeof(out), "defg"));
	assert_string_equal(out, "def");
	assert_false(str_copy(out, 0, "x"));
	assert_string_equal(out, "def");
	assert_true(str_format(out, sizeof(out), "%d", 123));
	assert_false(str_format(out, sizeof(out), "%d", 1234));
	assert_string_equal(out, "123");
}

static void integers_are_read_whole_or_not_at_all(void **state)
{
	static const char *const bad[] = {"",
					  "-",
					  "+1",
					  " 1",
					  "1 ",
					  "1x",
					  "0x1",
					  "1.0",
					  "--1",
					  "9223372036854775808",
					  "-9223372036854775809",
					  "99999999999999999999999999999999999999999999999999"};
	int64_t n = 42;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (str_to_i64(bad[i], INT64_MIN, INT64_MAX, &n))
			fail_msg("\"%s\" was read", bad[i]);
	assert_false(str_to_i64(NULL, 0, 1, &n));
	assert_int_equal(n, 42);
	assert_true(str_to_i64("9223372036854775807", INT64_MIN, INT64_MAX, &n));
	assert_true(n == INT64_MAX);
	assert_true(str_to_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &n));
	assert_true(n == INT64_MIN);
	assert_true(str_to_i64("007", 0, 7, &n));
	assert_int_equal(n, 7);
	assert_false(str_to_i64("8", 0, 7, &n));
	assert_false(str_to_i64("-1", 0, 7, &n));
}

static void a_canonical_number_has_one_text(void **state)
{
	static const char *const bad[] = {"",	"-",   "+1",  "00", "007",
					  "-0", "-01", "0x1", "1 ", "a"};
	int64_t n = 42;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (str_to_canonical_i64(bad[i], &n))
			fail_msg("\"%s\" was read", bad[i]);
	assert_false(str_to_canonical_i64(NULL, &n));
	assert_int_equal(n, 42);
	assert_true(str_to_canonical_i64("0", &n) && n == 0);
	assert_true(str_to_canonical_i64("-10", &n) && n == -10);
	assert_true(str_to_canonical_i64("9223372036854775807", &n) && n == INT64_MAX);
	assert_false(str_to_canonical_i64("9223372036854775808", &n));
}

static void times_are_read(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} cases[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"1969-12-31T23:59:59.999Z", -1},
		{"2000-02-29T12:00:00Z", 951825600000},
		{"2026-12-01T10:20:00Z", 1796120400000},
		{"2026-12-01T10:20:00.5Z", 1796120400500},
		{"2026-12-01T10:20:00.123456789Z", 1796120400123},
		{"2026-12-01T10:20:00.0019Z", 1796120400001},
		{"2026-12-01T12:20:00+02:00", 1796120400000},
		{"2026-12-01T04:50:00-05:30", 1796120400000},
		{"2026-12-01t10:20:00z", 1796120400000},
		{"2016-12-31T23:59:60Z", 1483228800000},
		{"0000-01-01T00:00:00Z", -62167219200000},
		{"9999-12-31T23:59:59Z", 253402300799000},
	};
	static const char *const bad[] = {
		"",
		"2026-12-01",
		"2026-12-01T10:20:00",
		"2026-12-01 10:20:00Z",
		"2026-13-01T10:20:00Z",
		"2026-00-01T10:20:00Z",
		"2026-12-32T10:20:00Z",
		"2026-12-00T10:20:00Z",
		"2025-02-29T10:20:00Z",
		"1900-02-29T10:20:00Z",
		"2026-04-31T10:20:00Z",
		"2026-12-01T24:20:00Z",
		"2026-12-01T10:60:00Z",
		"2026-12-01T10:20:61Z",
		"2026-12-01T10:20:00.Z",
		"2026-12-01T10:20:00Zx",
		"2026-12-01T10:20:00+2:00",
		"2026-12-01T10:20:00+02:00x",
		"2026-12-01T10:20:00+24:00",
		"2026-12-01T10:20:00+0200",
		"026-12-01T10:20:00Z",
		"2026-1-01T10:20:00Z",
		"2026-12-01T1O:20:00Z",
		"+2026-12-01T10:20:00Z",
	};
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ms = 1;
		if (!str_to_time(cases[i].text, &ms) || ms != cases[i].ms)
			fail_msg("%s is %lld", cases[i].text, (long long)ms);
	}
	ms = 77;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (str_to_time(bad[i], &ms))
			fail_msg("\"%s\" was read", bad[i]);
	assert_false(str_to_time(NULL, &ms));
	assert_int_equal(ms, 77);
}

/* Compared with the C library's calendar. */
static void every_day_of_four_centuries_agrees_with_the_library(void **state)
{
	char text[STR_TIME_SIZE], want[64];
	int64_t back;

	(void)state;
	for (int64_t day = -150000; day < 300000; day += 1) {
		int64_t ms = day * 86400000 + (day & 0xffff) * 1000;
		time_t t = (time_t)(ms / 1000);
		struct tm tm;

		assert_non_null(gmtime_r(&t, &tm));
		assert_true(strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%SZ", &tm) > 0);
		if (strcmp(str_time(text, ms), want) != 0)
			fail_msg("%lld is %s, not %s", (long long)ms, text, want);
		if (!str_to_time(text, &back) || back != ms)
			fail_msg("%s is read as %lld", text, (long long)back);
	}
}

static void times_are_written(void **state)
{
	char out[STR_TIME_SIZE];

	(void)state;
	assert_string_equal(str_time(out, 0), "1970-01-01T00:00:00Z");
	assert_string_equal(str_time(out, -1), "1969-12-31T23:59:59Z");
	assert_string_equal(str_time(out, 1796120400999), "2026-12-01T10:20:00Z");
	assert_string_equal(str_time_micro(out, 1796120400042), "2026-12-01T10:20:00.042000Z");
	assert_string_equal(str_time_micro(out, -1), "1969-12-31T23:59:59.999000Z");
	assert_string_equal(str_time(out, INT64_MAX), "9999-12-31T23:59:59Z");
	assert_string_equal(str_time(out, INT64_MIN), "0000-01-01T00:00:00Z");
	assert_string_equal(str_time_micro(out, INT64_MAX), "9999-12-31T23:59:59.999000Z");
}

static void durations_are_read_as_go_does(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} cases[] = {
		{"0", 0},
		{"0s", 0},
		{"-0", 0},
		{"+5s", 5000},
		{"5s", 5000},
		{"30s", 30000},
		{"1478s", 1478000},
		{"-5s", -5000},
		{"5.0s", 5000},
		{"5.6s", 5600},
		{"5.s", 5000},
		{".5s", 500},
		{"1.004s", 1004},
		{"10ms", 10},
		{"13m", 780000},
		{"14h", 50400000},
		{"3h30m", 12600000},
		{"1h30m", 5400000},
		{"250ms", 250},
		{"1m1.5s", 61500},
		{"10.5s4m", 250500},
		{"-2m3.4s", -123400},
		{"1h2m3s4ms5us6ns", 3723005},
		{"1ns", 1},
		{"1us", 1},
		{"1\xc2\xb5s", 1},
		{"1\xce\xbcs", 1},
		{"1000000ns", 1},
		{"1000001ns", 2},
		{"-1ns", -1},
		{"0.100000000000000000000h", 360000},
		{"0.830103483285477580700h", 2988373},
		{"9223372036854775807ns", 9223372036855},
	};
	static const char *const bad[] = {
		"",
		"3",
		"-",
		"s",
		".",
		"-.",
		".s",
		"+.s",
		"1h ",
		" 1h",
		"1 h",
		"1d",
		"1H",
		"Never",
		"1h-30m",
		"--1s",
		"1e3s",
		"1.2.3s",
		"9223372036854775808ns",
		"9223372036854775.808us",
		"2562048h",
		"99999999999999999999999999h",
	};
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ms = 7777;
		if (!str_to_duration(cases[i].text, &ms) || ms != cases[i].ms)
			fail_msg("%s is %lld", cases[i].text, (long long)ms);
	}
	ms = 77;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (str_to_duration(bad[i], &ms))
			fail_msg("\"%s\" was read as %lld", bad[i], (long long)ms);
	assert_false(str_to_duration(NULL, &ms));
	assert_int_equal(ms, 77);
}

static uint64_t seed = 88675123;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(seed >> 33) % n;
}

/* Sums of up to three terms in Go's units; the expected value in nanoseconds is computed beside the
 * text. */
static void random_durations_are_the_sums_of_their_terms(void **state)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"h", 3600000000000}, {"m", 60000000000}, {"s", 1000000000},
		     {"ms", 1000000},	   {"us", 1000},       {"ns", 1}};

	(void)state;
	for (int i = 0; i < 50000; i++) {
		const bool negative = !draw(4);
		char text[128] = "", part[32];
		int64_t ns = 0, ms;

		str_copy(text, sizeof(text), negative ? "-" : draw(4) ? "" : "+");
		for (unsigned k = 1 + draw(3); k; k--) {
			const unsigned u = draw(6), whole = draw(1000), tenths = draw(10);
			const bool point = draw(2) && units[u].ns >= 10;

			ns += whole * units[u].ns + (point ? tenths * (units[u].ns / 10) : 0);
			if (point)
				str_format(part, sizeof(part), "%u.%u%s", whole, tenths,
					   units[u].name);
			else
				str_format(part, sizeof(part), "%u%s", whole, units[u].name);
			str_format(text + strlen(text), sizeof(text) - strlen(text), "%s", part);
		}
		ms = ns / 1000000 + (ns % 1000000 != 0);
		ns = 0;
		if (!str_to_duration(text, &ns) || ns != (negative ? -ms : ms))
			fail_msg("%s: want %jd, got %jd", text, (intmax_t)ms, (intmax_t)ns);
	}
}

static void assert_names_agree(const char *pattern, bool (*valid)(const char *), size_t most)
{
	static const char letters[] = "abA19-_./ ";
	regex_t re;

	assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	for (int i = 0; i < 30000; i++) {
		char text[300] = "";
		const size_t n = draw(20) ? draw(8) : most - 1 + draw(3);

		for (size_t k = 0; k < n; k++)
			text[k] = n > 20 ? 'a' : letters[draw(sizeof(letters) - 1)];
		if (valid(text) != (n <= most && regexec(&re, text, 0, NULL, 0) == 0))
			fail_msg("%s: code and pattern differ on \"%s\"", pattern, text);
	}
	regfree(&re);
}

/* Compared with the patterns in apimachinery's validation.go. */
static void random_names_agree_with_the_patterns_of_kubernetes(void **state)
{
#define LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define PART "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
	(void)state;
	assert_names_agree("^" LABEL "$", str_is_dns_label, 63);
	assert_names_agree("^" LABEL "([.]" LABEL ")*$", str_is_dns_subdomain, 253);
	assert_names_agree("^(" PART ")?$", str_is_label_value, 63);
	assert_names_agree("^(" LABEL "([.]" LABEL ")*/)?" PART "$", str_is_qualified_name, 63);
}

static void durations_are_written_and_read_back(void **state)
{
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = {
		{0, "0s"},	   {1, "1ms"},		{250, "250ms"},	    {999, "999ms"},
		{1000, "1s"},	   {1500, "1.5s"},	{1001, "1.001s"},   {1010, "1.01s"},
		{60000, "1m"},	   {60001, "1m0.001s"}, {5400000, "1h30m"}, {3600000, "1h"},
		{3601000, "1h1s"}, {86400000, "24h"},	{-90000, "-1m30s"}, {-5, "-5ms"},
	};
	char out[STR_TIME_SIZE];
	uint64_t x = 1;
	int64_t back;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(str_duration(out, cases[i].ms), cases[i].text);
	for (int i = 0; i < 20000; i++) {
		int64_t ms;

		x = x * 6364136223846793005u + 1442695040888963407u;
		ms = (int64_t)(x >> (20 + i % 40)) % 9223372036854;
		ms = i % 3 ? ms : -ms;
		if (!str_to_duration(str_duration(out, ms), &back) || back != ms)
			fail_msg("%lld is %s", (long long)ms, out);
	}
	str_duration(out, INT64_MIN);
	assert_true(strlen(out) < STR_TIME_SIZE && out[0] == '-');
}

static char *repeat(char c, size_t n)
{
	static char text[400];

	memset(text, c, n);
	text[n] = '\0';
	return text;
}

static void names_follow_kubernetes(void **state)
{
	static const struct {
		const char *s;
		bool label, subdomain, value, qualified;
	} cases[] = {
		{"a", true, true, true, true},
		{"gpu-1", true, true, true, true},
		{"1", true, true, true, true},
		{"a.b", false, true, true, true},
		{"a..b", false, false, true, true},
		{"", false, false, true, false},
		{"-a", false, false, false, false},
		{"a-", false, false, false, false},
		{".a", false, false, false, false},
		{"a.", false, false, false, false},
		{"a.-b", false, false, true, true},
		{"A", false, false, true, true},
		{"a_b", false, false, true, true},
		{"a b", false, false, false, false},
		{"\xc3\xa9", false, false, false, false},
		{"a/b", false, false, false, true},
		{"nvidia.com/gpu", false, false, false, true},
		{"Nvidia.com/gpu", false, false, false, false},
		{"/gpu", false, false, false, false},
		{"nvidia.com/", false, false, false, false},
		{"a/b/c", false, false, false, false},
		{"a\n", false, false, false, false},
	};
	char long_name[420];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (str_is_dns_label(cases[i].s) != cases[i].label ||
		    str_is_dns_subdomain(cases[i].s) != cases[i].subdomain ||
		    str_is_label_value(cases[i].s) != cases[i].value ||
		    str_is_qualified_name(cases[i].s) != cases[i].qualified)
			fail_msg("\"%s\"", cases[i].s);
	}
	assert_false(str_is_dns_label(NULL) || str_is_dns_subdomain(NULL) ||
		     str_is_label_value(NULL) || str_is_qualified_name(NULL));
	assert_true(str_is_dns_label(repeat('a', 63)));
	assert_false(str_is_dns_label(repeat('a', 64)));
	assert_true(str_is_label_value(repeat('a', 63)));
	assert_false(str_is_label_value(repeat('a', 64)));
	assert_true(str_is_dns_subdomain(repeat('a', 253)));
	assert_false(str_is_dns_subdomain(repeat('a', 254)));
	snprintf(long_name, sizeof(long_name), "%s/x", repeat('a', 253));
	assert_true(str_is_qualified_name(long_name));
	snprintf(long_name, sizeof(long_name), "%s/x", repeat('a', 254));
	assert_false(str_is_qualified_name(long_name));
	snprintf(long_name, sizeof(long_name), "x/%s", repeat('a', 64));
	assert_false(str_is_qualified_name(long_name));
}

static void utf8_is_checked(void **state)
{
	static const struct {
		const char *s;
		int32_t c;
		size_t used;
	} cases[] = {
		{"a", 'a', 1},
		{"\xc3\xa9", 0xe9, 2},
		{"\xe2\x82\xac", 0x20ac, 3},
		{"\xf0\x9f\x98\x80", 0x1f600, 4},
		{"\xf4\x8f\xbf\xbf", 0x10ffff, 4},
		{"\x80", -1, 1},
		{"\xc0\x80", -1, 1},
		{"\xc1\xbf", -1, 1},
		{"\xe0\x80\x80", -1, 1},
		{"\xed\xa0\x80", -1, 1},
		{"\xf0\x80\x80\x80", -1, 1},
		{"\xf4\x90\x80\x80", -1, 1},
		{"\xf5\x80\x80\x80", -1, 1},
		{"\xff", -1, 1},
		{"\xc3", -1, 1},
		{"\xe2\x82", -1, 1},
		{"\xc3(", -1, 1},
	};
	size_t used;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(str_utf8(cases[i].s, strlen(cases[i].s), &used), cases[i].c);
		assert_int_equal(used, cases[i].used);
	}
}

static void hex_goes_both_ways(void **state)
{
	unsigned char all[256], back[256];
	char text[513];

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (unsigned char)i;
	str_hex(text, all, sizeof(all));
	assert_memory_equal(text, "000102", 6);
	assert_string_equal(text + 506, "fdfeff");
	assert_true(str_unhex(back, text, sizeof(back)));
	assert_memory_equal(all, back, sizeof(all));
	assert_true(str_unhex(back, "aBcD", 2));
	assert_memory_equal(back, "\xab\xcd", 2);
	back[0] = 1;
	assert_false(str_unhex(back, "abc", 2));
	assert_false(str_unhex(back, "abcde", 2));
	assert_false(str_unhex(back, "abcg", 2));
	assert_false(str_unhex(back, NULL, 0));
	assert_int_equal(back[0], 1); /* unchanged if refused */
	assert_true(str_unhex(back, "", 0));
}

static void what_reaches_a_terminal_has_no_control_characters(void **state)
{
	char text[] = "a\x1b[31mb\n\x7f\xc2\x9b"
		      "c\xc3\xa4\xff\xc2";

	(void)state;
	str_printable(text);
	assert_string_equal(text, "a?[31mb???c\xc3\xa4??");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparing_takes_null),
		cmocka_unit_test(a_copy_says_whether_it_was_cut),
		cmocka_unit_test(integers_are_read_whole_or_not_at_all),
		cmocka_unit_test(a_canonical_number_has_one_text),
		cmocka_unit_test(times_are_read),
		cmocka_unit_test(every_day_of_four_centuries_agrees_with_the_library),
		cmocka_unit_test(times_are_written),
		cmocka_unit_test(durations_are_read_as_go_does),
		cmocka_unit_test(random_durations_are_the_sums_of_their_terms),
		cmocka_unit_test(random_names_agree_with_the_patterns_of_kubernetes),
		cmocka_unit_test(durations_are_written_and_read_back),
		cmocka_unit_test(names_follow_kubernetes),
		cmocka_unit_test(utf8_is_checked),
		cmocka_unit_test(hex_goes_both_ways),
		cmocka_unit_test(what_reaches_a_terminal_has_no_control_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
