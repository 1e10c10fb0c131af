#include "tests/unit/testing.h"

#include <string.h>
#include "base/money.h"
#include "base/str.h"
#include "planner/burst/burst_impl.h"

/*
 * Base case of every test: one policy, two offers (instance types of a Provider), one pod that
 * waits. Each test changes the part that it tests.
 */
#define MIN_MS INT64_C(60000)
#define HOUR_MS (60 * MIN_MS)
#define EUR(n) ((int64_t)((n)*1e6 + 0.5))
#define ONE(...) ((const char *[]){__VA_ARGS__})

struct set {
	struct burst_policy_in p[2];
	struct burst_tier tiers[2];
	struct burst_entry entries[1];
	struct burst_budget budgets[2];
	struct burst_window window;
	struct burst_copy copies[2];
	struct burst_dataset data[2];
	struct burst_offer offers[2];
	struct burst_work work[3];
	struct burst_failure failure;
	struct burst_launch launch;
	struct burst_input in;
	struct arena *a;
	const struct burst *b;
};

/* Returns Monday 2026-11-23, 12:00 UTC, in Unix ms. */
static int64_t noon(void)
{
	int64_t t;

	assert_true(str_to_time("2026-11-23T12:00:00Z", &t));
	return t;
}

static void begin(struct set *s)
{
	static const char *regions[] = {"r1"}, *types[] = {"p5"};
	const int64_t now = noon();

	memset(s, 0, sizeof(*s));
	s->a = arena_new();
	s->tiers[0] = (struct burst_tier){.market = MARKET_SPOT};
	s->tiers[1] = (struct burst_tier){.market = MARKET_ON_DEMAND};
	s->entries[0] = (struct burst_entry){.name = "e",
					     .provider = "aws",
					     .jurisdiction = "EU",
					     .regions = {regions, 1},
					     .types = {types, 1}};
	s->budgets[0] =
		(struct burst_budget){BURST_OF_POLICY, BURST_DAY, EUR(1000), .reserve = true};
	for (int i = 0; i < 2; i++)
		s->offers[i] = (struct burst_offer){.provider = "aws",
						    .kind.region = "r1",
						    .kind.zone = i ? "b" : "a",
						    .kind.type = "p5",
						    .kind.market = MARKET_ON_DEMAND,
						    .kind.micros_per_hour = i ? EUR(50) : EUR(60),
						    .kind.currency = "EUR",
						    .priced_at = now - MIN_MS,
						    .kind.available = 4,
						    .gpus = 8,
						    .product = "H100"};
	s->p[0] = (struct burst_policy_in){.name = "p"};
	s->p[0].trigger.by_wait = true;
	s->p[0].trigger.wait_ms = 30 * MIN_MS;
	s->p[0].trigger.utilisation = -1;
	s->p[0].tiers = s->tiers;
	s->p[0].ntiers = 2;
	s->p[0].entries = s->entries;
	s->p[0].nentries = 1;
	s->p[0].cost.currency = "EUR";
	s->p[0].cost.max_age_ms = HOUR_MS;
	s->p[0].cost.max_gpu_hour = s->p[0].cost.max_node_hour = -1;
	s->p[0].cost.increment_ms = HOUR_MS;
	s->p[0].cost.boot_ms = 10 * MIN_MS;
	s->p[0].budgets = s->budgets;
	s->p[0].nbudgets = 1;
	s->p[0].runtime.overhead = s->p[0].runtime.restarts = s->p[0].limits.share = -1;
	s->p[0].runtime.spot_saves = true;
	s->p[0].cooldown.zone_ms = 3 * MIN_MS;
	s->p[0].cooldown.region_ms = 15 * MIN_MS;
	s->p[0].cooldown.quota_ms = 6 * HOUR_MS;
	for (int i = 0; i < 3; i++)
		s->work[i] = (struct burst_work){.tenant = "t",
						 .name = i == 0	  ? "w0"
							 : i == 1 ? "w1"
								  : "w2",
						 .pods = 1,
						 .gpus = 8,
						 .since = now - HOUR_MS + i,
						 .runs_ms = 2 * HOUR_MS};
	s->in = (struct burst_input){.now = now,
				     .policies = s->p,
				     .npolicies = 1,
				     .offers = s->offers,
				     .noffers = 2,
				     .work = s->work,
				     .nwork = 1,
				     .failures = &s->failure,
				     .launches = &s->launch};
}

/* Returns a launch by policy p for tenant t, made at `at`, whose instance exists. */
static struct burst_launch launched(const char *work, int64_t at, int64_t spent, int64_t committed)
{
	return (struct burst_launch){.policy = "p",
				     .tenant = "t",
				     .workload = work,
				     .provider = "aws",
				     .currency = "EUR",
				     .at = at,
				     .spent = spent,
				     .committed = committed,
				     .nodes = 1,
				     .gpus = 8};
}

static const struct burst_decision *go(struct set *s)
{
	s->b = burst_decide(&s->in, s->a);
	return &s->b->v[0];
}

static void end(struct set *s)
{
	arena_free(s->a);
}

/* Asserts the text of the decision about the first piece of work (words), and the reasons of its
 * first and second offer unless NULL. */
static void expect(struct set *s, const char *words, const char *first, const char *second)
{
	const struct burst_decision *d = go(s);
	const char *const want[] = {first, second};

	assert_string_equal(burst_text(d, s->a), words);
	for (size_t i = 0; i < 2 && want[i]; i++) {
		const struct burst_why y = burst_why(d, i);

		assert_string_equal(burst_why_text(&y, s->a), want[i]);
	}
	end(s);
}

#define LAUNCHED "selected"
#define DEARER "an earlier tier, or a cheaper offer of its tier, is suitable"
#define NONE "none of 2 offers is suitable"

static void the_cheapest_of_the_first_tier_is_charged_in_whole_increments(void **state)
{
	struct set s;
	const struct burst_decision *d;

	(void)state;
	begin(&s);
	d = go(&s);
	assert_string_equal(d->offer->kind.zone, "b");
	/* 2 h 10 min are charged as 3 h, because the offer is billed by the hour. */
	assert_int_equal(d->cost, EUR(150));
	assert_int_equal(s.b->accounts[0].after, EUR(150));
	end(&s);
	begin(&s);
	/* Spot is an earlier tier, so it is chosen although it is more expensive. */
	s.offers[0].kind.market = MARKET_SPOT;
	s.work[0].saves = true;
	d = go(&s);
	assert_string_equal(d->offer->kind.zone, "a");
	end(&s);
	begin(&s);
	s.offers[0].product = "B200";
	s.entries[0].factors = &(struct burst_factor){"B200", EUR(2)};
	s.entries[0].nfactors = 1;
	d = go(&s);
	/* The offer in zone a costs 180, the other one 150; but it has twice the throughput. */
	assert_string_equal(d->offer->kind.zone, "a");
	end(&s);
}

static void a_price_that_is_not_known_is_refused(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.offers[0].kind.micros_per_hour = -1;
	s.offers[1].kind.currency = "USD";
	expect(&s, NONE, "its price is not known", "its price is not in the policy's currency");
	begin(&s);
	s.offers[0].priced_at = noon() - 2 * HOUR_MS;
	s.offers[1].priced_at = 0;
	go(&s);
	assert_int_equal(burst_why(&s.b->v[0], 0).code, BURST_PRICE_STALE);
	assert_int_equal(burst_why(&s.b->v[0], 1).code, BURST_PRICE_STALE);
	end(&s);
	begin(&s);
	s.p[0].cost.max_node_hour = EUR(55);
	s.p[0].cost.max_gpu_hour = EUR(6.20);
	expect(&s, NONE, "60.00 per instance and hour, the policy allows 55.00",
	       "6.25 per GPU and hour, the policy allows 6.20");
	begin(&s);
	s.offers[0].kind.micros_per_hour = INT64_MAX / 2;
	s.work[0].runs_ms = 2000 * HOUR_MS;
	go(&s);
	assert_int_equal(burst_why(&s.b->v[0], 0).code, BURST_OVERFLOW);
	end(&s);
}

static void no_launch_takes_a_hard_budget_beyond_its_amount(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.budgets[0].amount = EUR(150);
	expect(&s, LAUNCHED, "it may cost 180.00, the budget leaves 150.00", LAUNCHED);
	begin(&s);
	s.budgets[0].amount = EUR(149.999999);
	expect(&s, "it may cost 150.00, the budget leaves 149.999999", NULL, NULL);
	begin(&s);
	s.budgets[0].amount = EUR(149);
	s.budgets[0].soft = true;
	expect(&s, LAUNCHED, NULL, NULL);
	begin(&s); /* A running launch counts with the highest amount that it may still cost. */
	s.in.nlaunches = 1;
	s.launch = launched("other", noon(), EUR(100), EUR(800));
	expect(&s, "it may cost 150.00, the budget leaves 100.00", NULL, NULL);
	/* In the launch's own period, the highest amount that it may still cost always counts. In
	 * later periods it counts only in a budget with reserve. */
	begin(&s);
	s.budgets[0].reserve = false;
	s.in.nlaunches = 1;
	s.launch = launched("other", noon(), EUR(100), EUR(800));
	expect(&s, "it may cost 150.00, the budget leaves 100.00", NULL, NULL);
	begin(&s);
	s.budgets[0].reserve = false;
	s.in.nlaunches = 1;
	s.launch = launched("other", noon() - 13 * HOUR_MS, EUR(100), EUR(800));
	expect(&s, LAUNCHED, NULL, NULL);
	begin(&s);
	s.in.nlaunches = 1;
	s.launch = launched("other", noon(), 1, 0);
	s.launch.currency = "USD";
	expect(&s,
	       "a budget that applies contains charges in another currency, or is itself in "
	       "another currency",
	       NULL, NULL);
	begin(&s); /* Yesterday's launch belongs to another period of the daily budget. */
	s.in.nlaunches = 1;
	s.launch = launched("other", noon() - 13 * HOUR_MS, EUR(999), 0);
	expect(&s, LAUNCHED, NULL, NULL);
}

/* Sets up a launch that was expected to end two hours before midnight and runs on until `until`, at
 * per_hour. */
static void begin_over(struct set *s, int64_t until, int64_t per_hour)
{
	begin(s);
	s->budgets[0].reserve = false;
	s->in.nlaunches = 1;
	s->launch = launched("other", noon() - 20 * HOUR_MS, EUR(999), 0);
	s->launch.over.from = noon() - 14 * HOUR_MS;
	s->launch.over.until = until;
	s->launch.over.per_hour = per_hour;
}

/* The committed cost is charged to yesterday; each hour of overrun since midnight is charged to
 * today. */
static void what_runs_over_is_the_days_in_which_it_does(void **state)
{
	struct set s;

	(void)state;
	begin_over(&s, noon(), EUR(70));
	expect(&s, LAUNCHED, NULL, NULL);
	begin_over(&s, noon(), EUR(71));
	expect(&s, "it may cost 150.00, the budget leaves 148.00", NULL, NULL);
	begin_over(&s, noon() - 13 * HOUR_MS, EUR(999));
	expect(&s, LAUNCHED, NULL, NULL);
}

static void begin_owned(struct set *s, const char *owner)
{
	begin(s);
	s->budgets[0].scope = BURST_OF_WORKLOAD;
	s->in.nlaunches = 1;
	s->launch = launched("before", noon(), EUR(900), 0);
	s->launch.nodes = 0;
	s->launch.owner = "Job default/sweep";
	s->work[0].owner = owner;
}

/* The next pod of the same Job counts as the same workload; another Job's pod does not. */
static void work_is_counted_by_its_owner(void **state)
{
	struct set s;

	(void)state;
	begin_owned(&s, "Job default/sweep");
	expect(&s, "it may cost 150.00, the budget leaves 100.00", NULL, NULL);
	begin_owned(&s, "Job default/eval");
	expect(&s, LAUNCHED, NULL, NULL);
	begin_owned(&s, NULL);
	expect(&s, LAUNCHED, NULL, NULL);
}

static void a_budget_for_all_binds_every_policy(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.in.npolicies = 2;
	s.p[1] = s.p[0];
	s.p[1].name = "other";
	s.p[1].match.tenants = (struct burst_names){ONE("nobody"), 1};
	s.budgets[1] = (struct burst_budget){BURST_OF_ALL, BURST_TOTAL, EUR(10), .reserve = true};
	s.p[1].budgets = &s.budgets[1];
	expect(&s, "it may cost 150.00, the budget leaves 10.00", NULL, NULL);
}

static void a_gang_is_launched_whole_in_one_zone_or_not_at_all(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.work[0].pods = 5;
	expect(&s, NONE, "4 instances are available, 5 are needed in one zone",
	       "4 instances are available, 5 are needed in one zone");
	begin(&s);
	s.work[0].pods = 5;
	s.work[0].gpus = 4; /* Two of these pods fit on one instance. */
	go(&s);
	assert_int_equal(s.b->v[0].nodes, 3);
	end(&s);
	/* An instance that is planned for one piece of work is not available for the next. */
	begin(&s);
	s.in.nwork = 3;
	for (int i = 0; i < 3; i++)
		s.work[i].pods = 3;
	s.budgets[0].amount = EUR(100000);
	go(&s);
	assert_string_equal(s.b->v[0].offer->kind.zone, "b");
	assert_string_equal(s.b->v[1].offer->kind.zone, "a");
	assert_null(s.b->v[2].offer);
	assert_int_equal(burst_why(&s.b->v[2], 0).is, 1);
	assert_int_equal(burst_why(&s.b->v[0], 0).code, BURST_DEARER);
	end(&s);
}

static void two_policies_for_one_piece_of_work_are_an_error_of_both(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.in.npolicies = 2;
	s.p[1] = s.p[0];
	s.p[1].name = "a";
	go(&s);
	assert_non_null(s.b->errors[0]);
	assert_non_null(s.b->errors[1]);
	assert_string_equal(
		burst_text(&s.b->v[0], s.a),
		"policies a, p match it, so none applies; narrow spec.match of all but one");
	assert_int_equal(s.b->chosen, 0);
	end(&s);
}

#define NO_POLICY "no policy matches it"

static void a_policy_selects_work_whose_pods_all_match(void **state)
{
	struct requirement is_vision = {"team", SELECTOR_IN, ONE("vision"), 1};
	struct label vision = {"team", "vision"}, language = {"team", "language"};
	struct burst_traits traits = {.ns = "lab", .queue = "batch", .labels = {&vision, 1}},
			    others[2];

	(void)state;
	/* 0: all pods match. 1 to 3: one member of the traits does not. 4 to 6: of the gang's last
	 * pod only. */
	for (int i = 0; i < 7; i++) {
		struct burst_traits odd = traits;
		struct set s;

		begin(&s);
		s.p[0].match.namespaces = (struct burst_names){ONE("home", "lab"), 2};
		s.p[0].match.queues = (struct burst_names){ONE("batch"), 1};
		s.p[0].match.pods = (struct selector){&is_vision, 1};
		if (i % 3 == 1)
			odd.ns = "prod";
		else if (i % 3 == 2)
			odd.queue = NULL;
		else if (i)
			odd.labels.v = &language;
		others[0] = traits;
		others[1] = i > 3 ? odd : traits;
		s.work[0].traits = i > 3 ? traits : odd;
		s.work[0].pods = 3;
		s.work[0].others.v = others;
		s.work[0].others.n = 2;
		expect(&s, i ? NO_POLICY : LAUNCHED, NULL, NULL);
	}
}

static void any_trigger_and_all_guards(void **state)
{
	struct set s;
	struct burst_wait never = {100, BURST_NEVER};

	(void)state;
	begin(&s);
	s.p[0].trigger.wait_ms = 2 * HOUR_MS;
	expect(&s, "no trigger holds: it has waited 1h of the 2h of trigger.maxQueueWait", NULL,
	       NULL);
	begin(&s);
	s.p[0].trigger.waits = &never;
	s.p[0].trigger.nwaits = 1;
	s.work[0].priority = 100;
	go(&s);
	assert_int_equal(s.b->v[0].code, BURST_NEVER_WAITS);
	s.p[0].trigger.predicted_ms = HOUR_MS;
	assert_int_equal(go(&s)->code, BURST_NEVER_WAITS);
	s.work[0].p90 = noon() + HOUR_MS + 1;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.work[0].p90 = 0;
	s.p[0].trigger.slack_ms = HOUR_MS;
	s.work[0].start_by = noon() + HOUR_MS;
	assert_int_equal(go(&s)->code, BURST_NEVER_WAITS);
	s.work[0].start_by--;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.p[0].trigger.slack_ms = 0;
	s.p[0].trigger.queued_gpus = 8;
	assert_int_equal(go(&s)->code, BURST_NEVER_WAITS);
	s.p[0].trigger.queued_gpus = 7;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.p[0].trigger.queued_gpus = 0;
	s.p[0].trigger.impossible = s.work[0].impossible = true;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.p[0].trigger.utilisation = 900000;
	s.in.gpus_owned = 100;
	s.in.gpus_used = 90;
	assert_int_equal(go(&s)->code, BURST_BUSY_NOT);
	s.in.gpus_used = 91;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.p[0].trigger.frees_ms = 15 * MIN_MS;
	s.work[0].p50 = noon() + 15 * MIN_MS;
	assert_int_equal(go(&s)->code, BURST_FREES);
	s.work[0].p50++;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.p[0].trigger.approval = true;
	assert_int_equal(go(&s)->code, BURST_APPROVAL);
	s.work[0].approved_by = (struct burst_names){ONE("another"), 1};
	assert_int_equal(go(&s)->code, BURST_APPROVAL);
	s.work[0].approved_by.v = &s.p[0].name;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.work[0].approved_by.n = 0;
	s.work[0].approved = true;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	end(&s);
}

#define ASKS "the policy requires approval by an administrator, and the work is not approved "
#define COMMAND ": drover approve burst/p/t/w0"

/* The proposal is charged to no budget. */
static void a_recommendation_names_offer_and_cost(void **state)
{
	struct set s;
	const struct burst_decision *d;

	(void)state;
	begin(&s);
	s.p[0].mode = BURST_RECOMMEND;
	s.in.nwork = 2;
	d = go(&s);
	assert_string_equal(burst_text(d, s.a),
			    ASKS "(1 x OnDemand p5 in b for at most 150.00 EUR)" COMMAND);
	assert_null(d->offer);
	assert_ptr_equal(burst_best(d), &s.offers[1]);
	assert_int_equal(burst_why(d, 1).code, BURST_CHOSEN);
	assert_int_equal(burst_why(d, 0).code, BURST_DEARER);
	assert_int_equal(s.b->accounts[0].after, 0);
	assert_int_equal(s.b->chosen, 0);
	s.work[0].approved_by = (struct burst_names){&s.p[0].name, 1};
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	assert_int_equal(s.b->accounts[0].after, EUR(150));
	end(&s);
	begin(&s);
	s.p[0].trigger.approval = true;
	s.budgets[0].amount = EUR(100);
	expect(&s,
	       ASKS "(nothing could be launched now: it may cost 150.00, the budget leaves "
		    "100.00)" COMMAND,
	       NULL, NULL);
}

#define BEYOND                                                                                     \
	"it may cost 150.00, a budget with onExhausted RequireApproval leaves 100.00, and the "    \
	"work is not approved (1 x OnDemand p5 in b for at most 150.00 EUR)"

/* Only the approval of the work lets a launch exceed the budget, and only a budget that asks. */
static void beyond_a_budget_that_asks_work_needs_an_approval(void **state)
{
	const struct burst_decision *d;
	struct set s;

	(void)state;
	begin(&s);
	s.budgets[0].asks = true;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	assert_false(s.b->v[0].beyond);
	s.budgets[0].amount = EUR(100);
	d = go(&s);
	assert_string_equal(burst_text(d, s.a), BEYOND COMMAND);
	assert_null(d->offer);
	assert_int_equal(s.b->accounts[0].after, 0);
	s.work[0].approved_by = (struct burst_names){ONE("another"), 1};
	assert_int_equal(go(&s)->code, BURST_BEYOND);
	s.work[0].approved_by.v = &s.p[0].name;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	assert_true(s.b->v[0].beyond);
	assert_int_equal(s.b->accounts[0].after, EUR(150));
	/* A second budget that does not ask still refuses. */
	s.budgets[1] = (struct burst_budget){BURST_OF_ALL, BURST_TOTAL, EUR(120), .reserve = true};
	s.p[0].nbudgets = 2;
	assert_int_equal(go(&s)->code, BURST_BUDGET);
	/* Amounts that cannot be compared are refused even to approved work. */
	s.p[0].nbudgets = 1;
	s.in.nlaunches = 1;
	s.launch = launched("before", noon(), EUR(1), 0);
	s.launch.currency = "USD";
	assert_int_equal(go(&s)->code, BURST_MIXED);
	end(&s);
}

static const struct zone *zone(struct zones *zs, const char *name)
{
	const struct zone *z = NULL;
	struct err e;

	assert_ok(zones_get(zs, name, &z, &e), &e);
	return z;
}

/* A day of 100, of which 40 were spent yesterday. */
static void begin_carried(struct set *s, int64_t carry)
{
	begin(s);
	s->budgets[0].amount = EUR(100);
	s->budgets[0].carry = carry;
	s->in.nlaunches = 1;
	s->launch = launched("before", noon() - 24 * HOUR_MS, EUR(40), 0);
	s->launch.nodes = 0;
}

static void what_was_not_spent_is_carried_over(void **state)
{
	OWN(zones) zs = zones_new();
	struct set s;

	(void)state;
	begin_carried(&s, 0);
	expect(&s, "it may cost 150.00, the budget leaves 100.00", NULL, NULL);
	begin_carried(&s, 450000);
	expect(&s, "it may cost 150.00, the budget leaves 145.00", NULL, NULL);
	begin_carried(&s, MONEY_UNIT);
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	assert_int_equal(s.b->accounts[0].amount, EUR(160));
	end(&s);
	/* A reservation for what still runs is not unspent, and an overrun is spent. */
	begin_carried(&s, MONEY_UNIT);
	s.launch.committed = EUR(20);
	s.budgets[0].reserve = false;
	expect(&s, "it may cost 150.00, the budget leaves 140.00", NULL, NULL);
	begin_carried(&s, MONEY_UNIT);
	s.launch.over.from = noon() - 13 * HOUR_MS;
	s.launch.over.until = noon() - 10 * HOUR_MS;
	s.launch.over.per_hour = EUR(15);
	/* 15 of the overrun were yesterday, 30 today. */
	expect(&s, "it may cost 150.00, the budget leaves 115.00", NULL, NULL);
	/* What was spent in excess, or in another currency, carries nothing. */
	begin_carried(&s, MONEY_UNIT);
	s.launch.spent = EUR(130);
	expect(&s, "it may cost 150.00, the budget leaves 100.00", NULL, NULL);
	begin_carried(&s, MONEY_UNIT);
	s.launch.currency = "USD";
	expect(&s, "it may cost 150.00, the budget leaves 100.00", NULL, NULL);
	/* Only the last period counts, in its time zone. */
	begin_carried(&s, MONEY_UNIT);
	s.launch.at = noon() - 37 * HOUR_MS;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	assert_int_equal(s.b->accounts[0].amount, EUR(200));
	s.budgets[0].zone = zone(zs, "Asia/Kathmandu");
	go(&s);
	assert_int_equal(s.b->accounts[0].amount, EUR(160));
	end(&s);
}

static void a_policy_has_no_money_from_before_it_was_created(void **state)
{
	struct set s;

	(void)state;
	begin_carried(&s, MONEY_UNIT);
	s.p[0].created = noon() - 20 * HOUR_MS;
	expect(&s, "it may cost 150.00, the budget leaves 100.00", NULL, NULL);
	begin_carried(&s, MONEY_UNIT);
	s.p[0].created = noon() - 36 * HOUR_MS;
	expect(&s, LAUNCHED, NULL, NULL);
	begin_carried(&s, MONEY_UNIT);
	s.budgets[0].per = BURST_TOTAL;
	expect(&s, "it may cost 150.00, the budget leaves 60.00", NULL, NULL);
}

/* The offers cost 7.50 and 6.25 per GPU and hour. */
static void a_price_is_bounded_by_the_rate_of_owned_machines(void **state)
{
	static const struct burst_rate rates[] = {{"H100", "EUR", EUR(5)},
						  {"H100", "EUR", EUR(6)},
						  {"H100", "USD", EUR(1)},
						  {"A100", "EUR", EUR(2)}};
	const struct burst_decision *d;
	struct set s;

	(void)state;
	begin(&s);
	s.in.rates = rates;
	s.in.nrates = 4;
	s.p[0].cost.premium = true;
	s.p[0].cost.max_premium = MONEY_UNIT / 4;
	d = go(&s);
	assert_int_equal(d->code, BURST_CHOSEN);
	assert_string_equal(d->offer->kind.zone, "b");
	assert_int_equal(burst_why(d, 0).code, BURST_PREMIUM);
	assert_string_equal(
		burst_why_text(&(struct burst_why){BURST_PREMIUM, burst_why(d, 0).is,
						   burst_why(d, 0).limit, 0},
			       s.a),
		"7.50 per GPU and hour; by the rate of owned machines the policy allows "
		"6.25");
	s.p[0].cost.max_premium--;
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	s.p[0].cost.max_premium = MONEY_UNIT;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	/* A rate of other GPUs says nothing about these. */
	s.in.rates = &rates[3];
	s.in.nrates = 1;
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	assert_int_equal(burst_why(&s.b->v[0], 0).code, BURST_NO_RATE_OF_GPU);
	/* Without any rate in its currency the policy launches nothing. */
	s.in.rates = &rates[2];
	assert_int_equal(go(&s)->code, BURST_NO_RATE);
	assert_int_equal(s.b->error_codes[0], BURST_NO_RATE);
	assert_non_null(strstr(s.b->errors[0], "maxPremiumOverOnPrem"));
	end(&s);
}

static void windows_and_freeze_dates_shut_a_policy(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.window = (struct burst_window){"0 20 * * *", 10 * HOUR_MS, NULL};
	s.p[0].windows.allow = &s.window;
	s.p[0].windows.nallow = 1;
	assert_int_equal(go(&s)->code, BURST_WINDOW);
	s.window.cron = "0 11 * * *";
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.window.cron = "nonsense";
	assert_int_equal(go(&s)->code, BURST_WINDOW);
	s.p[0].windows.nallow = 0;
	s.p[0].windows.deny = &s.window;
	s.p[0].windows.ndeny = 1;
	assert_int_equal(go(&s)->code, BURST_DENIED);
	s.p[0].windows.ndeny = 0;
	s.p[0].windows.freeze = (struct burst_names){ONE("2026-11-23"), 1};
	assert_int_equal(go(&s)->code, BURST_FROZEN);
	end(&s);
}

/* At 12:00 UTC it is 07:00 in New York, and the next day in Kiritimati (UTC+14). */
static void windows_and_freeze_dates_have_their_time_zone(void **state)
{
	OWN(zones) zs = zones_new();
	struct set s;

	(void)state;
	begin(&s);
	s.window = (struct burst_window){"0 6 * * *", 2 * HOUR_MS, NULL};
	s.p[0].windows.allow = &s.window;
	s.p[0].windows.nallow = 1;
	assert_int_equal(go(&s)->code, BURST_WINDOW);
	s.window.zone = zone(zs, "America/New_York");
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.p[0].windows.deny = &s.window;
	s.p[0].windows.ndeny = 1;
	assert_int_equal(go(&s)->code, BURST_DENIED);
	s.p[0].windows.ndeny = 0;
	s.p[0].windows.freeze = (struct burst_names){ONE("2026-11-24"), 1};
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.p[0].windows.freeze_zone = zone(zs, "Pacific/Kiritimati");
	assert_int_equal(go(&s)->code, BURST_FROZEN);
	end(&s);
}

/* What cannot be known launches nothing, and its budgets forget nothing. */
static void a_time_zone_that_cannot_be_read_launches_nothing(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.p[0].unknown_zone = "Europe/Atlantis";
	s.in.nlaunches = 1;
	s.launch = launched("before", noon() - 400 * 24 * HOUR_MS, EUR(900), 0);
	assert_int_equal(go(&s)->code, BURST_NO_ZONE);
	assert_non_null(strstr(burst_text(&s.b->v[0], s.a), "Europe/Atlantis"));
	assert_non_null(strstr(s.b->errors[0], "Europe/Atlantis"));
	assert_int_equal(s.b->accounts[0].before, EUR(900));
	end(&s);
}

static void begin_in_zone(struct set *s, const struct zone *z, const char *at)
{
	int64_t then;

	begin(s);
	assert_true(str_to_time(at, &then));
	s->budgets[0].zone = z;
	s->in.nlaunches = 1;
	s->launch = launched("before", then, EUR(900), 0);
	s->launch.nodes = 0;
}

/* In Kathmandu (UTC+5:45) the day began at 18:15 UTC of the day before. */
static void a_day_begins_in_the_time_zone_of_its_budget(void **state)
{
	OWN(zones) zs = zones_new();
	const struct zone *z = zone(zs, "Asia/Kathmandu");
	struct set s;

	(void)state;
	begin_in_zone(&s, z, "2026-11-22T18:15:00Z");
	expect(&s, "it may cost 150.00, the budget leaves 100.00", NULL, NULL);
	begin_in_zone(&s, z, "2026-11-22T18:14:59Z");
	expect(&s, LAUNCHED, NULL, NULL);
	begin_in_zone(&s, NULL, "2026-11-22T18:15:00Z");
	expect(&s, LAUNCHED, NULL, NULL);
}

/* The part of a bill whose time is not known counts by its month in UTC. */
static void a_month_of_a_bill_counts_in_every_time_zone(void **state)
{
	static const char *const names[] = {"UTC", "America/New_York", "Pacific/Kiritimati"};
	OWN(zones) zs = zones_new();
	struct set s;

	(void)state;
	for (int i = 0; i < 3; i++)
		for (int last = 0; last < 2; last++) {
			begin_in_zone(&s, zone(zs, names[i]),
				      last ? "2026-10-01T00:00:00Z" : "2026-11-01T00:00:00Z");
			s.budgets[0].per = BURST_MONTH;
			s.launch.of_month = true;
			expect(&s, last ? LAUNCHED : "it may cost 150.00, the budget leaves 100.00",
			       NULL, NULL);
		}
}

static void hard_filters_come_before_money(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.p[0].compliance.denied = (struct burst_names){ONE("EU"), 1};
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	assert_int_equal(burst_why(&s.b->v[0], 0).code, BURST_JURISDICTION);
	s.p[0].compliance.denied.n = 0;
	s.p[0].compliance.allowed = (struct burst_names){ONE("EU"), 1};
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.entries[0].jurisdiction = NULL;
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	s.p[0].compliance.allowed.n = 0;
	s.p[0].compliance.classes = (struct burst_names){ONE("public"), 1};
	assert_int_equal(go(&s)->code, BURST_DATA_CLASS);
	s.work[0].data_class = "public";
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.p[0].compliance.certifications = (struct burst_names){ONE("C5", "ISO27001"), 2};
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	assert_int_equal(burst_why(&s.b->v[0], 0).code, BURST_CERTIFICATION);
	s.entries[0].certifications = (struct burst_names){ONE("ISO27001"), 1};
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	s.entries[0].certifications = (struct burst_names){ONE("ISO27001", "SOC2", "C5"), 3};
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.entries[0].link = BURST_EFA;
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	s.offers[0].link = BURST_EFA;
	assert_string_equal(go(&s)->offer->kind.zone, "a");
	s.work[0].product = "A100";
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	end(&s);
}

/* The word of a tenant decides whether a launch is worth it, not what it may cost. */
static void a_run_time_that_a_tenant_declares_bounds_no_cost(void **state)
{
	struct set s;
	int64_t trusted;

	(void)state;
	begin(&s);
	s.work[0].runs_ms = HOUR_MS;
	s.p[0].runtime.max_ms = 5 * HOUR_MS;
	trusted = go(&s)->cost;
	s.work[0].said = true;
	assert_int_equal(go(&s)->cost, EUR(300));
	assert_true(trusted < EUR(300));
	s.offers[0].kind.ends_at = s.offers[1].kind.ends_at = noon() + 2 * HOUR_MS;
	assert_int_equal(go(&s)->code, BURST_CHOSEN); /* the cloud ends it after the work */
	/* Without a limit in the policy, the declared time is the limit. */
	s.p[0].runtime.max_ms = 0;
	assert_int_equal(go(&s)->cost, trusted);
	/* An instance runs for some minutes in any case: with boot, 20 minutes are charged. */
	s.p[0].cost.increment_ms = 0;
	s.work[0].runs_ms = 1000;
	assert_int_equal(burst_limit_ms(&s.p[0], &s.work[0]), BURST_SAID_MIN_MS);
	assert_int_equal(go(&s)->cost, EUR(16.666667));
	s.work[0].wrong = "annotation x: want y";
	assert_int_equal(go(&s)->code, BURST_ASKS_WRONG);
	assert_string_equal(burst_text(go(&s), s.a), "annotation x: want y");
	end(&s);
}

static void run_times_are_known_and_worth_it(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.work[0].runs_ms = 0;
	assert_int_equal(go(&s)->code, BURST_RUNTIME_UNKNOWN);
	s.p[0].runtime.max_ms = 5 * HOUR_MS;
	/* Work of unknown run time is charged with the longest run time that the policy allows. */
	assert_int_equal(go(&s)->cost, EUR(300));
	s.p[0].runtime.min_ms = HOUR_MS;
	assert_int_equal(go(&s)->code, BURST_RUNTIME_UNSAID);
	s.work[0].runs_ms = HOUR_MS - 1;
	assert_int_equal(go(&s)->code, BURST_TOO_SHORT);
	s.work[0].runs_ms = 5 * HOUR_MS + 1;
	assert_int_equal(go(&s)->code, BURST_TOO_LONG);
	s.work[0].runs_ms = HOUR_MS;
	s.p[0].runtime.overhead = 166666;
	assert_int_equal(go(&s)->code, BURST_OVERHEAD);
	s.p[0].runtime.overhead = 166667;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.offers[0].kind.ends_at = s.offers[1].kind.ends_at = noon() + HOUR_MS + 10 * MIN_MS - 1;
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	s.offers[0].kind.ends_at = 0;
	assert_string_equal(go(&s)->offer->kind.zone, "a");
	s.offers[0].kind.market = MARKET_SPOT;
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	s.work[0].saves = true;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.p[0].runtime.restarts = 2;
	s.work[0].restarts = 3;
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	end(&s);
}

/* Two data sets at 0.05 EUR per 10^9 bytes. `weights` lies at aws, where both offers are; `images`
 * lies in region r2, where no offer is. The work reads both. */
static void begin_data(struct set *s)
{
	static const char *both[] = {"weights", "images"};

	begin(s);
	s->copies[0] = (struct burst_copy){"aws", NULL};
	s->copies[1] = (struct burst_copy){"aws", "r2"};
	s->data[0] = (struct burst_dataset){"weights", 4 * INT64_C(1000000000), &s->copies[0], 1};
	s->data[1] = (struct burst_dataset){"images", 100 * INT64_C(1000000000), &s->copies[1], 1};
	s->p[0].data.inputs = s->data;
	s->p[0].data.ninputs = 2;
	s->p[0].data.per_gb = EUR(0.05);
	s->p[0].data.max_egress = -1;
	s->work[0].data = (struct burst_names){both, 2};
}

static void moving_data_costs_money(void **state)
{
	struct set s;
	const struct burst_decision *d;

	(void)state;
	begin_data(&s);
	d = go(&s);
	/* 3 h at 50, and 100 GB at 0.05. */
	assert_int_equal(d->egress, EUR(5));
	assert_int_equal(d->cost, EUR(155));
	assert_int_equal(s.b->accounts[0].after, EUR(155));
	assert_string_equal(
		burst_launch_text(d, s.a),
		"1 x OnDemand p5 in b for at most 155.00 EUR, with 5.00 for moving data");
	end(&s);
	begin_data(&s);
	s.budgets[0].amount = EUR(154.999999);
	expect(&s, "it may cost 155.00, the budget leaves 154.999999", NULL, NULL);
	begin_data(&s); /* Each instance of a gang moves the data. */
	s.work[0].pods = 2;
	d = go(&s);
	assert_int_equal(d->egress, EUR(10));
	assert_int_equal(d->cost, EUR(310));
	end(&s);
	begin_data(&s); /* A fraction of a millionth counts as a whole one. */
	s.data[1].bytes = 1;
	assert_int_equal(go(&s)->egress, 1);
	end(&s);
	begin_data(&s); /* What the work does not read, or what lies there, costs nothing. */
	s.work[0].data.n = 1;
	assert_int_equal(go(&s)->cost, EUR(150));
	assert_string_equal(burst_launch_text(go(&s), s.a),
			    "1 x OnDemand p5 in b for at most 150.00 EUR");
	end(&s);
	begin_data(&s);
	s.data[1].bytes = INT64_MAX / 2;
	s.p[0].data.per_gb = EUR(1e9);
	expect(&s, NONE, "its cost is too large to compute", NULL);
}

/* The offer in zone a of region r2, where a copy lies, costs 10 an hour more. */
static void data_has_gravity(void **state)
{
	struct set s;

	(void)state;
	begin_data(&s);
	s.entries[0].regions.n = 0;
	s.offers[0].kind.region = "r2";
	assert_string_equal(go(&s)->offer->kind.zone, "b");
	s.p[0].data.per_gb = EUR(0.31);
	assert_string_equal(go(&s)->offer->kind.zone, "a");
	assert_int_equal(s.b->v[0].cost, EUR(180));
	assert_int_equal(s.b->v[0].egress, 0);
	/* Work that reads other data has verdicts of its own. */
	s.work[1].data = (struct burst_names){ONE("weights"), 1};
	s.in.nwork = 2;
	go(&s);
	assert_string_equal(s.b->v[1].offer->kind.zone, "b");
	end(&s);
	begin_data(&s);
	s.p[0].data.max_egress = EUR(5) - 1;
	expect(&s, NONE,
	       "moving its data there costs 5.00, spec.data.maxEgressCost allows 4.999999", NULL);
	begin_data(&s);
	s.p[0].data.max_egress = EUR(5);
	expect(&s, LAUNCHED, NULL, NULL);
	begin_data(&s);
	s.work[0].data = (struct burst_names){ONE("images", "logs"), 2};
	expect(&s,
	       "its pods read logs (annotation drover.dev/data), which spec.data.inputs of the "
	       "policy does not list",
	       NULL, NULL);
	begin(&s);
	s.work[0].data = (struct burst_names){ONE("images"), 1};
	assert_int_equal(go(&s)->code, BURST_DATA_UNKNOWN);
	end(&s);
}

/* 100 GB take 1000 s. */
static void moving_data_takes_time(void **state)
{
	struct set s;
	const struct burst_decision *d;

	(void)state;
	begin_data(&s);
	s.p[0].data.per_second = 100000000;
	s.p[0].cost.increment_ms = 0;
	d = go(&s);
	assert_int_equal(d->stage_ms, 1000 * 1000);
	/* 2 h, 10 min of boot and 1000 s at 50, and 5 for moving. */
	assert_int_equal(d->cost, EUR(127.222223));
	assert_string_equal(burst_launch_text(d, s.a),
			    "1 x OnDemand p5 in b for at most 127.222223 EUR, with 5.00 for moving "
			    "data, which takes 16m40s");
	s.p[0].data.max_ms = 1000 * 1000 - 1;
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	assert_int_equal(burst_why(&s.b->v[0], 0).code, BURST_STAGE);
	s.p[0].data.max_ms = 1000 * 1000;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	/* 1600 of 7200 s */
	s.p[0].runtime.overhead = 222222;
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	assert_int_equal(burst_why(&s.b->v[0], 0).code, BURST_STAGE_OVERHEAD);
	s.p[0].runtime.overhead = 222223;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.offers[0].kind.ends_at = s.offers[1].kind.ends_at = noon() + 8800 * 1000 - 1;
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	assert_int_equal(burst_why(&s.b->v[0], 0).code, BURST_ENDS);
	s.offers[1].kind.ends_at++;
	assert_string_equal(go(&s)->offer->kind.zone, "b");
	end(&s);
}

static void names_of_data_are_words_and_commas(void **state)
{
	static const char *const bad[] = {
		"",
		",",
		"a,",
		",a",
		"a b",
		"a, b",
		"a,,b",
		"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
		"0123456789012345678901234567890123456789012345678901234567890123"};
	OWN(arena) a = arena_new();
	struct burst_names n;

	(void)state;
	assert_true(burst_data_names("imagenet,Other_1.2-3", &n, a));
	assert_int_equal(n.n, 2);
	assert_string_equal(n.v[0], "imagenet");
	assert_string_equal(n.v[1], "Other_1.2-3");
	assert_true(burst_data_names("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", &n, a));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (burst_data_names(bad[i], &n, a))
			fail_msg("accepted: '%s'", bad[i]);
}

static void work_on_spot_loses_no_more_than_the_policy_allows(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.offers[0].kind.market = MARKET_SPOT;
	s.p[0].runtime.lost_ms = 30 * MIN_MS;
	s.work[0].saves = true;
	expect(&s, LAUNCHED,
	       "runtime.spotNeeds.maxLostWork allows spot instances only for work whose pods all "
	       "have the annotation drover.dev/checkpoint-interval",
	       LAUNCHED);
	begin(&s);
	s.offers[0].kind.market = MARKET_SPOT;
	s.p[0].runtime.lost_ms = 30 * MIN_MS;
	s.p[0].runtime.spot_saves = false;
	s.work[0].interval_ms = 30 * MIN_MS + 1000;
	expect(&s, LAUNCHED,
	       "its pods save their work every 30m1s (annotation drover.dev/checkpoint-interval), "
	       "runtime.spotNeeds.maxLostWork allows 30m",
	       LAUNCHED);
	begin(&s);
	s.offers[0].kind.market = MARKET_SPOT;
	s.p[0].runtime.lost_ms = 30 * MIN_MS;
	s.work[0].saves = true;
	/* The interval is part of the requirements by which verdicts on offers are reused. */
	s.work[1] = s.work[0];
	s.work[1].name = "w1";
	s.work[1].interval_ms = 30 * MIN_MS;
	s.in.nwork = 2;
	go(&s);
	assert_string_equal(s.b->v[0].offer->kind.zone, "b");
	assert_string_equal(s.b->v[1].offer->kind.zone, "a");
	end(&s);
}

static void a_cooldown_follows_the_scope_of_the_error(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.in.nfailures = 1;
	s.failure = (struct burst_failure){"aws", "r1", "b", "p5", false, noon() - 2 * MIN_MS};
	/* A zone without capacity does not exclude the other zones of its region. */
	assert_string_equal(go(&s)->offer->kind.zone, "a");
	s.failure.at = noon() - 3 * MIN_MS;
	assert_string_equal(go(&s)->offer->kind.zone, "b");
	s.failure.zone = NULL;
	assert_int_equal(go(&s)->code, BURST_NO_OFFER);
	s.failure.type = "other";
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.failure = (struct burst_failure){"aws", NULL, NULL, "p5", true, noon() - 5 * HOUR_MS};
	expect(&s, NONE, "the account's quota is used up; not tried again for 1h", NULL);
}

static void limits_of_size_and_rate_hold(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.in.nwork = 2;
	s.p[0].limits.nodes = 1;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	assert_int_equal(s.b->v[1].code, BURST_LIMIT_NODES);
	s.p[0].limits.nodes = 2;
	s.p[0].limits.share = 500000;
	go(&s);
	assert_int_equal(s.b->v[1].code, BURST_LIMIT_SHARE);
	s.p[0].limits.share = -1;
	s.p[0].limits.gpus = 15;
	go(&s);
	assert_int_equal(burst_why(&s.b->v[1], 1).code, BURST_LIMIT_GPUS);
	s.p[0].limits.gpus = 16;
	s.p[0].limits.per_minute = 1;
	go(&s);
	assert_int_equal(s.b->v[1].code, BURST_RATE);
	s.p[0].limits.per_minute = 0;
	s.p[0].limits.at_once = 1;
	go(&s);
	assert_int_equal(s.b->v[1].code, BURST_AT_ONCE);
	s.p[0].limits.at_once = 0;
	go(&s);
	assert_int_equal(s.b->v[1].code, BURST_CHOSEN);
	s.in.nlaunches = 1;
	s.launch = launched("w0", noon(), 0, 0);
	s.launch.nodes = 0;
	s.launch.starting = true;
	assert_int_equal(go(&s)->code, BURST_ALREADY);
	/* Only one claim of a gang counts as a launch (the others have part = true). */
	s.p[0].limits.per_minute = s.p[0].limits.at_once = 1;
	s.launch = launched("w9", noon(), 0, 0);
	s.launch.nodes = 0;
	s.launch.starting = s.launch.part = true;
	assert_int_equal(go(&s)->code, BURST_CHOSEN);
	s.launch.part = false;
	assert_int_equal(go(&s)->code, BURST_RATE);
	s.p[0].limits.per_minute = 0;
	assert_int_equal(go(&s)->code, BURST_AT_ONCE);
	end(&s);
}

static void work_is_never_launched_twice(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.in.nwork = 2;
	s.work[1].name = s.work[0].name;
	go(&s);
	assert_int_equal(s.b->chosen, 1);
	assert_int_equal(s.b->v[1].code, BURST_ALREADY);
	end(&s);
}

static void periods_begin_by_the_calendar(void **state)
{
	static const struct {
		enum burst_period per;
		const char *want;
	} rows[] = {{BURST_HOUR, "2026-11-25T13:00:00Z"},
		    {BURST_DAY, "2026-11-25T00:00:00Z"},
		    {BURST_WEEK, "2026-11-23T00:00:00Z"},
		    {BURST_MONTH, "2026-11-01T00:00:00Z"},
		    {BURST_QUARTER, "2026-10-01T00:00:00Z"}};
	char text[STR_TIME_SIZE];
	int64_t now;

	(void)state;
	assert_true(str_to_time("2026-11-25T13:59:59.999Z", &now));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(str_time(text, burst_period_start(rows[i].per, NULL, now)),
				    rows[i].want);
	assert_true(burst_period_start(BURST_TOTAL, NULL, now) == INT64_MIN);
}

static void periods_begin_in_their_time_zone(void **state)
{
	static const struct {
		enum burst_period per;
		const char *zone, *now, *want;
	} rows[] = {
		{BURST_DAY, "Europe/Berlin", "2026-07-01T21:59:59Z", "2026-06-30T22:00:00Z"},
		{BURST_DAY, "Europe/Berlin", "2026-07-01T22:00:00Z", "2026-07-01T22:00:00Z"},
		/* Days of 23 and of 25 hours. */
		{BURST_DAY, "Europe/Berlin", "2026-03-29T21:59:59Z", "2026-03-28T23:00:00Z"},
		{BURST_DAY, "Europe/Berlin", "2026-03-29T22:00:00Z", "2026-03-29T22:00:00Z"},
		{BURST_DAY, "Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-24T22:00:00Z"},
		/* A day without midnight. */
		{BURST_DAY, "Asia/Beirut", "2026-03-29T10:00:00Z", "2026-03-28T22:00:00Z"},
		{BURST_HOUR, "Asia/Kathmandu", "2026-07-01T10:20:00Z", "2026-07-01T10:15:00Z"},
		{BURST_HOUR, "Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25T01:00:00Z"},
		{BURST_WEEK, "America/New_York", "2026-11-02T04:59:59Z", "2026-10-26T04:00:00Z"},
		{BURST_WEEK, "America/New_York", "2026-11-02T05:00:00Z", "2026-11-02T05:00:00Z"},
		{BURST_MONTH, "Pacific/Kiritimati", "2026-10-31T10:00:00Z", "2026-10-31T10:00:00Z"},
		{BURST_QUARTER, "Europe/Berlin", "2026-12-31T22:59:59Z", "2026-09-30T22:00:00Z"},
		{BURST_QUARTER, "Europe/Berlin", "2026-12-31T23:00:00Z", "2026-12-31T23:00:00Z"},
	};
	OWN(zones) zs = zones_new();
	char text[STR_TIME_SIZE];
	int64_t now;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(str_to_time(rows[i].now, &now));
		assert_string_equal(str_time(text, burst_period_start(rows[i].per,
								      zone(zs, rows[i].zone), now)),
				    rows[i].want);
	}
}

static void periods_end_where_the_next_begins(void **state)
{
	static const struct {
		enum burst_period per;
		const char *now, *want;
	} rows[] = {
		{BURST_HOUR, "2026-11-25T13:59:59Z", "2026-11-25T14:00:00Z"},
		/* Days of 23 and of 25 hours. */
		{BURST_DAY, "2026-03-29T10:00:00Z", "2026-03-29T22:00:00Z"},
		{BURST_DAY, "2026-10-25T10:00:00Z", "2026-10-25T23:00:00Z"},
		{BURST_WEEK, "2026-11-25T10:00:00Z", "2026-11-29T23:00:00Z"},
		{BURST_MONTH, "2026-02-10T10:00:00Z", "2026-02-28T23:00:00Z"},
		{BURST_MONTH, "2026-12-31T10:00:00Z", "2026-12-31T23:00:00Z"},
		{BURST_QUARTER, "2026-01-01T10:00:00Z", "2026-03-31T22:00:00Z"},
		{BURST_QUARTER, "2026-10-01T10:00:00Z", "2026-12-31T23:00:00Z"},
	};
	OWN(zones) zs = zones_new();
	char text[STR_TIME_SIZE];
	int64_t now;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(str_to_time(rows[i].now, &now));
		assert_string_equal(
			str_time(text,
				 burst_period_end(rows[i].per, zone(zs, "Europe/Berlin"), now)),
			rows[i].want);
	}
	assert_true(burst_period_end(BURST_TOTAL, NULL, now) == INT64_MAX);
}

/* At noon half of the day has passed. */
static void a_forecast_goes_on_at_the_same_rate(void **state)
{
	struct set s;

	(void)state;
	begin(&s);
	s.in.nwork = 0;
	s.in.nlaunches = 1;
	s.launch = launched("done", noon() - 4 * HOUR_MS, EUR(70), 0);
	(void)go(&s);
	assert_true(s.b->accounts[0].forecast == EUR(140));
	/* What still runs counts once, as much as it may cost. */
	s.launch.committed = EUR(90);
	(void)go(&s);
	assert_true(s.b->accounts[0].forecast == EUR(160));
	/* Work that is launched now. */
	s.in.nwork = 1;
	(void)go(&s);
	assert_true(s.b->accounts[0].forecast == EUR(160) + s.b->v[0].cost);
	/* In the first tenth of the day there is too little to go by. */
	s.in.now = noon() - 10 * HOUR_MS;
	(void)go(&s);
	assert_true(s.b->accounts[0].forecast == -1);
	s.in.now = noon();
	s.budgets[0].per = BURST_TOTAL;
	(void)go(&s);
	assert_true(s.b->accounts[0].forecast == -1);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods_end_where_the_next_begins),
		cmocka_unit_test(a_forecast_goes_on_at_the_same_rate),
		cmocka_unit_test(the_cheapest_of_the_first_tier_is_charged_in_whole_increments),
		cmocka_unit_test(a_price_that_is_not_known_is_refused),
		cmocka_unit_test(no_launch_takes_a_hard_budget_beyond_its_amount),
		cmocka_unit_test(what_runs_over_is_the_days_in_which_it_does),
		cmocka_unit_test(work_is_counted_by_its_owner),
		cmocka_unit_test(a_budget_for_all_binds_every_policy),
		cmocka_unit_test(a_gang_is_launched_whole_in_one_zone_or_not_at_all),
		cmocka_unit_test(two_policies_for_one_piece_of_work_are_an_error_of_both),
		cmocka_unit_test(a_policy_selects_work_whose_pods_all_match),
		cmocka_unit_test(any_trigger_and_all_guards),
		cmocka_unit_test(a_recommendation_names_offer_and_cost),
		cmocka_unit_test(beyond_a_budget_that_asks_work_needs_an_approval),
		cmocka_unit_test(what_was_not_spent_is_carried_over),
		cmocka_unit_test(a_policy_has_no_money_from_before_it_was_created),
		cmocka_unit_test(a_price_is_bounded_by_the_rate_of_owned_machines),
		cmocka_unit_test(windows_and_freeze_dates_shut_a_policy),
		cmocka_unit_test(windows_and_freeze_dates_have_their_time_zone),
		cmocka_unit_test(a_time_zone_that_cannot_be_read_launches_nothing),
		cmocka_unit_test(a_day_begins_in_the_time_zone_of_its_budget),
		cmocka_unit_test(a_month_of_a_bill_counts_in_every_time_zone),
		cmocka_unit_test(periods_begin_in_their_time_zone),
		cmocka_unit_test(hard_filters_come_before_money),
		cmocka_unit_test(a_run_time_that_a_tenant_declares_bounds_no_cost),
		cmocka_unit_test(run_times_are_known_and_worth_it),
		cmocka_unit_test(moving_data_costs_money),
		cmocka_unit_test(data_has_gravity),
		cmocka_unit_test(moving_data_takes_time),
		cmocka_unit_test(names_of_data_are_words_and_commas),
		cmocka_unit_test(work_on_spot_loses_no_more_than_the_policy_allows),
		cmocka_unit_test(a_cooldown_follows_the_scope_of_the_error),
		cmocka_unit_test(limits_of_size_and_rate_hold),
		cmocka_unit_test(work_is_never_launched_twice),
		cmocka_unit_test(periods_begin_by_the_calendar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
