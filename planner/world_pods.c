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

static const char *pod_key(const char *tenant, const char *ns, const char *name, struct world *w)
{
	const size_t t = strlen(tenant), n = strlen(ns);

	if (w->cap < t + n + strlen(name) + 3) {
		w->cap = t + n + strlen(name) + 3;
		w->text = mem_realloc_array(w->text, w->cap, 1);
	}
	memcpy(w->text, tenant, t);
	w->text[t] = '/';
	memcpy(w->text + t + 1, ns, n);
	w->text[t + 1 + n] = '/';
	memcpy(w->text + t + n + 2, name, strlen(name) + 1);
	return w->text;
}

static const char *append(char **at, const char *s)
{
	char *start = *at;
	size_t n;

	if (!s)
		return NULL;
	n = strlen(s) + 1;
	memcpy(start, s, n);
	*at += n;
	return start;
}

static size_t size_of(const char *s)
{
	return s ? strlen(s) + 1 : 0;
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
	const char *tenant = str_or(p->tenant, ""), *ns = str_or(p->ns, ""),
		   *name = str_or(p->name, ""), *node = node_of(p);
	struct world_one *c, *old;
	void **slot;
	char *at;

	c = mem_alloc(sizeof(*c) + size_of(tenant) + size_of(ns) + size_of(name) + size_of(p->uid) +
		      size_of(node) + size_of(p->nominated) + size_of(p->denied));
	at = c->text;
	c->tenant = append(&at, tenant);
	c->ns = append(&at, ns);
	c->name = append(&at, name);
	c->order = (size_t)(at - c->text);
	c->uid = append(&at, p->uid);
	c->node = append(&at, node);
	c->nominated = append(&at, p->nominated);
	c->denied = append(&at, p->denied);
	c->preempts = p->preempts;
	c->since = p->since;
	c->priority = p->priority;
	c->daemon = p->daemon;
	c->daemon_set = p->daemon_set;
	c->unschedulable = p->unschedulable;
	c->terminating = p->terminating;
	c->keep = (uint8_t)(p->node == node ? p->keep : WORLD_KEEP_UNKNOWN);
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
	const char *key = pod_key(tenant, ns, name, w);
	bool there = map_has(w->pods, key);

	map_del(w->pods, key);
	return there;
}
