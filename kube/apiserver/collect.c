#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/erase.h"

/*
 * The garbage collector of kube-controller-manager. It deletes an object when the last of the
 * object's owners has been deleted. An owner deleted in the foreground waits for the dependents
 * that block its deletion. An owner that orphans its dependents is first removed from their
 * ownerReferences. The collector also empties terminating namespaces and CustomResourceDefinitions.
 *
 * The collector observes each write and does its work later, some objects per turn of the loop. The
 * maps refs and children contain only objects that have owners.
 */
#define PER_TURN 64
#define NAMESPACES "namespaces/"

struct collector {
	struct apiserver *a;
	struct observer observer;
	/* Maps the key of a dependent to its ownerReferences, a json_t. */
	struct map *refs;
	/* Maps the UID of an owner to a struct map of the keys of its dependents. */
	struct map *children;
	/* Keys of objects to process; the values are unused. */
	struct map *queue;
	/* UIDs of owners deleted since the queue was last empty. They are remembered, because an
	 * owner's kind may be deleted too and its state can then not be read. */
	struct map *gone;
	struct loop_defer run;
};

static void free_json(void *j)
{
	json_decref(j);
}

static void free_map(void *m)
{
	map_free(m);
}

/* --- kinds, keys ------------------------------------------------------------------------------ */

static const struct resource *resource_of_key(const struct apiserver *a, const char *key)
{
	for (const struct resource *r = NULL; resource_next(a, &r);)
		if (!r->renamed_event && str_starts(key, r->key))
			return r;
	return NULL;
}

static const struct resource *resource_of_ref(const struct apiserver *a, const json_t *ref,
					      struct arena *m)
{
	const char *kind = json_str_at(ref, "kind"), *version = json_str_at(ref, "apiVersion");

	for (const struct resource *r = NULL; resource_next(a, &r);)
		if (str_eq(r->kind, kind) && str_eq(resource_api_version(r, m), version))
			return r;
	return NULL;
}

/* Returns the key of the owner that ref, an ownerReference, names. NULL: this server has no such
 * kind, or the kind cannot own objects in namespace ns (ns NULL: the dependent is
 * cluster-scoped). */
static const char *owner_key(const struct apiserver *a, const json_t *ref, const char *ns,
			     struct arena *m)
{
	const struct resource *r = resource_of_ref(a, ref, m);
	const char *name = json_str_at(ref, "name");

	if (!r || !name || (r->namespaced && !ns))
		return NULL;
	return resource_key(r, m, ns, name);
}

static bool has_finalizer(const json_t *obj, const char *name)
{
	return json_has_str(json_at(obj, "metadata", "finalizers"), name);
}

static bool waits_for_dependents(const json_t *obj)
{
	return object_is_going(obj) && has_finalizer(obj, FINALIZER_FOREGROUND);
}

/* --- observed objects ------------------------------------------------------------------------- */

static void look_at(struct collector *c, const char *key)
{
	map_put(c->queue, key, c);
	loop_defer(&c->run);
}

static void unlink_refs(struct collector *c, const char *key)
{
	json_t *refs = map_get(c->refs, key), *ref;
	size_t i;

	json_array_foreach (refs, i, ref) {
		const char *uid = str_or(json_str_at(ref, "uid"), "");
		struct map *children = map_get(c->children, uid);

		if (children)
			map_del(children, key);
		if (children && map_size(children) == 0)
			map_del(c->children, uid);
	}
	map_del(c->refs, key);
}

static void link_refs(struct collector *c, const char *key, json_t *refs)
{
	size_t i;
	json_t *ref;

	map_put(c->refs, key, json_deep_copy(refs));
	json_array_foreach (refs, i, ref) {
		const char *uid = str_or(json_str_at(ref, "uid"), "");
		struct map *children = map_get(c->children, uid);

		if (!children) {
			children = map_new(NULL);
			map_put(c->children, uid, children);
		}
		map_put(children, key, c);
	}
}

/* Queues the owners of the object under key, because they may be waiting for the object's
 * deletion. */
static void look_at_owners(struct collector *c, const char *key, const char *ns)
{
	OWN(arena) m = arena_new();
	json_t *refs = map_get(c->refs, key), *ref;
	size_t i;

	json_array_foreach (refs, i, ref) {
		const char *owner = owner_key(c->a, ref, ns, m);

		if (owner)
			look_at(c, owner);
	}
}

static void look_at_children(struct collector *c, const char *uid)
{
	struct map *children = uid ? map_get(c->children, uid) : NULL;
	struct map_iter it;

	if (!children)
		return;
	map_put(c->gone, uid, c);
	map_for_each (it, children)
		look_at(c, it.key);
}

static void note(struct collector *c, const char *key, const json_t *old, const json_t *obj)
{
	json_t *refs = json_at(obj, "metadata", "ownerReferences");
	const char *ns = json_str_at(obj ? obj : old, "metadata", "namespace");

	if (map_has(c->refs, key) && !(refs && json_equal(refs, (json_t *)map_get(c->refs, key)))) {
		look_at_owners(c, key, ns);
		unlink_refs(c, key);
	}
	if (json_array_size(refs) && !map_has(c->refs, key)) {
		link_refs(c, key, refs);
		look_at(c, key);
	}
	if (!obj)
		look_at_children(c, json_str_at(old, "metadata", "uid"));
	else if (object_is_going(obj) || str_starts(key, NAMESPACES))
		look_at(c, key);
}

static void on_written(struct observer *o, const struct written *w)
{
	note(container_of(o, struct collector, observer), w->key, w->old, w->obj);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void save(struct request *rq, const char *key, json_t *obj)
{
	if (object_is_going(obj) && object_may_go(rq->a, rq->r, obj) &&
	    object_is_emptied(rq, rq->r, json_str_at(obj, "metadata", "name"))) {
		remove_object(rq, rq->r, key, obj, NULL);
		return;
	}
	object_set_rev(rq->a, obj);
	write_object(rq, rq->r, key, obj, -1, NULL);
}

static void drop_finalizer(struct request *rq, const char *key, json_t *obj, const char *name)
{
	json_t *list = json_at(obj, "metadata", "finalizers");

	for (size_t i = json_array_size(list); i-- > 0;)
		if (str_eq(json_string_value(json_array_get(list, i)), name))
			json_array_remove(list, i);
	if (json_array_size(list) == 0)
		json_object_del(object_meta(obj), "finalizers");
	save(rq, key, obj);
}

static void save_refs(struct request *rq, const char *key, json_t *obj)
{
	if (json_array_size(json_at(obj, "metadata", "ownerReferences")) == 0)
		json_object_del(object_meta(obj), "ownerReferences");
	save(rq, key, obj);
}

/* Removes from obj each ownerReference i for which stands[i] is false, and saves obj. */
static void drop_refs(struct request *rq, const char *key, json_t *obj, const bool *stands)
{
	json_t *refs = json_at(obj, "metadata", "ownerReferences");

	for (size_t i = json_array_size(refs); i-- > 0;)
		if (!stands[i])
			json_array_remove(refs, i);
	save_refs(rq, key, obj);
}

static void drop_owner(struct request *rq, const char *key, json_t *obj, const char *uid)
{
	json_t *refs = json_at(obj, "metadata", "ownerReferences");

	for (size_t i = json_array_size(refs); i-- > 0;)
		if (str_eq(json_str_at(json_array_get(refs, i), "uid"), uid))
			json_array_remove(refs, i);
	save_refs(rq, key, obj);
}

/* --- one object ------------------------------------------------------------------------------- */

/* Returns the keys of the object's dependents, NULL-terminated, in the arena. */
static const char **children_of(const struct collector *c, const json_t *obj, struct arena *m)
{
	const struct map *children =
		map_get(c->children, str_or(json_str_at(obj, "metadata", "uid"), ""));
	const char **keys = arena_calloc(m, (children ? map_size(children) : 0) + 1, sizeof(*keys));
	struct map_iter it;
	size_t n = 0;

	if (children)
		map_for_each (it, children)
			keys[n++] = arena_strdup(m, it.key);
	return keys;
}

static bool blocks(const struct collector *c, const char *key, const char *owner_uid)
{
	json_t *refs = map_get(c->refs, key), *ref;
	size_t i;

	json_array_foreach (refs, i, ref)
		if (str_eq(json_str_at(ref, "uid"), owner_uid) &&
		    json_true_at(ref, "blockOwnerDeletion"))
			return true;
	return false;
}

/* Removes the finalizer of a foreground deletion if no dependent blocks the owner obj any more.
 * Queues the dependents, because each is deleted when it is processed itself. */
static void wait_for_dependents(struct collector *c, struct request *rq, const char *key,
				json_t *obj)
{
	const char *uid = json_str_at(obj, "metadata", "uid");
	bool blocked = false;

	for (const char **k = children_of(c, obj, rq->arena); *k; k++) {
		struct store_entry entry;
		OWN_JSON child = object_read(rq->a, *k, &entry);

		if (!child)
			continue;
		blocked = blocked || blocks(c, *k, uid);
		if (!object_is_going(child))
			look_at(c, *k);
	}
	if (!blocked)
		drop_finalizer(rq, key, obj, FINALIZER_FOREGROUND);
}

static void orphan_dependents(struct collector *c, struct request *rq, const char *key, json_t *obj)
{
	const char *uid = json_str_at(obj, "metadata", "uid");

	for (const char **k = children_of(c, obj, rq->arena); *k; k++) {
		struct store_entry entry;
		OWN_JSON child = object_read(rq->a, *k, &entry);
		struct request of_child = {
			.a = rq->a, .arena = rq->arena, .r = resource_of_key(rq->a, *k)};

		if (child && of_child.r)
			drop_owner(&of_child, *k, child, uid);
	}
	drop_finalizer(rq, key, obj, FINALIZER_ORPHAN);
}

enum owner { OWNER_STANDS, OWNER_WAITS, OWNER_GONE };

static enum owner state_of_owner(const struct collector *c, struct request *rq, const json_t *ref,
				 const char *ns)
{
	const char *key = owner_key(rq->a, ref, ns, rq->arena);
	struct store_entry entry;
	OWN_JSON owner = key ? object_read(rq->a, key, &entry) : NULL;

	if (map_has(c->gone, str_or(json_str_at(ref, "uid"), "")))
		return OWNER_GONE;
	/* This server does not serve the owner's kind and cannot know whether the owner exists:
	 * keep the dependent. */
	if (!key)
		return OWNER_STANDS;
	if (!owner || !str_eq(json_str_at(owner, "metadata", "uid"), json_str_at(ref, "uid")))
		return OWNER_GONE;
	return waits_for_dependents(owner) ? OWNER_WAITS : OWNER_STANDS;
}

static void check_owners(struct collector *c, struct request *rq, const char *key, json_t *obj)
{
	const json_t *refs = json_at(obj, "metadata", "ownerReferences");
	const char *ns = json_str_at(obj, "metadata", "namespace");
	size_t count[3] = {0}, i;
	bool *stands = arena_calloc(rq->arena, json_array_size(refs) + 1, sizeof(*stands));
	json_t *ref;

	json_array_foreach (refs, i, ref) {
		enum owner state = state_of_owner(c, rq, ref, ns);

		stands[i] = state == OWNER_STANDS;
		count[state]++;
	}
	if (json_array_size(refs) == 0 || count[OWNER_STANDS] == json_array_size(refs))
		return;
	if (count[OWNER_STANDS])
		drop_refs(rq, key, obj, stands);
	else if (!object_is_going(obj))
		object_delete(rq, key, obj,
			      count[OWNER_WAITS] && *children_of(c, obj, rq->arena)
				      ? POLICY_FOREGROUND
				      : POLICY_DEFAULT);
}

/* Creates the objects that every namespace has: the ServiceAccount default, and the ConfigMap with
 * the server's CA certificate. */
static void furnish(struct apiserver *a, const char *ns)
{
	OWN_JSON account =
		json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", "v1", "kind", "ServiceAccount",
			  "metadata", "name", "default", "namespace", ns);
	OWN_JSON ca = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s}}", "apiVersion", "v1", "kind",
				"ConfigMap", "metadata", "name", "kube-root-ca.crt", "namespace",
				ns, "data", "ca.crt", str_or(a->ca_pem, ""));

	apiserver_create(a, "", "serviceaccounts", account);
	if (a->ca_pem)
		apiserver_create(a, "", "configmaps", ca);
}

static void look(struct collector *c, const char *key)
{
	struct request rq = {.a = c->a, .arena = arena_new(), .r = resource_of_key(c->a, key)};
	struct store_entry entry;
	OWN_JSON obj = rq.r ? object_read(c->a, key, &entry) : NULL;
	bool ns = rq.r && str_eq(rq.r->key, NAMESPACES);
	bool holder = rq.r && (ns || resource_is_crd(rq.r));

	if (!obj)
		; /* Do nothing: the object was deleted, and on_written() has recorded that. */
	else if (object_is_going(obj) && holder)
		object_empty(&rq, rq.r, json_str_at(obj, "metadata", "name"));
	else if (ns)
		furnish(c->a, json_str_at(obj, "metadata", "name"));
	else if (object_is_going(obj) && has_finalizer(obj, FINALIZER_ORPHAN))
		orphan_dependents(c, &rq, key, obj);
	else if (waits_for_dependents(obj))
		wait_for_dependents(c, &rq, key, obj);
	else
		check_owners(c, &rq, key, obj);
	arena_free(rq.arena);
}

static void on_run(void *arg)
{
	struct collector *c = arg;
	struct map_iter it;

	for (int i = 0; i < PER_TURN && map_first(c->queue, &it); i++) {
		char *key = mem_strdup(it.key);

		map_del(c->queue, key);
		look(c, key);
		free(key);
	}
	if (map_size(c->queue))
		loop_defer(&c->run);
	else
		map_clear(c->gone);
}

/* --- life cycle ------------------------------------------------------------------------------- */

static bool note_one(const struct store_entry *e, void *arg)
{
	struct err err;
	OWN_JSON obj =
		e->value_len && *e->value == '{' ? json_parse(e->value, e->value_len, &err) : NULL;

	if (obj)
		note(arg, e->key, NULL, obj);
	return true;
}

void collector_start(struct apiserver *a)
{
	struct collector *c = mem_new(struct collector);

	c->a = a;
	c->refs = map_new(free_json);
	c->children = map_new(free_map);
	c->queue = map_new(NULL);
	c->gone = map_new(NULL);
	c->observer.written = on_written;
	loop_defer_init(&c->run, a->group, on_run, c);
	a->collector = c;
	store_list(a->store, "", NULL, 0, note_one, c);
	observe(a, &c->observer);
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	list_remove(&c->observer.link);
	loop_defer_cancel(&c->run);
	map_free(c->refs);
	map_free(c->children);
	map_free(c->queue);
	map_free(c->gone);
	free(c);
}
