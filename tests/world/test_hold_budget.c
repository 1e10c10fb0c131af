/*
 * Longest time that a pod has to wait beside free machines because of other tenants' gangs and
 * ProvisioningRequests. docs/pods.md gives the limit in multiples of --gang-hold.
 */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/requests.h"
#include "tests/world/world.h"

#define HOLD_S 120
#define BOOT_S 120 /* time in s from the claim until the pod runs */

/* Starts three servers. A pod of team-b occupies one server for good, so that no gang of three is
 * ever whole. */
static void begin(struct sim_world *w, uint64_t seed)
{
	world_start(w, seed, 3);
	requests_serve(w, &w->tenants[0], "8");
	w->gang_hold_ms = HOLD_S * 1000;
	world_replica(w);
	world_wait_all(w, "free", 1800);
	world_pod(w, &w->tenants[1], "keeps");
	world_wait_running(w, &w->tenants[1], "keeps", 1800);
}

/* Returns the seconds until a new pod of team-b runs. */
static int64_t wait_of_a_pod(struct sim_world *w, const char *name)
{
	const int64_t from = loop_wall(w->loop);

	world_pod(w, &w->tenants[1], name);
	world_wait_running(w, &w->tenants[1], name, 24 * 3600);
	return (loop_wall(w->loop) - from) / 1000;
}

static void add_gang(struct sim_world *w, const char *gang)
{
	char name[40];

	for (int i = 0; i < 3; i++) {
		str_format(name, sizeof(name), "%s-%d", gang, i);
		world_gang_pod(w, &w->tenants[0], name, gang, "3");
	}
}

static int64_t used_gpu_seconds(struct sim_world *w)
{
	OWN_JSON o = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");

	return json_int_at(o, "status", "usage", "gpuSeconds");
}

/* Lets two holds and the pauses after them pass. Then checks that a new pod waits at most until the
 * hold that has begun by then, the longest so far, ends. */
static void is_bounded(struct sim_world *w)
{
	int64_t waited;

	world_run(w, (6 * HOLD_S + HOLD_S / 10) * INT64_C(1000));
	/* Two machines of 8 GPUs were reserved for 3 * HOLD_S. Up to 3600 GPU-seconds may not be
	 * recorded yet. */
	assert_in_range(used_gpu_seconds(w), 3 * HOLD_S * 16 - 3600, 4 * HOLD_S * 16);
	waited = wait_of_a_pod(w, "honest");
	assert_in_range(waited, 3 * HOLD_S, 4 * HOLD_S + BOOT_S);
	world_stop(w);
}

static void gangs(uint64_t seed, int n)
{
	struct sim_world w;
	char name[40];

	begin(&w, seed);
	for (int i = 0; i < n; i++) {
		str_format(name, sizeof(name), "gang%d", i);
		add_gang(&w, name);
	}
	is_bounded(&w);
}

static void requests(uint64_t seed, int n)
{
	struct sim_world w;
	char name[40];

	begin(&w, seed);
	for (int i = 0; i < n; i++) {
		str_format(name, sizeof(name), "request%d", i);
		requests_ask(&w, &w.tenants[0], name, REQUESTS_QUEUED, 3, NULL);
	}
	is_bounded(&w);
}

static void one_gang(void **state)
{
	(void)state;
	gangs(861, 1);
}

static void two_gangs(void **state)
{
	(void)state;
	gangs(862, 2);
}

static void ten_gangs(void **state)
{
	(void)state;
	gangs(863, 10);
}

static void a_hundred_gangs(void **state)
{
	(void)state;
	gangs(864, 100);
}

static void one_request(void **state)
{
	(void)state;
	requests(865, 1);
}

static void two_requests(void **state)
{
	(void)state;
	requests(866, 2);
}

static void ten_requests(void **state)
{
	(void)state;
	requests(867, 10);
}

static void a_hundred_requests(void **state)
{
	(void)state;
	requests(868, 100);
}

/* A check-capacity request every four minutes reserves both free machines, unless another pod needs
 * one. */
static void checks_for_room_make_nobody_wait(void **state)
{
	struct sim_world w;
	char name[40];

	(void)state;
	begin(&w, 869);
	for (int i = 0; i < 10; i++) {
		str_format(name, sizeof(name), "check%d", i);
		requests_ask(&w, &w.tenants[0], name, REQUESTS_CHECK, 2,
			     json_pack("{s:s}", "drover.dev/free-machines", "true"));
		world_run(&w, 240000);
	}
	assert_true(wait_of_a_pod(&w, "honest") <= BOOT_S);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_gang),
		cmocka_unit_test(two_gangs),
		cmocka_unit_test(ten_gangs),
		cmocka_unit_test(a_hundred_gangs),
		cmocka_unit_test(one_request),
		cmocka_unit_test(two_requests),
		cmocka_unit_test(ten_requests),
		cmocka_unit_test(a_hundred_requests),
		cmocka_unit_test(checks_for_room_make_nobody_wait),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
