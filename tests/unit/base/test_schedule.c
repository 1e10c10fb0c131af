#include "tests/unit/testing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/schedule.h"
#include "base/str.h"

static int64_t at(const char *text)
{
	int64_t ms;

	assert_true(str_to_time(text, &ms));
	return ms;
}

static void a_window_lasts_from_its_time_for_its_duration(void **state)
{
	const int64_t hours8 = INT64_C(8) * 3600000;

	(void)state; /* 2026-11-23 is a Monday */
	assert_int_equal(schedule_window("0 20 * * 1-5", NULL, hours8, at("2026-11-23T19:59:59Z")),
			 0);
	assert_int_equal(schedule_window("0 20 * * 1-5", NULL, hours8, at("2026-11-23T20:00:00Z")),
			 1);
	assert_int_equal(schedule_window("0 20 * * 1-5", NULL, hours8, at("2026-11-24T03:59:59Z")),
			 1);
	assert_int_equal(schedule_window("0 20 * * 1-5", NULL, hours8, at("2026-11-24T04:00:00Z")),
			 0);
	assert_int_equal(schedule_window("0 20 * * 1-5", NULL, hours8, at("2026-11-28T21:00:00Z")),
			 0);
	assert_int_equal(schedule_window("@daily", NULL, 60000, at("2026-11-28T00:00:30Z")), 1);
}

/* Windows of one minute, compared with the result of robfig/cron's Next(), which CronJobs use. */
static void what_people_type_means_what_cronjobs_take_it_for(void **state)
{
	static const struct {
		const char *schedule, *now;
		int want;
	} cases[] = {
		{"@midnight", "2026-11-28T00:00:00Z", 1},
		{"@midnight", "2026-11-28T00:01:00Z", 0},
		{"@annually", "2027-01-01T00:00:00Z", 1},
		{"\t0  0 * * SAT,Sun\n", "2026-11-28T00:00:00Z", 1},
		{"0 0 ? * sat", "2026-11-28T00:00:00Z", 1},
		{"0 0 ? * sat", "2026-11-27T00:00:00Z", 0},
		{"0 0 * * 7", "2026-11-29T00:00:00Z", 1},
		{"0 0 * * 5/1", "2026-11-29T00:00:00Z", 0}, /* Friday and Saturday */
		{"0 0 * * 1/2", "2026-11-29T00:00:00Z", 0}, /* Monday, Wednesday, Friday */
		/* equals *: the day of the month alone decides */
		{"0 0 1 * */1", "2026-11-28T00:00:00Z", 0},
		{"0 0 1 * 3,*", "2026-11-28T00:00:00Z", 0},
		/* equals *: the weekday alone decides */
		{"0 0 */1 * sun", "2026-11-28T00:00:00Z", 0},
		{"00 08 * * *", "2026-11-28T08:00:00Z", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (schedule_window(cases[i].schedule, NULL, 60000, at(cases[i].now)) !=
		    cases[i].want)
			fail_msg("%s at %s", cases[i].schedule, cases[i].now);
}

static void what_cannot_be_read_is_said(void **state)
{
	static const struct {
		const char *schedule, *text;
	} wrong[] = {
		{"", "want five fields (minute hour day month weekday) such as 0 22 "
		     "* * mon-fri, or @daily"},
		{"0 20 * *", "want five fields"},
		{"0 0 20 * * *", "want five fields"},
		{"60 * * * *", "minute \"60\": want 0 to 59, such as *, */2, 0 or 0-59"},
		{"* * * * 8", "weekday \"8\": want 0 to 6 or names of three letters, "
			      "such as *, */2, sun or sun-sat"},
		{"* * * * monday", "weekday \"monday\""},
		{"* * L * *", "day \"L\": want 1 to 31"},
		{"* * * jan-foo *", "month \"jan-foo\""},
		{"@noon", "want @hourly, @daily, @midnight"},
		{"@every 1h", "want @hourly, @daily, @midnight"},
		{"TZ=Europe/Berlin 0 0 * * *", "want no time zone in the schedule"},
		{"CRON_TZ=UTC 0 0 * * *", "want no time zone"},
		{"5-1 * * * *", "minute \"5-1\" ends before it begins: write 5-59,0-1"},
		{"0 22-6 * * *", "hour \"22-6\" ends before it begins: write 22-23,0-6"},
		{"0 0 * * sat-sun", "weekday \"sat-sun\" ends before it begins: write sat,sun"},
		{"0 0 * * mon-sun", "weekday \"mon-sun\" ends before it begins: write mon-sat,sun"},
		{"0 0 * nov-feb *",
		 "month \"nov-feb\" ends before it begins: write nov-dec,jan-feb"},
		{"*-5 * * * *", "minute \"*-5\""},
		{"1,,2 * * * *", "minute \"\""},
		{"+5 * * * *", "minute \"+5\""},
		{"*/0 * * * *", "minute \"*/0\""},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(
			schedule_window(wrong[i].schedule, NULL, 60000, at("2026-11-28T00:00:30Z")),
			-1);
		assert_int_equal(schedule_check(wrong[i].schedule, &e), -1);
		if (!str_starts(e.text, wrong[i].text))
			fail_msg("%s: %s", wrong[i].schedule, e.text);
	}
}

static void what_never_comes_is_said(void **state)
{
	static const char *const never[] = {"0 0 30 2 *", "0 0 31 feb,4,jun-jun,9,11 ?",
					    "0 0 31,30 2 */1"};
	static const char *const rare[] = {"0 0 29 2 *", "0 0 31 2,3 *", "0 0 30 2 mon"};
	struct err e;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(schedule_check(never[i], &e), -1);
		assert_string_equal(e.text, "never comes: none of its months has such a day");
		assert_int_equal(schedule_check(rare[i], &e), 0);
	}
}

/* --- against a simple implementation ---------------------------------------------------------- */

static uint64_t seed = 88172645463325252;

static unsigned draw(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 11) % n;
}

struct bounds {
	int min, max;
	/* Names with a separator, four bytes each. */
	const char *names;
};
static const struct bounds bounds[] = {
	{0, 59, ""},
	{0, 23, ""},
	{1, 31, ""},
	{1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
	{0, 6, "sun mon tue wed thu fri sat"},
};

/* Returns the number for a number or name; -1: invalid. */
static int word(const struct bounds *b, const char *s)
{
	char lower[16] = "";
	const char *name;

	for (size_t i = 0; s[i] && i < sizeof(lower) - 1; i++)
		lower[i] = (char)tolower((unsigned char)s[i]);
	name = strlen(s) == 3 && !strchr(s, ' ') ? strstr(b->names, lower) : NULL;
	if (name)
		return (int)(name - b->names) / 4 + b->min;
	return *s && strspn(s, "0123456789") == strlen(s) ? atoi(s) : -1;
}

/* Returns 1 if v matches FROM-TO/STEP, else 0; -1: invalid. */
static int in_range(const struct bounds *b, char *text, int v, bool *star)
{
	char *step_text = strchr(text, '/'), *to_text;
	int from, to, step = 1;

	if (step_text)
		*step_text++ = '\0';
	to_text = strchr(text, '-');
	if (to_text)
		*to_text++ = '\0';
	if (step_text &&
	    (strspn(step_text, "0123456789") != strlen(step_text) || (step = atoi(step_text)) < 1))
		return -1;
	if (!strcmp(text, "*") || !strcmp(text, "?")) {
		*star |= step == 1;
		return to_text ? -1 : (v - b->min) % step == 0;
	}
	from = word(b, text);
	to = to_text ? word(b, to_text) : step_text && from <= b->max ? b->max : from;
	if (from < b->min || to > b->max + (b->max == 6) || from > b->max + (b->max == 6) ||
	    from > to)
		return -1;
	for (int i = from; i <= to; i += step)
		if (i == v || (b->max == 6 && i == 7 && v == 0))
			return 1;
	return 0;
}

/* Returns 1 if v matches this field, else 0; -1: invalid. */
static int in_field(const struct bounds *b, const char *text, int v, bool *star)
{
	int found = 0;

	for (;;) {
		char one[64];
		size_t n = strcspn(text, ",");
		int rc;

		memcpy(one, text, n);
		one[n] = '\0';
		rc = in_range(b, one, v, star);
		if (rc < 0)
			return -1;
		found |= rc;
		if (!text[n])
			return found;
		text += n + 1;
	}
}

/* Returns 1 if the schedule matches this minute, else 0; -1: invalid. */
static int comes(char fields[5][64], int64_t now)
{
	time_t t = (time_t)(now / 1000);
	struct tm tm;
	int v[5], in[5];
	bool star[5] = {false};

	gmtime_r(&t, &tm);
	v[0] = tm.tm_min, v[1] = tm.tm_hour, v[2] = tm.tm_mday, v[3] = tm.tm_mon + 1;
	v[4] = tm.tm_wday;
	for (int i = 0; i < 5; i++)
		if ((in[i] = in_field(&bounds[i], fields[i], v[i], &star[i])) < 0)
			return -1;
	if (!in[0] || !in[1] || !in[3])
		return 0;
	return star[2] || star[4] ? in[2] && in[4] : in[2] || in[4];
}

static void make_value(const struct bounds *b, char *out, size_t size)
{
	int v = b->min + (int)draw((unsigned)(b->max - b->min + 1 + !draw(8)));

	if (*b->names && draw(2) && v <= b->max)
		str_format(out, size, "%.3s", b->names + (ptrdiff_t)(v - b->min) * 4);
	else
		str_format(out, size, draw(4) ? "%d" : "%02d", v);
	if (draw(2))
		*out = (char)toupper((unsigned char)*out);
}

static void make_field(const struct bounds *b, char *out, size_t size)
{
	unsigned parts = draw(3) ? 1 : 2;

	*out = '\0';
	for (unsigned i = 0; i < parts; i++) {
		char from[8], to[8], step[8] = "";
		bool range = !draw(3);

		make_value(b, from, sizeof(from));
		make_value(b, to, sizeof(to));
		if (!draw(4))
			str_format(step, sizeof(step), "/%u", draw(7));
		str_format(out + strlen(out), size - strlen(out), "%s%s%s%s%s", i ? "," : "",
			   draw(3)   ? from
			   : draw(5) ? "*"
				     : "?",
			   range ? "-" : "", range ? to : "", step);
	}
}

static void any_schedule_has_the_minutes_of_a_straightforward_reading(void **state)
{
	unsigned good = 0, bad = 0, seen = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char f[5][64], text[512];
		int64_t now = at("2026-01-01T00:00:00Z") + (int64_t)draw(4 * 365 * 1440) * 60000;
		int want;

		for (int k = 0; k < 5; k++)
			if (draw(3))
				str_copy(f[k], sizeof(f[k]), "*");
			else
				make_field(&bounds[k], f[k], sizeof(f[k]));
		str_format(text, sizeof(text), "%s %s %s %s %s", f[0], f[1], f[2], f[3], f[4]);
		want = comes(f, now);
		if (schedule_window(text, NULL, 60000, now) != want)
			fail_msg("\"%s\" at minute %jd: want %d", text, (intmax_t)now, want);
		good += want >= 0, bad += want < 0, seen += want == 1;
	}
	assert_true(good > 2000 && bad > 2000 && seen > 300);
}

/* Cases of robfig/cron's Next() in America/New_York, where the clock goes from 2:00 to 3:00 on
 * 2012-03-11 and from 2:00 back to 1:00 on 2012-11-04. */
static void a_skipped_time_does_not_come_and_a_repeated_one_comes_twice(void **state)
{
	static const struct {
		const char *schedule, *now;
		int want;
	} cases[] = {
		{"0 20 * * *", "2012-07-01T00:00:00Z", 1}, /* 20:00 EDT */
		{"0 20 * * *", "2012-01-01T01:00:00Z", 1}, /* 20:00 EST */
		{"0 20 * * 6", "2012-07-01T00:00:00Z", 1}, /* Saturday in New York */
		{"0 20 * * 0", "2012-07-01T00:00:00Z", 0},
		{"30 2 11 3 *", "2012-03-11T06:30:00Z", 0},
		{"30 2 11 3 *", "2012-03-11T07:30:00Z", 0},
		{"30 3 11 3 *", "2012-03-11T07:30:00Z", 1},
		{"0 * * * *", "2012-03-11T07:00:00Z", 1},
		{"0 2 * * *", "2012-03-11T07:00:00Z", 0}, /* 3:00 EDT */
		{"0 1 * * *", "2012-11-04T05:00:00Z", 1},
		{"0 1 * * *", "2012-11-04T06:00:00Z", 1},
		{"0 2 * * *", "2012-11-04T06:00:00Z", 0}, /* 1:00 EST */
		{"0 2 * * *", "2012-11-04T07:00:00Z", 1},
	};
	OWN(zones) zs = zones_new();
	const struct zone *z;
	struct err e;

	(void)state;
	assert_ok(zones_get(zs, "America/New_York", &z, &e), &e);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (schedule_window(cases[i].schedule, z, 60000, at(cases[i].now)) != cases[i].want)
			fail_msg("%s at %s", cases[i].schedule, cases[i].now);
}

/* The length of a window is in real time: a window of eight hours over a change ends an hour later
 * or earlier by the clock. */
static void a_window_over_a_change_keeps_its_length(void **state)
{
	const int64_t hours8 = INT64_C(8) * 3600000;
	OWN(zones) zs = zones_new();
	const struct zone *z;
	struct err e;

	(void)state;
	assert_ok(zones_get(zs, "Europe/Berlin", &z, &e), &e);
	assert_int_equal(schedule_window("0 22 * * *", z, hours8, at("2026-10-24T20:00:00Z")), 1);
	assert_int_equal(schedule_window("0 22 * * *", z, hours8, at("2026-10-24T19:59:59Z")), 0);
	assert_int_equal(schedule_window("0 22 * * *", z, hours8, at("2026-10-25T03:59:59Z")), 1);
	assert_int_equal(schedule_window("0 22 * * *", z, hours8, at("2026-10-25T04:00:00Z")), 0);
	assert_int_equal(schedule_window("0 22 * * *", z, hours8, at("2026-03-29T04:59:59Z")), 1);
	assert_int_equal(schedule_window("0 22 * * *", z, hours8, at("2026-03-29T05:00:00Z")), 0);
	/* Windows of 31 days that contain the change. */
	assert_int_equal(
		schedule_window("30 2 29 3 *", z, 31 * 3 * hours8, at("2026-04-10T00:00:00Z")), 0);
	assert_int_equal(
		schedule_window("30 3 29 3 *", z, 31 * 3 * hours8, at("2026-04-10T00:00:00Z")), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_lasts_from_its_time_for_its_duration),
		cmocka_unit_test(what_people_type_means_what_cronjobs_take_it_for),
		cmocka_unit_test(what_cannot_be_read_is_said),
		cmocka_unit_test(what_never_comes_is_said),
		cmocka_unit_test(a_skipped_time_does_not_come_and_a_repeated_one_comes_twice),
		cmocka_unit_test(a_window_over_a_change_keeps_its_length),
		cmocka_unit_test(any_schedule_has_the_minutes_of_a_straightforward_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
