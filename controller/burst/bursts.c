/* bursts: copies the waiting work from the plan, makes decisions, and compares each decision with
 * the one that was last reported for this work. */
#include "controller/burst/approvals.h"
#include "base/market.h"
#include "controller/burst/bursts.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/burst/homeward.h"
#include "controller/burst/permits.h"
#include "controller/burst/restarts.h"
#include "controller/burst/selects.h"
#include "controller/core/status_writer.h"
#include "controller/tenant/tenant.h"

#define ACTIVE "Active"
/* Time within which a gang must become complete, in addition to boot and staging */
#define GANG_MS ((int64_t)10 * 60 * 1000)
#define LEAVING_MS ((int64_t)5 * 60 * 1000)
#define LEAST_MS ((int64_t)5 * 60 * 1000) /* Shortest lifetime of a claim */
/* Longest time for which a new leader waits until the offers of all Providers were read */
#define READ_MS 60000
#define AGAIN_MS 2000 /* Retry interval after a failed write */

/* Status of one policy, to be written. */
struct account {
	struct bursts *owner;
	char *name;
	/* Owns the texts of rows */
	struct arena *arena;
	struct burst_policy_decision rows[BURST_POLICY_DECISIONS];
	size_t n;
	/* would: number of instances that the policy launches now, or, in mode Shadow, would
	 * launch. proposed: number of instances that it would launch if they were approved. */
	int64_t would, proposed;
	int64_t cost;
	struct status_writer write;
	/* resourceVersions of the policy. refused: version for which a write was refused; tried:
	 * version for which a write is in flight */
	char *refused, *tried;
};

struct bursts {
	struct bursts_spec spec;
	struct context *c;
	/* Owns the lists and texts of waits */
	struct arena *arena;
	struct burst_waits waits;
	/* Key: "tenant/work"; value: text that identifies the decision that was last reported */
	struct map *told;
	/* Key: name of a policy; value: struct account */
	struct map *accounts;
	/* Set during a pass only. work: the work that decisions are made for; left: for each
	 * element of work its index in waits */
	const struct burst_work *work;
	size_t *left;
	/* Work that a plan did not place in spite of its permit. Key: "tenant/work"; value: decimal
	 * loop_now() until which this work gets no decision */
	struct map *unfit;
	struct loop_timer timer;
	/* loop_now() of the first pass as leader; 0: none yet */
	int64_t leads_since;
};

/* --- rows ------------------------------------------------------------------------------------- */

static struct burst_policy_judged copy_judged(const struct burst_policy_judged *j, struct arena *a)
{
	return (struct burst_policy_judged){
		.provider = arena_strdup(a, j->provider),
		.region = arena_strdup(a, j->region),
		.zone = arena_strdup(a, j->zone),
		.instance_type = arena_strdup(a, j->instance_type),
		.market = arena_strdup(a, j->market),
		.reason = arena_strdup(a, j->reason),
		.message = arena_strdup(a, j->message),
		.cost = arena_strdup(a, j->cost),
	};
}

static struct burst_policy_decision copy_row(const struct burst_policy_decision *r, struct arena *a)
{
	struct burst_policy_decision out = *r;
	const char **texts[] = {&out.tenant,   &out.work,   &out.reason, &out.message,
				&out.provider, &out.region, &out.zone,	 &out.instance_type,
				&out.market,   &out.cost};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		*texts[i] = arena_strdup(a, *texts[i]);
	out.offers.v = arena_calloc(a, r->offers.n + 1, sizeof(*out.offers.v));
	for (size_t i = 0; i < r->offers.n; i++)
		out.offers.v[i] = copy_judged(&r->offers.v[i], a);
	return out;
}

static bool same_work(const struct burst_policy_decision *x, const struct burst_policy_decision *y)
{
	return str_eq(x->tenant, y->tenant) && str_eq(x->work, y->work);
}

/* True if both rows were written in the same mode of the policy. Only the message of a row with a
 * chosen offer begins with the mode, followed by a colon. Always true if row x has none. */
static bool same_mode(const struct burst_policy_decision *x, const struct burst_policy_decision *y)
{
	const char *a = str_or(x->message, ""), *b = str_or(y->message, "");
	const size_t n = strcspn(a, ":");

	return !str_eq(x->reason, burst_code_names[BURST_CHOSEN]) || strncmp(a, b, n) == 0;
}

static bool same_row(const struct burst_policy_decision *x, const struct burst_policy_decision *y)
{
	return same_work(x, y) && str_eq(x->reason, y->reason) && same_mode(x, y) &&
	       str_eq(str_or(x->provider, ""), str_or(y->provider, "")) &&
	       str_eq(str_or(x->zone, ""), str_or(y->zone, "")) &&
	       str_eq(str_or(x->instance_type, ""), str_or(y->instance_type, "")) &&
	       str_eq(str_or(x->market, ""), str_or(y->market, "")) && x->nodes == y->nodes;
}

/* Replaces the rows of k: first the row `first` (NULL: none), then those rows of v that are for
 * other work. */
static void set_rows(struct account *k, const struct burst_policy_decision *first,
		     const struct burst_policy_decision *v, size_t n)
{
	struct burst_policy_decision rows[BURST_POLICY_DECISIONS];
	struct arena *a = arena_new();
	size_t at = 0;

	if (first)
		rows[at++] = copy_row(first, a);
	for (size_t i = 0; i < n && at < BURST_POLICY_DECISIONS; i++)
		if (!first || !same_work(&v[i], first))
			rows[at++] = copy_row(&v[i], a);
	memcpy(k->rows, rows, at * sizeof(*rows));
	k->n = at;
	arena_free(k->arena);
	k->arena = a;
}

/* Puts row r in front of the other rows. False: an equal row exists already, and nothing was
 * changed. */
static bool put_row(struct account *k, const struct burst_policy_decision *r)
{
	for (size_t i = 0; i < k->n; i++)
		if (same_row(&k->rows[i], r))
			return false;
	set_rows(k, r, k->rows, k->n);
	return true;
}

static void account_free(void *p)
{
	struct account *k = p;

	writer_stop(&k->write);
	arena_free(k->arena);
	free(k->refused);
	free(k->tried);
	free(k->name);
	free(k);
}

static struct account *account_of(struct bursts *s, const char *policy)
{
	const struct burst_policy *p = CTX_GET(s->c, OBJECT_BURST_POLICY, burst_policy, policy);
	struct account *k = map_get(s->accounts, policy);

	if (k || !p)
		return k;
	k = mem_new(struct account);
	k->owner = s;
	k->name = mem_strdup(policy);
	writer_init(&k->write, s->c, k);
	set_rows(k, NULL, p->status.decisions.v, p->status.decisions.n);
	map_put(s->accounts, policy, k);
	return k;
}

/* --- work ------------------------------------------------------------------------------------- */

static bool is_left_alone(struct bursts *s, const char *key)
{
	const char *text = map_get(s->unfit, key);
	int64_t until;

	if (!text)
		return false;
	if (str_to_i64(text, 0, INT64_MAX, &until) && loop_now(s->c->loop) < until)
		return true;
	map_del(s->unfit, key);
	return false;
}

/* True if work i of s->waits gets no decision now; *x says why. */
static bool is_aside(struct bursts *s, size_t i, struct bursts_aside *x, struct arena *a)
{
	const struct burst_work *w = &s->waits.v[i];

	*x = (struct bursts_aside){.work = w};
	if (permits_has(s->spec.permits, w->tenant, w->name, s->waits.gangs[i])) {
		x->reason = "Permitted";
		x->message = "the next plan launches instances for it";
	} else if (is_left_alone(s, arena_printf(a, "%s/%s", w->tenant, w->name))) {
		x->reason = "NotPlaced";
		x->message = "a plan did not place it on the instances that were chosen for it; "
			     "tried again later";
	} else if (homeward_bars(s->c, w->tenant, str_or(w->owner, w->name))) {
		x->reason = "MovedHome";
		x->message = "its pods move, or moved recently, to an owned machine";
	}
	return x->reason;
}

/* Returns the waiting work that gets a decision now, and in *aside the rest. *n, *naside: their
 * lengths. */
static struct burst_work *work_left(struct bursts *s, struct arena *a, size_t *n,
				    struct bursts_aside **aside, size_t *naside)
{
	struct burst_work *v = arena_calloc(a, s->waits.n + 1, sizeof(*v));

	*aside = arena_calloc(a, s->waits.n + 1, sizeof(**aside));
	s->left = arena_calloc(a, s->waits.n + 1, sizeof(*s->left));
	*n = *naside = 0;
	for (size_t i = 0; i < s->waits.n; i++) {
		if (is_aside(s, i, &(*aside)[*naside], a)) {
			++*naside;
			continue;
		}
		s->left[*n] = i;
		v[*n] = s->waits.v[i];
		burst_approvals_put(s->c, &v[*n], a);
		burst_restarts_put(s->c, &v[(*n)++]);
	}
	s->work = v;
	return v;
}

struct bursts_now bursts_now(struct bursts *s, struct arena *a)
{
	struct bursts_now out = {.in.now = loop_wall(s->c->loop)};

	if (!s->spec.in.fleet)
		return out;
	out.in = burst_input_of(&s->spec.in, a, &out.reading);
	out.in.work = work_left(s, a, &out.in.nwork, &out.aside, &out.naside);
	return out;
}

/* Returns the index of w in s->waits. */
static size_t waits_at(const struct bursts *s, const struct burst_work *w)
{
	return s->left[w - s->work];
}

/* --- decisions -------------------------------------------------------------------------------- */

static const char *words_of(const struct burst_decision *d, const char *mode, struct arena *a)
{
	const bool asks = d->beyond || (d->policy && burst_needs_approval(d->policy));

	if (!d->offer)
		return burst_text(d, a);
	return arena_printf(a, "%s: %s %s%s%s", mode,
			    d->policy->mode != BURST_SHADOW ? "launches" : "would launch",
			    burst_launch_text(d, a), asks && d->work->approval ? ", " : "",
			    asks ? str_or(d->work->approval, "") : "");
}

static struct burst_policy_judged judged_of(const struct burst_offer *o, const struct burst_why *y,
					    struct arena *a)
{
	char money[MONEY_TEXT];

	return (struct burst_policy_judged){
		.provider = o->provider,
		.region = o->kind.region,
		.zone = o->kind.zone,
		.instance_type = o->kind.type,
		.market = market_names[o->kind.market],
		.reason = burst_code_names[y->code],
		.message = burst_why_text(y, a),
		.cost = y->cost < 0 ? NULL : arena_strdup(a, money_format(y->cost, money))};
}

/* Sets the offers that the policy names in row r, the chosen or proposed one first. */
static void judge(const struct burst *b, const struct burst_decision *d,
		  struct burst_policy_decision *r, struct arena *a)
{
	const struct burst_offer *best = burst_best(d);
	size_t n = best ? 1 : 0;

	r->offers.v = arena_calloc(a, BURST_POLICY_JUDGED, sizeof(*r->offers.v));
	for (size_t i = 0; d->shape && i < b->in->noffers; i++) {
		const struct burst_why y = burst_why(d, i);

		if (b->offers[i] == best)
			r->offers.v[0] = judged_of(best, &y, a);
		else if (y.code != BURST_NOT_NAMED && y.code != BURST_NOT_LOOKED &&
			 n < BURST_POLICY_JUDGED)
			r->offers.v[n++] = judged_of(b->offers[i], &y, a);
	}
	r->offers.n = d->shape ? n : 0;
}

static struct burst_policy_decision row_of(const struct bursts *s, const struct burst *b,
					   const struct burst_decision *d, const char *words,
					   struct arena *a)
{
	struct burst_policy_decision r = {.time = loop_wall(s->c->loop),
					  .tenant = d->work->tenant,
					  .work = d->work->name,
					  .reason = burst_code_names[d->code],
					  .message = words};
	const struct burst_offer *best = burst_best(d);
	char money[MONEY_TEXT];

	judge(b, d, &r, a);
	if (!best)
		return r;
	r.provider = best->provider;
	r.region = best->kind.region;
	r.zone = best->kind.zone;
	r.instance_type = best->kind.type;
	r.market = market_names[best->kind.market];
	r.nodes = d->nodes;
	r.cost = arena_strdup(a, money_format(d->cost, money));
	return r;
}

static void tell_pod(const struct bursts *s, const struct burst_decision *d, const char *words)
{
	const struct burst_waiting *p = &s->waits.pods[waits_at(s, d->work)];
	const struct tenant *t = tenant_get(s->spec.tenants, d->work->tenant);
	const struct kube_ref ref = {
		.api_version = "v1", .kind = "Pod", .ns = p->ns, .name = p->name, .uid = p->uid};
	OWN(arena) a = arena_new();

	if (t && t->events)
		kube_event(t->events, &ref, "Normal", d->offer ? "BurstChosen" : "NoBurst", "Burst",
			   arena_printf(a, "%s: %s",
					d->policy
						? arena_printf(a, "BurstPolicy %s", d->policy->name)
						: "BurstPolicies",
					words));
}

/* Adds row r to the status of each policy that the decision d concerns. False: all these policies
 * have an equal row already. */
static bool put_rows(struct bursts *s, const struct burst *b, const struct burst_decision *d,
		     const struct burst_policy_decision *r)
{
	struct account *k = d->policy ? account_of(s, d->policy->name) : NULL;
	bool news = k && put_row(k, r);

	for (size_t i = 0; d->code == BURST_TWO_POLICIES && i < b->in->npolicies; i++) {
		k = b->errors[i] ? account_of(s, b->policies[i]->name) : NULL;
		news |= k && put_row(k, r);
	}
	return news;
}

/* Reports decision d if it changed since the last report. now: map to which the identifying text of
 * the decision is added; this map replaces s->told after the pass over all decisions. */
static void tell(struct bursts *s, const struct burst *b, const struct burst_decision *d,
		 struct map *now, struct arena *a)
{
	const char *mode = d->policy ? burst_mode_names[d->policy->mode] : "";
	const char *key = arena_printf(a, "%s/%s", d->work->tenant, d->work->name);
	const struct burst_offer *o = burst_best(d);
	const char *is = arena_printf(
		a, "%s %s %d %d %s/%s/%s/%d %lld", mode, d->policy ? d->policy->name : "",
		(int)d->code, (int)d->then, o ? o->provider : "", o ? str_or(o->kind.zone, "") : "",
		o ? o->kind.type : "", o ? (int)o->kind.market : 0, (long long)d->nodes);
	struct burst_policy_decision r;
	const char *words;

	map_put(now, key, mem_strdup(is));
	if (d->code == BURST_NO_POLICY || str_eq(map_get(s->told, key), is))
		return;
	words = words_of(d, mode, a);
	r = row_of(s, b, d, words, a);
	if (put_rows(s, b, d, &r)) {
		tell_pod(s, d, words);
		log_info("burst decided", LOG_S("tenant", d->work->tenant),
			 LOG_S("work", d->work->name), LOG_S("reason", r.reason),
			 LOG_S("text", words));
	}
}

/* --- status ----------------------------------------------------------------------------------- */

static void spend_of(const struct burst *b, const char *policy, struct burst_policy_status *out,
		     struct arena *a)
{
	char money[MONEY_TEXT];

	out->spend.v = arena_calloc(a, BURST_POLICY_SPENDS, sizeof(*out->spend.v));
	out->spend.n = 0;
	for (size_t i = 0; i < b->naccounts && out->spend.n < BURST_POLICY_SPENDS; i++) {
		const struct burst_account *x = &b->accounts[i];

		if (!str_eq(x->policy->name, policy))
			continue;
		out->spend.v[out->spend.n++] = (struct burst_policy_spend){
			.scope = (int)x->budget->scope,
			.per = (int)x->budget->per,
			.of = *x->of ? arena_strdup(a, x->of) : NULL,
			.amount = arena_strdup(a, money_format(x->amount, money)),
			.spent = arena_strdup(a, money_format(x->before, money)),
			.alert = x->alert >= 0 ? arena_strdup(a, money_format(x->alert, money))
					       : NULL,
			.forecast = x->forecast >= 0
					    ? arena_strdup(a, money_format(x->forecast, money))
					    : NULL};
	}
}

static void say_active(const struct bursts *s, const struct account *k,
		       const struct burst_policy *p, const char *why, const char *error,
		       struct burst_policy_status *out, struct arena *a)
{
	const char *does =
		p->spec.mode != BURST_SHADOW && !p->spec.paused ? "It launches" : "It would launch";
	char money[MONEY_TEXT];
	struct condition want = {.type = ACTIVE,
				 .status = error ? CONDITION_FALSE : CONDITION_TRUE,
				 .reason = error	    ? why
					   : p->spec.paused ? "Paused"
							    : burst_policy_mode_names[p->spec.mode],
				 .message = error,
				 .observed_generation = p->meta.generation};

	if (!error)
		want.message =
			!k->would
				? arena_printf(a, "%s nothing now.", does)
				: arena_printf(a, "%s %lld instances now for at most %s %s.", does,
					       (long long)k->would, money_format(k->cost, money),
					       p->spec.cost.currency);
	if (!error && k->proposed)
		want.message =
			arena_printf(a, "%s Proposed instances that wait for an approval: %lld.",
				     want.message, (long long)k->proposed);
	out->conditions.v = arena_calloc(a, p->status.conditions.n + 2, sizeof(*out->conditions.v));
	out->conditions.n = p->status.conditions.n;
	for (size_t i = 0; i < out->conditions.n; i++)
		out->conditions.v[i] = p->status.conditions.v[i];
	(void)condition_set(&out->conditions, a, &want, loop_wall(s->c->loop));
	(void)condition_set_stalled(&out->conditions, a, error ? &want : NULL, p->meta.generation,
				    loop_wall(s->c->loop));
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct account *k = arg;

	(void)o;
	free(k->refused);
	k->refused = e && !err_is_transient(e) && e->kind != ERR_CONFLICT ? give(k->tried) : NULL;
	if (e && !k->refused)
		loop_timer_start(&k->owner->timer, AGAIN_MS);
}

static void send(struct account *k, const struct burst_policy *p, const struct burst_policy *out)
{
	const struct field *f = object_kinds[OBJECT_BURST_POLICY].fields;
	OWN_JSON was = fields_encode(f, p);
	OWN_JSON will = fields_encode(f, out);
	OWN_JSON diff = NULL;

	if (!json_object_get(was, "status"))
		json_object_set_new(was, "status", json_object());
	diff = json_merge_diff(json_object_get(was, "status"), json_object_get(will, "status"));
	if (!json_object_size(diff))
		return;
	free(k->tried);
	k->tried = mem_strdup(str_or(p->meta.resource_version, ""));
	writer_status(&k->write, OBJECT_BURST_POLICY, &p->meta, give(diff), on_written);
}

static void write_policy(struct bursts *s, const struct burst *b, size_t i, struct arena *a)
{
	const char *name = b->policies[i]->name;
	const struct burst_policy *p = CTX_GET(s->c, OBJECT_BURST_POLICY, burst_policy, name);
	struct account *k = account_of(s, name);
	struct burst_policy out;

	if (!p || !k || writer_busy(&k->write) || str_eq(k->refused, p->meta.resource_version))
		return;
	out = *p;
	out.status.observed_generation = p->meta.generation;
	out.status.decisions.v = k->rows;
	out.status.decisions.n = k->n;
	spend_of(b, name, &out.status, a);
	say_active(s, k, p, burst_code_names[b->error_codes[i]], b->errors[i], &out.status, a);
	send(k, p, &out);
}

static void forget_policies(struct bursts *s)
{
	struct map_iter it;

	map_for_each (it, s->accounts) {
		struct account *k = it.value;

		k->would = k->proposed = k->cost = 0;
		if (!CTX_GET(s->c, OBJECT_BURST_POLICY, burst_policy, it.key))
			map_del(s->accounts, it.key);
	}
}

/* --- permits ---------------------------------------------------------------------------------- */

/* Returns the lifetime, ms, after which a claim of the decision must begin to leave so that the
 * claim's cost stays within the committed amount. Part of the boot time, or of a declared run
 * time, is reserved for leaving. */
static int64_t ends_after(const struct burst_decision *d)
{
	const struct burst_policy_in *p = d->policy;
	const bool bounded = p->runtime.max_ms != 0;
	const int64_t half = p->cost.boot_ms / 2,
		      leaving = bounded && half < LEAVING_MS ? half : LEAVING_MS,
		      ms = p->cost.boot_ms + d->stage_ms + burst_limit_ms(p, d->work) - leaving;

	return ms < LEAST_MS ? LEAST_MS : ms;
}

static void permit(struct bursts *s, const struct burst_decision *d)
{
	const struct burst_policy *p =
		CTX_GET(s->c, OBJECT_BURST_POLICY, burst_policy, d->policy->name);
	const size_t at = waits_at(s, d->work);
	const struct burst_offer *o = d->offer;
	const int64_t each = d->cost / d->nodes + (d->cost % d->nodes != 0);
	OWN(arena) a = arena_new();
	struct permit_pod *pods = arena_calloc(a, s->waits.nmembers + 1, sizeof(*pods));
	struct permit x = {
		.tenant = d->work->tenant,
		.work = d->work->name,
		.provider = o->provider,
		.type = o->kind.type,
		.burst = {.policy_ref = {p->meta.name, p->meta.uid},
			  .work = d->work->name,
			  .workload = d->work->owner,
			  .region = o->kind.region,
			  .zone = str_empty(o->kind.zone) ? NULL : o->kind.zone,
			  .market = (int)o->kind.market,
			  .price = d->per_hour,
			  .offered = o->kind.micros_per_hour,
			  .currency = d->policy->cost.currency,
			  .committed = each,
			  .egress = d->egress ? d->egress / d->nodes : -1,
			  .decided_time = loop_wall(s->c->loop) / 1000 * 1000},
		.nodes = d->nodes,
		.gpus = o->gpus,
		.expire_after = ends_after(d),
		.gang.hold_until =
			loop_wall(s->c->loop) + d->policy->cost.boot_ms + d->stage_ms + GANG_MS,
		.pods = pods,
	};

	for (size_t i = 0; i < s->waits.nmembers; i++)
		if (s->waits.members[i].work == at)
			pods[x.npods++] = (struct permit_pod){s->waits.members[i].ns,
							      s->waits.members[i].name};
	permits_add(s->spec.permits, &x, s->waits.gangs[at]);
}

static void leave_alone(struct bursts *s, const struct permit *p)
{
	struct account *k = account_of(s, p->burst.policy_ref.name);
	OWN(arena) a = arena_new();
	const struct burst_policy_decision r = {
		.time = loop_wall(s->c->loop),
		.tenant = p->tenant,
		.work = p->work,
		.reason = "NotPlaced",
		.message = arena_printf(
			a,
			"the plan did not place the work on type %s of Provider %s (the events of "
			"its pods give the reason); "
			"tried again in %lld minutes",
			p->type, p->provider, (long long)BURSTS_UNFIT_MS / 60000)};

	map_put(s->unfit, arena_printf(a, "%s/%s", p->tenant, p->work),
		mem_printf("%lld", (long long)(loop_now(s->c->loop) + BURSTS_UNFIT_MS)));
	if (k)
		(void)put_row(k, &r);
	log_warn("burst not carried out: the plan did not place its work",
		 LOG_S("tenant", p->tenant), LOG_S("work", p->work),
		 LOG_S("policy", p->burst.policy_ref.name));
}

static void on_planned(const struct permit *p, bool used, void *arg)
{
	if (!used)
		leave_alone(arg, p);
}

/* --- pass over the waiting work --------------------------------------------------------------- */

static void count(struct bursts *s, const struct burst_decision *d)
{
	struct account *k = burst_best(d) ? account_of(s, d->policy->name) : NULL;

	if (!k)
		return;
	if (d->unapproved) {
		k->proposed += d->nodes;
		return;
	}
	k->would += d->nodes;
	if (!money_add(&k->cost, d->cost))
		k->cost = INT64_MAX;
}

static void look(void *arg)
{
	struct bursts *s = arg;
	OWN(arena) a = arena_new();
	struct bursts_now x;
	const struct burst *b;
	struct map *now;

	if (!s->c->leading)
		s->leads_since = 0;
	if (!s->c->leading || !s->c->ready || !s->spec.in.fleet || !burst_any(s->c))
		return;
	if (!s->leads_since)
		s->leads_since = loop_now(s->c->loop);
	if (!ctx_may_act(s->c)) {
		loop_timer_start(&s->timer, AGAIN_MS);
		return;
	}
	x = bursts_now(s, a);
	if (x.reading && loop_now(s->c->loop) - s->leads_since < READ_MS) {
		loop_timer_start(&s->timer, AGAIN_MS);
		return;
	}
	loop_timer_start(&s->timer, BURSTS_LOOK_MS);
	b = burst_decide(&x.in, a);
	forget_policies(s);
	now = map_new(free);
	for (size_t i = 0; i < b->n; i++) {
		count(s, &b->v[i]);
		tell(s, b, &b->v[i], now, a);
		if (b->v[i].offer && b->v[i].policy->mode != BURST_SHADOW)
			permit(s, &b->v[i]);
	}
	map_free(s->told);
	s->told = now;
	for (size_t i = 0; i < x.in.npolicies; i++)
		write_policy(s, b, i, a);
}

void bursts_plan(struct bursts *s, const struct plan *p)
{
	arena_free(s->arena);
	s->arena = arena_new();
	s->waits = (struct burst_waits){0};
	permits_end(s->spec.permits, on_planned, s);
	if (!s->spec.in.fleet || !burst_any(s->c))
		return;
	s->waits = burst_waits_of(s->spec.tenants, s->c, s->spec.eta, p, s->arena);
	loop_timer_start(&s->timer, 0);
}

struct bursts *bursts_new(const struct bursts_spec *spec)
{
	struct bursts *s = mem_new(struct bursts);

	s->spec = *spec;
	s->c = spec->in.c;
	s->told = map_new(free);
	s->accounts = map_new(account_free);
	s->unfit = map_new(free);
	loop_timer_init(&s->timer, s->c->group, look, s);
	return s;
}

void bursts_free(struct bursts *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->timer);
	map_free(s->told);
	map_free(s->accounts);
	map_free(s->unfit);
	arena_free(s->arena);
	free(s);
}
