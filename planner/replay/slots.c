/*
 * slots: the heap of events, and the contents of a slot.
 * Tests: tests/unit/planner/replay/test_replay.c
 */
#include "planner/replay/replay_impl.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

double replay_gpus(const struct resources *r)
{
	const struct quantity *q = resources_get(r, PLANNING_GPU);

	return q ? (double)q->nano / 1e9 : 0;
}

static bool before(const struct replay_event *a, const struct replay_event *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

void replay_push(struct replaying *r, int64_t after_ms, enum replay_what what, uint32_t it,
		 uint32_t gen)
{
	const struct replay_event e = {r->now + after_ms, r->seq++, what, it, gen};
	size_t i = r->nheap++;

	mem_grow(r->heap, i, r->cap);
	for (; i && before(&e, &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
		r->heap[i] = r->heap[(i - 1) / 2];
	r->heap[i] = e;
}

struct replay_event replay_pop(struct replaying *r)
{
	const struct replay_event top = r->heap[0], last = r->heap[--r->nheap];
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

void replay_rests(struct replaying *r, struct replay_slot *s)
{
	if (s->pods == 0 && s->pinned == 0 && s->state == SLOT_NODE)
		replay_push(r, r->s->times.idle_ms, NODE_IDLE, (uint32_t)(s - r->slots), ++s->gen);
}

void replay_set_claim(struct replay_slot *s, const struct world_claim *c)
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

struct replay_slot *replay_of_node(const struct replaying *r, const char *tenant, const char *node)
{
	char *key;
	struct replay_slot *s;

	if (str_starts(node, REPLAY_OURS))
		return &r->slots[strtoul(node + 1, NULL, 10)];
	key = mem_printf("%s/%s", tenant, node);
	s = map_get(r->by_node, key);
	free(key);
	return s;
}
