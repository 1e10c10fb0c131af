/*
 * replay: events in a heap by time.  Each machine is a slot: free, or with the one claim that holds it.
 *
 *	free --plan--> coming --boot_ms--> node --idle_ms--> leaving --drain_ms + wipe_ms--> free
 *
 * Pods of jobs are in namespace "@", which no API server has, under the name of their number; a slot's claim and its Node are
 * "@" and the slot's number, unless the world had that claim at the beginning.
 */
#include "planner/replay.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "planner/plan.h"
#include "planner/planning.h"
#include "planner/world_impl.h"

#define OURS "@"
#define NOWHERE UINT32_MAX
#define NAME_SIZE 24

enum what { POD_ENDS, JOB_ENDS, NODE_READY, NODE_IDLE, MACHINE_FREE };
struct event {
	int64_t at;
	uint64_t seq; /* of equal times the earlier made */
	enum what what;
	uint32_t it, gen;
};

enum slot_state { SLOT_FREE, SLOT_COMING, SLOT_NODE, SLOT_LEAVING, SLOT_OUT };
struct slot {
	struct world_machine m; /* as it is when it is free */
	const struct world_instance_type *type;
	double gpus;
	enum slot_state state;
	struct arena *arena; /* of claim; NULL: none */
	struct world_claim claim;
	const char *tenant, *node; /* NULL: it has no Node */
	uint32_t pods, pinned;	   /* of jobs, of the world's own */
	uint32_t gen;		   /* of its idle event */
	size_t wanted;		   /* the last plan that put a pod there */
};

/* Jobs of one tenant, as they came. */
struct line {
	uint32_t *v;
	size_t n, cap, shown; /* shown: of them the planner knows */
	size_t waiting;	      /* pods of those */
};

struct run {
	const struct replay_spec *s;
	struct replay *out;
	struct world *w;
	struct slot *slots;
	uint32_t nslots;
	struct map *by_machine;		/* name -> struct slot */
	struct map *by_claim, *by_node; /* of the beginning: name, "TENANT/NAME" -> struct slot */
	struct map *lines;		/* tenant -> struct line */
	uint32_t *order;		/* of jobs, by time */
	uint32_t *first;		/* job -> its first pod; one more at the end */
	uint32_t *owner, *place;	/* pod -> job; slot, or NOWHERE */
	uint32_t *left, *ended;		/* job -> pods that have not started; that have ended */
	uint32_t *ready;		/* job -> pods for which the plan at hand has a Node */
	struct event *heap;
	size_t nheap, cap;
	uint64_t seq;
	int64_t now, planned; /* when the last plan was */
	size_t come;	      /* jobs, in order */
	size_t plan;	      /* its number */
	bool dirty;
	double used, serving, waiting, queue;
	size_t foreign; /* pods that wait, the world's own */
};

static double gpus_of(const struct resources *r)
{
	const struct quantity *q = resources_get(r, PLANNING_GPU);

	return q ? (double)q->nano / 1e9 : 0;
}

/* --- time ---------------------------------------------------------------------------------------- */

static bool before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void push(struct run *r, int64_t after_ms, enum what what, uint32_t it, uint32_t gen)
{
	const struct event e = {r->now + after_ms, r->seq++, what, it, gen};
	size_t i = r->nheap++;

	mem_grow(r->heap, i, r->cap);
	for (; i && before(&e, &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
		r->heap[i] = r->heap[(i - 1) / 2];
	r->heap[i] = e;
}

static struct event pop(struct run *r)
{
	const struct event top = r->heap[0], last = r->heap[--r->nheap];
	size_t i = 0;

	for (size_t k; (k = 2 * i + 1) < r->nheap; i = k) {
		k += k + 1 < r->nheap && before(&r->heap[k + 1], &r->heap[k]);
		if (!before(&r->heap[k], &last))
			break;
		r->heap[i] = r->heap[k];
	}
	r->heap[i] = last;
	return top;
}

/* Adds what is so since r->now to each sample that lies there. */
static void advance(struct run *r, int64_t to)
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
		if (end <= t) { /* by rounding */
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
		t = end;
	}
	r->now = to;
}

/* --- pods ---------------------------------------------------------------------------------------- */

static void put_pod(struct run *r, uint32_t pod, const char *node)
{
	const struct replay_job *j = &r->s->jobs[r->owner[pod]];
	struct world_toleration all = {.exists = true};
	char name[NAME_SIZE], gang[NAME_SIZE];
	struct world_pod p = {.tenant = j->tenant,
			      .ns = OURS,
			      .name = name,
			      .uid = name,
			      .node = node,
			      .unschedulable = !node,
			      .since = j->at_ms,
			      .priority = j->priority,
			      .requests = j->requests,
			      .tolerations = {&all, 1}};

	(void)str_format(name, sizeof(name), OURS "%010u", pod);
	(void)str_format(gang, sizeof(gang), OURS "%u", r->owner[pod]);
	if (j->gang) {
		p.gang.key = gang;
		p.gang.min = j->pods;
	}
	(void)world_put_pod(r->w, &p);
}

static void show(struct run *r, struct line *l)
{
	while (l->shown < l->n && (!r->s->window || l->waiting < r->s->window)) {
		const uint32_t job = l->v[l->shown++];

		for (uint32_t p = r->first[job]; p < r->first[job + 1]; p++)
			put_pod(r, p, NULL);
		l->waiting += r->s->jobs[job].pods;
		r->dirty = true;
	}
}

static struct line *line_of(struct run *r, const char *tenant)
{
	struct line *l = map_get(r->lines, tenant);

	if (!l) {
		l = mem_new(struct line);
		map_put(r->lines, tenant, l);
	}
	return l;
}

static void line_free(void *p)
{
	free(((struct line *)p)->v);
	free(p);
}

static void job_comes(struct run *r, uint32_t job)
{
	const struct replay_job *j = &r->s->jobs[job];
	struct line *l = line_of(r, j->tenant);

	mem_grow(l->v, l->n, l->cap);
	l->v[l->n++] = job;
	r->left[job] = j->pods;
	r->queue += j->pods;
	r->waiting += gpus_of(&j->requests) * j->pods;
	show(r, l);
}

static void pod_starts(struct run *r, uint32_t pod)
{
	const uint32_t job = r->owner[pod];
	const struct replay_job *j = &r->s->jobs[job];
	struct slot *s = &r->slots[r->place[pod]];
	const double gpus = gpus_of(&j->requests);

	put_pod(r, pod, s->node);
	s->pods++;
	s->gen++;
	r->queue--;
	line_of(r, j->tenant)->waiting--;
	r->waiting -= gpus;
	r->used += gpus;
	if (--r->left[job] == 0) {
		r->out->jobs[job].start_ms = r->now;
		if (j->gang)
			push(r, j->takes_ms, JOB_ENDS, job, 0);
	}
	if (!j->gang)
		push(r, j->takes_ms, POD_ENDS, pod, 0);
}

static void rests(struct run *r, struct slot *s)
{
	if (s->pods == 0 && s->pinned == 0 && s->state == SLOT_NODE)
		push(r, r->s->times.idle_ms, NODE_IDLE, (uint32_t)(s - r->slots), ++s->gen);
}

static void pod_ends(struct run *r, uint32_t pod)
{
	const uint32_t job = r->owner[pod];
	const struct replay_job *j = &r->s->jobs[job];
	struct slot *s = &r->slots[r->place[pod]];
	char name[NAME_SIZE];

	(void)str_format(name, sizeof(name), OURS "%010u", pod);
	(void)world_del_pod(r->w, j->tenant, OURS, name);
	r->place[pod] = NOWHERE;
	r->used -= gpus_of(&j->requests);
	s->pods--;
	rests(r, s);
	r->dirty = true;
	if (++r->ended[job] == j->pods)
		r->out->jobs[job].end_ms = r->now;
}

/* --- machines ------------------------------------------------------------------------------------ */

static void put_node(struct run *r, const struct slot *s)
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

/* Deep: what it is given goes away. */
static void set_claim(struct slot *s, const struct world_claim *c)
{
	struct arena *a = arena_new();

	s->claim = *c;
	s->claim.name = arena_strdup(a, c->name);
	s->claim.tenant = arena_strdup(a, c->tenant);
	s->claim.pool = arena_strdup(a, c->pool);
	s->claim.machine = s->m.name;
	s->claim.instance_type = arena_strdup(a, c->instance_type);
	s->claim.provider = arena_strdup(a, c->provider);
	s->claim.labels = world_copy_labels(&c->labels, a);
	s->claim.taints = world_copy_taints(&c->taints, a);
	s->claim.capacity = world_copy_resources(&c->capacity, a);
	s->claim.pods = world_copy_strings(c->pods, c->npods, a);
	arena_free(s->arena);
	s->arena = a;
}

static void put_machine(struct run *r, const struct slot *s, bool offered)
{
	struct world_machine m = s->m;

	m.offered = offered;
	m.not_offered = offered ? NULL : "claimed";
	(void)world_put_machine(r->w, &m);
}

static void claim_new(struct run *r, const struct plan_claim *p)
{
	struct slot *s = map_get(r->by_machine, p->machine);
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

	(void)str_format(name, sizeof(name), OURS "%010u", (uint32_t)(s - r->slots));
	c.name = name;
	set_claim(s, &c);
	s->state = SLOT_COMING;
	s->wanted = r->plan;
	push(r, r->s->times.boot_ms, NODE_READY, (uint32_t)(s - r->slots), 0);
	r->out->boots++;
}

static void node_ready(struct run *r, struct slot *s)
{
	s->state = SLOT_NODE;
	s->tenant = s->claim.tenant;
	s->node = s->claim.name;
	s->claim.ready = true;
	(void)world_put_claim(r->w, &s->claim);
	put_node(r, s);
	r->serving += s->gpus;
	r->dirty = true;
	rests(r, s);
}

static void leave(struct run *r, struct slot *s)
{
	(void)world_del_node(r->w, s->tenant, s->node);
	s->node = NULL;
	s->state = SLOT_LEAVING;
	s->claim.leaving = true;
	s->claim.ready = false;
	(void)world_put_claim(r->w, &s->claim);
	r->serving -= s->gpus;
	push(r, r->s->times.drain_ms + r->s->times.wipe_ms, MACHINE_FREE, (uint32_t)(s - r->slots),
	     0);
}

static void machine_free(struct run *r, struct slot *s)
{
	(void)world_del_claim(r->w, s->claim.name);
	s->state = SLOT_FREE;
	put_machine(r, s, true);
	r->out->wipes++;
	r->dirty = true;
}

/* --- plans --------------------------------------------------------------------------------------- */

static struct slot *of_node(const struct run *r, const char *tenant, const char *node)
{
	char *key;
	struct slot *s;

	if (str_starts(node, OURS))
		return &r->slots[strtoul(node + 1, NULL, 10)];
	key = mem_printf("%s/%s", tenant, node);
	s = map_get(r->by_node, key);
	free(key);
	return s;
}

static struct slot *of_claim(const struct run *r, const char *claim)
{
	return str_starts(claim, OURS) ? &r->slots[strtoul(claim + 1, NULL, 10)]
				       : map_get(r->by_claim, claim);
}

/* Of a pod of a job; NOWHERE: the world's own. */
static uint32_t pod_of(const struct plan_pod *x)
{
	return str_eq(x->ns, OURS) ? (uint32_t)strtoul(x->name + 1, NULL, 10) : NOWHERE;
}

/* Marks where pods are planned, and notes in place where those of jobs have room now. */
static void read_pods(struct run *r, const struct plan *p)
{
	for (size_t i = 0; i < p->npods; i++) {
		const struct plan_pod *x = &p->pods[i];
		const uint32_t pod = pod_of(x);
		struct slot *s = x->outcome == PLAN_ON_NODE    ? of_node(r, x->tenant, x->target)
				 : x->outcome == PLAN_ON_CLAIM ? of_claim(r, x->target)
							       : NULL;

		if (!s)
			continue;
		s->wanted = r->plan;
		if (x->outcome == PLAN_ON_NODE && pod != NOWHERE) {
			r->place[pod] = (uint32_t)(s - r->slots);
			r->ready[r->owner[pod]]++;
		}
	}
}

struct starts {
	uint32_t *v;
	size_t n, cap;
};

/* Which of them start: of a gang all or none. */
static void decide_starts(struct run *r, const struct plan *p, struct starts *go)
{
	for (size_t i = 0; i < p->npods; i++) {
		const uint32_t pod = pod_of(&p->pods[i]);
		const uint32_t job = pod == NOWHERE ? 0 : r->owner[pod];

		if (pod == NOWHERE || r->place[pod] == NOWHERE)
			continue;
		if (r->s->jobs[job].gang && r->ready[job] < r->s->jobs[job].pods) {
			r->place[pod] = NOWHERE;
			continue;
		}
		mem_grow(go->v, go->n, go->cap);
		go->v[go->n++] = pod;
	}
	for (size_t i = 0; i < p->npods; i++)
		if (pod_of(&p->pods[i]) != NOWHERE)
			r->ready[r->owner[pod_of(&p->pods[i])]] = 0;
}

static bool waits(const struct run *r)
{
	return r->queue > 0 || r->foreign;
}

static void plan(struct run *r)
{
	OWN(arena) a = arena_new();
	const struct plan *p;
	struct starts go = {0};
	size_t nclaims;
	struct slot **opened;

	r->dirty = false;
	r->planned = r->now;
	r->plan++;
	if (!waits(r))
		return;
	p = plan_make(r->w, r->now, a);
	r->out->plans++;
	read_pods(r, p);
	decide_starts(r, p, &go);
	nclaims = p->nclaims;
	opened = arena_calloc(a, nclaims + 1, sizeof(struct slot *));
	for (size_t i = 0; i < nclaims; i++) {
		opened[i] = map_get(r->by_machine, p->claims[i].machine);
		claim_new(r, &p->claims[i]);
	}
	/* From here on the world changes, and with it the plan's names are gone. */
	for (size_t i = 0; i < nclaims; i++) {
		(void)world_put_claim(r->w, &opened[i]->claim);
		put_machine(r, opened[i], false);
	}
	for (size_t i = 0; i < go.n; i++)
		pod_starts(r, go.v[i]);
	for (size_t i = 0; i < go.n; i++)
		show(r, line_of(r, r->s->jobs[r->owner[go.v[i]]].tenant));
	free(go.v);
}

/* --- the beginning ------------------------------------------------------------------------------- */

static const struct world_instance_type *type_of(const struct run *r, const char *provider,
						 const char *name)
{
	const struct world_provider *p = world_find(r->w->providers, provider);

	for (size_t i = 0; p && i < p->types.n; i++)
		if (str_eq(p->types.v[i].name, name))
			return &p->types.v[i];
	return NULL;
}

static void read_machines(struct run *r, struct arena *a)
{
	struct map_iter it;

	map_for_each (it, r->w->machines) {
		const struct world_stock *k = it.value;
		struct slot *s = &r->slots[r->nslots++];

		s->m = k->m;
		s->m.name = arena_strdup(a, k->m.name);
		s->m.provider = arena_strdup(a, k->m.provider);
		s->m.instance_type = arena_strdup(a, k->m.instance_type);
		s->m.labels = world_copy_labels(&k->m.labels, a);
		s->m.not_offered = NULL;
		s->type = type_of(r, s->m.provider, s->m.instance_type);
		s->gpus = s->type ? gpus_of(&s->type->capacity) : 0;
		s->state = k->m.offered ? SLOT_FREE : SLOT_OUT;
		r->out->gpus += s->gpus;
		map_put(r->by_machine, s->m.name, s);
	}
}

static void read_claims(struct run *r)
{
	const struct world_list *l = world_claims(r->w);

	for (size_t i = 0; i < l->n; i++) {
		const struct world_claim *c = l->v[i];
		struct slot *s = c->machine ? map_get(r->by_machine, c->machine) : NULL;

		if (!s || !s->type)
			continue;
		set_claim(s, c);
		map_put(r->by_claim, s->claim.name, s);
		s->state = c->leaving || c->failed ? SLOT_LEAVING : SLOT_COMING;
	}
}

/* A Node that is not of a claim has a slot of its own, without a machine. */
static void read_nodes(struct run *r, struct arena *a)
{
	const struct world_list *l = world_nodes(r->w);

	for (size_t i = 0; i < l->n; i++) {
		const struct world_node *n = &((const struct world_host *)l->v[i])->node;
		struct slot *s = n->claim ? map_get(r->by_claim, n->claim) : NULL;

		if (!s) {
			s = &r->slots[r->nslots++];
			s->state = SLOT_OUT;
		} else if (s->state == SLOT_COMING) {
			s->state = SLOT_NODE;
			r->serving += s->gpus;
		}
		s->tenant = arena_strdup(a, n->tenant);
		s->node = arena_strdup(a, n->name);
		map_put(r->by_node, arena_printf(a, "%s/%s", n->tenant, n->name), s);
	}
}

static void read_pods_there(struct run *r)
{
	struct map_iter it;

	map_for_each (it, r->w->pods) {
		const struct world_one *p = it.value;
		struct slot *s = p->node ? of_node(r, p->tenant, p->node) : NULL;

		if (p->daemon)
			continue;
		r->foreign += !p->node && p->unschedulable;
		if (s) {
			s->pinned++;
			r->used += s->type ? gpus_of(&p->shape->pod.requests) : 0;
		}
	}
}

/* What is under way goes on; what rests is given back in time. */
static void begin_slots(struct run *r)
{
	for (uint32_t i = 0; i < r->nslots; i++) {
		struct slot *s = &r->slots[i];

		rests(r, s);
		if (s->state == SLOT_COMING)
			push(r, r->s->times.boot_ms, NODE_READY, i, 0);
		else if (s->state == SLOT_LEAVING)
			push(r, r->s->times.drain_ms + r->s->times.wipe_ms, MACHINE_FREE, i, 0);
	}
}

static int by_time(const void *x, const void *y, void *arg)
{
	const struct replay_job *jobs = arg;
	const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	if (jobs[a].at_ms != jobs[b].at_ms)
		return jobs[a].at_ms < jobs[b].at_ms ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void read_jobs(struct run *r, struct arena *a, struct arena *tmp)
{
	const struct replay_spec *s = r->s;
	uint32_t pods = 0;

	r->out->jobs = arena_calloc(a, s->njobs + 1, sizeof(*r->out->jobs));
	r->order = arena_calloc(tmp, s->njobs + 1, sizeof(*r->order));
	r->first = arena_calloc(tmp, s->njobs + 1, sizeof(*r->first));
	r->left = arena_calloc(tmp, s->njobs + 1, sizeof(*r->left));
	r->ready = arena_calloc(tmp, s->njobs + 1, sizeof(*r->ready));
	r->ended = arena_calloc(tmp, s->njobs + 1, sizeof(*r->ended));
	for (uint32_t i = 0; i < s->njobs; i++) {
		r->order[i] = i;
		r->first[i] = pods;
		pods += s->jobs[i].pods;
		r->out->jobs[i] = (struct replay_ran){-1, -1};
	}
	r->first[s->njobs] = pods;
	r->owner = arena_calloc(tmp, (size_t)pods + 1, sizeof(*r->owner));
	r->place = arena_calloc(tmp, (size_t)pods + 1, sizeof(*r->place));
	for (uint32_t i = 0; i < s->njobs; i++)
		for (uint32_t k = r->first[i]; k < r->first[i + 1]; k++) {
			r->owner[k] = i;
			r->place[k] = NOWHERE;
		}
	qsort_r(r->order, s->njobs, sizeof(*r->order), by_time, (void *)s->jobs);
}

/* --- the loop ------------------------------------------------------------------------------------ */

static void happens(struct run *r, const struct event *e)
{
	struct slot *s = &r->slots[e->what >= NODE_READY ? e->it : 0];

	switch (e->what) {
	case POD_ENDS:
		pod_ends(r, e->it);
		break;
	case JOB_ENDS:
		for (uint32_t p = r->first[e->it]; p < r->first[e->it + 1]; p++)
			pod_ends(r, p);
		break;
	case NODE_READY:
		node_ready(r, s);
		break;
	case NODE_IDLE:
		if (s->state != SLOT_NODE || s->gen != e->gen)
			break;
		if (s->wanted == r->plan && waits(r))
			rests(r, s);
		else
			leave(r, s);
		break;
	case MACHINE_FREE:
		machine_free(r, s);
		break;
	}
}

/* When something happens next. */
static int64_t next_time(const struct run *r)
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

static void loop(struct run *r)
{
	for (int64_t t; (t = next_time(r)) < r->s->until_ms;) {
		advance(r, t);
		while (r->come < r->s->njobs && r->s->jobs[r->order[r->come]].at_ms <= t)
			job_comes(r, r->order[r->come++]);
		while (r->nheap && r->heap[0].at <= t) {
			const struct event e = pop(r);

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
	struct run r = {.s = s, .out = out, .w = s->world, .dirty = true};

	assert(s->samples && s->until_ms > 0 && s->times.idle_ms > 0);
	r.planned = -s->times.settle_ms;
	r.by_machine = map_new(NULL);
	r.by_claim = map_new(NULL);
	r.by_node = map_new(NULL);
	r.lines = map_new(line_free);
	out->nsamples = s->samples;
	out->samples = arena_calloc(a, s->samples, sizeof(*out->samples));
	r.slots = arena_calloc(tmp, map_size(r.w->machines) + map_size(r.w->nodes) + 1,
			       sizeof(*r.slots));
	read_machines(&r, tmp);
	read_claims(&r);
	read_nodes(&r, tmp);
	read_pods_there(&r);
	begin_slots(&r);
	read_jobs(&r, a, tmp);
	loop(&r);
	for (uint32_t i = 0; i < r.nslots; i++)
		arena_free(r.slots[i].arena);
	map_free(r.by_machine);
	map_free(r.by_claim);
	map_free(r.by_node);
	map_free(r.lines);
	free(r.heap);
	return out;
}
