/* Tests the gauge drover_gpus with many tenants and pools. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/gpu_tally.h"

#define HEAD "\ndrover_gpus{"

struct sums {
	double all, named, other_idle;
	size_t series;
};

static struct sums read_page(const struct metrics *m)
{
	struct sums s = {0};
	struct buf b;

	buf_init(&b, 16u << 20);
	metrics_write(m, &b);
	assert_false(b.over);
	for (const char *p = b.data; (p = strstr(p, HEAD)); p++) {
		const double n = strtod(strstr(p, "} ") + 2, NULL);

		s.series++;
		s.all += n;
		if (str_starts(p, HEAD "pool=\"other\",tenant=\"other\",state=\"idle\"}"))
			s.other_idle = n;
		else
			s.named += n;
	}
	buf_done(&b);
	return s;
}

/* Counts `pools` pools of each of 500 tenants: 3 GPUs that are allocated and 5 that are idle. */
static void fill(struct gpu_tally *t, int pools)
{
	char pool[32], tenant[32];

	for (int i = 0; i < 500 * pools; i++) {
		str_format(pool, sizeof(pool), "pool-%d", i % pools);
		str_format(tenant, sizeof(tenant), "tenant-%d", i / pools);
		gpu_tally_add(t, pool, tenant, GPU_ALLOCATED, 3);
		gpu_tally_add(t, pool, tenant, GPU_IDLE, 5);
	}
}

static void five_hundred_tenants_are_shown_by_name_and_more_are_added_up(void **state)
{
	OWN(metrics) m = metrics_new();
	struct gpu_tally *t = gpu_tally_new(m);
	struct sums s;

	(void)state;
	gpu_tally_begin(t);
	fill(t, 4);
	gpu_tally_show(t);
	s = read_page(m);
	assert_true(s.all == 2000 * 8 && s.other_idle == 0);
	assert_int_equal(s.series, 2000 * 2 + 6);
	gpu_tally_begin(t);
	fill(t, 20);
	gpu_tally_show(t);
	s = read_page(m);
	assert_true(s.all == 10000 * 8);
	/* One of the pairs is the one without pool and tenant. */
	assert_true(s.other_idle == (10000 - (GPU_PAIRS - 1)) * 5);
	assert_int_equal(s.series, (GPU_PAIRS - 1 + 1) * 2 + 6);
	gpu_tally_free(t);
}

static void a_tenant_that_left_has_no_series(void **state)
{
	OWN(metrics) m = metrics_new();
	struct gpu_tally *t = gpu_tally_new(m);

	(void)state;
	gpu_tally_begin(t);
	fill(t, 1);
	gpu_tally_show(t);
	gpu_tally_begin(t);
	gpu_tally_add(t, NULL, NULL, GPU_FREE, 8);
	gpu_tally_show(t);
	assert_true(read_page(m).all == 8);
	assert_int_equal(read_page(m).series, 6);
	gpu_tally_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(five_hundred_tenants_are_shown_by_name_and_more_are_added_up),
		cmocka_unit_test(a_tenant_that_left_has_no_series),
	};

	gpu_tally_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
