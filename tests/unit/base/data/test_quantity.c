#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/data/quantity.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define GIGA ((__int128)1000000000)
#define MAX_NANO (INT64_MAX * GIGA)

/* Each suffix and its factor in billionths. */
static const struct {
	const char *suffix;
	__int128 nano;
} suffixes[] = {
	{"n", 1},
	{"u", 1000},
	{"m", 1000000},
	{"", GIGA},
	{"k", GIGA * 1000},
	{"M", GIGA * 1000000},
	{"G", GIGA *GIGA},
	{"T", GIGA *GIGA * 1000},
	{"P", GIGA *GIGA * 1000000},
	{"E", GIGA *GIGA *GIGA},
	{"Ki", GIGA << 10},
	{"Mi", GIGA << 20},
	{"Gi", GIGA << 30},
	{"Ti", GIGA << 40},
	{"Pi", GIGA << 50},
	{"Ei", GIGA << 60},
};

static __int128 parsed(const char *s)
{
	struct quantity q = {-7};
	struct err e;

	if (quantity_parse(s, &q, &e) < 0)
		fail_msg("%s", e.text);
	return q.nano;
}

static void refused(const char *s)
{
	struct quantity q = {-7};
	struct err e;
	char text[QUANTITY_TEXT];

	if (quantity_parse(s, &q, &e) == 0)
		fail_msg("\"%s\" was read as %s", s, quantity_format(q, text));
	assert_int_equal(e.kind, ERR_INVALID);
	assert_true(q.nano == -7); /* unchanged */
}

static void same(const char *s, __int128 want)
{
	__int128 have = parsed(s);

	if (have != want)
		fail_msg("%s: off by %lld billionths", s, (long long)(have - want));
}

static void every_suffix_with_every_small_number(void **state)
{
	char text[64];

	(void)state;
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		for (int n = 0; n <= 2000; n++) {
			__int128 want = n * suffixes[i].nano;

			snprintf(text, sizeof(text), "%d%s", n, suffixes[i].suffix);
			if (want > MAX_NANO) {
				refused(text);
				continue;
			}
			same(text, want);
			snprintf(text, sizeof(text), "-%d%s", n, suffixes[i].suffix);
			same(text, -want);
			snprintf(text, sizeof(text), "+000%d.%s", n, suffixes[i].suffix);
			same(text, want);
		}
	}
}

/* Compares n.fff, with three digits after the point, with integer arithmetic. */
static void every_suffix_with_fractions_rounds_away_from_zero_below_n(void **state)
{
	char text[64];

	(void)state;
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		for (int n = 0; n <= 3; n++) {
			for (int f = 0; f < 1000; f++) {
				__int128 want = ((n * 1000 + f) * suffixes[i].nano + 999) / 1000;

				snprintf(text, sizeof(text), "%d.%03d%s", n, f, suffixes[i].suffix);
				same(text, want);
				snprintf(text, sizeof(text), "-%d.%03d%s", n, f,
					 suffixes[i].suffix);
				same(text, -want);
			}
		}
	}
}

static void exponents_move_the_point(void **state)
{
	static const struct {
		const char *text;
		__int128 nano;
	} cases[] = {
		{"1e3", 1000 * GIGA},
		{"1E3", 1000 * GIGA},
		{"1e+3", 1000 * GIGA},
		{"1.5E2", 150 * GIGA},
		{"1e0", GIGA},
		{"1e-0", GIGA},
		{"1e-3", 1000000},
		{"1e-9", 1},
		{"1e-10", 1},
		{"-1e-10", -1},
		{"1.1e-9", 2},
		{"12.5e-1", 1250000000},
		{".5e1", 5 * GIGA},
		{"5.e1", 50 * GIGA},
		{"1e0000000000000000003", 1000 * GIGA},
		{"0e99999999999999999999", 0},
		{"1e-99999999999999999999", 1},
		{"0e-99999999999999999999", 0},
		{"1e18", GIGA * GIGA * GIGA},
		{"9.223372036854775807e18", MAX_NANO},
		{"0.000000000000000000000000000009223372036854775807e48", MAX_NANO},
		{"9223372036854775807000000000000000000000e-21", MAX_NANO},
		{"1E", GIGA * GIGA * GIGA}, /* E is the suffix, not an exponent without digits */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		same(cases[i].text, cases[i].nano);
}

static void the_smallest_step_is_rounded_up_to(void **state)
{
	(void)state;
	same("0.1n", 1);
	same("-0.1n", -1);
	same("0.0000000001", 1);
	same("0.0000000010", 1);
	same("0.00000000100000000000000000000000000001", 2);
	same("1.0000000001n", 2);
	same("0.9999999999", GIGA);
	same("-0.9999999999", -GIGA);
	same("0.0000000000Ki", 0);
	same("0.00000000001Ki", 11); /* 10.24n */
	same("0.000000000000000000001Ki", 1);
	same("0.0000000009765625Ki", 1000); /* exactly 1000n */
	same("0.00000000097656250000000000000000000000000000000001Ki", 1001);
	same("0.00000000097656249999999999999999999999999999999999Ki", 1000);
	/* 2^-60 of one Ei is one whole unit: all 60 digits after the point count. */
	same("0.000000000000000000867361737988403547205962240695953369140625Ei", GIGA);
	same("0.000000000000000000867361737988403547205962240695953369140624Ei", GIGA);
	same("0.0000000000000000008673617379884035472059622406959533691406250000001Ei", GIGA + 1);
}

static void the_range_ends_at_the_largest_whole_number(void **state)
{
	(void)state;
	same("9223372036854775807", MAX_NANO);
	same("-9223372036854775807", -MAX_NANO);
	same("9223372036854775806.999999999", MAX_NANO - 1);
	same("9223372036854775806.9999999999", MAX_NANO);
	same("7Ei", (__int128)7 * (GIGA << 60));
	same("9.2E", 92 * (GIGA * GIGA * GIGA / 10));
	same("9223372036854775807000000000n", MAX_NANO);
	same("9223372036854775807000m", MAX_NANO);
	refused("9223372036854775807.000000001");
	refused("9223372036854775807.0000000001");
	refused("9223372036854775808");
	refused("-9223372036854775808");
	refused("8Ei");
	refused("9.3E");
	refused("9223372036854775807000000001n");
	refused("10000000000000000000");
	refused("1e19");
	refused("1e99999999999999999999");
	refused("99999999999999999999999999999999999999999999999999999999999999999999999999999999");
	refused("99999999999999999999999999999999999999999999999999999999999999999999Ei");
}

static void numbers_without_quotes_are_their_decimal_text(void **state)
{
	struct quantity q;

	(void)state;
	assert_true(quantity_of_real(0.1, &q));
	assert_int_equal((int64_t)q.nano, 100000000);
	assert_true(quantity_of_real(2.5e3, &q));
	assert_int_equal(quantity_ceil(q), 2500);
	assert_true(quantity_of_real(1e-10, &q));
	assert_int_equal((int64_t)q.nano, 1);
	assert_false(quantity_of_real(1e300, &q));
}

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = {
		"",	 " ",	     "1 ",	  " 1",	  "+",	   "-",	   ".",	    "-.",
		"+-1",	 "--1",	     "1.2.3",	  "1..",  "e",	   "e3",   "Ki",    "k",
		".m",	 "1K",	     "1ki",	  "1kI",  "1KI",   "1KiB", "1B",    "1mi",
		"1ni",	 "1ui",	     "1i",	  "1g",	  "1t",	   "1p",   "1mm",   "1mk",
		"1e",	 "1e+",	     "1e-",	  "1e 3", "1e3.5", "1e3k", "1e3e3", "1E3Ki",
		"1e--3", "1e+-3",    "0x10",	  "1,5",  "1_000", "inf",  "NaN",   "1 Ki",
		"1\n",	 "\xc2\xb5", "1\xc2\xb5", "1Z",	  "1Y",	   "1Zi",  "12e3x",
	};
	char text[700];

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		refused(bad[i]);
	refused(NULL);
	for (int c = 1; c < 256; c++) {
		snprintf(text, sizeof(text), "1%c", c);
		if (!strchr("numkMGTPE.0123456789", c))
			refused(text);
		snprintf(text, sizeof(text), "1%ci", c);
		if (!strchr("KMGTPE", c))
			refused(text);
	}
	memset(text, '0', sizeof(text));
	text[256] = '\0';
	same(text, 0);
	text[256] = '0';
	text[257] = '\0';
	refused(text);
}

static void the_error_names_the_text(void **state)
{
	struct quantity q;
	struct err e;

	(void)state;
	assert_int_equal(quantity_parse("12 GB", &q, &e), -1);
	assert_non_null(strstr(e.text, "\"12 GB\""));
}

static void formats(const char *text, const char *want)
{
	struct quantity q = {parsed(text)};
	char out[QUANTITY_TEXT];

	assert_string_equal(quantity_format(q, out), want);
}

static void the_text_is_canonical(void **state)
{
	(void)state;
	formats("0", "0");
	formats("-0", "0");
	formats("1", "1");
	formats("1000", "1000");
	formats("1k", "1000");
	formats("1023", "1023");
	formats("1024", "1Ki");
	formats("-1024", "-1Ki");
	formats("1025", "1025");
	formats("1536", "1536");
	formats("2048", "2Ki");
	formats("1000Ki", "1000Ki");
	formats("1024Ki", "1Mi");
	formats("64Gi", "64Gi");
	formats("0.5Gi", "512Mi");
	formats("1.5Gi", "1536Mi");
	formats("7Ei", "7Ei");
	formats("7168Pi", "7Ei");
	formats("0.5", "500m");
	formats("1.5", "1500m");
	formats("-1.5", "-1500m");
	formats("0.0005", "500u");
	formats("0.0000005", "500n");
	formats("1.000000001", "1000000001n");
	formats("9223372036854775807", "9223372036854775807");
	formats("9223372036854775806.999999999", "9223372036854775806999999999n");
	formats("-9223372036854775806.999999999", "-9223372036854775806999999999n");
}

static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void what_is_written_is_read_back(void **state)
{
	uint64_t x = 88172645463325252u;
	char out[QUANTITY_TEXT];

	(void)state;
	for (int i = 0; i < 50000; i++) {
		__int128 n =
			(__int128)(((unsigned __int128)next(&x) << 64 | next(&x)) >> (34 + i % 90));

		n %= MAX_NANO + 1;
		switch (i % 4) {
		case 1:
			n = n / GIGA * GIGA; /* a whole number of units */
			break;
		case 2:
			n = (n >> (30 + i % 61) << (30 + i % 61)) / GIGA * GIGA;
			break;
		case 3:
			n = n / 1000000 * 1000000; /* a whole number of thousandths */
			break;
		default:
			break;
		}
		if (i % 5 == 0)
			n = -n;
		if (parsed(quantity_format((struct quantity){n}, out)) != n)
			fail_msg("%s", out);
	}
}

static void sums_saturate(void **state)
{
	struct quantity max = {MAX_NANO}, min = {-MAX_NANO}, one = quantity_of(1), q;

	(void)state;
	q = quantity_add(one, quantity_of(2));
	assert_true(q.nano == 3 * GIGA);
	q = quantity_sub(one, quantity_of(3));
	assert_true(q.nano == -2 * GIGA);
	assert_true(quantity_add(max, one).nano == MAX_NANO);
	assert_true(quantity_add(max, max).nano == MAX_NANO);
	assert_true(quantity_sub(min, one).nano == -MAX_NANO);
	assert_true(quantity_sub(min, max).nano == -MAX_NANO);
	assert_true(quantity_sub(max, min).nano == MAX_NANO);
	assert_true(quantity_of(INT64_MAX).nano == MAX_NANO);
	assert_true(quantity_of(INT64_MIN).nano == -MAX_NANO);
	assert_int_equal(quantity_cmp(max, min), 1);
	assert_int_equal(quantity_cmp(min, max), -1);
	assert_int_equal(quantity_cmp(one, quantity_of(1)), 0);
}

static void rounding_goes_to_whole_units_and_thousandths(void **state)
{
	static const struct {
		__int128 nano;
		int64_t ceil, floor, milli_ceil, milli_floor;
	} cases[] = {
		{0, 0, 0, 0, 0},
		{1, 1, 0, 1, 0},
		{-1, 0, -1, 0, -1},
		{GIGA, 1, 1, 1000, 1000},
		{-GIGA, -1, -1, -1000, -1000},
		{GIGA + 1, 2, 1, 1001, 1000},
		{-GIGA - 1, -1, -2, -1000, -1001},
		{1500000000, 2, 1, 1500, 1500},
		{-1500000000, -1, -2, -1500, -1500},
		{1500000001, 2, 1, 1501, 1500},
		{MAX_NANO, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
		{-MAX_NANO, -INT64_MAX, -INT64_MAX, INT64_MIN, INT64_MIN},
		{MAX_NANO - 1, INT64_MAX, INT64_MAX - 1, INT64_MAX, INT64_MAX},
		{MAX_NANO / 1000, 9223372036854776, 9223372036854775, INT64_MAX, INT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct quantity q = {cases[i].nano};

		if (quantity_ceil(q) != cases[i].ceil || quantity_floor(q) != cases[i].floor ||
		    quantity_milli_ceil(q) != cases[i].milli_ceil ||
		    quantity_milli_floor(q) != cases[i].milli_floor)
			fail_msg("case %zu", i);
	}
}

static void a_resource_is_found_by_its_name(void **state)
{
	struct resource v[] = {{"cpu", {1}},
			       {"ephemeral-storage", {2}},
			       {"memory", {3}},
			       {"nvidia.com/gpu", {4}},
			       {"pods", {5}}};
	struct resources r = {v, COUNT(v)}, none = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(v); i++)
		assert_ptr_equal(resources_get(&r, v[i].name), &v[i].q);
	assert_null(resources_get(&r, "a"));
	assert_null(resources_get(&r, "nvidia.com"));
	assert_null(resources_get(&r, "z"));
	assert_null(resources_get(&none, "cpu"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_suffix_with_every_small_number),
		cmocka_unit_test(every_suffix_with_fractions_rounds_away_from_zero_below_n),
		cmocka_unit_test(exponents_move_the_point),
		cmocka_unit_test(the_smallest_step_is_rounded_up_to),
		cmocka_unit_test(the_range_ends_at_the_largest_whole_number),
		cmocka_unit_test(numbers_without_quotes_are_their_decimal_text),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(the_error_names_the_text),
		cmocka_unit_test(the_text_is_canonical),
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(sums_saturate),
		cmocka_unit_test(rounding_goes_to_whole_units_and_thousandths),
		cmocka_unit_test(a_resource_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
