/* Tests what `kubectl get machines` shows under WAITING and ERROR, in a whole simulated world. */
#include "tests/unit/testing.h"

#include <string.h>
#include "base/str.h"
#include "tests/world/world.h"

#define WAITING "status.operation.waitingFor"
#define ERROR "status.operation.lastError.reason"
#define NEXT "status.operation.nextAttempt"
/* Longer than the interval of 2 min at which machines at rest are observed. */
#define IDLE_MS (5 * 60 * 1000)

static bool tells_nothing(void *arg)
{
	struct server *b = arg;

	return !*world_at(b, ERROR) && !*world_at(b, WAITING) && !*world_at(b, NEXT);
}

static bool tells_of_its_drive(void *arg)
{
	return str_eq(world_at(arg, ERROR), "DriveFailed");
}

static void serving(struct sim_world *w, uint64_t seed)
{
	world_start(w, seed, 1);
	world_replica(w);
	world_wait_state(&w->servers[0], "free", 900);
	world_pod(w, &w->tenants[0], "train");
	world_wait_state(&w->servers[0], "serving", 900);
	world_run(w, IDLE_MS);
}

static void a_bmc_that_answers_again_is_not_told_of_any_more(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	serving(&w, 921);
	b->bmc.unavailable = true;
	world_wait_reason(b, "BmcBusy", 600);
	assert_string_equal(world_at(b, WAITING), "Device");
	assert_string_not_equal(world_at(b, NEXT), "");
	b->bmc.unavailable = false;
	world_wait(&w, tells_nothing, b, 400, "the error is taken back");
	assert_string_equal(b->state, "serving");
	world_stop(&w);
}

static void a_login_that_is_accepted_again_is_not_told_of_any_more(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	serving(&w, 922);
	b->bmc.password = "changed by hand";
	fake_bmc_expire(&b->bmc);
	world_wait_reason(b, "BmcAuthFailed", 900);
	world_run(&w, IDLE_MS);
	assert_string_equal(world_at(b, WAITING), "Approval");
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password",
		     "changed by hand");
	world_wait(&w, tells_nothing, b, 400, "the error is taken back");
	assert_string_equal(b->state, "serving");
	world_stop(&w);
}

/* The reason stays visible while drover acts on the machine, after its BMC went away and returned,
 * and after the leader died. */
static void a_quarantined_machine_says_why(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 923, 1);
	b->wipe_fails = true;
	world_replica(&w);
	world_wait_state(b, "quarantined", 900);
	assert_string_equal(world_at(b, WAITING), "Approval");
	assert_string_equal(world_at(b, ERROR), "DriveFailed");
	world_run(&w, IDLE_MS);
	assert_false(b->bmc.on); /* drover itself switched the machine off. */
	assert_string_equal(world_at(b, WAITING), "Approval");
	assert_string_equal(world_at(b, ERROR), "DriveFailed");
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/gpu-1/status",
		 json_pack("{s:{s:{s:s}}}", "status", "operation", "waitingFor", "Device"));
	/* A second try of an act leaves waitingFor Device in status; drover must correct it. */
	world_run(&w, IDLE_MS);
	assert_string_equal(world_at(b, WAITING), "Approval");
	b->bmc.unavailable = true;
	world_run(&w, IDLE_MS);
	assert_string_equal(world_at(b, ERROR), "BmcBusy");
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, IDLE_MS);
	assert_string_equal(world_at(b, ERROR), "BmcBusy");
	b->bmc.unavailable = false;
	world_wait(&w, tells_of_its_drive, b, 400, "it says again why it is quarantined");
	assert_string_equal(world_at(b, WAITING), "Approval");
	world_stop(&w);
}

/* Each leader reports a reason again as long as the reason applies. A reason from an earlier leader
 * that is not reported again is removed. */
static void what_nobody_says_again_is_over(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	serving(&w, 924);
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/gpu-1/status",
		 json_pack("{s:{s:{s:s, s:{s:s, s:s}}}}", "status", "operation", "waitingFor",
			   "Device", "lastError", "reason", "NodeNotMarked", "message", "old"));
	/* The next leader waits some time to see whether the reason still applies. */
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 600 * 1000);
	assert_string_equal(world_at(b, ERROR), "NodeNotMarked");
	world_wait(&w, tells_nothing, b, 600, "the error is taken back");
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bmc_that_answers_again_is_not_told_of_any_more),
		cmocka_unit_test(a_login_that_is_accepted_again_is_not_told_of_any_more),
		cmocka_unit_test(a_quarantined_machine_says_why),
		cmocka_unit_test(what_nobody_says_again_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
