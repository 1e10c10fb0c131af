#include "tests/unit/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/metrics.h"

#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void written(const struct metrics *m, const char *want)
{
	struct buf b;

	buf_init(&b, SIZE_MAX);
	metrics_write(m, &b);
	assert_string_equal(b.data, want);
	buf_done(&b);
}

static size_t count_lines(const struct metrics *m, const char *with)
{
	struct buf b;
	size_t n = 0;
	char *save = NULL;

	buf_init(&b, SIZE_MAX);
	metrics_write(m, &b);
	for (char *l = strtok_r(b.data, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		n += strstr(l, with) != NULL;
	buf_done(&b);
	return n;
}

static void the_text_is_prometheus_0_0_4(void **state)
{
	static const double bounds[] = {0.1, 1, 10};
	OWN(metrics) m = metrics_new();
	struct metric *c =
		metrics_counter(m, "drover_steps_total", "Steps done.", LABELS("step", "result"));
	struct metric *g = metrics_gauge(m, "drover_free", "Free machines.", NULL);
	struct metric *h =
		metrics_histogram(m, "drover_wait_seconds", "Waits.", LABELS("pool"), bounds, 3);

	(void)state;
	metric_add(c, LABELS("wiping", "ok"), 1);
	metric_add(c, LABELS("wiping", "ok"), 2);
	metric_add(c, LABELS("wiping", "failed"), 0);
	metric_set(g, NULL, -1.5);
	metric_observe(h, LABELS("a"), 0.1);
	metric_observe(h, LABELS("a"), 0.11);
	metric_observe(h, LABELS("a"), 11);
	written(m, "# HELP drover_steps_total Steps done.\n"
		   "# TYPE drover_steps_total counter\n"
		   "drover_steps_total{step=\"wiping\",result=\"ok\"} 3\n"
		   "drover_steps_total{step=\"wiping\",result=\"failed\"} 0\n"
		   "# HELP drover_free Free machines.\n"
		   "# TYPE drover_free gauge\n"
		   "drover_free -1.5\n"
		   "# HELP drover_wait_seconds Waits.\n"
		   "# TYPE drover_wait_seconds histogram\n"
		   "drover_wait_seconds_bucket{pool=\"a\",le=\"0.1\"} 1\n"
		   "drover_wait_seconds_bucket{pool=\"a\",le=\"1\"} 2\n"
		   "drover_wait_seconds_bucket{pool=\"a\",le=\"10\"} 2\n"
		   "drover_wait_seconds_bucket{pool=\"a\",le=\"+Inf\"} 3\n"
		   "drover_wait_seconds_count{pool=\"a\"} 3\n"
		   "drover_wait_seconds_sum{pool=\"a\"} 11.21\n");
}

static void a_family_without_labels_starts_at_zero(void **state)
{
	static const double bounds[] = {1};
	OWN(metrics) m = metrics_new();

	(void)state;
	metrics_counter(m, "a_total", "A.", NULL);
	metrics_histogram(m, "b", "B.", NULL, bounds, 1);
	metrics_gauge(m, "c", "C.", LABELS("x"));
	written(m,
		"# HELP a_total A.\n# TYPE a_total counter\na_total 0\n"
		"# HELP b B.\n# TYPE b histogram\nb_bucket{le=\"1\"} 0\nb_bucket{le=\"+Inf\"} 0\n"
		"b_count 0\nb_sum 0\n"
		"# HELP c C.\n# TYPE c gauge\n");
}

static void declaring_again_gives_the_same_family(void **state)
{
	OWN(metrics) m = metrics_new();
	struct metric *a = metrics_counter(m, "a_total", "A.", LABELS("x"));

	(void)state;
	metric_add(a, LABELS("1"), 5);
	assert_ptr_equal(metrics_counter(m, "a_total", "Another text.", LABELS("x")), a);
	assert_true(metric_get(a, LABELS("1")) == 5);
	assert_true(metric_get(a, LABELS("2")) == 0);
	assert_int_equal(count_lines(m, "x=\"2\""), 0); /* metric_get() creates no series */
}

static void only_transient_families_are_forgotten(void **state)
{
	OWN(metrics) m = metrics_new();
	struct metric *kept = metrics_counter(m, "a_total", "A.", LABELS("x"));
	struct metric *fleet = metrics_gauge(m, "b", "B.", NULL);
	struct metric *pools = metrics_gauge(m, "c", "C.", LABELS("x"));

	(void)state;
	metric_transient(fleet);
	metric_transient(pools);
	assert_int_equal(count_lines(m, "b 0"), 0); /* not before it is set */
	metric_add(kept, LABELS("1"), 1);
	metric_set(fleet, NULL, 2);
	metric_set(pools, LABELS("1"), 3);
	assert_int_equal(count_lines(m, "b 2"), 1);
	metrics_forget(m);
	written(m, "# HELP a_total A.\n# TYPE a_total counter\na_total{x=\"1\"} 1\n"
		   "# HELP b B.\n# TYPE b gauge\n# HELP c C.\n# TYPE c gauge\n");
	metric_set(fleet, NULL, 4);
	assert_int_equal(count_lines(m, "b 4"), 1);
}

static void values_are_escaped(void **state)
{
	OWN(metrics) m = metrics_new();
	struct metric *a = metrics_gauge(m, "a", "Back\\slash and\nline.", LABELS("x", "y"));

	(void)state;
	metric_set(a, LABELS("q\"u\\o\nte", "\xc3\xa9\xff"), 1);
	metric_set(a, LABELS("", ""), 2);
	/* Values that give the same text when joined are two series. */
	metric_set(a, LABELS("a\",y=\"b", "c"), 3);
	metric_set(a, LABELS("a", "b\",y=\"c"), 4);
	written(m, "# HELP a Back\\\\slash and\\nline.\n# TYPE a gauge\n"
		   "a{x=\"q\\\"u\\\\o\\nte\",y=\"\xc3\xa9?\"} 1\n"
		   "a{x=\"\",y=\"\"} 2\n"
		   "a{x=\"a\\\",y=\\\"b\",y=\"c\"} 3\n"
		   "a{x=\"a\",y=\"b\\\",y=\\\"c\"} 4\n");
}

static void the_number_of_series_is_bounded(void **state)
{
	OWN(metrics) m = metrics_new();
	struct metric *a = metrics_counter(m, "a_total", "A.", LABELS("x", "y"));
	char name[32];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		metric_add(a, LABELS(name, "z"), 1);
	}
	assert_int_equal(count_lines(m, "a_total{"), 1001);
	assert_true(metric_get(a, LABELS("n0", "z")) == 1);
	assert_true(metric_get(a, LABELS("n999", "z")) == 1);
	assert_true(metric_get(a, LABELS("n1000", "z")) == 0);
	assert_true(metric_get(a, LABELS("other", "other")) == 4000);
	metric_add(a, LABELS("n999", "z"), 1); /* existing series still count */
	assert_true(metric_get(a, LABELS("n999", "z")) == 2);
}

static void a_label_may_keep_its_value_beyond_the_limit(void **state)
{
	OWN(metrics) m = metrics_new();
	struct metric *a = metrics_counter(m, "a_total", "A.", LABELS("pool", "reason"));
	char pool[32];

	(void)state;
	metric_limit(a, 2000);
	metric_keep(a, 1);
	for (int i = 0; i < 1500; i++) {
		snprintf(pool, sizeof(pool), "p%d", i);
		metric_add(a, LABELS(pool, "Fire"), 1);
		metric_add(a, LABELS(pool, "Water"), 1);
	}
	assert_int_equal(count_lines(m, "a_total{"), 2002);
	assert_true(metric_get(a, LABELS("other", "Fire")) == 500);
	assert_true(metric_get(a, LABELS("other", "Water")) == 500);
}

static void series_of_a_name_are_removed(void **state)
{
	OWN(metrics) m = metrics_new();
	struct metric *a = metrics_counter(m, "a_total", "A.", LABELS("pool", "reason")),
		      *b = metrics_counter(m, "b_total", "B.", LABELS("pool"));

	(void)state;
	metric_add(a, LABELS("p", "x"), 1);
	metric_add(a, LABELS("p", "y"), 1);
	metric_add(a, LABELS("p2", "x"), 1);
	metric_add(a, LABELS("x", "p"), 1);
	metric_add(b, LABELS("p"), 1);
	metric_add(b, LABELS("p2"), 1);
	metric_remove(a, "p");
	metric_remove(b, "p");
	written(m, "# HELP a_total A.\n# TYPE a_total counter\n"
		   "a_total{pool=\"p2\",reason=\"x\"} 1\na_total{pool=\"x\",reason=\"p\"} 1\n"
		   "# HELP b_total B.\n# TYPE b_total counter\nb_total{pool=\"p2\"} 1\n");
}

static int64_t clock_of(void *arg)
{
	return *(int64_t *)arg;
}

#define PAGE                                                                                       \
	"# HELP a_total A.\n# TYPE a_total counter\na_total{x=\"b\"} %d\n"                         \
	"# HELP h H.\n# TYPE h histogram\nh_bucket{x=\"b\",le=\"1\"} %d\n"                         \
	"h_bucket{x=\"b\",le=\"+Inf\"} %d\nh_count{x=\"b\"} %d\nh_sum{x=\"b\"} %d\n"

/* What Prometheus reads around the first event: 0 before, the number of events afterwards. */
static void a_delayed_series_is_seen_with_0_first(void **state)
{
	static const double bounds[] = {1};
	OWN(metrics) m = metrics_new();
	int64_t now = 1796119200000;
	struct metric *a = metrics_counter(m, "a_total", "A.", LABELS("x")),
		      *h = metrics_histogram(m, "h", "H.", LABELS("x"), bounds, 1);
	char want[512];

	(void)state;
	metrics_clock(m, clock_of, &now);
	metric_delay(a, 1000);
	metric_delay(h, 1000);
	for (int i = 0; i < 3; i++) {
		metric_add(a, LABELS("b"), 1);
		metric_observe(h, LABELS("b"), 1);
	}
	now += 999;
	snprintf(want, sizeof(want), PAGE, 0, 0, 0, 0, 0);
	written(m, want);
	assert_true(metric_get(a, LABELS("b")) == 3);
	now += 1;
	snprintf(want, sizeof(want), PAGE, 3, 3, 3, 3, 3);
	written(m, want);
	/* The clock was set back: what was shown is not taken back. */
	now -= 3600 * 1000;
	written(m, want);
}

static void a_long_value_is_cut(void **state)
{
	OWN(metrics) m = metrics_new();
	struct metric *a = metrics_gauge(m, "a", "A.", LABELS("w", "x", "y", "z"));
	static char huge[100000];
	struct buf b;

	(void)state;
	memset(huge, '"', sizeof(huge) - 1);
	metric_set(a, LABELS(huge, huge, huge, huge), 1);
	assert_true(metric_get(a, LABELS(huge, huge, huge, huge)) == 1);
	buf_init(&b, SIZE_MAX);
	metrics_write(m, &b);
	assert_true(b.len < 1200);
	buf_done(&b);
}

static void numbers_read_back(void **state)
{
	static const double xs[] = {0,	1, -1, 0.1, 1e300, 1e-300, 1.0 / 3, 123456789012345680.0,
				    3e9};
	OWN(metrics) m = metrics_new();
	struct metric *a = metrics_gauge(m, "a", "A.", NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(xs) / sizeof(xs[0]); i++) {
		struct buf b;

		metric_set(a, NULL, xs[i]);
		buf_init(&b, 1000);
		metrics_write(m, &b);
		assert_true(strtod(strrchr(b.data, ' '), NULL) == xs[i]);
		buf_done(&b);
	}
	metric_set(a, NULL, INFINITY);
	assert_int_equal(count_lines(m, "a +Inf"), 1);
	metric_set(a, NULL, -INFINITY);
	assert_int_equal(count_lines(m, "a -Inf"), 1);
	metric_set(a, NULL, NAN);
	assert_int_equal(count_lines(m, "a NaN"), 1);
}

static void not_a_number_does_not_spoil_a_sum(void **state)
{
	static const double bounds[] = {1};
	OWN(metrics) m = metrics_new();
	struct metric *h = metrics_histogram(m, "h", "H.", NULL, bounds, 1);

	(void)state;
	metric_observe(h, NULL, NAN);
	metric_observe(h, NULL, 1);
	assert_int_equal(count_lines(m, "h_sum 1"), 1);
	assert_int_equal(count_lines(m, "h_count 1"), 1);
}

/* --- OpenMetrics ------------------------------------------------------------------------------ */

#define GOLDEN "tests/data/monitoring/openmetrics.txt"

static int64_t at_noon(void *arg)
{
	return *(int64_t *)arg += 250;
}

/* tests/tools/monitoring reads the same file with a parser of others. */
static void the_text_is_openmetrics_1_0(void **state)
{
	static const double bounds[] = {0.1, 1, 1800};
	OWN(metrics) m = metrics_new();
	int64_t now = 1796119200000;
	struct metric *c, *g, *h;
	char want[8192] = "";
	FILE *file = fopen(GOLDEN, "r");
	struct buf b;

	(void)state;
	metrics_clock(m, at_noon, &now);
	c = metrics_counter(m, "drover_steps_total", "Steps \"done\", a\\b.", LABELS("step"));
	g = metrics_gauge(m, "drover_free", "Free machines.", NULL);
	h = metrics_histogram(m, "drover_wait_seconds", "Waits.", LABELS("pool"), bounds, 3);
	metrics_counter(m, "drover_turns_total", "Turns.", NULL);
	metrics_counter(m, "drover_none_total", "No series yet.", LABELS("x"));
	metric_add(c, LABELS("a\"b\\c\nz"), 3);
	metric_set(g, NULL, -1.5);
	metric_observe_traced(h, LABELS("a"), 0.5, "0af7651916cd43dd8448eb211c80319c");
	metric_observe_traced(h, LABELS("a"), 0.7, "1af7651916cd43dd8448eb211c80319c");
	metric_observe_traced(h, LABELS("a"), 5000, "2af7651916cd43dd8448eb211c80319c");
	metric_observe(h, LABELS("a"), 7);
	metric_observe(h, LABELS("b"), 0.1);
	buf_init(&b, SIZE_MAX);
	metrics_write_open(m, &b);
	if (!file || fread(want, 1, sizeof(want) - 1, file) == 0)
		fail_msg("%s cannot be read; run from the root", GOLDEN);
	fclose(file);
	assert_string_equal(b.data, want);
	buf_done(&b);
}

/* Exemplars and times of creation are not part of Prometheus text 0.0.4. */
static void prometheus_text_has_no_exemplars(void **state)
{
	static const double bounds[] = {1};
	OWN(metrics) m = metrics_new();
	int64_t now = 1796119200000;

	(void)state;
	metrics_clock(m, at_noon, &now);
	metric_observe_traced(metrics_histogram(m, "h", "H.", NULL, bounds, 1), NULL, 0.5,
			      "0af7651916cd43dd8448eb211c80319c");
	written(m, "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 1\n"
		   "h_bucket{le=\"+Inf\"} 1\nh_count 1\nh_sum 0.5\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_is_prometheus_0_0_4),
		cmocka_unit_test(a_family_without_labels_starts_at_zero),
		cmocka_unit_test(declaring_again_gives_the_same_family),
		cmocka_unit_test(only_transient_families_are_forgotten),
		cmocka_unit_test(values_are_escaped),
		cmocka_unit_test(the_number_of_series_is_bounded),
		cmocka_unit_test(a_label_may_keep_its_value_beyond_the_limit),
		cmocka_unit_test(series_of_a_name_are_removed),
		cmocka_unit_test(a_delayed_series_is_seen_with_0_first),
		cmocka_unit_test(a_long_value_is_cut),
		cmocka_unit_test(numbers_read_back),
		cmocka_unit_test(not_a_number_does_not_spoil_a_sum),
		cmocka_unit_test(the_text_is_openmetrics_1_0),
		cmocka_unit_test(prometheus_text_has_no_exemplars),
	};

	metrics_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
