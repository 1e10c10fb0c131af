/*
 * replay: a discrete-event simulation with a heap of events ordered by time. Each machine is a
 * slot. A slot is either free or occupied by one claim.
 *
 *   free --plan--> coming --boot_ms--> node --idle_ms--> leaving --drain_ms + wipe_ms--> free
 *
 * The replay names its pods by number, in namespace "@", which no API server allows. A claim that
 * the replay made, and its Node, are named "@" and the slot's number; claims of the initial world
 * keep their names.
 */
#include "planner/replay/replay_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "planner/plan.h"

#define NAME_SIZE 24

/* --- time ------------------------------------------------------------------------------------- */

/* Advances the simulated time to `to`. The values r->used, r->serving and so on were constant since
 * r->now; adds them, weighted by time, to each sample that the interval overlaps. */
static void advance(struct replaying *r, int64_t to)
{
	const double width = (double)r->s->until_ms / (double)r->out->nsamples;

	r->out->used_ms += r->used * (double)(to - r->now);
	r->out->serving_ms += r->serving * (double)(to - r->now);
	for (double t = (double)r->now; t < (double)to;) {
		size_t i = (size_t)(t / width);
		struct replay_sample *x;
		double end, share;

		if (i >= r->out->nsamples)
			break;
		end = width * (double)(i + 1);
		if (end <= t) {
			/* Rounding may give the sample that ends exactly at t, so that no time
			 * would pass: use the next sample. */
			i++;
			end = width * (double)(i + 1);
			if (i >= r->out->nsamples)
				break;
		}
		end = end < (double)to ? end : (double)to;
		share = (end - t) / width;
		x = &r->out->samples[i];
		x->used += r->used * share;
		x->serving += r->serving * share;
		x->waiting += r->waiting * share;
		x->queue += r->queue * share;
		x->cloud += r->cloud * share;
		t = end;
	}
	r->now = to;
}

/* --- pods ------------------------------------------------------------------------------------- */

static void line_free(void *p)
{
	free(((struct replay_line *)p)->v);
	free(p);
}

static void job_comes(struct replaying *r, uint32_t job)
{
	const struct replay_job *j = &r->s->jobs[job];
	struct replay_line *l = replay_line_of(r, j->tenant);

	mem_grow(l->v, l->n, l->cap);
	l->v[l->n++] = job;
	r->left[job] = j->pods;
	r->queue += j->pods;
	r->waiting += replay_gpus(&j->requests) * j->pods;
	replay_show(r, l);
}

static void pod_starts(struct replaying *r, uint32_t pod)
{
	const uint32_t job = r->owner[pod];
	const struct replay_job *j = &r->s->jobs[job];
	struct replay_slot *s = &r->slots[r->place[pod]];

	replay_put_pod(r, pod, s->node);
	s->pods++;
	s->gen++;
	replay_line_of(r, j->tenant)->waiting--;
	r->used += replay_gpus(&j->requests);
	replay_pod_started(r, job);
	if (!j->gang)
		replay_push(r, j->takes_ms, POD_ENDS, pod, 0);
	else if (!r->left[job])
		replay_push(r, j->takes_ms, JOB_ENDS, job, 0);
}

static void pod_ends(struct replaying *r, uint32_t pod)
{
	const uint32_t job = r->owner[pod];
	const struct replay_job *j = &r->s->jobs[job];
	struct replay_slot *s = &r->slots[r->place[pod]];

	replay_del_pod(r, pod);
	r->place[pod] = REPLAY_NOWHERE;
	r->used -= replay_gpus(&j->requests);
	s->pods--;
	replay_rests(r, s);
	r->dirty = true;
	replay_pod_ended(r, job);
}

/* --- machines --------------------------------------------------------------------------------- */

static void put_node(struct replaying *r, const struct replay_slot *s)
{
	const struct world_node n = {.tenant = s->tenant,
				     .name = s->node,
				     .claim = s->claim.name,
				     .labels = s->claim.labels,
				     .taints = s->claim.taints,
				     .allocatable = s->claim.capacity,
				     .ready = true};

	(void)world_put_node(r->w, &n);
}

static void put_machine(struct replaying *r, const struct replay_slot *s, bool offered)
{
	struct world_machine m = s->m;

	m.offered = offered;
	m.not_offered = offered ? NULL : "claimed";
	(void)world_put_machine(r->w, &m);
}

static void claim_new(struct replaying *r, const struct plan_claim *p)
{
	struct replay_slot *s = map_get(r->by_machine, p->machine);
	const struct world_pool *pool = world_find(r->w->pools, p->pool);
	struct world_claim c = {.tenant = p->tenant,
				.pool = p->pool,
				.instance_type = p->instance_type,
				.provider = p->provider,
				.labels = p->labels,
				.taints = pool->taints,
				.capacity = s->type->capacity,
				.created_ms = r->now,
				.pods = p->pods,
				.npods = p->npods};
	char name[NAME_SIZE];

	(void)str_format(name, sizeof(name), REPLAY_OURS "%010u", (uint32_t)(s - r->slots));
	c.name = name;
	replay_set_claim(s, &c);
	s->state = SLOT_COMING;
	s->wanted = r->plan;
	replay_push(r, r->s->times.boot_ms, NODE_READY, (uint32_t)(s - r->slots), 0);
	r->out->boots++;
}

static void node_ready(struct replaying *r, struct replay_slot *s)
{
	s->state = SLOT_NODE;
	s->tenant = s->claim.tenant;
	s->node = s->claim.name;
	s->claim.ready = true;
	(void)world_put_claim(r->w, &s->claim);
	put_node(r, s);
	r->serving += s->gpus;
	r->dirty = true;
	replay_rests(r, s);
}

static void leave(struct replaying *r, struct replay_slot *s)
{
	(void)world_del_node(r->w, s->tenant, s->node);
	s->node = NULL;
	s->state = SLOT_LEAVING;
	s->claim.leaving = true;
	s->claim.ready = false;
	(void)world_put_claim(r->w, &s->claim);
	r->serving -= s->gpus;
	replay_push(r, r->s->times.drain_ms + r->s->times.wipe_ms, MACHINE_FREE,
		    (uint32_t)(s - r->slots), 0);
}

static void machine_free(struct replaying *r, struct replay_slot *s)
{
	(void)world_del_claim(r->w, s->claim.name);
	s->state = SLOT_FREE;
	put_machine(r, s, true);
	r->out->wipes++;
	r->dirty = true;
}

/* --- plans ------------------------------------------------------------------------------------ */

static struct replay_slot *of_claim(const struct replaying *r, const char *claim)
{
	return str_starts(claim, REPLAY_OURS) ? &r->slots[strtoul(claim + 1, NULL, 10)]
					      : map_get(r->by_claim, claim);
}

/* Marks the slots on which pods are planned (replay_slot.wanted). For each simulated pod that is
 * placed on a Node, stores the slot in r->place and counts the pod in r->ready. */
static void read_pods(struct replaying *r, const struct plan *p)
{
	for (size_t i = 0; i < p->npods; i++) {
		const struct plan_pod *x = &p->pods[i];
		const uint32_t pod = replay_pod_of(x);
		struct replay_slot *s = x->outcome == PLAN_ON_NODE
						? replay_of_node(r, x->tenant, x->target)
					: x->outcome == PLAN_ON_CLAIM ? of_claim(r, x->target)
								      : NULL;

		if (!s)
			continue;
		s->wanted = r->plan;
		if (x->outcome == PLAN_ON_NODE && pod != REPLAY_NOWHERE) {
			r->place[pod] = (uint32_t)(s - r->slots);
			r->ready[r->owner[pod]]++;
		}
	}
}

struct starts {
	uint32_t *v;
	size_t n, cap;
};

/* Decides which of the pods placed on Nodes start: of a gang all pods or none. Appends the pods
 * that start to *go and resets r->ready. */
static void decide_starts(struct replaying *r, const struct plan *p, struct starts *go)
{
	for (size_t i = 0; i < p->npods; i++) {
		const uint32_t pod = replay_pod_of(&p->pods[i]);
		const uint32_t job = pod == REPLAY_NOWHERE ? 0 : r->owner[pod];

		if (pod == REPLAY_NOWHERE || r->place[pod] == REPLAY_NOWHERE)
			continue;
		if (r->s->jobs[job].gang && r->ready[job] < r->s->jobs[job].pods) {
			r->place[pod] = REPLAY_NOWHERE;
			continue;
		}
		mem_grow(go->v, go->n, go->cap);
		go->v[go->n++] = pod;
	}
	for (size_t i = 0; i < p->npods; i++)
		if (replay_pod_of(&p->pods[i]) != REPLAY_NOWHERE)
			r->ready[r->owner[replay_pod_of(&p->pods[i])]] = 0;
}

static bool waits(const struct replaying *r)
{
	return r->queue > 0 || r->foreign;
}

static void plan(struct replaying *r)
{
	OWN(arena) a = arena_new();
	const struct plan *p;
	struct starts go = {0};
	size_t nclaims;
	struct replay_slot **opened;

	r->dirty = false;
	r->planned = r->now;
	r->plan++;
	if (!waits(r))
		return;
	p = plan_make(r->w, r->now, a);
	r->out->plans++;
	read_pods(r, p);
	replay_clouds_plan(r, p);
	decide_starts(r, p, &go);
	nclaims = p->nclaims;
	opened = arena_calloc(a, nclaims + 1, sizeof(struct replay_slot *));
	for (size_t i = 0; i < nclaims; i++) {
		opened[i] = map_get(r->by_machine, p->claims[i].machine);
		claim_new(r, &p->claims[i]);
	}
	/* Plan p must not be read from here on: the calls below change the world, which makes the
	 * names in p invalid. */
	for (size_t i = 0; i < nclaims; i++) {
		(void)world_put_claim(r->w, &opened[i]->claim);
		put_machine(r, opened[i], false);
	}
	for (size_t i = 0; i < go.n; i++)
		pod_starts(r, go.v[i]);
	for (size_t i = 0; i < go.n; i++)
		replay_show(r, replay_line_of(r, r->s->jobs[r->owner[go.v[i]]].tenant));
	free(go.v);
	replay_clouds_look(r, false);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void happens(struct replaying *r, const struct replay_event *e)
{
	struct replay_slot *s = &r->slots[e->what >= NODE_READY ? e->it : 0];

	switch (e->what) {
	case POD_ENDS:
		pod_ends(r, e->it);
		break;
	case JOB_ENDS:
		for (uint32_t p = r->first[e->it]; p < r->first[e->it + 1]; p++)
			pod_ends(r, p);
		break;
	case CLOUDS_LOOK:
		replay_clouds_look(r, true);
		break;
	case CLOUD_STARTS:
		replay_cloud_starts(r, e->it);
		break;
	case CLOUD_ENDS:
		replay_cloud_ends(r, e->it);
		break;
	case NODE_READY:
		node_ready(r, s);
		break;
	case NODE_IDLE:
		if (s->state != SLOT_NODE || s->gen != e->gen)
			break;
		if (s->wanted == r->plan && waits(r))
			replay_rests(r, s);
		else
			leave(r, s);
		break;
	case MACHINE_FREE:
		machine_free(r, s);
		break;
	}
}

/* Returns the time of the next event, of the next job's arrival or of the next plan, whichever
 * comes first. */
static int64_t next_time(const struct replaying *r)
{
	int64_t t = INT64_MAX;

	if (r->come < r->s->njobs)
		t = r->s->jobs[r->order[r->come]].at_ms;
	if (r->nheap && r->heap[0].at < t)
		t = r->heap[0].at;
	if (r->dirty && r->planned + r->s->times.settle_ms < t)
		t = r->planned + r->s->times.settle_ms;
	return t > r->now ? t : r->now;
}

static void loop(struct replaying *r)
{
	for (int64_t t; (t = next_time(r)) < r->s->until_ms;) {
		advance(r, t);
		while (r->come < r->s->njobs && r->s->jobs[r->order[r->come]].at_ms <= t)
			job_comes(r, r->order[r->come++]);
		while (r->nheap && r->heap[0].at <= t) {
			const struct replay_event e = replay_pop(r);

			happens(r, &e);
		}
		if (r->dirty && r->planned + r->s->times.settle_ms <= t)
			plan(r);
	}
	advance(r, r->s->until_ms);
}

struct replay *replay_run(const struct replay_spec *s, struct arena *a)
{
	OWN(arena) tmp = arena_new();
	struct replay *out = arena_new_obj(a, struct replay);
	struct replaying r = {.s = s, .out = out, .w = s->world, .dirty = true};

	assert(s->samples && s->until_ms > 0 && s->times.idle_ms > 0);
	r.planned = -s->times.settle_ms;
	r.by_machine = map_new(NULL);
	r.by_claim = map_new(NULL);
	r.by_node = map_new(NULL);
	r.lines = map_new(line_free);
	out->nsamples = s->samples;
	out->samples = arena_calloc(a, s->samples, sizeof(*out->samples));
	replay_begin(&r, a, tmp);
	if (s->bursts)
		r.clouds = replay_clouds_new(s, a);
	loop(&r);
	replay_clouds_result(r.clouds, out);
	replay_clouds_free(r.clouds);
	for (uint32_t i = 0; i < r.nslots; i++)
		arena_free(r.slots[i].arena);
	map_free(r.by_machine);
	map_free(r.by_claim);
	map_free(r.by_node);
	map_free(r.lines);
	free(r.heap);
	return out;
}
