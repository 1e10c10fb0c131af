#include "controller/tenant/replan_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"

#define SETTLE_MS 100
/* maximum number of names per kind (pods, Nodes) that are passed on in one loop turn */
#define SLICE 250

struct replan_queue {
	struct replan_queue_hooks hooks;
	struct map *pods, *nodes;
	struct loop_timer timer;
};

static void mark(struct replan_queue *r, struct map *late, const char *name)
{
	if (!map_has(late, name))
		map_put(late, name, r);
	if (!loop_timer_active(&r->timer))
		loop_timer_start(&r->timer, SETTLE_MS);
}

void replan_queue_pod(struct replan_queue *r, const char *key)
{
	mark(r, r->pods, key);
}

void replan_queue_node(struct replan_queue *r, const char *name)
{
	mark(r, r->nodes, name);
}

void replan_queue_soon(struct replan_queue *r)
{
	loop_timer_start(&r->timer, 0);
}

static void tell_pod(const struct replan_queue *r, const char *key)
{
	OWN(arena) a = arena_new();
	char *ns = arena_strdup(a, key), *name = strchr(ns, '/');

	*name++ = '\0';
	r->hooks.pod(ns, name, r->hooks.arg);
}

static void tell_node(const struct replan_queue *r, const char *name)
{
	r->hooks.node(name, r->hooks.arg);
}

/* Passes on up to SLICE names of `late` and unmarks them. Returns true if more names remain. */
static bool tell_some(const struct replan_queue *r, struct map *late,
		      void (*tell)(const struct replan_queue *, const char *))
{
	struct map_iter it;
	size_t n = 0;

	map_for_each (it, late) {
		if (n++ == SLICE)
			return true;
		tell(r, it.key);
		map_del(late, it.key);
	}
	return false;
}

static void on_timer(void *arg)
{
	struct replan_queue *r = arg;
	bool more;

	r->hooks.turn(r->hooks.arg);
	more = tell_some(r, r->pods, tell_pod);
	more |= tell_some(r, r->nodes, tell_node);
	if (more)
		loop_timer_start(&r->timer, 0);
}

void replan_queue_clear(struct replan_queue *r)
{
	loop_timer_stop(&r->timer);
	map_clear(r->pods);
	map_clear(r->nodes);
}

struct replan_queue *replan_queue_new(struct loop_group *g, const struct replan_queue_hooks *hooks)
{
	struct replan_queue *r = mem_new(struct replan_queue);

	r->hooks = *hooks;
	r->pods = map_new(NULL);
	r->nodes = map_new(NULL);
	loop_timer_init(&r->timer, g, on_timer, r);
	return r;
}

void replan_queue_free(struct replan_queue *r)
{
	if (!r)
		return;
	replan_queue_clear(r);
	map_free(r->pods);
	map_free(r->nodes);
	free(r);
}
