/*
 * bench_burst: measures the burst decision (which cloud instances to launch) for 10,000 waiting
 * pods and 1,000 offers.
 *
 *   burst_decide_10k_ms   10 tenants with a policy and two budgets each. Pods of 1, 2, 4 and 8 GPUs
 *                         that run for 1 to 4 hours, alone and in gangs of 4. 1,000 offers of 5
 *                         providers in 20 zones. Most pods get instances; the others are refused
 *                         for lack of budget or of instances.
 *
 * Times are processor time, the best of the rounds. The spending of each budget is summed up again
 * and compared.
 */
#include "tests/bench/entry.h"
#include "tests/bench/plan_world.h"

#include "base/mem.h"
#include "planner/burst/burst.h"

#define NOW INT64_C(1795435200000)
#define HOUR_MS INT64_C(3600000)
#define MICRO INT64_C(1000000)
enum { ROUNDS = 5, TENANTS = 10, WORK = 10000, OFFERS = 1000, PROVIDERS = 5, ZONES = 20 };

struct load {
	char tenants[TENANTS][8], providers[PROVIDERS][8], zones[ZONES][8], types[10][8];
	char names[WORK][8];
	struct burst_policy_in policies[TENANTS];
	const char *named[TENANTS];
	struct burst_budget budgets[TENANTS][2];
	struct burst_entry entries[PROVIDERS];
	struct burst_offer offers[OFFERS];
	struct burst_work work[WORK];
	struct burst_input in;
};

static const struct burst_tier tiers[] = {{.market = MARKET_SPOT}, {.market = MARKET_ON_DEMAND}};

static void make_policies(struct load *l)
{
	static const char *const any_type[1];

	for (int i = 0; i < PROVIDERS; i++)
		l->entries[i] = (struct burst_entry){.name = "e",
						     .provider = l->providers[i],
						     .types = {(const char **)any_type, 0}};
	for (int i = 0; i < TENANTS; i++) {
		struct burst_policy_in *p = &l->policies[i];

		l->named[i] = l->tenants[i];
		l->budgets[i][0] = (struct burst_budget){BURST_OF_TENANT, BURST_MONTH,
							 30000 * MICRO, .reserve = true};
		l->budgets[i][1] = (struct burst_budget){BURST_OF_PROVIDER, BURST_MONTH,
							 60000 * MICRO, .reserve = true};
		*p = (struct burst_policy_in){.name = l->tenants[i],
					      .tiers = (struct burst_tier *)tiers,
					      .ntiers = 2,
					      .entries = l->entries,
					      .nentries = PROVIDERS,
					      .budgets = l->budgets[i],
					      .nbudgets = 2};
		p->match.tenants = (struct burst_names){&l->named[i], 1};
		p->trigger.by_wait = true;
		p->trigger.utilisation = -1;
		p->cost.currency = "EUR";
		p->cost.max_age_ms = HOUR_MS;
		p->cost.max_gpu_hour = p->cost.max_node_hour = -1;
		p->cost.increment_ms = 60000;
		p->runtime.overhead = p->runtime.restarts = p->limits.share = -1;
		p->runtime.spot_saves = true;
	}
}

static void make(struct load *l)
{
	uint64_t s = 42;

	for (int i = 0; i < TENANTS; i++)
		(void)str_format(l->tenants[i], 8, "t%d", i);
	for (int i = 0; i < PROVIDERS; i++)
		(void)str_format(l->providers[i], 8, "p%d", i);
	for (int i = 0; i < ZONES; i++)
		(void)str_format(l->zones[i], 8, "z%d", i);
	for (int i = 0; i < 10; i++)
		(void)str_format(l->types[i], 8, "i%d", i);
	make_policies(l);
	for (int i = 0; i < OFFERS; i++) {
		const int type = i % 10;

		l->offers[i] = (struct burst_offer){
			.provider = l->providers[i / 200],
			.kind.region = "r",
			.kind.zone = l->zones[i / 10 % ZONES],
			.kind.type = l->types[type],
			.kind.market = type % 2 ? MARKET_SPOT : MARKET_ON_DEMAND,
			.kind.micros_per_hour = (int64_t)(5 + bench_next(&s) % 40) * MICRO,
			.kind.currency = "EUR",
			.priced_at = NOW - 1000,
			.kind.available = (int64_t)(bench_next(&s) % 8),
			.gpus = 1 << (type / 2 > 3 ? 3 : type / 2),
			.product = "h"};
	}
	for (int i = 0; i < WORK; i++) {
		(void)str_format(l->names[i], 8, "w%d", i);
		l->work[i] =
			(struct burst_work){.tenant = l->tenants[bench_next(&s) % TENANTS],
					    .name = l->names[i],
					    .pods = bench_next(&s) % 10 ? 1 : 4,
					    .gpus = 1 << bench_next(&s) % 4,
					    .since = NOW - i,
					    .saves = bench_next(&s) % 2,
					    .runs_ms = (int64_t)(1 + bench_next(&s) % 4) * HOUR_MS};
	}
	l->in = (struct burst_input){.now = NOW,
				     .policies = l->policies,
				     .npolicies = TENANTS,
				     .offers = l->offers,
				     .noffers = OFFERS,
				     .work = l->work,
				     .nwork = WORK};
}

static void check(const struct burst *b)
{
	for (size_t i = 0; i < b->naccounts; i++) {
		const struct burst_account *x = &b->accounts[i];
		int64_t sum = 0;

		for (size_t k = 0; k < b->n; k++)
			if (b->v[k].offer && str_eq(x->of, x->budget->scope == BURST_OF_TENANT
								   ? b->v[k].work->tenant
								   : b->v[k].offer->provider))
				sum += b->v[k].cost;
		if (sum != x->after || sum > x->budget->amount)
			bench_die("a budget is not what its launches cost, or is broken");
	}
}

int main(void)
{
	static struct load l;
	double best = 0;
	size_t chosen = 0;

	mem_init();
	make(&l);
	for (int i = 0; i < ROUNDS; i++) {
		OWN(arena) a = arena_new();
		const double began = bench_ms();
		const struct burst *b = burst_decide(&l.in, a);
		const double took = bench_ms() - began;

		if (b->n != WORK || b->chosen < 500)
			bench_die("too little is launched");
		check(b);
		chosen = b->chosen;
		best = !i || took < best ? took : best;
	}
	(void)fprintf(stderr, "%zu of %d are launched: %.1f ms\n", chosen, WORK, best);
	entry_print(&(struct entry){"burst_decide_10k_ms", "ms", "lower", best, 100, "the goal",
				    100, WORK});
	return 0;
}
