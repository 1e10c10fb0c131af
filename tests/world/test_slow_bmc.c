/* BMCs that need seconds for each request: their machines run the whole cycle and report what they
 * wait for. */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "tests/contract/slow_bmc.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

static void start(struct sim_world *w, struct slow_bmc *slow, uint64_t seed, int64_t ms)
{
	struct server *b = &w->servers[0];

	world_start(w, seed, 1);
	slow_bmc_init(slow, &b->bmc, w->hardware, ms);
}

/* Runs the whole cycle: a pod waits, is served, is released; the machine is drained, wiped and
 * free. */
static void go_the_whole_way(uint64_t seed, int64_t ms)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct slow_bmc slow;

	start(&w, &slow, seed, ms);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	world_wait_state(b, "serving", 60);
	world_check_serving(&w, &w.tenants[0], "train");
	leaving_begin(&w);
	world_wait_state(b, "stopping", 600);
	world_wait_state(b, "wiping", 1200);
	world_wait_state(b, "free", 1200);
	assert_true(server_is_blank(b));
	assert_false(b->bmc.on);
	assert_false(world_has_failure(b, "PowerNotConfirmed"));
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	world_settle(&w);
	world_stop(&w);
}

static void machines_of_slow_bmcs_go_the_whole_way(void **state)
{
	(void)state;
	go_the_whole_way(71, 800);
	go_the_whole_way(72, 3000);
}

static void the_whole_way_at_six_seconds_a_request(void **state)
{
	(void)state;
	go_the_whole_way(73, 6000);
}

/* The BMC is reported as slow while the first observation takes half a minute. The report is
 * cleared once the observation is complete. */
static void a_machine_says_that_its_bmc_is_slow(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct slow_bmc slow;

	(void)state;
	start(&w, &slow, 74, 6000);
	world_replica(&w);
	world_wait_reason(b, "BmcSlow", 60);
	assert_string_equal(b->state, "known");
	assert_string_equal(world_at(b, "status.operation.waitingFor"), "Device");
	slow.ms = 0;
	world_wait_state(b, "dirty", 300);
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "");
	world_settle(&w);
	world_stop(&w);
}

/* The fabric needs 25 s for an answer. Otherwise an answer is valid for ten polls only; this one is
 * older than that when it arrives. */
static void the_whole_way_with_a_slow_fabric(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 75, 1);
	w.fabric_ms = 25000;
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_wait_state(b, "serving", 60);
	leaving_begin(&w);
	world_wait_state(b, "wiping", 1800);
	world_wait_state(b, "free", 1200);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	world_settle(&w);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_of_slow_bmcs_go_the_whole_way),
		cmocka_unit_test(the_whole_way_at_six_seconds_a_request),
		cmocka_unit_test(a_machine_says_that_its_bmc_is_slow),
		cmocka_unit_test(the_whole_way_with_a_slow_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
