/* Tests that the first event of a known series is seen by increase(). */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/core/known_series.h"

static size_t count(struct bench *d, const char *line)
{
	struct buf b;
	size_t n = 0;

	buf_init(&b, 16u << 20);
	metrics_write(d->c.metrics, &b);
	for (const char *p = b.data; (p = strstr(p, line)); p++)
		n++;
	buf_done(&b);
	return n;
}

static void a_leader_has_known_series_before_their_first_event(void **state)
{
	struct bench *d = *state;

	assert_int_equal(count(d, "\ndrover_wipes_total{verdict=\"Fail\"}"), 0);
	known_series_lead(&d->c);
	assert_int_equal(count(d, "\ndrover_wipes_total{verdict=\"Fail\"} 0\n"), 1);
	assert_int_equal(count(d, "\ndrover_leaves_total{reason="), 13);
	assert_int_equal(count(d, "\ndrover_claims_created_total{pool=\"h100\"} 0\n"), 1);
	assert_int_equal(count(d, "\ndrover_claims_failed_total{"), 0);
	assert_int_equal(
		count(d,
		      "\ndrover_machine_looks_total{provider=\"hall-a\",outcome=\"failed\"} 0\n"),
		1);
	assert_int_equal(count(d, "\ndrover_eta_ways_total{way=\"free\",by=\"later\"} 0\n"), 1);
	assert_int_equal(count(d, "\ndrover_pod_wait_seconds_count{tenant=\"team-a\","
				  "priority=\"none\"} 0\n"),
			 1);
	assert_int_equal(count(d, "\ndrover_gpu_pods_ended_total{tenant=\"team-a\","
				  "result=\"failed\"} 0\n"),
			 1);
	/* A replica that leads again keeps what it counted. */
	counters_wipe(d->c.counters, "Fail");
	known_series_lead(&d->c);
	assert_int_equal(count(d, "\ndrover_wipes_total{verdict=\"Fail\"} 1\n"), 1);
}

static void an_object_that_is_added_gets_its_series_from_the_leader(void **state)
{
	struct bench *d = *state;

	d->c.leading = false;
	known_series_object(&d->c, OBJECT_NODE_POOL, "l40s");
	assert_int_equal(count(d, "l40s"), 0);
	d->c.leading = true;
	known_series_object(&d->c, OBJECT_MACHINE, "m-1");
	assert_int_equal(count(d, "m-1"), 0);
	known_series_object(&d->c, OBJECT_NODE_POOL, "l40s");
	assert_int_equal(count(d, "\ndrover_claims_created_total{pool=\"l40s\"} 0\n"), 1);
	assert_int_equal(count(d, "\ndrover_claim_ready_seconds_count{pool=\"l40s\"} 0\n"), 1);
	assert_int_equal(count(d, "\ndrover_machine_return_seconds_count{pool=\"l40s\"} 0\n"), 1);
}

/* Else names that come and go would fill a family, and new ones would be "other". */
static void series_of_a_deleted_object_are_removed(void **state)
{
	struct bench *d = *state;

	known_series_lead(&d->c);
	counters_claim_failed(d->c.counters, "h100", "JoinTimeout");
	counters_claim_failed(d->c.counters, "h100-2", "JoinTimeout");
	counters_pod_placed(d->c.counters, "team-a", "high", 1000);
	counters_pod_ended(d->c.counters, "team-a", "unknown");
	counters_provider_call(d->c.counters, "hall-a", "observe", NULL, 1000);
	/* A follower, too: it may lead again. */
	d->c.leading = false;
	known_series_gone(&d->c, OBJECT_MACHINE, "h100");
	assert_int_equal(count(d, "\ndrover_claims_created_total{pool=\"h100\"}"), 1);
	assert_int_equal(count(d, "\ndrover_claims_failed_total{pool=\"h100\","), 1);
	known_series_gone(&d->c, OBJECT_NODE_POOL, "h100");
	assert_int_equal(count(d, "pool=\"h100\""), 0);
	assert_int_equal(count(d, "pool=\"h100-2\""), 1);
	known_series_gone(&d->c, OBJECT_VIRTUAL_CLUSTER, "team-a");
	assert_int_equal(count(d, "tenant=\"team-a\""), 0);
	known_series_gone(&d->c, OBJECT_PROVIDER, "hall-a");
	assert_int_equal(count(d, "provider=\"hall-a\""), 0);
	assert_int_equal(count(d, "\ndrover_wipes_total{"), 3);
}

#define T(name) cmocka_unit_test_setup_teardown(name, bench_setup_fleet, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_leader_has_known_series_before_their_first_event),
		T(an_object_that_is_added_gets_its_series_from_the_leader),
		T(series_of_a_deleted_object_are_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
