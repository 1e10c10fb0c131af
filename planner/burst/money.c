/*
 * money: budgets. A launch is charged with its maximum cost to the budget period in which the
 * launch was made. In a budget with `reserve`, the part of that cost which is not spent yet also
 * counts in every later period until the launch has ended. The cost of an overrun is charged to the
 * periods in which the overrun occurs.
 * Tests: tests/unit/planner/burst/test_burst.c, tests/unit/planner/test_burst_oracle.c
 */
#include <string.h>
#include <time.h>

#include "base/money.h"
#include "base/str.h"
#include "planner/burst/burst_impl.h"

#define HOUR_S INT64_C(3600)
#define DAY_S (24 * HOUR_S)
/* A forecast is made when this part of a period has passed: 1/FORECAST_FROM */
#define FORECAST_FROM 10
/* Shortest interval at which it changes although nothing is spent. */
#define STEP_MS INT64_C(600000)

static int64_t floor_to(int64_t s, int64_t step, int64_t from)
{
	const int64_t past = (s - from) % step;

	return s - (past < 0 ? past + step : past);
}

int64_t burst_period_start(enum burst_period per, const struct zone *zone, int64_t now)
{
	const int64_t local = now + zone_offset(zone, now), s = floor_to(local, 1000, 0) / 1000;
	time_t t = (time_t)s;
	struct tm tm;

	switch (per) {
	case BURST_HOUR:
		return now - (local - floor_to(s, HOUR_S, 0) * 1000);
	case BURST_DAY:
		return zone_first(zone, floor_to(s, DAY_S, 0) * 1000);
	/* Weeks begin on Monday: 1970-01-05, 4 days after the epoch, was a Monday. */
	case BURST_WEEK:
		return zone_first(zone, floor_to(s, 7 * DAY_S, 4 * DAY_S) * 1000);
	case BURST_MONTH:
	case BURST_QUARTER:
		if (!gmtime_r(&t, &tm))
			return INT64_MIN;
		tm = (struct tm){.tm_year = tm.tm_year,
				 .tm_mon = per == BURST_MONTH ? tm.tm_mon : tm.tm_mon / 3 * 3,
				 .tm_mday = 1};
		return zone_first(zone, (int64_t)timegm(&tm) * 1000);
	case BURST_TOTAL:
		break;
	}
	return INT64_MIN;
}

int64_t burst_period_end(enum burst_period per, const struct zone *zone, int64_t now)
{
	/* Seconds that lead from the start of a period into the next one, whatever its length */
	static const int64_t beyond[] = {HOUR_S, DAY_S + 2 * HOUR_S, 7 * DAY_S + 2 * HOUR_S,
					 32 * DAY_S, 93 * DAY_S};
	const int64_t start = burst_period_start(per, zone, now);

	return start == INT64_MIN ? INT64_MAX
				  : burst_period_start(per, zone, start + beyond[per] * 1000);
}

int64_t burst_period_before(enum burst_period per, const struct zone *zone, int64_t now)
{
	const int64_t start = burst_period_start(per, zone, now);

	return start == INT64_MIN ? start : burst_period_start(per, zone, start - 1);
}

/* Returns the start of the current period of the policy's budget. */
static int64_t start_of(const struct burst_policy_in *p, const struct burst_budget *b, int64_t now)
{
	return p->unknown_zone ? INT64_MIN : burst_period_start(b->per, b->zone, now);
}

/* Returns the start, in UTC, of the month or quarter that begins at `start` in some time zone. No
 * zone differs from UTC by more than a day. */
static int64_t start_in_utc(const struct burst_budget *b, int64_t start)
{
	if (b->per != BURST_MONTH && b->per != BURST_QUARTER)
		return start;
	return start == INT64_MIN ? start : burst_period_start(b->per, NULL, start + DAY_S * 1000);
}

static void add(int64_t *total, int64_t more)
{
	if (!money_add(total, more))
		*total = INT64_MAX;
}

static size_t key_of(const struct burst_budget *b, const struct burst_key *k)
{
	switch (b->scope) {
	case BURST_OF_TENANT:
		return k->tenant;
	case BURST_OF_WORKLOAD:
		return k->work;
	case BURST_OF_PROVIDER:
		return k->provider;
	case BURST_OF_POLICY:
	case BURST_OF_ALL:
		break;
	}
	return 0;
}

/* True if the budget counts launches that were made under the named policy. */
static bool counts(const struct burst_balance *u, const char *policy)
{
	return (u->budget->scope != BURST_OF_POLICY && u->budget->scope != BURST_OF_WORKLOAD) ||
	       str_eq(u->policy->name, policy);
}

/* Returns the cost of the launch's overrun (cost beyond the committed amount) in [start, end), in
 * millionths; INT64_MAX: too large to compute. */
static int64_t over_in(const struct burst_launch *l, int64_t start, int64_t end)
{
	const int64_t from = l->over.from > start ? l->over.from : start,
		      until = l->over.until < end ? l->over.until : end;
	int64_t cost;

	/* mutant: burst-overrun-uncharged */
	if (until <= from)
		return 0;
	return money_for_ms(l->over.per_hour, until - from, &cost) ? cost : INT64_MAX;
}

/* A sum of charges. mixed: some are in another currency than the policy's. any: there is one. */
struct charges {
	int64_t sum;
	/* What was spent, of launches that were made in the period. */
	int64_t spent;
	bool mixed, any;
};

/* Adds what the launch counts in a period from `begin` until `end` (INT64_MAX: the current one). */
static void count_launch(const struct burst_balance *u, const struct burst_launch *l, int64_t begin,
			 int64_t end, struct charges *c)
{
	const int64_t start = l->of_month ? start_in_utc(u->budget, begin) : begin,
		      stop = l->of_month && end != INT64_MAX ? start_in_utc(u->budget, end) : end,
		      over = over_in(l, start, stop);
	const bool in = l->at >= start && l->at < stop, spent = in && l->spent,
		   committed = (in || (u->budget->reserve && l->at < stop)) && l->committed;

	if (!counts(u, l->policy) || (!spent && !committed && !over))
		return;
	c->mixed |= !str_eq(l->currency, u->policy->cost.currency);
	c->any = true;
	if (spent) {
		add(&c->sum, l->spent);
		add(&c->spent, l->spent);
	}
	if (committed)
		add(&c->sum, l->committed);
	add(&c->sum, over);
}

/* The launches of each policy, and those of each tenant, as linked lists of indexes. Each list ends
 * with BURST_NO_KEY. */
struct launch_lists {
	const struct burst_input *in;
	const struct burst_key *keys;
	size_t *of_policy, *next_of_policy, *of_tenant, *next_of_tenant;
	const char *const *tenants;
	size_t ntenants;
};

static size_t *heads(size_t n, struct arena *a)
{
	size_t *v = arena_calloc(a, n + 1, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = BURST_NO_KEY;
	return v;
}

static struct launch_lists lists_of(const struct burst_input *in, const struct burst_key *keys,
				    const char *const *tenants, size_t ntenants, struct arena *a)
{
	struct launch_lists l = {.in = in,
				 .keys = keys,
				 .of_policy = heads(in->npolicies, a),
				 .next_of_policy = heads(in->nlaunches, a),
				 .of_tenant = heads(ntenants, a),
				 .next_of_tenant = heads(in->nlaunches, a),
				 .tenants = tenants,
				 .ntenants = ntenants};

	for (size_t i = 0; i < in->nlaunches; i++) {
		l.next_of_tenant[i] = l.of_tenant[keys[i].tenant];
		l.of_tenant[keys[i].tenant] = i;
		if (keys[i].policy == BURST_NO_KEY)
			continue;
		l.next_of_policy[i] = l.of_policy[keys[i].policy];
		l.of_policy[keys[i].policy] = i;
	}
	return l;
}

/* A period, and where what counts in it is added up: one sum for each balance of the budget. */
struct counting {
	int64_t begin, end;
	struct charges *c;
};

static void count_list(const struct burst_balance *u, const struct launch_lists *l, size_t first,
		       const size_t *next, struct counting *t)
{
	for (size_t i = first; i != BURST_NO_KEY; i = next[i])
		count_launch(u, &l->in->launches[i], t->begin, t->end,
			     &t->c[key_of(u->budget, &l->keys[i])]);
}

/* Counts the launches in a period. policy: index of the budget's policy. */
static struct charges *count_all(const struct burst_balance *u, const struct launch_lists *l,
				 size_t policy, int64_t begin, int64_t end, struct arena *a)
{
	struct counting t = {begin, end, arena_calloc(a, u->n + 1, sizeof(*t.c))};

	switch (u->budget->scope) {
	case BURST_OF_POLICY:
	case BURST_OF_WORKLOAD:
		count_list(u, l, l->of_policy[policy], l->next_of_policy, &t);
		break;
	case BURST_OF_TENANT:
		for (size_t i = 0; i < l->ntenants; i++)
			if (burst_named(&u->policy->match.tenants, l->tenants[i]))
				count_list(u, l, l->of_tenant[i], l->next_of_tenant, &t);
		break;
	case BURST_OF_PROVIDER:
	case BURST_OF_ALL:
		for (size_t i = 0; i < l->in->nlaunches; i++)
			count_launch(u, &l->in->launches[i], begin, end,
				     &t.c[key_of(u->budget, &l->keys[i])]);
		break;
	}
	return t.c;
}

/* Sets u->amount: the budget's amount, and of what was not spent in the last period as much as the
 * budget carries over. That is computed from the launches alone, and without what the last period
 * itself had carried over. start: of the current period. */
static void carry_over(struct burst_balance *u, const struct launch_lists *l, size_t policy,
		       int64_t start, struct arena *a)
{
	const struct burst_budget *b = u->budget;
	const int64_t last = burst_period_before(b->per, b->zone, l->in->now),
		      most = (int64_t)((__int128)b->amount * (b->carry > 0 ? b->carry : 0) /
				       MONEY_UNIT);
	const struct charges *c;

	for (size_t i = 0; i < u->n; i++)
		u->amount[i] = b->amount;
	/* mutant: burst-carried-from-nothing */
	if (most <= 0 || start == INT64_MIN || u->policy->created > last)
		return;
	c = count_all(u, l, policy, last, start, a);
	for (size_t i = 0; i < u->n; i++) {
		int64_t left = b->amount;

		/* mutant: burst-carried-twice */
		left -= c[i].mixed || c[i].sum > b->amount ? b->amount : c[i].sum;
		add(&u->amount[i], left < most ? left : most);
	}
}

struct burst_balances *burst_balances_new(const struct burst_input *in,
					  const struct burst_policy_eval *evals,
					  const struct burst_key *keys,
					  const char *const *const names[3], const size_t n[3],
					  struct arena *a)
{
	const struct launch_lists launches = lists_of(in, keys, names[0], n[0], a);
	struct burst_balances *l = arena_new_obj(a, struct burst_balances);
	size_t total = 0;

	for (size_t i = 0; i < in->npolicies; i++)
		total += in->policies[i].nbudgets;
	l->v = arena_calloc(a, total + 1, sizeof(*l->v));
	l->nproviders = n[2];
	for (size_t i = 0; i < in->npolicies; i++)
		for (size_t k = 0; k < evals[i].p->nbudgets; k++) {
			struct burst_balance *u = &l->v[l->n++];
			const struct burst_budget *b = &evals[i].p->budgets[k];
			const int which = b->scope == BURST_OF_TENANT	  ? 0
					  : b->scope == BURST_OF_WORKLOAD ? 1
					  : b->scope == BURST_OF_PROVIDER ? 2
									  : -1;
			const int64_t start = start_of(evals[i].p, b, in->now);
			const struct charges *now;

			u->policy = evals[i].p;
			u->budget = b;
			u->n = which < 0 ? 1 : n[which];
			u->keys = which < 0 ? NULL : (const char **)names[which];
			u->before = arena_calloc(a, u->n + 1, sizeof(*u->before));
			u->total = arena_calloc(a, u->n + 1, sizeof(*u->total));
			u->spent = arena_calloc(a, u->n + 1, sizeof(*u->spent));
			u->mixed = arena_calloc(a, u->n + 1, sizeof(*u->mixed));
			u->touched = arena_calloc(a, u->n + 1, sizeof(*u->touched));
			u->amount = arena_calloc(a, u->n + 1, sizeof(*u->amount));
			carry_over(u, &launches, i, start, a);
			now = count_all(u, &launches, i, start, INT64_MAX, a);
			for (size_t x = 0; x < u->n; x++) {
				u->before[x] = u->total[x] = now[x].sum;
				u->spent[x] = now[x].spent;
				u->mixed[x] = now[x].mixed;
				u->touched[x] = now[x].any;
			}
		}
	return l;
}

/* True if the budget applies to the tenant's work under policy p. A budget of scope Tenant applies
 * only to tenants that its policy matches. */
static bool binds(const struct burst_balance *u, const struct burst_policy_in *p,
		  const char *tenant)
{
	return counts(u, p->name) && (u->budget->scope != BURST_OF_TENANT ||
				      burst_named(&u->policy->match.tenants, tenant));
}

/* beyond: true lets the budget refuse nothing but amounts that cannot be compared. */
static void tighten(struct burst_bound *b, const struct burst_balance *u, size_t i,
		    const char *currency, bool beyond)
{
	const bool mixed = u->mixed[i] || !str_eq(currency, u->policy->cost.currency);
	const int64_t total = u->total[i], amount = u->amount[i],
		      left = total == INT64_MAX || total > amount ? 0 : amount - total;

	if (b->mixed || (!mixed && (beyond || left >= b->left)))
		return;
	*b = (struct burst_bound){left, mixed, u->policy, u->budget};
}

struct burst_bindings burst_balances_of(const struct burst_balances *l,
					const struct burst_policy_in *p, const char *tenant,
					struct arena *a)
{
	struct burst_bindings out = {arena_calloc(a, l->n + 1, sizeof(*out.v)), 0};

	for (size_t i = 0; i < l->n; i++)
		if (binds(&l->v[i], p, tenant))
			out.v[out.n++] = &l->v[i];
	return out;
}

bool burst_balances_bind(const struct burst_balances *l, const struct burst_policy_in *p,
			 const struct burst_key *k, bool beyond, struct burst_decision *d)
{
	bool asks = false;

	d->bound = (struct burst_bound){.left = INT64_MAX};
	for (size_t i = 0; i < l->nproviders; i++)
		d->of_provider[i] = (struct burst_bound){.left = INT64_MAX};
	for (size_t i = 0; i < k->budgets->n; i++) {
		const struct burst_balance *u = k->budgets->v[i];

		if (u->budget->soft)
			continue;
		asks |= u->budget->asks;
		if (u->budget->scope != BURST_OF_PROVIDER)
			tighten(&d->bound, u, key_of(u->budget, k), p->cost.currency,
				beyond && u->budget->asks);
		else
			for (size_t x = 0; x < l->nproviders; x++)
				tighten(&d->of_provider[x], u, x, p->cost.currency,
					beyond && u->budget->asks);
	}
	return asks;
}

void burst_balances_charge(const struct burst_policy_in *p, const struct burst_key *k, int64_t cost)
{
	for (size_t i = 0; i < k->budgets->n; i++) {
		struct burst_balance *u = k->budgets->v[i];
		const size_t x = key_of(u->budget, k);

		/* mutant: burst-uncharged */
		add(&u->total[x], cost);
		u->touched[x] = true;
		if (!str_eq(p->cost.currency, u->policy->cost.currency))
			u->mixed[x] = true;
	}
}

static int64_t alert_of(const struct burst_budget *b, int64_t amount, int64_t total)
{
	int64_t best = -1;

	for (size_t i = 0; i < b->nalerts; i++)
		if ((__int128)total * MONEY_UNIT >= (__int128)amount * b->alerts[i] &&
		    b->alerts[i] > best)
			best = b->alerts[i];
	return best;
}

/* Returns the forecast of balance k (burst_account.forecast). */
static int64_t forecast_of(const struct burst_balance *u, size_t k, int64_t now)
{
	const int64_t start = start_of(u->policy, u->budget, now);
	int64_t passed, length;
	__int128 sum;

	if (start == INT64_MIN)
		return -1;
	length = burst_period_end(u->budget->per, u->budget->zone, now) - start;
	/* The time is rounded, so that a forecast does not change with each look at it. */
	passed = floor_to(now - start, length / 100 > STEP_MS ? length / 100 : STEP_MS, 0);
	if (passed <= 0 || passed < length / FORECAST_FROM)
		return -1;
	sum = (__int128)u->spent[k] * length / passed;
	return sum > INT64_MAX ? INT64_MAX : sum > u->total[k] ? (int64_t)sum : u->total[k];
}

void burst_balances_tell(const struct burst_balances *l, struct burst *b, struct arena *a)
{
	size_t total = 0;

	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < l->v[i].n; k++)
			total += l->v[i].touched[k] || !l->v[i].keys;
	b->accounts = arena_calloc(a, total + 1, sizeof(*b->accounts));
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < l->v[i].n; k++) {
			const struct burst_balance *u = &l->v[i];

			if (!u->touched[k] && u->keys)
				continue;
			b->accounts[b->naccounts++] = (struct burst_account){
				.policy = u->policy,
				.budget = u->budget,
				.of = u->keys ? u->keys[k] : "",
				.amount = u->amount[k],
				.before = u->before[k],
				.after = u->total[k],
				.alert = alert_of(u->budget, u->amount[k], u->total[k]),
				.forecast = forecast_of(u, k, b->in->now),
			};
		}
}
