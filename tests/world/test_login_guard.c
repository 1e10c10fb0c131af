/* A Secret that many BMCs share is tried on one first. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/world.h"

static unsigned wrong_passwords(const struct sim_world *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += w->servers[i].bmc.wrong_passwords;
	return n;
}

static unsigned saying(const struct sim_world *w, const char *reason)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += str_eq(world_at(&w->servers[i], "status.operation.lastError.reason"), reason);
	return n;
}

static void a_wrong_password_is_tried_on_one_bmc_alone(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 721, 4);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	assert_int_equal(wrong_passwords(&w), 0);
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password", "wrong");
	world_run(&w, 30 * 60 * 1000);
	assert_int_equal(wrong_passwords(&w), 1);
	assert_int_equal(saying(&w, "BmcAuthFailed"), 4);
	/* The next leader knows. */
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 30 * 60 * 1000);
	assert_int_equal(wrong_passwords(&w), 1);
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password", WORLD_PASSWORD);
	world_run(&w, 60 * 1000);
	for (unsigned i = 1; i < 4; i++)
		assert_string_equal(world_at(&w.servers[i], "status.bmc.secretVersion"),
				    world_at(&w.servers[0], "status.bmc.secretVersion"));
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_stop(&w);
}

/* One BMC has another password: what the others accepted stays good, under a new leader too. */
static void one_bmc_that_refuses_stops_no_other_when_others_accepted(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 722, 3);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	w.servers[0].bmc.password = "its own";
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 10 * 60 * 1000);
	assert_true(wrong_passwords(&w) >= 1);
	assert_int_equal(saying(&w, "BmcAuthFailed"), 1);
	world_pod(&w, &w.tenants[0], "train");
	world_pod(&w, &w.tenants[0], "train-2");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_wait_running(&w, &w.tenants[0], "train-2", 1800);
	world_stop(&w);
}

/* The first that is asked does not answer. */
static void a_dead_bmc_does_not_hold_the_others_up(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 723, 3);
	http_mem_hang(w.net, w.servers[0].origin, true);
	http_mem_hang(w.net, w.servers[1].origin, true);
	world_replica(&w);
	world_wait_state(&w.servers[2], "free", 900);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_password_is_tried_on_one_bmc_alone),
		cmocka_unit_test(one_bmc_that_refuses_stops_no_other_when_others_accepted),
		cmocka_unit_test(a_dead_bmc_does_not_hold_the_others_up),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
