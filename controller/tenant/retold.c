#include "controller/tenant/retold.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"

#define SETTLE_MS 100
/* maximum number of names per kind (pods, Nodes) that are passed on in one loop turn */
#define SLICE 250

struct retold {
	struct retold_hooks hooks;
	struct map *pods, *nodes;
	struct loop_timer timer;
};

static void mark(struct retold *r, struct map *late, const char *name)
{
	if (!map_has(late, name))
		map_put(late, name, r);
	if (!loop_timer_active(&r->timer))
		loop_timer_start(&r->timer, SETTLE_MS);
}

void retold_pod(struct retold *r, const char *key)
{
	mark(r, r->pods, key);
}

void retold_node(struct retold *r, const char *name)
{
	mark(r, r->nodes, name);
}

void retold_soon(struct retold *r)
{
	loop_timer_start(&r->timer, 0);
}

static void tell_pod(const struct retold *r, const char *key)
{
	OWN(arena) a = arena_new();
	char *ns = arena_strdup(a, key), *name = strchr(ns, '/');

	*name++ = '\0';
	r->hooks.pod(ns, name, r->hooks.arg);
}

static void tell_node(const struct retold *r, const char *name)
{
	r->hooks.node(name, r->hooks.arg);
}

/* Passes on up to SLICE names of `late` and unmarks them. Returns true if more names remain. */
static bool tell_some(const struct retold *r, struct map *late,
		      void (*tell)(const struct retold *, const char *))
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
	struct retold *r = arg;
	bool more;

	r->hooks.turn(r->hooks.arg);
	more = tell_some(r, r->pods, tell_pod);
	more |= tell_some(r, r->nodes, tell_node);
	if (more)
		loop_timer_start(&r->timer, 0);
}

void retold_clear(struct retold *r)
{
	loop_timer_stop(&r->timer);
	map_clear(r->pods);
	map_clear(r->nodes);
}

struct retold *retold_new(struct loop_group *g, const struct retold_hooks *hooks)
{
	struct retold *r = mem_new(struct retold);

	r->hooks = *hooks;
	r->pods = map_new(NULL);
	r->nodes = map_new(NULL);
	loop_timer_init(&r->timer, g, on_timer, r);
	return r;
}

void retold_free(struct retold *r)
{
	if (!r)
		return;
	retold_clear(r);
	map_free(r->pods);
	map_free(r->nodes);
	free(r);
}
