#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "kube/apiserver/server.h"

/*
 * Reads and writes objects in the store, and calls the observers of writes. Separate from the files
 * that answer requests, because the server itself writes objects too, for example in its garbage
 * collector.
 */

json_t *object_read(struct apiserver *a, const char *key, struct store_entry *entry)
{
	struct err e;

	return store_get(a->store, key, entry) ? json_parse(entry->value, entry->value_len, &e)
					       : NULL;
}

struct keys {
	struct arena *arena;
	const char **v;
	size_t n, cap;
};

static bool add_key(const struct store_entry *e, void *arg)
{
	struct keys *k = arg;

	mem_grow(k->v, k->n, k->cap);
	k->v[k->n++] = arena_strdup(k->arena, e->key);
	return true;
}

const char **object_keys(struct apiserver *a, const char *prefix, struct arena *m)
{
	struct keys k = {.arena = m};
	const char **keys;

	store_list(a->store, prefix, NULL, 0, add_key, &k);
	keys = arena_calloc(m, k.n + 1, sizeof(*keys));
	if (k.n)
		memcpy(keys, k.v, k.n * sizeof(*keys));
	free(k.v);
	return keys;
}

/* --- writing ---------------------------------------------------------------------------------- */

void observe(struct apiserver *a, struct observer *o)
{
	list_push_back(&a->observers, &o->link);
}

static void tell(struct apiserver *a, const struct written *w)
{
	list_for_each (o, &a->observers, struct observer, link)
		o->written(o, w);
	if (resource_is_crd(w->r) && w->obj)
		resources_put(a, w->obj);
	else if (resource_is_crd(w->r))
		resources_del(a, w->key + strlen(w->r->key));
}

void write_object(struct request *rq, const struct resource *r, const char *key, json_t *obj,
		  int64_t if_rev, struct answer *c)
{
	struct apiserver *a = rq->a;
	struct store_entry entry;
	OWN_JSON old = !obj && !list_empty(&a->observers) ? object_read(a, key, &entry) : NULL;
	char *text = obj ? json_text(obj) : NULL;
	struct store_change change = {
		.key = key,
		.value = text,
		.value_len = text ? strlen(text) : 0,
		.if_rev = if_rev,
	};
	struct err e;

	/* A dry run commits an empty change (0 changes), so that its reply, too, waits until the
	 * objects on which it depends are durable. */
	if (store_commit(a->store, &change, rq->dry_run ? 0 : 1, NULL, c ? answer_done : NULL, c,
			 &e) < 0) {
		if (c)
			answer_done(&e, c);
	} else {
		if (c)
			answer_waits(c);
		if (!rq->dry_run)
			tell(a, &(struct written){r, key, obj, old});
		if (answer_fill(c, text, change.value_len))
			text = NULL;
	}
	free(text);
}

/* The store increments its revision by one per change, so the revision of the next change is known
 * before it is committed. */
void object_set_rev(const struct apiserver *a, json_t *obj)
{
	char rev[24];

	snprintf(rev, sizeof(rev), "%llu", (unsigned long long)store_rev(a->store) + 1);
	json_object_set_new(object_meta(obj), "resourceVersion", json_string(rev));
}
