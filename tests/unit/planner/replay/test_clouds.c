/* Tests replays with BurstPolicies. */
#include "tests/unit/testing.h"

#include "planner/replay/replay.h"
#include "tests/unit/planner/worlds.h"

#define MIN INT64_C(60000)
#define HOUR (60 * MIN)
#define USD INT64_C(1000000)
#define BEGINS INT64_C(1790000000000)
#define GPUS(n) worlds_resources(a, "nvidia.com/gpu=" #n)

static const struct replay_times times = {5 * MIN, MIN, 4 * MIN, 0, 2 * MIN};

/* A policy that launches on-demand instances of "sky" for work that waits 10 minutes. */
struct scene {
	struct burst_tier tier;
	struct burst_entry entry;
	struct burst_budget budget;
	struct burst_policy_in policy;
	struct burst_offer offer;
	struct burst_input in;
};

static void scene(struct scene *s, int64_t budget)
{
	*s = (struct scene){
		.tier.market = MARKET_ON_DEMAND,
		.entry = {.name = "sky", .provider = "sky"},
		.budget = {.scope = BURST_OF_POLICY, .per = BURST_DAY, .amount = budget},
		.policy = {.name = "overflow",
			   .mode = BURST_ENFORCE,
			   .trigger = {.by_wait = true,
				       .wait_ms = 10 * MIN,
				       .predicted_ms = 0,
				       .slack_ms = 0,
				       .utilisation = -1},
			   .ntiers = 1,
			   .nentries = 1,
			   .nbudgets = 1,
			   .cost = {.currency = "USD",
				    .max_age_ms = HOUR,
				    .max_gpu_hour = -1,
				    .max_node_hour = -1,
				    .increment_ms = MIN,
				    .boot_ms = 6 * MIN},
			   .runtime = {.max_ms = 10 * HOUR, .overhead = -1, .restarts = -1},
			   .limits.share = -1},
		.offer = {.provider = "sky",
			  .kind = {.region = "r1",
				   .zone = "a",
				   .type = "gpu-8",
				   .market = MARKET_ON_DEMAND,
				   .micros_per_hour = 20 * USD,
				   .currency = "USD",
				   .available = -1},
			  .priced_at = BEGINS,
			  .gpus = 8,
			  .product = ""},
		.in = {.now = BEGINS, .npolicies = 1, .noffers = 1}};
	s->policy.tiers = &s->tier;
	s->policy.entries = &s->entry;
	s->policy.budgets = &s->budget;
	s->in.policies = &s->policy;
	s->in.offers = &s->offer;
}

/* Returns a world with tenants "acme" and "b" and one machine with 8 GPUs. */
static struct world *one_machine(struct arena *a)
{
	struct world *w = worlds_new(a);
	struct world_tenant b = worlds_tenant(a);
	struct world_machine m = worlds_machine("m-0", "gpu");

	b.name = "b";
	world_put_tenant(w, &b);
	world_put_machine(w, &m);
	return w;
}

static struct replay *run(struct world *w, const struct replay_job *jobs, size_t n,
			  const struct burst_input *in, struct arena *a)
{
	const struct replay_spec s = {.world = w,
				      .jobs = jobs,
				      .njobs = n,
				      .times = times,
				      .until_ms = 10 * HOUR,
				      .samples = 10,
				      .bursts = in};

	return replay_run(&s, a);
}

static void what_waits_too_long_runs_in_a_cloud(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = one_machine(a);
	const struct replay_job jobs[] = {
		{.takes_ms = 5 * HOUR, .tenant = "acme", .pods = 1, .requests = GPUS(8)},
		{.at_ms = MIN, .takes_ms = HOUR, .tenant = "b", .pods = 1, .requests = GPUS(8)},
	};
	const struct replay *r;
	struct scene s;

	(void)state;
	scene(&s, 100 * USD);
	r = run(w, jobs, 2, &s.in, a);
	assert_int_equal(r->jobs[0].start_ms, 5 * MIN);
	/* The job waits 10 minutes, is seen within a minute, and the instance boots for 6. */
	assert_in_range(r->jobs[1].start_ms, 17 * MIN, 18 * MIN);
	assert_int_equal(r->jobs[1].end_ms, r->jobs[1].start_ms + HOUR);
	assert_int_equal(r->nlaunches, 1);
	assert_int_equal(r->launches[0].job, 1);
	assert_int_equal(r->launches[0].nodes, 1);
	/* An hour and the boot time */
	assert_int_equal(r->launches[0].cost, 22 * USD);
	assert_int_equal(r->launches[0].end_ms, r->jobs[1].end_ms);
	assert_true(r->samples[0].cloud > 5.5 && r->samples[0].cloud < 5.8);
	assert_true(r->samples[1].cloud > 2.2 && r->samples[1].cloud < 2.5);
	assert_true(r->samples[2].cloud == 0);
}

/* Moving 120 GB takes 10 minutes and costs 6 USD. */
static void a_job_waits_for_its_data_and_pays_for_it(void **state)
{
	static const char *reads[] = {"imagenet"};
	struct burst_dataset imagenet = {"imagenet", INT64_C(120000000000), NULL, 0};
	OWN(arena) a = arena_new();
	OWN(world) w = one_machine(a);
	const struct replay_job jobs[] = {
		{.takes_ms = 5 * HOUR, .tenant = "acme", .pods = 1, .requests = GPUS(8)},
		{.at_ms = MIN,
		 .takes_ms = HOUR,
		 .tenant = "b",
		 .pods = 1,
		 .requests = GPUS(8),
		 .data = {reads, 1}},
	};
	const struct replay *r;
	struct scene s;

	(void)state;
	scene(&s, 100 * USD);
	s.policy.data.inputs = &imagenet;
	s.policy.data.ninputs = 1;
	s.policy.data.per_gb = USD / 20;
	s.policy.data.per_second = 200000000;
	s.policy.data.max_egress = -1;
	s.policy.cost.increment_ms = 6 * MIN;
	r = run(w, jobs, 2, &s.in, a);
	assert_in_range(r->jobs[1].start_ms, 27 * MIN, 28 * MIN);
	/* 76 minutes, which are billed as 78, and the data. */
	assert_int_equal(r->launches[0].cost, 32 * USD);
}

static void a_budget_bounds_the_launches(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = one_machine(a);
	const struct replay_job jobs[] = {
		{.takes_ms = 9 * HOUR, .tenant = "acme", .pods = 1, .requests = GPUS(8)},
		{.takes_ms = HOUR, .tenant = "b", .pods = 3, .requests = GPUS(8)},
	};
	const struct replay *r;
	struct scene s;
	int64_t spent = 0;

	(void)state;
	scene(&s, 50 * USD);
	r = run(w, jobs, 2, &s.in, a);
	assert_int_equal(r->nlaunches, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(r->launches[i].pods, 1);
		spent += r->launches[i].cost;
	}
	assert_true(spent <= s.budget.amount);
	/* The third pod runs after the first job, on the machine. */
	assert_true(r->jobs[1].start_ms > 9 * HOUR);
}

static void a_gang_is_launched_whole(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = one_machine(a);
	const struct replay_job jobs[] = {
		{.takes_ms = HOUR, .tenant = "b", .pods = 3, .gang = true, .requests = GPUS(8)}};
	const struct replay *r;
	struct scene s;

	(void)state;
	scene(&s, 100 * USD);
	r = run(w, jobs, 1, &s.in, a);
	assert_int_equal(r->nlaunches, 1);
	assert_int_equal(r->launches[0].nodes, 3);
	assert_int_equal(r->launches[0].pods, 3);
	assert_int_equal(r->launches[0].cost, 66 * USD);
	assert_int_equal(r->boots, 0);
}

/* Two instances exist; the third pod gets one when the first has ended. */
static void an_offer_has_so_many_instances_and_no_more(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const struct replay_job jobs[] = {
		{.takes_ms = HOUR, .tenant = "acme", .pods = 3, .requests = GPUS(8)}};
	const struct replay *r;
	struct scene s;

	(void)state;
	scene(&s, 1000 * USD);
	s.offer.kind.available = 2;
	r = run(w, jobs, 1, &s.in, a);
	assert_int_equal(r->nlaunches, 3);
	assert_int_equal(r->launches[1].at_ms, r->launches[0].at_ms);
	assert_in_range(r->launches[2].at_ms, r->launches[0].end_ms,
			r->launches[0].end_ms + REPLAY_LOOK_MS);
}

static void a_policy_that_only_shadows_launches_nothing(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const struct replay_job jobs[] = {
		{.takes_ms = HOUR, .tenant = "acme", .pods = 1, .requests = GPUS(8)}};
	const struct replay *r;
	struct scene s;

	(void)state;
	scene(&s, 1000 * USD);
	s.policy.mode = BURST_SHADOW;
	r = run(w, jobs, 1, &s.in, a);
	assert_int_equal(r->nlaunches, 0);
	assert_int_equal(r->jobs[0].start_ms, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_waits_too_long_runs_in_a_cloud),
		cmocka_unit_test(a_job_waits_for_its_data_and_pays_for_it),
		cmocka_unit_test(a_budget_bounds_the_launches),
		cmocka_unit_test(a_gang_is_launched_whole),
		cmocka_unit_test(an_offer_has_so_many_instances_and_no_more),
		cmocka_unit_test(a_policy_that_only_shadows_launches_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
