#include "tests/unit/testing.h"

#include <stdio.h>
#include <string.h>
#include "base/str.h"
#include "planner/burst/burst.h"

/*
 * Gives random inputs to planner/burst/burst.h and checks the decisions by independent arithmetic.
 * Launches are summed up again in the order of the decisions. Refusals for lack of money or
 * instances are verified. The same input in a different order must give the same decisions.
 */
#define MICRO INT64_C(1000000)
#define HOUR_MS INT64_C(3600000)
#define NOW INT64_C(1795435200000)
#define GB INT64_C(1000000000)
enum {
	ROUNDS = 400,
	POLICIES = 3,
	OFFERS = 12,
	WORK = 24,
	LAUNCHES = 6,
	TENANTS = 3,
	PROVIDERS = 2,
	DATA = 3
};

static const char *const tenants[] = {"t0", "t1", "t2"}, *const providers[] = {"p0", "p1"},
			 *const zones[] = {"a", "b", "c"}, *const names[] = {"x0", "x1", "x2"},
			 *const data[] = {"d0", "d1", "d2"}, *const regions[] = {"r", "s"};

struct set {
	struct burst_policy_in p[POLICIES];
	struct burst_tier tiers[POLICIES][3];
	struct burst_entry entries[POLICIES][PROVIDERS];
	struct burst_budget budgets[POLICIES][2];
	struct burst_dataset data[POLICIES][DATA];
	struct burst_copy copies[POLICIES][DATA][2];
	const char *tenant[POLICIES], *types[1], *reads[WORK][DATA];
	struct burst_offer offers[OFFERS];
	struct burst_work work[WORK];
	char work_names[WORK][8];
	struct burst_launch launches[LAUNCHES];
	struct burst_input in;
};

static uint64_t seed;
static int64_t pick(int64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((seed >> 33) % (uint64_t)n);
}

static void make_policy(struct set *s, int i)
{
	struct burst_policy_in *p = &s->p[i];

	*p = (struct burst_policy_in){.name = names[i]};
	s->tenant[i] = tenants[i];
	p->match.tenants = (struct burst_names){&s->tenant[i], pick(8) ? 1 : 0};
	p->trigger.by_wait = true;
	p->trigger.utilisation = -1;
	for (int k = 0; k < 3; k++)
		s->tiers[i][k].market = (enum market)((k + i) % 3);
	p->tiers = s->tiers[i];
	p->ntiers = (size_t)pick(3) + 1;
	for (int k = 0; k < PROVIDERS; k++)
		s->entries[i][k] = (struct burst_entry){
			.name = "e", .provider = providers[k], .types = {s->types, 1}};
	p->entries = s->entries[i];
	p->nentries = PROVIDERS;
	p->cost.currency = pick(10) ? "EUR" : "USD";
	p->cost.max_age_ms = HOUR_MS;
	p->cost.max_gpu_hour = p->cost.max_node_hour = -1;
	p->cost.increment_ms = HOUR_MS;
	for (int k = 0; k < 2; k++)
		s->budgets[i][k] = (struct burst_budget){.scope = (enum burst_scope)pick(5),
							 .per = BURST_TOTAL,
							 .amount = (20 + pick(200)) * MICRO,
							 .soft = !pick(6),
							 .reserve = true};
	for (int k = 0; k < 2; k++)
		s->budgets[i][k].asks = !s->budgets[i][k].soft && !pick(4);
	p->budgets = s->budgets[i];
	p->nbudgets = 2;
	p->runtime.overhead = p->runtime.restarts = p->limits.share = -1;
	p->limits.nodes = pick(2) ? 4 + pick(10) : 0;
	if (p->limits.nodes)
		p->limits.share = pick(2) ? MICRO / 2 : -1;
}

/* Two of three policies know data sets, of up to 40 GB each, with 0 to 2 copies. */
static void make_data(struct set *s, int i)
{
	struct burst_policy_in *p = &s->p[i];

	p->data.max_egress = pick(2) ? pick(9) * MICRO : -1;
	p->data.max_ms = pick(2) ? (1 + pick(40)) * 60000 : 0;
	if (!pick(3))
		return;
	for (int k = 0; k < DATA; k++) {
		for (int c = 0; c < 2; c++)
			s->copies[i][k][c] = (struct burst_copy){providers[pick(2)],
								 pick(3) ? regions[pick(2)] : NULL};
		s->data[i][k] = (struct burst_dataset){data[k], pick(40 * GB), s->copies[i][k],
						       (size_t)pick(3)};
	}
	p->data.inputs = s->data[i];
	p->data.ninputs = (size_t)(DATA - pick(2));
	p->data.per_gb = pick(MICRO);
	p->data.per_second = pick(2) ? 1 + pick(GB / 10) : 0;
}

static void make(struct set *s)
{
	memset(s, 0, sizeof(*s));
	s->types[0] = "big";
	for (int i = 0; i < POLICIES; i++)
		make_policy(s, i);
	for (int i = 0; i < POLICIES; i++)
		make_data(s, i);
	for (int i = 0; i < OFFERS; i++)
		s->offers[i] = (struct burst_offer){
			.provider = providers[i % PROVIDERS],
			.kind.region = regions[i / PROVIDERS % 3 == 2],
			.kind.zone = zones[i / PROVIDERS % 3],
			.kind.type = "big",
			.kind.market = (enum market)(i / 6),
			.kind.reservation = i % 4 ? NULL : "r1",
			.kind.micros_per_hour = pick(8) ? (1 + pick(20)) * MICRO : -1,
			.kind.currency = pick(8) ? "EUR" : NULL,
			.priced_at = pick(8) ? NOW - 1000 : NOW - 2 * HOUR_MS,
			.kind.available = pick(3) ? pick(6) : -1,
			.gpus = 8,
			.product = "h"};
	for (int i = 0; i < WORK; i++) {
		(void)str_format(s->work_names[i], 8, "w%d", i);
		s->work[i] = (struct burst_work){.tenant = tenants[pick(TENANTS)],
						 .name = s->work_names[i],
						 .pods = 1 + pick(5),
						 .gpus = 1 + pick(9),
						 .priority = pick(3),
						 .since = NOW - pick(4),
						 .saves = true,
						 .approved = !pick(3),
						 .runs_ms = (1 + pick(4)) * HOUR_MS};
		s->work[i].rank = s->work[i].priority;
		for (int k = 0; k < DATA; k++)
			if (!pick(3))
				s->reads[i][s->work[i].data.n++] = data[k];
		s->work[i].data.v = s->reads[i];
	}
	for (int i = 0; i < LAUNCHES; i++)
		s->launches[i] = (struct burst_launch){.policy = names[pick(3)],
						       .tenant = tenants[pick(3)],
						       .workload = "before",
						       .provider = providers[pick(2)],
						       .currency = "EUR",
						       .at = NOW - pick(HOUR_MS),
						       .spent = pick(9) * MICRO,
						       .committed = pick(9) * MICRO,
						       .nodes = pick(2),
						       .gpus = 8};
	s->in = (struct burst_input){.now = NOW,
				     .policies = s->p,
				     .npolicies = POLICIES,
				     .offers = s->offers,
				     .noffers = OFFERS,
				     .work = s->work,
				     .nwork = WORK,
				     .launches = s->launches,
				     .nlaunches = LAUNCHES};
}

/* --- checker ---------------------------------------------------------------------------------- */

static bool counts(const struct burst_policy_in *p, const struct burst_budget *b,
		   const char *policy, const char *tenant, const char *work, const char *provider,
		   const struct burst_decision *d)
{
	switch (b->scope) {
	case BURST_OF_POLICY:
		return str_eq(policy, p->name);
	case BURST_OF_TENANT:
		return str_eq(tenant, d->work->tenant);
	case BURST_OF_WORKLOAD:
		return str_eq(policy, p->name) && str_eq(tenant, d->work->tenant) &&
		       str_eq(work, d->work->name);
	case BURST_OF_PROVIDER:
		return str_eq(provider, d->offer->provider);
	case BURST_OF_ALL:
		return true;
	}
	return false;
}

/* Returns the sum of all charges that count against budget g, up to and including decision d. */
static int64_t total(const struct burst *b, const struct burst_policy_in *p,
		     const struct burst_budget *g, const struct burst_decision *d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < b->in->nlaunches; i++) {
		const struct burst_launch *l = &b->in->launches[i];

		if (counts(p, g, l->policy, l->tenant, l->workload, l->provider, d))
			sum += l->spent + l->committed;
	}
	for (const struct burst_decision *x = b->v; x <= d; x++)
		if (x->offer && counts(p, g, x->policy->name, x->work->tenant, x->work->name,
				       x->offer->provider, d))
			sum += x->cost;
	return sum;
}

static void check_money(const struct burst *b, const struct burst_decision *d)
{
	for (size_t i = 0; i < b->in->npolicies; i++) {
		const struct burst_policy_in *p = &b->in->policies[i];
		const bool for_him =
			!p->match.tenants.n || str_eq(p->match.tenants.v[0], d->work->tenant);

		for (size_t k = 0; k < p->nbudgets; k++) {
			const struct burst_budget *g = &p->budgets[k];
			const bool own =
				g->scope == BURST_OF_POLICY || g->scope == BURST_OF_WORKLOAD;

			if (g->soft || (g->asks && d->beyond) || (own && p != d->policy) ||
			    (g->scope == BURST_OF_TENANT && !for_him))
				continue;
			assert_string_equal(p->cost.currency, d->policy->cost.currency);
			assert_true(total(b, p, g, d) <= g->amount);
		}
	}
}

static const struct burst_dataset *dataset_of(const struct burst_policy_in *p, const char *name)
{
	for (size_t i = 0; i < p->data.ninputs; i++)
		if (str_eq(p->data.inputs[i].name, name))
			return &p->data.inputs[i];
	return NULL;
}

/* Returns the number of bytes that one instance of the offer reads and that lie elsewhere. */
static int64_t moved_bytes(const struct burst_decision *d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < d->work->data.n; i++) {
		const struct burst_dataset *x = dataset_of(d->policy, d->work->data.v[i]);
		bool there = false;

		assert_non_null(x);
		for (size_t k = 0; k < x->ncopies; k++)
			there |= str_eq(x->copies[k].provider, d->offer->provider) &&
				 str_eq(str_or(x->copies[k].region, d->offer->kind.region),
					d->offer->kind.region);
		sum += there ? 0 : x->bytes;
	}
	return sum;
}

/* Returns x / y, rounded up. */
static int64_t up(__int128 x, int64_t y)
{
	return (int64_t)(x / y + (x % y != 0));
}

/* Whole hours are billed, and the data is paid for in addition. */
static void check_cost(const struct burst_decision *d)
{
	const int64_t bytes = moved_bytes(d), rate = d->policy->data.per_second,
		      ms = rate ? up((__int128)bytes * 1000, rate) : 0,
		      hours = up(d->work->runs_ms + ms, HOUR_MS),
		      egress = up((__int128)bytes * d->policy->data.per_gb, GB);

	assert_true(d->stage_ms == ms && d->egress == egress * d->nodes);
	assert_true(d->cost == (d->offer->kind.micros_per_hour * hours + egress) * d->nodes);
	assert_true(!d->policy->data.max_ms || ms <= d->policy->data.max_ms);
	assert_true(d->policy->data.max_egress < 0 || d->egress <= d->policy->data.max_egress);
}

static void check_launch(const struct burst *b, const struct burst_decision *d)
{
	const struct burst_offer *o = d->offer;
	const int64_t each = o->gpus / d->work->gpus;
	int64_t taken = 0, nodes = 0, mine = 0;

	assert_true(o->kind.micros_per_hour >= 0 && NOW - o->priced_at <= HOUR_MS);
	assert_string_equal(o->kind.currency, d->policy->cost.currency);
	assert_true(each > 0 && d->nodes == (d->work->pods + each - 1) / each);
	check_cost(d);
	for (const struct burst_decision *x = b->v; x <= d; x++) {
		taken += x->offer == o ? x->nodes : 0;
		nodes += x->offer && x->policy == d->policy ? x->nodes : 0;
		mine += x->offer && x->policy == d->policy &&
					str_eq(x->work->tenant, d->work->tenant)
				? x->nodes
				: 0;
	}
	for (size_t i = 0; i < b->in->nlaunches; i++) {
		const struct burst_launch *l = &b->in->launches[i];

		nodes += str_eq(l->policy, d->policy->name) ? l->nodes : 0;
		mine += str_eq(l->policy, d->policy->name) && str_eq(l->tenant, d->work->tenant)
				? l->nodes
				: 0;
	}
	assert_true(o->kind.available < 0 || taken <= o->kind.available);
	assert_true(!d->policy->limits.nodes || nodes <= d->policy->limits.nodes);
	assert_true(d->policy->limits.share < 0 || mine <= d->policy->limits.nodes / 2);
	assert_true(!d->beyond || d->work->approved);
	check_money(b, d);
}

/* Asserts that no suitable offer is of an earlier tier than the chosen one, or cheaper in the same
 * tier. If no offer was chosen, none may be suitable. */
static void check_best(const struct burst *b, const struct burst_decision *d)
{
	for (size_t i = 0; d->shape && i < b->in->noffers; i++) {
		const struct burst_why y = burst_why(d, i);
		size_t tier = 0;

		if (d->offer == b->offers[i])
			assert_int_equal(y.code, BURST_CHOSEN);
		if (y.code != BURST_DEARER)
			continue;
		assert_non_null(burst_best(d));
		while (d->policy->tiers[tier].market != b->offers[i]->kind.market)
			tier++;
		assert_true(tier > d->tier || (tier == d->tier && y.cost >= d->cost));
	}
}

static void print(const struct burst *b, char *out, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct burst_decision *d = &b->v[i];

		at += (size_t)snprintf(out + at, size - at, "%s %s %d %lld %s %s %s %d\n",
				       d->work->name, d->policy ? d->policy->name : "-", d->code,
				       (long long)d->cost, d->offer ? d->offer->provider : "-",
				       d->offer ? d->offer->kind.zone : "-",
				       d->offer ? str_or(d->offer->kind.reservation, "") : "",
				       d->offer ? (int)d->offer->kind.market : -1);
		assert_true(at < size);
	}
}

#define TURN(v, n)                                                                                 \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < (n) / 2; i_++) {                                          \
			__typeof__((v)[0]) x_ = (v)[i_];                                           \
			(v)[i_] = (v)[(n)-1 - i_];                                                 \
			(v)[(n)-1 - i_] = x_;                                                      \
		}                                                                                  \
	} while (0)

static void no_input_breaks_a_budget_a_gang_or_the_order(void **state)
{
	static struct set s;
	static char one[8192], two[8192];
	size_t launched = 0, refused = 0, moved = 0;

	(void)state;
	for (seed = 1; seed <= ROUNDS; seed++) {
		const uint64_t keep = seed;
		OWN(arena) a = arena_new();
		const struct burst *b;

		make(&s);
		b = burst_decide(&s.in, a);
		for (size_t i = 0; i < b->n; i++) {
			if (b->v[i].offer)
				check_launch(b, &b->v[i]);
			check_best(b, &b->v[i]);
			launched += b->v[i].offer != NULL;
			moved += b->v[i].offer && b->v[i].egress && b->v[i].stage_ms;
			refused += b->v[i].code == BURST_BUDGET || b->v[i].code == BURST_NO_OFFER;
		}
		print(b, one, sizeof(one));
		TURN(s.p, POLICIES);
		TURN(s.offers, OFFERS);
		TURN(s.work, WORK);
		TURN(s.launches, LAUNCHES);
		print(burst_decide(&s.in, a), two, sizeof(two));
		assert_string_equal(one, two);
		seed = keep;
	}
	assert_true(launched > ROUNDS && refused > ROUNDS && moved > ROUNDS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_input_breaks_a_budget_a_gang_or_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
