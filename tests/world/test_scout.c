/* A Secret that many BMCs share is tried on one first. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/world.h"

static unsigned wrong_passwords(const struct earth *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += w->boxes[i].bmc.wrong_passwords;
	return n;
}

static unsigned saying(const struct earth *w, const char *reason)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += str_eq(earth_at(&w->boxes[i], "status.operation.lastError.reason"), reason);
	return n;
}

static void a_wrong_password_is_tried_on_one_bmc_alone(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 721, 4);
	earth_replica(&w);
	earth_wait_all(&w, "free", 1800);
	assert_int_equal(wrong_passwords(&w), 0);
	earth_secret(&w, "drover-system", "bmc", "username", "drover", "password", "wrong");
	earth_run(&w, 30 * 60 * 1000);
	assert_int_equal(wrong_passwords(&w), 1);
	assert_int_equal(saying(&w, "BmcAuthFailed"), 4);
	/* The next leader knows. */
	earth_kill(&w.replicas[0]);
	earth_replica(&w);
	earth_run(&w, 30 * 60 * 1000);
	assert_int_equal(wrong_passwords(&w), 1);
	earth_secret(&w, "drover-system", "bmc", "username", "drover", "password", EARTH_PASSWORD);
	earth_run(&w, 60 * 1000);
	for (unsigned i = 1; i < 4; i++)
		assert_string_equal(earth_at(&w.boxes[i], "status.bmc.secretVersion"),
				    earth_at(&w.boxes[0], "status.bmc.secretVersion"));
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_running(&w, &w.tenants[0], "train", 900);
	earth_stop(&w);
}

/* One BMC has another password: what the others accepted stays good, under a new leader too. */
static void one_bmc_that_refuses_stops_no_other_when_others_accepted(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 722, 3);
	earth_replica(&w);
	earth_wait_all(&w, "free", 1800);
	w.boxes[0].bmc.password = "its own";
	earth_kill(&w.replicas[0]);
	earth_replica(&w);
	earth_run(&w, 10 * 60 * 1000);
	assert_true(wrong_passwords(&w) >= 1);
	assert_int_equal(saying(&w, "BmcAuthFailed"), 1);
	earth_pod(&w, &w.tenants[0], "train");
	earth_pod(&w, &w.tenants[0], "train-2");
	earth_wait_running(&w, &w.tenants[0], "train", 1800);
	earth_wait_running(&w, &w.tenants[0], "train-2", 1800);
	earth_stop(&w);
}

/* The first that is asked does not answer. */
static void a_dead_bmc_does_not_hold_the_others_up(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 723, 3);
	http_mem_hang(w.net, w.boxes[0].origin, true);
	http_mem_hang(w.net, w.boxes[1].origin, true);
	earth_replica(&w);
	earth_wait_state(&w.boxes[2], "free", 900);
	earth_stop(&w);
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
