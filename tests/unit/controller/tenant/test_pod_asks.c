#include <string.h>
#include "api/annotations.h"
#include "base/data/json.h"
#include "base/str.h"
#include "controller/tenant/pod_asks.h"
#include "tests/unit/testing.h"

#define HOUR_MS ((int64_t)3600 * 1000)

/* Returns what a pod with these annotations declares; NULL: the annotation is missing. deadline_s:
 * its activeDeadlineSeconds; 0: not set. */
static const struct pod_asks *asks(struct arena *a, const char *runs, const char *start,
				   const char *class, int64_t deadline_s)
{
	OWN_JSON pod =
		json_pack("{s:{s:{s:s*, s:s*, s:s*}}, s:{}}", "metadata", "annotations",
			  ASKS_RUNTIME, runs, ASKS_START_BY, start, ASKS_DATA_CLASS, class, "spec");

	if (deadline_s)
		json_object_set_new(json_object_get(pod, "spec"), "activeDeadlineSeconds",
				    json_integer(deadline_s));
	return pod_asks_of(pod, a);
}

static void a_pod_that_declares_nothing_has_nothing(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_null(asks(a, NULL, NULL, NULL, 0));
}

static void what_is_declared_is_read(void **state)
{
	OWN(arena) a = arena_new();
	const struct pod_asks *p = asks(a, "3h", "2026-12-01T10:20:00Z", "public", 0);

	(void)state;
	assert_int_equal(p->runs_ms, 3 * HOUR_MS);
	assert_int_equal(p->start_by, 1796120400000);
	assert_string_equal(p->data_class, "public");
	assert_null(p->wrong);
}

static void the_kubelets_deadline_bounds_the_run_time(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_int_equal(asks(a, "3h", NULL, NULL, 3600)->runs_ms, HOUR_MS);
	assert_int_equal(asks(a, "30m", NULL, NULL, 3600)->runs_ms, HOUR_MS / 2);
	assert_int_equal(asks(a, NULL, NULL, NULL, 3600)->runs_ms, HOUR_MS);
	assert_null(asks(a, NULL, NULL, NULL, -1));
	assert_null(asks(a, NULL, NULL, NULL, INT64_MAX / 1000));
}

static const struct pod_asks *saves_every(struct arena *a, const char *interval)
{
	OWN_JSON pod =
		json_pack("{s:{s:{s:s}}}", "metadata", "annotations", ASKS_INTERVAL, interval);

	return pod_asks_of(pod, a);
}

static void a_pod_declares_how_often_it_saves_its_work(void **state)
{
	static const char *const wrongs[] = {"often", "0s", "-30m", "99999h", ""};
	OWN(arena) a = arena_new();

	(void)state;
	assert_int_equal(saves_every(a, "30m")->interval_ms, HOUR_MS / 2);
	assert_null(saves_every(a, "30m")->wrong);
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++)
		assert_non_null(strstr(str_or(saves_every(a, wrongs[i])->wrong, ""),
				       "annotation drover.dev/checkpoint-interval: want a duration "
				       "up to a year such as 30m, got \""));
}

static const struct pod_asks *reads(struct arena *a, const char *data)
{
	OWN_JSON pod = json_pack("{s:{s:{s:s}}}", "metadata", "annotations", ASKS_DATA, data);

	return pod_asks_of(pod, a);
}

static void a_pod_declares_which_data_it_reads(void **state)
{
	OWN(arena) a = arena_new();
	const struct pod_asks *p = reads(a, "imagenet,other");

	(void)state;
	assert_null(p->wrong);
	assert_int_equal(p->data.n, 2);
	assert_string_equal(p->data.v[1], "other");
	assert_string_equal(
		reads(a, "imagenet, other")->wrong,
		"annotation drover.dev/data: want 1 to 16 names of data sets, separated "
		"by commas, got \"imagenet, other\"");
	assert_non_null(reads(a, "")->wrong);
}

/* JobSet sets a label and an annotation; the larger number counts. */
static void the_restarts_of_a_jobset_are_read(void **state)
{
	static const struct {
		const char *label, *note;
		int64_t want;
	} rows[] = {{"2", NULL, 2},   {NULL, "3", 3}, {"2", "3", 3},
		    {"many", "1", 1}, {"-1", "2", 2}, {"9999999999", "1", 1}};
	OWN(arena) a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		OWN_JSON pod = json_pack("{s:{s:{s:s*}, s:{s:s*}}}", "metadata", "labels",
					 POD_ASKS_ATTEMPT, rows[i].label, "annotations",
					 POD_ASKS_ATTEMPT, rows[i].note);

		assert_int_equal(pod_asks_of(pod, a)->restarts, rows[i].want);
	}
}

static void nonsense_is_named(void **state)
{
	static const struct {
		const char *runs, *start, *class, *says;
	} rows[] = {
		{"soon", NULL, NULL,
		 "annotation drover.dev/expected-runtime: want a duration up to a year such as 3h, "
		 "got \"soon\""},
		{"-1h", NULL, NULL, "expected-runtime"},
		{"0s", NULL, NULL, "expected-runtime"},
		{"99999h", NULL, NULL, "expected-runtime"},
		{"", NULL, NULL, "expected-runtime"},
		{NULL, "tomorrow", NULL, "annotation drover.dev/latest-start: want a time such as"},
		{NULL, NULL, "a b", "annotation drover.dev/data-class: want"},
		{NULL, NULL, "", "data-class"},
		{NULL, NULL, "x\x1b[2J", "got \"x?[2J\""},
		{NULL, NULL, "0123456789012345678901234567890123456789012345678901234567890123",
		 "got \"0123456789012345678901234567890123456789\" and more"},
	};
	OWN(arena) a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct pod_asks *p = asks(a, rows[i].runs, rows[i].start, rows[i].class, 0);

		assert_non_null(p->wrong);
		if (!strstr(p->wrong, rows[i].says))
			fail_msg("want '%s' in: %s", rows[i].says, p->wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_that_declares_nothing_has_nothing),
		cmocka_unit_test(what_is_declared_is_read),
		cmocka_unit_test(the_kubelets_deadline_bounds_the_run_time),
		cmocka_unit_test(a_pod_declares_how_often_it_saves_its_work),
		cmocka_unit_test(a_pod_declares_which_data_it_reads),
		cmocka_unit_test(the_restarts_of_a_jobset_are_read),
		cmocka_unit_test(nonsense_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
