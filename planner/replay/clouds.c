/* clouds: keeps the work that the last plan did not place, and the launches made for it. */
#include "planner/replay/replay_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* A job, or one of its pods. pod: REPLAY_NOWHERE stands for all pods of a gang. */
struct part {
	uint32_t job, pod;
};

struct replay_clouds {
	/* Arena of the result */
	struct arena *a;
	/* Offers with what is still available of each */
	struct burst_offer *offers;
	/* Waiting work, and of which part of a job each element is. Names are in waiting_arena. */
	struct arena *waiting_arena;
	struct burst_work *work;
	struct part *parts;
	size_t n, cap, parts_cap;
	/* Launches as input of the next decisions: first those that were made before the replay */
	struct burst_launch *launches;
	size_t nlaunches, launches_cap;
	/* Launches of the replay, and for which part of a job each was made */
	struct replay_launch *made;
	struct part *made_parts;
	size_t nmade, made_cap, made_parts_cap;
	/* True: a CLOUDS_LOOK event is in the heap */
	bool looks;
};

struct replay_clouds *replay_clouds_new(const struct replay_spec *s, struct arena *a)
{
	struct replay_clouds *c = mem_new(struct replay_clouds);

	c->a = a;
	c->waiting_arena = arena_new();
	c->offers = mem_calloc(s->bursts->noffers + 1, sizeof(*c->offers));
	for (size_t i = 0; i < s->bursts->noffers; i++)
		c->offers[i] = s->bursts->offers[i];
	for (size_t i = 0; i < s->bursts->nlaunches; i++) {
		mem_grow(c->launches, c->nlaunches, c->launches_cap);
		c->launches[c->nlaunches++] = s->bursts->launches[i];
	}
	return c;
}

void replay_clouds_free(struct replay_clouds *c)
{
	if (!c)
		return;
	arena_free(c->waiting_arena);
	free(c->offers);
	free(c->work);
	free(c->parts);
	free(c->launches);
	free(c->made);
	free(c->made_parts);
	free(c);
}

/* --- work ------------------------------------------------------------------------------------- */

static void add_work(struct replaying *r, struct part x, bool impossible)
{
	struct replay_clouds *c = r->clouds;
	const struct replay_job *j = &r->s->jobs[x.job];
	const bool whole = x.pod == REPLAY_NOWHERE;
	const char *owner = arena_printf(c->waiting_arena, "job-%u", x.job);

	mem_grow(c->work, c->n, c->cap);
	mem_grow(c->parts, c->n, c->parts_cap);
	c->parts[c->n] = x;
	c->work[c->n++] = (struct burst_work){
		.tenant = j->tenant,
		.name = whole ? owner
			      : arena_printf(c->waiting_arena, "%s-%u", owner,
					     x.pod - r->first[x.job]),
		.owner = owner,
		.pods = whole ? j->pods : 1,
		.traits.ns = "default",
		.gpus = (int64_t)replay_gpus(&j->requests),
		.product = j->product,
		.priority = j->priority,
		.rank = j->priority,
		.since = r->s->bursts->now + j->at_ms,
		.impossible = impossible,
		.saves = j->saves,
		.interval_ms = j->interval_ms,
		.data = j->data,
		.approved = j->approved,
		.data_class = j->data_class,
		.start_by = j->start_by_ms ? r->s->bursts->now + j->start_by_ms : 0,
		.runs_ms = j->takes_ms};
}

void replay_clouds_plan(struct replaying *r, const struct plan *p)
{
	if (!r->clouds)
		return;
	r->clouds->n = 0;
	arena_free(r->clouds->waiting_arena);
	r->clouds->waiting_arena = arena_new();
	for (size_t i = 0; i < p->npods; i++) {
		const struct plan_pod *x = &p->pods[i];
		const uint32_t pod = replay_pod_of(x);
		const uint32_t job = pod == REPLAY_NOWHERE ? 0 : r->owner[pod];

		if (pod == REPLAY_NOWHERE || x->outcome != PLAN_NOTHING)
			continue;
		/* A plan places all pods of a gang or none, so the first one stands for it. */
		if (!r->s->jobs[job].gang)
			add_work(r, (struct part){job, pod}, !x->place);
		else if (pod == r->first[job])
			add_work(r, (struct part){job, REPLAY_NOWHERE}, !x->place);
	}
}

/* --- launches --------------------------------------------------------------------------------- */

/* Returns the launch number i of the replay as input of the next decisions. */
static struct burst_launch *input_of(struct replaying *r, size_t i)
{
	return &r->clouds->launches[r->s->bursts->nlaunches + i];
}

static void launch(struct replaying *r, const struct burst_decision *d)
{
	struct replay_clouds *c = r->clouds;
	const size_t i = c->nmade, offer = (size_t)(d->offer - c->offers);
	const struct part x = c->parts[d->work - c->work];
	const int64_t boot = d->policy->cost.boot_ms;
	struct replay_line *line = replay_line_of(r, d->work->tenant);

	mem_grow(c->launches, c->nlaunches, c->launches_cap);
	c->launches[c->nlaunches++] =
		(struct burst_launch){.policy = d->policy->name,
				      .tenant = d->work->tenant,
				      .workload = arena_strdup(c->a, d->work->name),
				      .owner = arena_strdup(c->a, d->work->owner),
				      .provider = d->offer->provider,
				      .currency = d->policy->cost.currency,
				      .at = r->s->bursts->now + r->now,
				      .committed = d->cost,
				      .nodes = d->nodes,
				      .gpus = d->nodes * d->offer->gpus,
				      .starting = true};
	mem_grow(c->made, i, c->made_cap);
	mem_grow(c->made_parts, i, c->made_parts_cap);
	c->made_parts[i] = x;
	c->made[c->nmade++] = (struct replay_launch){.policy = d->policy,
						     .offer = &r->s->bursts->offers[offer],
						     .job = x.job,
						     .pods = (uint32_t)d->work->pods,
						     .at_ms = r->now,
						     .end_ms = -1,
						     .nodes = d->nodes,
						     .cost = d->cost};
	if (c->offers[offer].kind.available >= 0)
		c->offers[offer].kind.available -= d->nodes;
	for (uint32_t k = r->first[x.job]; k < r->first[x.job + 1]; k++)
		if (x.pod == REPLAY_NOWHERE || x.pod == k)
			replay_del_pod(r, k);
	line->waiting -= (size_t)d->work->pods;
	replay_show(r, line);
	replay_push(r, (boot ? boot : r->s->times.boot_ms) + d->stage_ms, CLOUD_STARTS, (uint32_t)i,
		    0);
	r->dirty = true;
}

void replay_cloud_starts(struct replaying *r, uint32_t i)
{
	const struct replay_launch *l = &r->clouds->made[i];
	const struct replay_job *j = &r->s->jobs[l->job];

	input_of(r, i)->starting = false;
	for (uint32_t k = 0; k < l->pods; k++)
		replay_pod_started(r, l->job);
	r->cloud += replay_gpus(&j->requests) * l->pods;
	replay_push(r, j->takes_ms, CLOUD_ENDS, i, 0);
}

void replay_cloud_ends(struct replaying *r, uint32_t i)
{
	struct replay_launch *l = &r->clouds->made[i];
	struct burst_offer *o = &r->clouds->offers[l->offer - r->s->bursts->offers];
	struct burst_launch *in = input_of(r, i);

	l->end_ms = r->now;
	in->spent = in->committed;
	in->committed = in->nodes = in->gpus = 0;
	if (o->kind.available >= 0)
		o->kind.available += l->nodes;
	for (uint32_t k = 0; k < l->pods; k++)
		replay_pod_ended(r, l->job);
	r->cloud -= replay_gpus(&r->s->jobs[l->job].requests) * l->pods;
}

/* --- decisions -------------------------------------------------------------------------------- */

/* Removes the work that was launched: the elements whose tenant is NULL. */
static void forget_launched(struct replay_clouds *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->work[i].tenant) {
			c->parts[n] = c->parts[i];
			c->work[n++] = c->work[i];
		}
	c->n = n;
}

static void decide(struct replaying *r)
{
	struct replay_clouds *c = r->clouds;
	OWN(arena) a = arena_new();
	struct burst_input in = *r->s->bursts;
	const struct burst *b;

	in.now += r->now;
	in.work = c->work;
	in.nwork = c->n;
	in.offers = c->offers;
	in.launches = c->launches;
	in.nlaunches = c->nlaunches;
	in.gpus_owned = (int64_t)r->out->gpus;
	in.gpus_used = (int64_t)r->used;
	/* A price is as current as at the beginning. */
	for (size_t i = 0; i < in.noffers; i++)
		if (c->offers[i].priced_at)
			c->offers[i].priced_at = r->s->bursts->offers[i].priced_at + r->now;
	b = burst_decide(&in, a);
	for (size_t i = 0; i < b->n; i++) {
		const struct burst_decision *d = &b->v[i];
		const size_t at = (size_t)(d->work - c->work);
		struct replay_ran *job = &r->out->jobs[c->parts[at].job];
		const bool launches = d->offer && d->policy->mode != BURST_SHADOW;

		job->policy = launches ? NULL : d->policy;
		job->code = d->code;
		if (launches) {
			launch(r, d);
			c->work[at].tenant = NULL;
		}
	}
	forget_launched(c);
}

void replay_clouds_look(struct replaying *r, bool timed)
{
	const int64_t settle = r->s->times.settle_ms;

	if (!r->clouds)
		return;
	if (timed)
		r->clouds->looks = false;
	if (r->clouds->n)
		decide(r);
	if (!r->clouds->n || r->clouds->looks)
		return;
	r->clouds->looks = true;
	replay_push(r, settle > REPLAY_LOOK_MS ? settle : REPLAY_LOOK_MS, CLOUDS_LOOK, 0, 0);
}

void replay_clouds_result(const struct replay_clouds *c, struct replay *out)
{
	if (!c)
		return;
	out->launches = arena_calloc(c->a, c->nmade + 1, sizeof(*out->launches));
	out->nlaunches = c->nmade;
	for (size_t i = 0; i < c->nmade; i++)
		out->launches[i] = c->made[i];
}
