/* report: plans and replays a scenario, and computes the numbers of the report. */
#include "cli/simulate/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "planner/replay/bound.h"
#include "planner/plan.h"
#include "planner/world_report.h"

/* maximum number of waiting pods of one tenant that the planner gets at one time */
#define WINDOW 128
#define SETTLE_MS 10000
#define PLANS 10000 /* maximum number of plans in a replay, unless the scenario sets times.settle */

/* --- the plan --------------------------------------------------------------------------------- */

static json_t *reasons_of(const struct plan_pod *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->nreasons; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s}", "pool", p->reasons[i].pool,
						"reason", plan_reason_names[p->reasons[i].code],
						"text", p->reasons[i].text));
	return list;
}

static json_t *pods_of(const struct plan *p, size_t count[4])
{
	static const char *const outcomes[] = {"OnNode", "OnClaim", "OnNew", "Nothing"};
	json_t *list = json_array();

	for (size_t i = 0; i < p->npods; i++) {
		const struct plan_pod *x = &p->pods[i];
		json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:I}", "tenant", x->tenant, "namespace",
				      x->ns, "name", x->name, "outcome", outcomes[x->outcome],
				      "place", (json_int_t)x->place);

		count[x->outcome]++;
		if (x->target)
			json_object_set_new(o, "target", json_string(x->target));
		if (x->outcome == PLAN_ON_NEW)
			json_object_set_new(o, "target",
					    json_string(p->claims[x->new_claim].machine));
		if (x->nreasons)
			json_object_set_new(o, "reasons", reasons_of(x));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *claims_of(const struct plan *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->nclaims; i++) {
		const struct plan_claim *c = &p->claims[i];

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "tenant", c->tenant,
					"pool", c->pool, "provider", c->provider, "type",
					c->instance_type, "machine", c->machine, "version",
					c->version, "pods", (json_int_t)c->npods));
	}
	return list;
}

/* Rounds up to whole machines. An excess of less than 1e-6 over a whole number is ignored, because
 * it may be a rounding error of the linear program. */
static int64_t whole(double machines)
{
	const int64_t n = (int64_t)machines;

	return n + (machines - (double)n > 1e-6);
}

static json_t *plan_of(struct world *w)
{
	OWN(arena) a = arena_new();
	const struct plan *p = plan_make(w, 0, a);
	const int64_t fewest = whole(bound_machines(w, p));
	size_t count[4] = {0};
	json_t *pods = pods_of(p, count);
	json_t *o = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "waiting", (json_int_t)p->npods, "onNodes",
		(json_int_t)count[PLAN_ON_NODE], "onClaims", (json_int_t)count[PLAN_ON_CLAIM],
		"onNew", (json_int_t)count[PLAN_ON_NEW], "nothing", (json_int_t)count[PLAN_NOTHING],
		"pods", pods, "claims", claims_of(p));

	if (fewest > 0) {
		json_object_set_new(o, "fewest", json_integer(fewest));
		json_object_set_new(o, "gap", json_real((double)p->nclaims / (double)fewest - 1));
	}
	return o;
}

static json_t *machines_of(struct world *w)
{
	json_t *list = json_array();
	size_t n;
	struct world_use *v = world_uses(w, &n);

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:I, s:I, s:I, s:f}", "provider", v[i].provider,
					"type", v[i].type, "machines", (json_int_t)v[i].machines,
					"offered", (json_int_t)v[i].offered, "held",
					(json_int_t)v[i].held, "gpusEach", v[i].gpus));
	free(v);
	return list;
}

/* --- the replay ------------------------------------------------------------------------------- */

static int by_value(const void *x, const void *y)
{
	const double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

/* Returns the pct-th percentile of n sorted values, by the nearest-rank method; 0 if n is 0. */
static double percentile(const double *v, size_t n, unsigned pct)
{
	const size_t rank = (n * pct + 99) / 100;

	return n ? v[rank ? rank - 1 : 0] : 0;
}

struct waits {
	double *v;
	size_t n, started, ended;
};

/* Sets *w to the waits in seconds, sorted, of one tenant's jobs, or of all jobs if tenant is NULL.
 * Jobs that arrive after the end are left out. w->v must have space for all jobs. */
static void count_waits(const struct replay_spec *s, const struct replay *r, const char *tenant,
			struct waits *w)
{
	*w = (struct waits){.v = w->v};
	for (size_t i = 0; i < s->njobs; i++) {
		const struct replay_job *j = &s->jobs[i];
		const int64_t start = r->jobs[i].start_ms;

		if ((tenant && !str_eq(tenant, j->tenant)) || j->at_ms >= s->until_ms)
			continue;
		w->started += start >= 0;
		w->ended += r->jobs[i].end_ms >= 0;
		w->v[w->n++] = (double)((start >= 0 ? start : s->until_ms) - j->at_ms) / 1000;
	}
	qsort(w->v, w->n, sizeof(*w->v), by_value);
}

static json_t *wait_of(const struct waits *w)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "p50", percentile(w->v, w->n, 50), "p90",
			 percentile(w->v, w->n, 90), "p99", percentile(w->v, w->n, 99), "max",
			 percentile(w->v, w->n, 100));
}

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static json_t *tenants_of(const struct replay_spec *s, const struct replay *r, struct waits *w)
{
	OWN(arena) a = arena_new();
	const char **names = arena_calloc(a, s->njobs + 1, sizeof(*names));
	json_t *list = json_array();

	for (size_t i = 0; i < s->njobs; i++)
		names[i] = s->jobs[i].tenant;
	qsort(names, s->njobs, sizeof(*names), by_text);
	for (size_t i = 0; i < s->njobs; i++) {
		if (i && str_eq(names[i], names[i - 1]))
			continue;
		count_waits(s, r, names[i], w);
		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:o}", "name", names[i],
						      "jobs", (json_int_t)w->n, "started",
						      (json_int_t)w->started, "ended",
						      (json_int_t)w->ended, "wait", wait_of(w)));
	}
	return list;
}

static json_t *timeline_of(const struct replay_spec *s, const struct replay *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->nsamples; i++) {
		const struct replay_sample *x = &r->samples[i];
		const double at = (double)s->until_ms / 1000 / (double)r->nsamples * (double)i;

		json_array_append_new(list,
				      json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "at", at, "used",
						x->used, "nodes", x->serving, "waiting", x->waiting,
						"queue", x->queue, "cloud", x->cloud));
	}
	return list;
}

/* Returns the number of jobs that policy p decided on last, without launching anything, by the
 * reason. */
static json_t *left_of(const struct replay_spec *s, const struct replay *r,
		       const struct burst_policy_in *p)
{
	json_t *o = json_object();

	for (size_t i = 0; i < s->njobs; i++) {
		const char *reason = burst_code_names[r->jobs[i].code];

		if (r->jobs[i].policy == p)
			json_object_set_new(o, reason, json_integer(json_int_at(o, reason) + 1));
	}
	return o;
}

/* Returns what each policy launched. */
static json_t *bursts_of(const struct replay_spec *s, const struct replay *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->bursts->npolicies; i++) {
		const struct burst_policy_in *p = &s->bursts->policies[i];
		json_int_t launches = 0, pods = 0, nodes = 0;
		char money[MONEY_TEXT];
		int64_t cost = 0, node_ms = 0;

		for (size_t k = 0; k < r->nlaunches; k++) {
			const struct replay_launch *l = &r->launches[k];

			if (l->policy != p)
				continue;
			launches++;
			pods += l->pods;
			nodes += l->nodes;
			node_ms +=
				l->nodes * ((l->end_ms < 0 ? s->until_ms : l->end_ms) - l->at_ms);
			money_add_cost(&cost, l->cost);
		}
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:s, s:s, s:o}", "policy",
				  p->name, "mode", burst_mode_names[p->mode], "launches", launches,
				  "pods", pods, "instances", nodes, "instanceHours",
				  (double)node_ms / 3600000, "cost", money_format(cost, money),
				  "currency", p->cost.currency, "jobsLeft", left_of(s, r, p)));
	}
	return list;
}

static double percent(double part, double of)
{
	return of > 0 ? part / of * 100 : 0;
}

static json_t *replay_of(const struct replay_spec *s)
{
	OWN(arena) a = arena_new();
	const struct replay *r = replay_run(s, a);
	const double all = r->gpus * (double)s->until_ms,
		     bound = bound_use(s->jobs, s->njobs, r->gpus, s->until_ms);
	struct waits w = {.v = arena_calloc(a, s->njobs + 1, sizeof(double))};
	json_t *tenants = tenants_of(s, r, &w), *o;

	count_waits(s, r, NULL, &w);
	o = json_pack("{s:f, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:I, s:I, s:I}",
		      "seconds", (double)s->until_ms / 1000, "jobs", (json_int_t)w.n, "started",
		      (json_int_t)w.started, "ended", (json_int_t)w.ended, "gpus", r->gpus,
		      "usePercent", percent(r->used_ms, all), "nodesPercent",
		      percent(r->serving_ms, all), "boundPercent", percent(bound, all), "wait",
		      wait_of(&w), "tenants", tenants, "timeline", timeline_of(s, r), "plans",
		      (json_int_t)r->plans, "boots", (json_int_t)r->boots, "wipes",
		      (json_int_t)r->wipes);
	if (s->bursts)
		json_object_set_new(o, "bursts", bursts_of(s, r));
	if (bound > 0)
		json_object_set_new(o, "gap", json_real(1 - r->used_ms / bound));
	return o;
}

/* Returns the time in ms at which the last job to finish would end if no job had to wait; at least
 * 1000. */
static int64_t end_of(const struct scenario *s)
{
	int64_t end = 1000;

	for (size_t i = 0; i < s->njobs; i++)
		if (s->jobs[i].at_ms + s->jobs[i].takes_ms > end)
			end = s->jobs[i].at_ms + s->jobs[i].takes_ms;
	return end;
}

json_t *report_make(const struct scenario *s)
{
	struct replay_spec spec = {.world = s->world,
				   .jobs = s->jobs,
				   .njobs = s->njobs,
				   .times = s->times,
				   .until_ms = s->until_ms ? s->until_ms : end_of(s),
				   .samples = REPORT_SAMPLES,
				   .window = WINDOW,
				   .bursts = s->bursts};
	json_t *machines = machines_of(s->world),
	       *o = json_pack("{s:s, s:o, s:o}", "scenario", s->name, "machines", machines, "plan",
			      plan_of(s->world));

	if (!spec.times.settle_ms)
		spec.times.settle_ms =
			spec.until_ms / PLANS > SETTLE_MS ? spec.until_ms / PLANS : SETTLE_MS;
	if (s->njobs)
		json_object_set_new(o, "replay", replay_of(&spec));
	return o;
}
