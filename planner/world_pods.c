/*
 * world_pods: adds and deletes pods of the world, and updates the list of pending pods.
 * Tests: tests/unit/planner/test_world.c
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "planner/world_impl.h"

void world_drop_pod(void *it)
{
	struct world_one *p = it;
	struct world *w = p->shape->world;

	if (p->load) {
		load_leave(w, p);
	} else if (!p->done) {
		struct world_one *last = w->pending[--w->npending];

		w->pending[p->at] = last;
		last->at = p->at;
		w->ndemand -= world_is_demand(p);
	}
	gang_leave(w, p);
	shape_release(p->shape);
	shape_release(p->profile);
	free(p);
}

/* A text and its size with the terminating NUL; text NULL: size 0. */
struct piece {
	const char *text;
	size_t size;
};

static struct piece piece_of(const char *s)
{
	return (struct piece){s, s ? strlen(s) + 1 : 0};
}

static const char *append(char **at, struct piece s)
{
	char *start = *at;

	if (!s.text)
		return NULL;
	memcpy(start, s.text, s.size);
	*at += s.size;
	return start;
}

static const char *pod_key(struct piece tenant, struct piece ns, struct piece name, struct world *w)
{
	const size_t size = tenant.size + ns.size + name.size;

	if (w->cap < size) {
		w->cap = size;
		w->text = mem_realloc_array(w->text, w->cap, 1);
	}
	memcpy(w->text, tenant.text, tenant.size);
	memcpy(w->text + tenant.size, ns.text, ns.size);
	memcpy(w->text + tenant.size + ns.size, name.text, name.size);
	w->text[tenant.size - 1] = w->text[tenant.size + ns.size - 1] = '/';
	return w->text;
}

static bool same_pod(const struct world_one *a, const struct world_one *b)
{
	return a->shape == b->shape && a->profile == b->profile && a->since == b->since &&
	       a->priority == b->priority && a->daemon == b->daemon &&
	       a->daemon_set == b->daemon_set && a->unschedulable == b->unschedulable &&
	       str_eq(a->uid, b->uid) && a->terminating == b->terminating && a->saves == b->saves &&
	       a->check == b->check && a->done == b->done && str_eq(a->node, b->node) &&
	       str_eq(a->nominated, b->nominated) && str_eq(a->denied, b->denied) &&
	       a->preempts == b->preempts && a->keep == b->keep && a->keep_until == b->keep_until &&
	       a->deletion_cost == b->deletion_cost &&
	       (a->member ? a->member->gang : NULL) == (b->member ? b->member->gang : NULL) &&
	       (!a->member || a->member->min == b->member->min);
}

static void wait(struct world *w, struct world_one *c)
{
	if (w->npending == w->pending_cap) {
		w->pending_cap = w->pending_cap ? 2 * w->pending_cap : 64;
		w->pending = mem_realloc_array(w->pending, w->pending_cap, sizeof(*w->pending));
	}
	c->at = w->npending;
	w->pending[w->npending++] = c;
	w->ndemand += world_is_demand(c);
}

/* Returns the node to which the pod counts as bound; NULL: it counts as pending. A pod that is
 * neither bound, nor succeeded, nor marked unschedulable counts as bound to its nominated node; so
 * does a DaemonSet's pod that is marked unschedulable. */
static const char *node_of(const struct world_pod *p)
{
	return p->node || p->done || (p->unschedulable && !p->daemon) ? p->node : p->nominated;
}

bool world_put_pod(struct world *w, const struct world_pod *p)
{
	const char *on = node_of(p);
	const struct piece tenant = piece_of(str_or(p->tenant, "")),
			   ns = piece_of(str_or(p->ns, "")), name = piece_of(str_or(p->name, "")),
			   uid = piece_of(p->uid), node = piece_of(on),
			   nominated = piece_of(p->nominated), denied = piece_of(p->denied);
	struct world_one *c, *old;
	void **slot;
	char *at;

	c = mem_alloc(sizeof(*c) + tenant.size + ns.size + name.size + uid.size + node.size +
		      nominated.size + denied.size);
	at = c->text;
	c->tenant = append(&at, tenant);
	c->ns = append(&at, ns);
	c->name = append(&at, name);
	c->order = (size_t)(at - c->text);
	c->uid = append(&at, uid);
	c->node = append(&at, node);
	c->nominated = append(&at, nominated);
	c->denied = append(&at, denied);
	c->preempts = p->preempts;
	c->since = p->since;
	c->priority = p->priority;
	c->daemon = p->daemon;
	c->daemon_set = p->daemon_set;
	c->unschedulable = p->unschedulable;
	c->terminating = p->terminating;
	c->keep = (uint8_t)(p->node == on ? p->keep : WORLD_KEEP_UNKNOWN);
	c->keep_until = p->keep_until;
	c->deletion_cost = (int32_t)p->deletion_cost;
	c->saves = p->saves;
	c->check = p->check;
	c->done = p->done;
	c->shape = shape_of(w, p);
	c->profile = shape_profile(w, p);
	c->member = NULL;
	if (p->gang.key)
		gang_join(w, c, p->gang.key, p->gang.min);
	slot = map_slot(w->pods, pod_key(tenant, ns, name, w));
	old = *slot;
	if (old && same_pod(old, c)) {
		gang_leave(w, c);
		shape_release(c->shape);
		shape_release(c->profile);
		free(c);
		return false;
	}
	if (c->node)
		load_join(w, c);
	else if (!c->done)
		wait(w, c);
	*slot = c;
	if (old)
		world_drop_pod(old);
	return true;
}

bool world_del_pod(struct world *w, const char *tenant, const char *ns, const char *name)
{
	const char *key = pod_key(piece_of(tenant), piece_of(ns), piece_of(name), w);
	bool there = map_has(w->pods, key);

	map_del(w->pods, key);
	return there;
}
