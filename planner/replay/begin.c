/*
 * begin: creates the initial state of a replay from the world (slots, claims, Nodes, pods),
 * and sorts the jobs by time of arrival.
 * Tests: tests/unit/planner/replay/test_replay.c
 */
#include "planner/replay/replay_impl.h"

#include <stdlib.h>

#include "base/str.h"

static const struct world_instance_type *type_of(const struct replaying *r, const char *provider,
						 const char *name)
{
	const struct world_provider *p = world_find(r->w->providers, provider);

	for (size_t i = 0; p && i < p->types.n; i++)
		if (str_eq(p->types.v[i].name, name))
			return &p->types.v[i];
	return NULL;
}

static void read_machines(struct replaying *r, struct arena *a)
{
	struct map_iter it;

	map_for_each (it, r->w->machines) {
		const struct world_stock *k = it.value;
		struct replay_slot *s = &r->slots[r->nslots++];

		s->m = k->m;
		s->m.name = arena_strdup(a, k->m.name);
		s->m.provider = arena_strdup(a, k->m.provider);
		s->m.instance_type = arena_strdup(a, k->m.instance_type);
		s->m.labels = world_copy_labels(&k->m.labels, a);
		s->m.not_offered = NULL;
		s->type = type_of(r, s->m.provider, s->m.instance_type);
		s->gpus = s->type ? replay_gpus(&s->type->capacity) : 0;
		s->state = k->m.offered ? SLOT_FREE : SLOT_OUT;
		r->out->gpus += s->gpus;
		map_put(r->by_machine, s->m.name, s);
	}
}

static void read_claims(struct replaying *r)
{
	const struct world_list *l = world_claims(r->w);

	for (size_t i = 0; i < l->n; i++) {
		const struct world_claim *c = l->v[i];
		struct replay_slot *s = c->machine ? map_get(r->by_machine, c->machine) : NULL;

		if (!s || !s->type)
			continue;
		replay_set_claim(s, c);
		map_put(r->by_claim, s->claim.name, s);
		s->state = c->leaving || c->failed ? SLOT_LEAVING : SLOT_COMING;
	}
}

/* Assigns Nodes to slots. A Node without a claim gets a slot of its own, without a machine. */
static void read_nodes(struct replaying *r, struct arena *a)
{
	const struct world_list *l = world_nodes(r->w);

	for (size_t i = 0; i < l->n; i++) {
		const struct world_node *n = &((const struct world_host *)l->v[i])->node;
		struct replay_slot *s = n->claim ? map_get(r->by_claim, n->claim) : NULL;

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

static void read_pods_there(struct replaying *r)
{
	struct map_iter it;

	map_for_each (it, r->w->pods) {
		const struct world_one *p = it.value;
		struct replay_slot *s = p->node ? replay_of_node(r, p->tenant, p->node) : NULL;

		if (p->daemon)
			continue;
		r->foreign += !p->node && p->unschedulable;
		if (s) {
			s->pinned++;
			r->used += s->type ? replay_gpus(&p->shape->pod.requests) : 0;
		}
	}
}

/* Schedules the next event of each slot: the end of a transition in progress (boot, wipe), or, for
 * a Node without pods, its return after idle_ms. */
static void begin_slots(struct replaying *r)
{
	for (uint32_t i = 0; i < r->nslots; i++) {
		struct replay_slot *s = &r->slots[i];

		replay_rests(r, s);
		if (s->state == SLOT_COMING)
			replay_push(r, r->s->times.boot_ms, NODE_READY, i, 0);
		else if (s->state == SLOT_LEAVING)
			replay_push(r, r->s->times.drain_ms + r->s->times.wipe_ms, MACHINE_FREE, i,
				    0);
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

static void read_jobs(struct replaying *r, struct arena *a, struct arena *tmp)
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
		r->out->jobs[i] = (struct replay_ran){.start_ms = -1, .end_ms = -1};
	}
	r->first[s->njobs] = pods;
	r->owner = arena_calloc(tmp, (size_t)pods + 1, sizeof(*r->owner));
	r->place = arena_calloc(tmp, (size_t)pods + 1, sizeof(*r->place));
	for (uint32_t i = 0; i < s->njobs; i++)
		for (uint32_t k = r->first[i]; k < r->first[i + 1]; k++) {
			r->owner[k] = i;
			r->place[k] = REPLAY_NOWHERE;
		}
	qsort_r(r->order, s->njobs, sizeof(*r->order), by_time, (void *)s->jobs);
}

void replay_begin(struct replaying *r, struct arena *a, struct arena *tmp)
{
	r->slots = arena_calloc(tmp, map_size(r->w->machines) + map_size(r->w->nodes) + 1,
				sizeof(*r->slots));
	read_machines(r, tmp);
	read_claims(r);
	read_nodes(r, tmp);
	read_pods_there(r);
	begin_slots(r);
	read_jobs(r, a, tmp);
}
