#include "kube/cache.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/reflect.h"

/*
 * Stores projections (the caller's structs) of the objects of one resource.
 *
 * The first list goes straight into the store, because nobody may rely on the store before
 * on_sync(). A later list is assembled beside the store: changed objects are collected in `staged`,
 * unchanged ones only marked, so that a relist of an unchanged cluster costs no memory. At the end
 * of the list all its changes are applied to the store at once; then on_change() is called for
 * each.
 *
 * A replaced entry is freed in the next turn of the loop, because a caller may use the entry until
 * then.
 */
#define MAX_NAME 253
#define KEY_SIZE (2 * MAX_NAME + 2)
#define RV_SIZE 24 /* A Kubernetes resourceVersion is a 64-bit number in decimal. */
/* Interval in ms between lists while an object is left out because of the limits. */
#define AGAIN_MS 300000

struct slot {
	/* Entry as callers see it. pub.object NULL, possible in `staged` only: project() returned
	 * NULL for the new list's version of the object, so the object is no longer wanted. */
	struct kube_entry pub;
	struct arena *arena;
	/* Number (list_no) of the last list that contained the object. */
	uint64_t seen;
	/* Digest of the source object's JSON; 0: not known. */
	uint64_t digest;
	/* Holds the text of pub.rv if it fits; a longer version is in the arena. */
	char rv[RV_SIZE];
	/* True: the object comes from the reply to a write by this client; lists and watch may not
	 * have reached its version yet. */
	bool learned;
	struct list grave;
};

/* Number of projections, and their total size in bytes. */
struct room {
	size_t n, bytes;
};

struct kube_cache {
	struct loop_group *group;
	/* Copy of the caller's spec. Its string pointers may be dangling: do not use them. */
	struct kube_cache_spec spec;
	char *ns;
	/* True: the cache has selectors, so only the server knows which objects match. */
	bool selective;
	struct kube_reflect *reflect;
	struct map *slots, *staged;
	uint64_t list_no;
	bool synced, healthy;
	/* Number of owner callbacks that are running (they may be nested). */
	unsigned telling;
	struct list graves;
	/* Objects learned inside a callback, to be applied afterwards. */
	json_t *to_learn;
	struct loop_defer bury, learn;
	/* Sizes of the last projections, because the objects of a resource are alike. */
	struct arena_sizes sizes;
	/* Number and size of the projections in all slots. */
	struct room used;
	/* Number and size of the projections in the current list so far, staged or unchanged. */
	struct room again;
	bool over, over_in_list;
	struct loop_timer list_again;
};

struct change {
	struct slot *old, *new_;
};

/* --- slots ------------------------------------------------------------------------------------ */

static void slot_free(struct slot *s)
{
	if (!s)
		return;
	list_remove(&s->grave);
	arena_free(s->arena);
	free(s);
}

static void bury(struct kube_cache *c, struct slot *s)
{
	if (!s)
		return;
	list_push_back(&c->graves, &s->grave);
	loop_defer(&c->bury);
}

static void on_bury(void *arg)
{
	struct kube_cache *c = arg;
	struct slot *s;

	while ((s = list_first(&c->graves, struct slot, grave)))
		slot_free(s);
}

static void tell_bad(struct kube_cache *c, const json_t *object, const struct err *e)
{
	c->telling++;
	if (c->spec.on_bad)
		c->spec.on_bad(object, e, c->spec.arg);
	c->telling--;
}

static void tell_one(struct kube_cache *c, const struct slot *old, const struct slot *new_)
{
	c->telling++;
	if (c->spec.on_change)
		c->spec.on_change(old ? &old->pub : NULL, new_ ? &new_->pub : NULL, c->spec.arg);
	c->telling--;
}

static bool same_object(const struct slot *a, const char *uid)
{
	return str_eq(a->pub.uid, uid);
}

/* Calls on_change(). If the uid has changed, the old object is reported as deleted first, because a
 * different uid under the same name is a different object. */
static void tell(struct kube_cache *c, struct slot *old, struct slot *new_)
{
	if (old && new_ && !same_object(old, new_->pub.uid)) {
		tell_one(c, old, NULL);
		old = NULL;
	}
	tell_one(c, old, new_);
}

static void room_add(struct room *r, const struct slot *s)
{
	r->n++;
	r->bytes += arena_size(s->arena);
}

static void room_take(struct room *r, const struct slot *s)
{
	r->n--;
	r->bytes -= arena_size(s->arena);
}

static void change(struct kube_cache *c, const char *key, struct slot *new_)
{
	struct slot *old = map_take(c->slots, key);

	if (old)
		room_take(&c->used, old);
	if (new_) {
		map_put(c->slots, key, new_);
		room_add(&c->used, new_);
	}
	if (old || new_)
		tell(c, old, new_);
	bury(c, old);
}

/* --- one object ------------------------------------------------------------------------------- */

/* Identity and version of an object; the strings belong to the JSON object. */
struct who {
	const char *ns, *name, *uid, *rv;
	char key[KEY_SIZE];
};

static int identify(struct kube_cache *c, const json_t *object, struct who *w)
{
	const json_t *m = json_object_get(object, "metadata");
	struct err e;

	w->name = json_str_at(m, "name");
	w->ns = str_or(json_str_at(m, "namespace"), "");
	w->uid = str_or(json_str_at(m, "uid"), "");
	w->rv = str_or(json_str_at(m, "resourceVersion"), "");
	/* Names with a slash are refused, because "NS/NAME" would then be ambiguous: two objects
	 * could share a key. */
	if (str_empty(w->name) || strlen(w->name) > MAX_NAME || strlen(w->ns) > MAX_NAME ||
	    strchr(w->name, '/') || strchr(w->ns, '/')) {
		err_note(&e, ERR_PROTOCOL, 0, "an object without a proper metadata.name");
		tell_bad(c, object, &e);
		return -1;
	}
	(void)snprintf(w->key, sizeof(w->key), "%s/%s", w->ns, w->name);
	return 0;
}

enum verdict { KEEP, LEAVE_OUT, NO_ROOM, TAKE };

/* Projects an object. TAKE: the projection is in *out. KEEP: the object cannot be read; the
 * previous projection stays. Any other verdict: the object is not wanted. */
static enum verdict project(struct kube_cache *c, const json_t *object, const struct who *w,
			    struct slot **out)
{
	struct arena *a = arena_like(&c->sizes);
	struct err e = {0};
	struct slot *s;
	void *p;

	c->telling++;
	p = c->spec.project(object, a, c->spec.arg, &e);
	c->telling--;
	if (!p) {
		arena_free(a);
		if (e.kind == ERR_NONE)
			return LEAVE_OUT;
		if (e.kind == ERR_CAPACITY)
			return NO_ROOM;
		tell_bad(c, object, &e);
		return KEEP;
	}
	s = mem_new(struct slot);
	s->arena = a;
	list_init(&s->grave);
	s->pub.object = p;
	s->pub.ns = *w->ns ? arena_shared(a, w->ns) : "";
	s->pub.name = arena_shared(a, w->name);
	s->pub.uid = arena_shared(a, w->uid);
	s->pub.rv = str_copy(s->rv, sizeof(s->rv), w->rv) ? s->rv : arena_strdup(a, w->rv);
	arena_note(&c->sizes, a);
	*out = s;
	return TAKE;
}

/* --- limits ----------------------------------------------------------------------------------- */

static void set_over(struct kube_cache *c, bool over)
{
	bool was = c->over;

	c->over = over;
	if (over && !loop_timer_active(&c->list_again))
		loop_timer_start(&c->list_again, AGAIN_MS);
	if (!was || over)
		return;
	loop_timer_stop(&c->list_again);
	c->telling++;
	if (c->spec.on_over)
		c->spec.on_over(NULL, c->spec.arg);
	c->telling--;
}

static void on_list_again(void *arg)
{
	struct kube_cache *c = arg;

	kube_reflect_again(c->reflect);
	loop_timer_start(&c->list_again, AGAIN_MS);
}

/* True if slot s, which replaces old (NULL: none), stays within the limits of the spec. taken:
 * number and size of the projections stored so far, old included. */
static bool fits(const struct kube_cache *c, struct room taken, const struct slot *old,
		 const struct slot *s)
{
	const struct kube_cache_spec *most = &c->spec;
	size_t size = arena_size(s->arena);

	if (old)
		room_take(&taken, old);
	return (!most->max_each || size <= most->max_each) &&
	       (!most->max_objects || taken.n < most->max_objects) &&
	       (!most->max_bytes || taken.bytes + size <= most->max_bytes);
}

/* Projects an object as project() does, but treats an object beyond the limits as not wanted. */
static enum verdict project_within(struct kube_cache *c, const json_t *object, const struct who *w,
				   struct room taken, const struct slot *old, struct slot **out)
{
	enum verdict v = project(c, object, w, out);

	if (v == TAKE && !fits(c, taken, old, *out)) {
		slot_free(*out);
		*out = NULL;
		v = NO_ROOM;
	}
	if (v != NO_ROOM)
		return v;
	if (c->synced)
		c->over_in_list = true;
	set_over(c, true);
	c->telling++;
	if (c->spec.on_over)
		c->spec.on_over(object, c->spec.arg);
	c->telling--;
	return LEAVE_OUT;
}

/* True if the version in w is not newer than the stored one. */
static bool is_old_news(const struct slot *old, const struct who *w)
{
	if (!old)
		return false;
	return kube_rv_older(w->rv, old->pub.rv) ||
	       (same_object(old, w->uid) && *w->rv && str_eq(w->rv, old->pub.rv));
}

/* Stores an object from a list, an event or a reply, unless the stored version is newer. learned:
 * the object comes from the reply to a write. digest: hash of the object (see kube/reflect.h); 0:
 * not known. */
static void take(struct kube_cache *c, const json_t *object, const struct who *w, bool learned,
		 uint64_t digest)
{
	struct slot *old = map_get(c->slots, w->key), *s = NULL;

	if (is_old_news(old, w)) {
		if (!learned)
			old->seen = c->list_no;
		return;
	}
	switch (project_within(c, object, w, c->used, old, &s)) {
	case KEEP:
		if (old)
			old->seen = c->list_no;
		break;
	case LEAVE_OUT:
	case NO_ROOM:
		change(c, w->key, NULL);
		break;
	case TAKE:
		s->seen = learned ? 0 : c->list_no;
		s->learned = learned;
		s->digest = digest;
		change(c, w->key, s);
		break;
	}
}

/* --- lists ------------------------------------------------------------------------------------ */

static void staged_clear(struct kube_cache *c)
{
	struct map_iter it;

	map_for_each (it, c->staged)
		slot_free(it.value);
	map_clear(c->staged);
}

static void on_list_begin(void *arg)
{
	struct kube_cache *c = arg;

	staged_clear(c);
	c->list_no++;
	c->again = (struct room){0};
	c->over_in_list = false;
}

/* Marks the stored slot as contained in the current list; its projection stays. */
static void keep(struct kube_cache *c, struct slot *old)
{
	if (!old || old->seen == c->list_no)
		return;
	old->seen = c->list_no;
	room_add(&c->again, old);
}

static void stage(struct kube_cache *c, const char *key, struct slot *s)
{
	struct slot *before = map_take(c->staged, key);

	if (before && before->arena)
		room_take(&c->again, before);
	slot_free(before);
	map_put(c->staged, key, s);
	if (s->arena)
		room_add(&c->again, s);
}

static void on_list_item(json_t *object, uint64_t digest, void *arg)
{
	struct kube_cache *c = arg;
	struct slot *old, *s = NULL;
	struct who w;

	if (identify(c, object, &w) < 0)
		return;
	if (!c->synced) {
		take(c, object, &w, false, digest);
		return;
	}
	old = map_get(c->slots, w.key);
	if (old && same_object(old, w.uid) && *w.rv && str_eq(old->pub.rv, w.rv)) {
		keep(c, old);
		return;
	}
	switch (project_within(c, object, &w, c->again, NULL, &s)) {
	case KEEP:
		keep(c, old);
		break;
	case LEAVE_OUT:
	case NO_ROOM:
		if (!old)
			break;
		s = mem_new(struct slot);
		list_init(&s->grave);
		stage(c, w.key, s);
		break;
	case TAKE:
		s->seen = c->list_no;
		s->digest = digest;
		stage(c, w.key, s);
		break;
	}
}

/* True if the slot comes from a write by this client that is newer than version rv of the list. */
static bool is_ahead(const struct slot *s, const char *rv)
{
	return s->learned && kube_rv_older(rv, s->pub.rv);
}

/* A cache with selectors also drops an object that is ahead of the list: the object did not match
 * at the list's version, so the watch sends an event of it only if it matches again. */
static bool is_gone(const struct kube_cache *c, const char *key, const struct slot *s,
		    const char *rv)
{
	return s->seen != c->list_no && !map_has(c->staged, key) &&
	       (c->selective || !is_ahead(s, rv));
}

/* Continues the FNV-1a hash h with the text s. */
static uint64_t hash_more(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3;
	return h;
}

static struct kube_loss loss_of(const struct kube_cache *c, const char *rv)
{
	struct kube_loss l = {.before = map_size(c->slots)};
	struct map_iter it;

	map_for_each (it, c->slots) {
		const struct slot *s = it.value;

		if (!is_gone(c, it.key, s, rv))
			continue;
		l.gone++;
		l.which += hash_more(hash_more(0xcbf29ce484222325, it.key), s->pub.uid);
	}
	return l;
}

static void add_change(struct change **v, size_t *n, size_t *cap, struct slot *old,
		       struct slot *new_)
{
	mem_grow(*v, *n, *cap);
	(*v)[(*n)++] = (struct change){old, new_};
}

/* Replaces the store by the finished list: changes all slots first, then calls on_change() for each
 * change. */
static void commit(struct kube_cache *c, const char *rv)
{
	struct change *v = NULL;
	size_t n = 0, cap = 0;
	struct map_iter it;

	map_for_each (it, c->slots) {
		struct slot *old = it.value;

		if (!is_gone(c, it.key, old, rv))
			continue;
		add_change(&v, &n, &cap, old, NULL);
		room_take(&c->used, old);
		map_del(c->slots, it.key);
	}
	map_for_each (it, c->staged) {
		struct slot *s = it.value, *old = map_get(c->slots, it.key);

		if (old && is_ahead(old, rv)) {
			slot_free(s);
			continue;
		}
		if (old)
			room_take(&c->used, old);
		if (!s->pub.object) {
			slot_free(s);
			s = NULL;
			map_del(c->slots, it.key);
		} else {
			map_put(c->slots, it.key, s);
			room_add(&c->used, s);
		}
		if (old || s)
			add_change(&v, &n, &cap, old, s);
	}
	map_clear(c->staged);
	for (size_t i = 0; i < n; i++) {
		tell(c, v[i].old, v[i].new_);
		bury(c, v[i].old);
	}
	free(v);
}

static int on_list_end(const char *rv, void *arg, struct err *e)
{
	struct kube_cache *c = arg;
	bool accepted = true;

	if (c->synced && c->spec.accept_loss) {
		struct kube_loss loss = loss_of(c, rv);

		c->telling++;
		accepted = c->spec.accept_loss(&loss, c->spec.arg);
		c->telling--;
		if (!accepted) {
			staged_clear(c);
			return err_set(
				e, ERR_UNAVAILABLE, 0,
				"a new list lacks %zu of %zu objects; drover keeps the old list",
				loss.gone, loss.before);
		}
	}
	commit(c, rv);
	if (c->synced)
		set_over(c, c->over_in_list);
	if (!c->synced) {
		c->synced = true;
		c->telling++;
		if (c->spec.on_sync)
			c->spec.on_sync(c->spec.arg);
		c->telling--;
	}
	return 0;
}

/* Writes the key "NS/NAME" of an object. Does not use printf(), because key_of() runs for each
 * object of each list and event. False: the key is too long. */
static bool key_of(char out[static KEY_SIZE], const char *ns, const char *name)
{
	size_t a = strlen(ns), b = strlen(name);

	if (a + b + 2 > KEY_SIZE)
		return false;
	memcpy(out, ns, a);
	out[a] = '/';
	memcpy(out + a + 1, name, b + 1);
	return true;
}

/* --- watch ------------------------------------------------------------------------------------ */

static bool on_same(const char *ns, const char *name, const char *rv, uint64_t digest, void *arg)
{
	struct kube_cache *c = arg;
	char key[KEY_SIZE];
	struct slot *s = key_of(key, ns, name) ? map_get(c->slots, key) : NULL;

	if (!s || !digest || /* mutant: node-news-known */ s->digest != digest ||
	    s->pub.rv != s->rv || strlen(rv) >= RV_SIZE || kube_rv_older(rv, s->rv))
		return false;
	return str_copy(s->rv, sizeof(s->rv), rv);
}

/* True for the event of a version that was learned from the reply to a write. */
static bool on_stored(const char *ns, const char *name, const char *rv, void *arg)
{
	struct kube_cache *c = arg;
	char key[KEY_SIZE];
	struct slot *s = key_of(key, ns, name) ? map_get(c->slots, key) : NULL;

	if (!s || !str_eq(s->pub.rv, rv))
		return false;
	s->seen = c->list_no;
	return true;
}

static void on_event(bool deleted, json_t *object, uint64_t digest, void *arg)
{
	struct kube_cache *c = arg;
	struct slot *old;
	struct who w;

	if (identify(c, object, &w) < 0)
		return;
	/* An event that arrived in several pieces has not been compared with the stored version and
	 * digest yet: compare it here. kube_reflect compares only events that arrive in one
	 * piece. */
	if (!deleted && on_stored(w.ns, w.name, w.rv, c))
		return;
	if (!deleted && c->spec.same_untold && on_same(w.ns, w.name, w.rv, digest, c))
		return;
	if (!deleted) {
		take(c, object, &w, false, digest);
		return;
	}
	/* With selectors, the event may mean that the object no longer matched. A newer version
	 * from the reply to a write may not match either, and then has no event. */
	old = map_get(c->slots, w.key);
	if (old && (!kube_rv_older(w.rv, old->pub.rv) || (c->selective && old->learned)))
		change(c, w.key, NULL);
}

static void on_health(const struct err *e, void *arg)
{
	struct kube_cache *c = arg;

	if (!e && c->healthy)
		return;
	c->healthy = !e;
	c->telling++;
	if (c->spec.on_health)
		c->spec.on_health(e, c->spec.arg);
	c->telling--;
}

/* --- our own writes --------------------------------------------------------------------------- */

bool kube_cache_passed(const struct kube_cache *c, const char *rv)
{
	const char *known = c->synced ? kube_reflect_rv(c->reflect) : NULL;

	return known && kube_rv_is_number(rv) &&
	       /* mutant: answer-not-learned */ !kube_rv_older(known, rv);
}

static void learn(struct kube_cache *c, const json_t *object)
{
	struct who w;

	if (!json_is_object(object) || identify(c, object, &w) < 0)
		return;
	if (!kube_rv_is_number(w.rv) || (c->ns && !str_eq(c->ns, w.ns)))
		return;
	/* The watch has already passed this version: the object may have changed or been deleted
	 * since, so the reply must not replace the stored state. */
	if (kube_cache_passed(c, w.rv))
		return;
	if (c->selective && !map_has(c->slots, w.key))
		return;
	take(c, object, &w, true, 0);
}

static void on_learn(void *arg)
{
	struct kube_cache *c = arg;
	json_t *all = c->to_learn, *object;
	size_t i;

	c->to_learn = NULL;
	json_array_foreach (all, i, object)
		learn(c, object);
	json_decref(all);
}

void kube_cache_learn(struct kube_cache *c, const json_t *object)
{
	if (!c->telling) {
		learn(c, object);
		return;
	}
	if (!c->to_learn)
		c->to_learn = json_array();
	json_array_append(c->to_learn, (json_t *)(uintptr_t)object);
	loop_defer(&c->learn);
}

/* --- life cycle and queries ------------------------------------------------------------------- */

struct kube_cache *kube_cache_new(struct loop_group *g, const struct kube_cache_spec *s)
{
	static const struct kube_reflect_ops ops = {
		.list_begin = on_list_begin,
		.list_item = on_list_item,
		.list_end = on_list_end,
		.event = on_event,
		.stored = on_stored,
		.health = on_health,
	};
	static const struct kube_reflect_ops untold = {
		.list_begin = on_list_begin,
		.list_item = on_list_item,
		.list_end = on_list_end,
		.event = on_event,
		.stored = on_stored,
		.same = on_same,
		.health = on_health,
	};
	struct kube_cache *c = mem_new(struct kube_cache);

	c->group = g;
	c->spec = *s;
	if (!c->spec.max_item)
		c->spec.max_item = (size_t)3 << 20;
	c->ns = mem_strdup(s->ns);
	c->selective = !str_empty(s->label_selector) || !str_empty(s->field_selector);
	c->slots = map_new(NULL);
	c->staged = map_new(NULL);
	list_init(&c->graves);
	loop_defer_init(&c->bury, g, on_bury, c);
	loop_defer_init(&c->learn, g, on_learn, c);
	loop_timer_init(&c->list_again, g, on_list_again, c);
	c->reflect = kube_reflect_new(g, &(struct kube_reflect_spec){
						 .client = s->client,
						 .resource = s->resource,
						 .ns = s->ns,
						 .label_selector = s->label_selector,
						 .field_selector = s->field_selector,
						 .want = s->want,
						 .max_item = c->spec.max_item,
						 .ops = s->same_untold ? &untold : &ops,
						 .arg = c,
					 });
	return c;
}

void kube_cache_free(struct kube_cache *c)
{
	struct map_iter it;

	if (!c)
		return;
	assert(!c->telling);
	kube_reflect_free(c->reflect);
	loop_defer_cancel(&c->bury);
	loop_defer_cancel(&c->learn);
	loop_timer_stop(&c->list_again);
	on_bury(c);
	staged_clear(c);
	map_for_each (it, c->slots)
		slot_free(it.value);
	map_free(c->slots);
	map_free(c->staged);
	json_decref(c->to_learn);
	free(c->ns);
	free(c);
}

bool kube_cache_synced(const struct kube_cache *c)
{
	return c->synced;
}

bool kube_cache_healthy(const struct kube_cache *c)
{
	return c->healthy;
}

bool kube_cache_over(const struct kube_cache *c)
{
	return c->over;
}

size_t kube_cache_size(const struct kube_cache *c)
{
	return map_size(c->slots);
}

const struct kube_entry *kube_cache_get(const struct kube_cache *c, const char *ns,
					const char *name)
{
	const struct slot *s;
	char key[KEY_SIZE];

	if (!key_of(key, str_or(ns, ""), name))
		return NULL;
	s = map_get(c->slots, key);
	return s ? &s->pub : NULL;
}

void kube_cache_each(const struct kube_cache *c, bool (*fn)(const struct kube_entry *e, void *arg),
		     void *arg)
{
	struct map_iter it;

	map_for_each (it, c->slots) {
		const struct slot *s = it.value;

		if (!fn(&s->pub, arg))
			return;
	}
}
