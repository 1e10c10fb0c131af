#include "tests/unit/testing.h"

#include "planner/replay/replay.h"
#include "tests/unit/planner/worlds.h"

#define MIN INT64_C(60000)
#define GPUS(n) worlds_resources(a, "nvidia.com/gpu=" #n)

/* Durations: boot 5 min, drain 1, wipe 4, idle 2; plans are made without delay. */
static const struct replay_times times = {5 * MIN, MIN, 4 * MIN, 0, 2 * MIN};

/* Returns a world with tenants "acme" and "b" and this many machines with 8 GPUs each. */
static struct world *fleet(unsigned machines, struct arena *a)
{
	struct world *w = worlds_new(a);
	struct world_tenant b = worlds_tenant(a);

	b.name = "b";
	world_put_tenant(w, &b);
	for (unsigned i = 0; i < machines; i++) {
		struct world_machine m = worlds_machine(arena_printf(a, "m-%u", i), "gpu");

		world_put_machine(w, &m);
	}
	return w;
}

static struct replay *run(struct world *w, const struct replay_job *jobs, size_t n,
			  int64_t until_ms, struct arena *a)
{
	const struct replay_spec s = {.world = w,
				      .jobs = jobs,
				      .njobs = n,
				      .times = times,
				      .until_ms = until_ms,
				      .samples = 4};

	return replay_run(&s, a);
}

static void assert_ran(const struct replay *r, size_t job, int64_t start_min, int64_t end_min)
{
	assert_int_equal(r->jobs[job].start_ms, start_min < 0 ? -1 : start_min * MIN);
	assert_int_equal(r->jobs[job].end_ms, end_min < 0 ? -1 : end_min * MIN);
}

static void a_machine_boots_serves_and_is_wiped_before_somebody_else_has_it(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = fleet(1, a);
	const struct replay_job jobs[] = {
		{.at_ms = 0,
		 .takes_ms = 10 * MIN,
		 .tenant = "acme",
		 .pods = 1,
		 .requests = GPUS(8)},
		{.at_ms = MIN, .takes_ms = 10 * MIN, .tenant = "b", .pods = 1, .requests = GPUS(4)},
	};
	const struct replay *r = run(w, jobs, 2, 40 * MIN, a);

	(void)state;
	assert_ran(r, 0, 5, 15);
	assert_ran(r, 1, 15 + 2 + 1 + 4 + 5, 37);
	assert_int_equal(r->boots, 2);
	assert_int_equal(r->wipes, 1);
	assert_float_equal(r->gpus, 8, 1e-9);
	assert_float_equal(r->used_ms, (double)(10 * 8 + 10 * 4) * MIN, 1e-3);
	assert_float_equal(r->serving_ms, (double)(12 * 8 + 12 * 8) * MIN, 1e-3);
	assert_float_equal(r->samples[0].used, 8.0 * 5 / 10, 1e-9);
	assert_float_equal(r->samples[0].serving, 8.0 * 5 / 10, 1e-9);
	assert_float_equal(r->samples[1].waiting, 4, 1e-9);
	assert_float_equal(r->samples[1].queue, 1, 1e-9);
}

static void who_comes_while_a_node_rests_needs_no_boot(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = fleet(1, a);
	const struct replay_job jobs[] = {
		{.at_ms = 16 * MIN,
		 .takes_ms = MIN,
		 .tenant = "acme",
		 .pods = 1,
		 .requests = GPUS(1)},
		{.at_ms = 0,
		 .takes_ms = 10 * MIN,
		 .tenant = "acme",
		 .pods = 1,
		 .requests = GPUS(8)},
	};
	const struct replay *r = run(w, jobs, 2, 60 * MIN, a);

	(void)state;
	assert_ran(r, 0, 16, 17);
	assert_ran(r, 1, 5, 15);
	assert_int_equal(r->boots, 1);
	/* The wipe follows 2 min of idle time after the second job ended. */
	assert_int_equal(r->wipes, 1);
	assert_float_equal(r->serving_ms, (double)((19 - 5) * 8) * MIN, 1e-3);
}

static void a_gang_starts_as_one_and_others_pod_by_pod(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = fleet(2, a);
	struct replay_job jobs[] = {
		{.at_ms = 0,
		 .takes_ms = 20 * MIN,
		 .tenant = "acme",
		 .pods = 1,
		 .requests = GPUS(8)},
		{.at_ms = MIN,
		 .takes_ms = 10 * MIN,
		 .tenant = "acme",
		 .pods = 2,
		 .requests = GPUS(8)},
	};
	const struct replay *r = run(w, jobs, 2, 60 * MIN, a);

	(void)state;
	assert_ran(r, 1, 16,
		   /* The first pod ran on the machine from minute 6 to 16, then the second one on
		    * the same machine until 26. */
		   26);
	jobs[1].gang = true;
	{
		OWN(world) again = fleet(2, a);

		r = run(again, jobs, 2, 60 * MIN, a);
		assert_true(r->jobs[1].start_ms >= 25 * MIN);
		assert_int_equal(r->jobs[1].end_ms - r->jobs[1].start_ms, 10 * MIN);
		assert_float_equal(r->used_ms, (double)(20 * 8 + 2 * 10 * 8) * MIN, 1e-3);
	}
}

static void what_cannot_be_served_waits_to_the_end(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = fleet(1, a);
	const struct replay_job jobs[] = {
		{.at_ms = 0, .takes_ms = MIN, .tenant = "acme", .pods = 1, .requests = GPUS(9)},
		{.at_ms = 0, .takes_ms = MIN, .tenant = "nobody", .pods = 1, .requests = GPUS(1)},
		{.at_ms = 0,
		 .takes_ms = 90 * MIN,
		 .tenant = "acme",
		 .pods = 1,
		 .requests = GPUS(1)},
		{.at_ms = 70 * MIN,
		 .takes_ms = MIN,
		 .tenant = "acme",
		 .pods = 1,
		 .requests = GPUS(1)},
	};
	const struct replay *r = run(w, jobs, 4, 60 * MIN, a);

	(void)state;
	assert_ran(r, 0, -1, -1);
	assert_ran(r, 1, -1, -1);
	assert_ran(r, 2, 5, -1);
	assert_ran(r, 3, -1, -1);
	assert_float_equal(r->samples[3].queue, 2, 1e-9);
}

static void what_the_world_has_goes_on(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = fleet(3, a);
	struct world_claim ready = worlds_claim(a, "c-0", "m-0"),
			   coming = worlds_claim(a, "c-1", "m-1");
	struct world_node n = worlds_node(a, "c-0");
	struct world_pod p = worlds_pod(a, "keeps", "nvidia.com/gpu=2");
	struct replay_job jobs[3];
	const struct replay *r;

	(void)state;
	ready.instance_type = coming.instance_type = "gpu";
	ready.capacity = coming.capacity = n.allocatable =
		worlds_resources(a, "cpu=64,nvidia.com/gpu=8,pods=110");
	ready.ready = true;
	n.claim = "c-0";
	p.node = "c-0";
	world_put_claim(w, &ready);
	world_put_claim(w, &coming);
	world_put_node(w, &n);
	world_put_pod(w, &p);
	for (int i = 0; i < 3; i++)
		jobs[i] = (struct replay_job){
			.takes_ms = MIN, .tenant = "acme", .pods = 1, .requests = GPUS(6)};
	r = run(w, jobs, 3, 60 * MIN, a);
	assert_ran(r, 0, 0, 1);
	assert_true(r->jobs[1].start_ms == MIN || r->jobs[1].start_ms == 5 * MIN);
	assert_float_equal(r->used_ms, (double)(2 * 60 + 3 * 6) * MIN, 1e-3);
	/* The running pod keeps its Node until the end of the simulation. */
	assert_true(r->serving_ms >= 8.0 * 60 * MIN);
}

static void equal_specs_give_equal_results(void **state)
{
	OWN(arena) a = arena_new();
	struct replay_job jobs[60];
	const struct replay *r[2];

	(void)state;
	for (int i = 0; i < 60; i++)
		jobs[i] = (struct replay_job){.at_ms = i * 37 % 50 * MIN,
					      .takes_ms = (i * 13 % 29 + 1) * MIN,
					      .tenant = i % 3 ? "acme" : "b",
					      .pods = (uint32_t)(i % 4 + 1),
					      .gang = i % 5 == 0,
					      .requests = GPUS(4)};
	for (int i = 0; i < 2; i++) {
		OWN(world) w = fleet(6, a);

		r[i] = run(w, jobs, 60, 3000 * MIN, a);
	}
	for (int i = 0; i < 60; i++) {
		assert_int_equal(r[0]->jobs[i].start_ms, r[1]->jobs[i].start_ms);
		assert_true(r[0]->jobs[i].end_ms >= 0); /* Every job ends: none starves. */
	}
	assert_int_equal(r[0]->plans, r[1]->plans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_boots_serves_and_is_wiped_before_somebody_else_has_it),
		cmocka_unit_test(who_comes_while_a_node_rests_needs_no_boot),
		cmocka_unit_test(a_gang_starts_as_one_and_others_pod_by_pod),
		cmocka_unit_test(what_cannot_be_served_waits_to_the_end),
		cmocka_unit_test(what_the_world_has_goes_on),
		cmocka_unit_test(equal_specs_give_equal_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
