/* sending: has one entry for each claim that is being created. Separate from the provisioner, so
 * that planning does not wait for answers. */
#include "controller/core/sending.h"

#include <stdlib.h>

#include "api/resources.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "controller/core/counters.h"

struct sending {
	struct context *c;
	/* Key: name of a NodeClaim; value: struct sent */
	struct map *claims;
	void (*over)(const char *name, void *arg);
	void *arg;
};

struct sent {
	struct sending *of;
	struct arena *arena;
	const struct node_claim *claim;
	/* True: the cache has contained the claim, so this copy of it no longer counts */
	bool seen;
	/* Runs the next attempt after a failed create or read */
	struct loop_timer give;
};

static void sent_free(void *p)
{
	struct sent *x = p;

	loop_timer_stop(&x->give);
	arena_free(x->arena);
	free(x);
}

/* Removes the entry from the map before calling over(), which may call sending_get(). */
static void end(struct sent *x)
{
	struct sending *s = x->of;
	const bool seen = x->seen;

	(void)map_take(s->claims, x->claim->meta.name);
	if (!seen)
		s->over(x->claim->meta.name, s->arg);
	sent_free(x);
}

/* Answer to the read of a claim whose creation was not confirmed: the claim may exist nevertheless.
 * Ends the entry only if the API server reports that the claim exists or does not exist. After any
 * other error the entry stays and the read is repeated, so that no demand gets two claims. */
static void on_read(json_t *o, const struct err *e, void *arg)
{
	struct sent *x = arg;

	if (e && e->kind != ERR_NOT_FOUND) {
		loop_timer_start(&x->give, SENDING_RETRY_MS);
		return;
	}
	/* mutant: launch-made-anew */
	if (!e)
		kube_cache_learn(x->of->c->cache[OBJECT_NODE_CLAIM], o);
	end(x);
}

static void on_give(void *arg)
{
	struct sent *x = arg;

	(void)kube_get(x->of->c->host, &object_resources[OBJECT_NODE_CLAIM], NULL,
		       x->claim->meta.name, on_read, x);
}

static void on_created(json_t *o, const struct err *e, void *arg)
{
	struct sent *x = arg;
	struct context *c = x->of->c;

	if (e) {
		log_warn("claim not created", LOG_E(e));
		loop_timer_start(&x->give, SENDING_RETRY_MS);
		return;
	}
	kube_cache_learn(c->cache[OBJECT_NODE_CLAIM], o);
	counters_claim_created(c->counters, json_str_at(o, "spec", "nodePoolRef", "name"));
	log_info("claim created", LOG_S("claim", json_str_at(o, "metadata", "name")),
		 LOG_S("tenant", json_str_at(o, "spec", "virtualClusterRef", "name")),
		 LOG_S("machine", json_str_at(o, "spec", "machineRef", "name")));
	end(x);
}

const char *sending_claim(struct sending *s, const json_t *o, struct err *e)
{
	OWN(arena) a = arena_new();
	struct node_claim *n;
	struct sent *x;
	void *out;

	if (object_decode(&object_kinds[OBJECT_NODE_CLAIM], o, a, &out, e) < 0)
		return NULL;
	n = out;
	/* Round down, because the API server stores whole seconds. */
	n->meta.creation_timestamp = loop_wall(s->c->loop) / 1000 * 1000;
	x = mem_new(struct sent);
	*x = (struct sent){.of = s, .claim = n};
	x->arena = give(a);
	loop_timer_init(&x->give, s->c->group, on_give, x);
	map_put(s->claims, n->meta.name, x);
	(void)kube_create(s->c->host, &object_resources[OBJECT_NODE_CLAIM], NULL, o, on_created, x);
	return n->meta.name;
}

const struct node_claim *sending_get(const struct sending *s, const char *name)
{
	const struct sent *x = map_get(s->claims, name);

	return x && !x->seen ? x->claim : NULL;
}

void sending_seen(struct sending *s, const char *name)
{
	struct sent *x = map_get(s->claims, name);

	if (x)
		x->seen = true;
}

void sending_each(const struct sending *s, void (*fn)(const struct node_claim *n, void *arg),
		  void *arg)
{
	struct map_iter it;

	map_for_each (it, s->claims)
		if (!((struct sent *)it.value)->seen)
			fn(((struct sent *)it.value)->claim, arg);
}

struct sending *sending_new(struct context *c, void (*over)(const char *name, void *arg), void *arg)
{
	struct sending *s = mem_new(struct sending);

	*s = (struct sending){.c = c, .claims = map_new(sent_free), .over = over, .arg = arg};
	return s;
}

void sending_free(struct sending *s)
{
	if (!s)
		return;
	map_free(s->claims);
	free(s);
}
