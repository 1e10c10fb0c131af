/*
 * bench_burst_month: replays a month of bursts.
 *
 *   burst_month_s   200 tenants, each with a BurstPolicy and a budget of a month, share 200
 *                   machines with 8 GPUs. 30,000 jobs, a fifth of them gangs, keep nine in ten
 *                   GPUs busy. Clouds have 100 offers.
 *
 * The time is processor time. For each launch the cost of the tenant's launches of the same month
 * is summed up again and compared with the budget.
 */
#include "tests/bench/entry.h"
#include "tests/bench/plan_world.h"

#include "base/mem.h"
#include "planner/replay/replay.h"

#define HOUR_MS INT64_C(3600000)
#define MONTH_MS (30 * 24 * HOUR_MS)
/* 2026-11-01T00:00:00Z */
#define BEGINS INT64_C(1793491200000)
#define MICRO INT64_C(1000000)
#define AMOUNT (3000 * MICRO)
enum { TENANTS = 200, MACHINES = 200, JOBS = 30000, OFFERS = 100, GOAL_S = 60 };

struct month {
	char tenants[TENANTS][8], zones[OFFERS][8];
	const char *named[TENANTS];
	struct burst_policy_in policies[TENANTS];
	struct burst_budget budgets[TENANTS];
	struct burst_tier tiers[2];
	struct burst_entry entry;
	struct burst_offer offers[OFFERS];
	struct replay_job jobs[JOBS];
	struct resource requests;
	struct burst_input in;
};

static void make_policies(struct month *m)
{
	m->tiers[0].market = MARKET_SPOT;
	m->tiers[1].market = MARKET_ON_DEMAND;
	m->entry = (struct burst_entry){.name = "sky", .provider = "sky"};
	for (int i = 0; i < TENANTS; i++) {
		m->named[i] = m->tenants[i];
		m->budgets[i] = (struct burst_budget){BURST_OF_TENANT, BURST_MONTH, AMOUNT,
						      .reserve = true};
		m->policies[i] = (struct burst_policy_in){
			.name = m->tenants[i],
			.mode = BURST_ENFORCE,
			.match.tenants = {&m->named[i], 1},
			.trigger = {.by_wait = true, .wait_ms = HOUR_MS / 2, .utilisation = 800000},
			.tiers = m->tiers,
			.ntiers = 2,
			.entries = &m->entry,
			.nentries = 1,
			.budgets = &m->budgets[i],
			.nbudgets = 1,
			.cost = {.currency = "EUR",
				 .max_age_ms = HOUR_MS,
				 .max_gpu_hour = -1,
				 .max_node_hour = -1,
				 .increment_ms = 60000,
				 .boot_ms = 600000},
			.runtime = {.overhead = -1, .restarts = -1, .spot_saves = true},
			.limits = {.nodes = 16, .share = -1}};
	}
}

static void make_offers(struct month *m, uint64_t *s)
{
	for (int i = 0; i < OFFERS; i++) {
		(void)str_format(m->zones[i], 8, "z%d", i / 4);
		m->offers[i] = (struct burst_offer){
			.provider = "sky",
			.kind = {.region = "r",
				 .zone = m->zones[i],
				 .type = i % 2 ? "gpu-8" : "gpu-4",
				 .market = i % 4 < 2 ? MARKET_SPOT : MARKET_ON_DEMAND,
				 .micros_per_hour = (int64_t)(20 + bench_next(s) % 40) * MICRO,
				 .currency = "EUR",
				 .available = (int64_t)(bench_next(s) % 16)},
			.priced_at = BEGINS,
			.gpus = i % 2 ? 8 : 4,
			.product = "h"};
	}
}

static void make(struct month *m)
{
	uint64_t s = 42;

	for (int i = 0; i < TENANTS; i++)
		(void)str_format(m->tenants[i], 8, "t%d", i);
	make_policies(m);
	make_offers(m, &s);
	m->requests = (struct resource){"nvidia.com/gpu", quantity_of(8)};
	for (int i = 0; i < JOBS; i++)
		m->jobs[i] = (struct replay_job){
			.at_ms = (int64_t)(bench_next(&s) % (uint64_t)MONTH_MS),
			/* Half an hour to seven hours */
			.takes_ms = (int64_t)(1800000 + bench_next(&s) % 23400000),
			.tenant = m->tenants[bench_next(&s) % TENANTS],
			.pods = bench_next(&s) % 5 ? 1 : 2,
			.requests = {&m->requests, 1},
			.saves = bench_next(&s) % 2};
	for (int i = 0; i < JOBS; i++)
		m->jobs[i].gang = m->jobs[i].pods > 1;
	m->in = (struct burst_input){.now = BEGINS,
				     .policies = m->policies,
				     .npolicies = TENANTS,
				     .offers = m->offers,
				     .noffers = OFFERS};
}

static struct world *fleet(const struct month *m)
{
	static const char *versions[] = {"1.36"};
	struct resource capacity[] = {{"nvidia.com/gpu", quantity_of(8)},
				      {"pods", quantity_of(110)}};
	struct world_instance_type type = {.name = "hgx", .capacity = {capacity, 2}};
	const char *provider = "all";
	struct world *w = world_new();

	for (int i = 0; i < TENANTS; i++)
		world_put_tenant(w, &(struct world_tenant){
					    .name = m->tenants[i], .weight = 1, .version = "1.36"});
	world_put_provider(w, &(struct world_provider){.name = provider, .types = {&type, 1}});
	world_put_pool(w, &(struct world_pool){.name = "all",
					       .providers = &provider,
					       .nproviders = 1,
					       .versions = versions,
					       .nversions = 1});
	for (unsigned i = 0; i < MACHINES; i++) {
		char name[16];

		(void)str_format(name, sizeof(name), "gpu-%04u", i);
		world_put_machine(w, &(struct world_machine){.name = name,
							     .provider = provider,
							     .instance_type = "hgx",
							     .offered = true,
							     .level_flash = -1,
							     .level_hdd = -1});
	}
	return w;
}

/* Ends the program if the launches of a tenant cost more than its budget. All are of one month. */
static void check(const struct month *m, const struct replay *r)
{
	int64_t *spent = mem_calloc(TENANTS, sizeof(*spent));

	for (size_t i = 0; i < r->nlaunches; i++) {
		const struct replay_launch *l = &r->launches[i];
		const size_t of = (size_t)(l->policy - m->policies);

		if (!str_eq(l->policy->name, m->jobs[l->job].tenant))
			bench_die("a launch is under the policy of another tenant");
		spent[of] += l->cost;
		if (spent[of] > AMOUNT)
			bench_die("launches cost more than the budget");
	}
	free(spent);
}

int main(void)
{
	static struct month m;
	OWN(arena) a = arena_new();
	OWN(world) w = NULL;
	struct replay_spec s = {.jobs = m.jobs,
				.njobs = JOBS,
				.times = {.boot_ms = 300000,
					  .drain_ms = 60000,
					  .wipe_ms = 600000,
					  .idle_ms = 600000,
					  .settle_ms = 300000},
				.until_ms = MONTH_MS - 1,
				.samples = 720,
				.window = 64,
				.bursts = &m.in};
	const struct replay *r;
	double began, took;
	size_t started = 0;

	mem_init();
	make(&m);
	s.world = w = fleet(&m);
	began = bench_ms();
	r = replay_run(&s, a);
	took = (bench_ms() - began) / 1000;
	check(&m, r);
	for (size_t i = 0; i < JOBS; i++)
		started += r->jobs[i].start_ms >= 0;
	(void)fprintf(
		stderr,
		"%d tenants, %d jobs, %zu begun; %.1f %% of the GPUs in use; %zu launches, %zu "
		"plans: %.1f s\n",
		TENANTS, JOBS, started, r->used_ms / r->gpus / (double)MONTH_MS * 100, r->nlaunches,
		r->plans, took);
	if (r->nlaunches < 1000)
		bench_die("too little is launched");
	entry_print(&(struct entry){"burst_month_s", "s", "lower", took, GOAL_S, "the goal", GOAL_S,
				    JOBS});
	return 0;
}
