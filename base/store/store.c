#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "base/store/store_internal.h"

/*
 * A commit is checked, then applied to the index and the history at once, then passed to the
 * backend. When the backend reports the commit as durable, done() is called first, and a deferral
 * then looks for the watches that the commit concerns, so that replies do not wait for watches,
 * however many there are. Each of these watches is called in a deferral of its own, in which the
 * watch walks the history from its last position, at most SLICE events. Events that a
 * watch has not received yet are retained without limit.
 */
#define SLICE 64

struct commit {
	struct list link;
	uint64_t rev;
	void (*done)(const struct err *e, void *arg);
	void *arg;
};

struct store_watch {
	struct store *store;
	struct loop_defer defer;
	char *prefix;
	/* Revision up to which all events were delivered, or do not concern the watch. */
	uint64_t since;
	void (*fn)(const struct store_event *ev, void *arg);
	void *arg;
	/* Non-NULL while the watch delivers events; *freed is set to true if fn() frees the
	 * watch. */
	bool *freed;
	struct list link;
};

static void on_wake(void *arg);

void store_base_init(struct store *s, const struct store_ops *ops, struct loop_group *g,
		     size_t history)
{
	s->ops = ops;
	s->group = g;
	s->index = store_index_new();
	/* As in etcd, an empty store has revision 1, so that 0 can have a special meaning. */
	s->rev = s->durable = 1;
	s->first_rev = 2;
	s->keep = history;
	list_init(&s->commits);
	list_init(&s->watches);
	loop_defer_init(&s->wake, g, on_wake, s);
}

static struct store_change_event *event_at(const struct store *s, uint64_t rev)
{
	return &s->event[(s->first + (rev - s->first_rev)) % s->cap];
}

const struct store_change_event *store_event_at(const struct store *s, uint64_t rev)
{
	return event_at(s, rev);
}

static void drop_first_event(struct store *s)
{
	struct store_change_event *ev = event_at(s, s->first_rev);

	store_version_unref(ev->version);
	store_version_unref(ev->before);
	s->first = (s->first + 1) % s->cap;
	s->first_rev++;
	s->nevents--;
}

void store_base_done(struct store *s)
{
	struct err e;

	assert(list_empty(&s->watches));
	loop_defer_cancel(&s->wake);
	err_note(&e, ERR_UNAVAILABLE, 0, "the store was closed");
	for (struct commit *c; (c = list_first(&s->commits, struct commit, link));) {
		list_remove(&c->link);
		if (c->done)
			c->done(&e, c->arg);
		free(c);
	}
	while (s->nevents)
		drop_first_event(s);
	free(s->event);
	store_index_free(s->index);
}

void store_free(struct store *s)
{
	if (s)
		s->ops->free(s);
}

uint64_t store_rev(const struct store *s)
{
	return s->rev;
}

bool store_is_durable(const struct store *s, uint64_t rev)
{
	return rev <= s->durable;
}

uint64_t store_oldest(const struct store *s)
{
	return s->first_rev - 1;
}

/* --- reading ---------------------------------------------------------------------------------- */

static struct store_entry entry_of(const struct store_version *v)
{
	return (struct store_entry){
		.key = v->key,
		.value = v->value,
		.value_len = v->value_len,
		.rev = v->rev,
		.create_rev = v->create_rev,
	};
}

bool store_get(struct store *s, const char *key, struct store_entry *out)
{
	const struct store_version *v = store_index_get(s->index, key);

	if (v)
		*out = entry_of(v);
	return v != NULL;
}

void store_list(struct store *s, const char *prefix, const char *after, size_t limit,
		bool (*fn)(const struct store_entry *e, void *arg), void *arg)
{
	bool behind = after && strcmp(after, prefix) >= 0;
	struct store_node *n = store_index_seek(s->index, behind ? after : prefix, behind);

	for (size_t i = 0; n && (limit == 0 || i < limit); i++, n = store_node_next(n)) {
		struct store_entry e = entry_of(store_node_version(n));

		if (!str_starts(e.key, prefix) || !fn(&e, arg))
			break;
	}
}

size_t store_count(struct store *s, const char *prefix)
{
	size_t count = 0;
	struct store_node *n = store_index_seek(s->index, prefix, false);

	for (; n && str_starts(store_node_version(n)->key, prefix); n = store_node_next(n))
		count++;
	return count;
}

/* --- changing --------------------------------------------------------------------------------- */

static struct store_version *version_new(const struct store_change *c, uint64_t rev,
					 uint64_t create_rev)
{
	size_t key_size = strlen(c->key) + 1;
	struct store_version *v = mem_alloc(sizeof(*v) + key_size + c->value_len + 1);
	char *value = v->key + key_size;

	v->refs = 1;
	v->rev = rev;
	v->create_rev = create_rev;
	v->value = value;
	v->value_len = c->value_len;
	memcpy(v->key, c->key, key_size);
	memcpy(value, c->value, c->value_len);
	return v;
}

static void push_event(struct store *s, struct store_change_event ev)
{
	if (s->nevents == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 64;
		struct store_change_event *grown = mem_calloc(cap, sizeof(*grown));

		for (size_t i = 0; i < s->nevents; i++)
			grown[i] = s->event[(s->first + i) % s->cap];
		free(s->event);
		s->event = grown;
		s->cap = cap;
		s->first = 0;
	}
	s->nevents++;
	*event_at(s, ev.rev) = ev;
}

static bool apply(struct store *s, const struct store_change *c)
{
	struct store_change_event ev = {.type = c->value ? STORE_PUT : STORE_DELETE,
					.rev = s->rev + 1};

	if (c->value) {
		const struct store_version *old = store_index_get(s->index, c->key);

		ev.version = version_new(c, ev.rev, old ? old->create_rev : ev.rev);
		ev.version->refs++;
		ev.before = store_index_put(s->index, ev.version);
	} else {
		ev.version = store_index_take(s->index, c->key);
		if (!ev.version)
			return false;
		ev.version->refs++;
		ev.before = ev.version;
	}
	s->rev++;
	push_event(s, ev);
	return true;
}

/* Undoes the last change in the index and the history. */
static void undo(struct store *s)
{
	struct store_change_event *ev = event_at(s, s->rev);

	if (ev->before)
		store_version_unref(store_index_put(s->index, ev->before));
	else
		store_version_unref(store_index_take(s->index, ev->version->key));
	store_version_unref(ev->version);
	s->nevents--;
	s->rev--;
}

int store_commit(struct store *s, const struct store_change *c, size_t n, uint64_t *rev,
		 void (*done)(const struct err *e, void *arg), void *arg, struct err *e)
{
	if (s->broken) {
		*e = s->why;
		return err_wrap(e, "store");
	}
	for (size_t i = 0; i < n; i++) {
		const struct store_version *v = store_index_get(s->index, c[i].key);
		uint64_t at = v ? v->rev : 0;

		for (size_t j = 0; j < i; j++)
			assert(strcmp(c[j].key, c[i].key) != 0);
		if (c[i].if_rev >= 0 && (uint64_t)c[i].if_rev != at)
			return err_set(e, ERR_CONFLICT, 0, "%s: want revision %lld, is at %llu",
				       c[i].key, (long long)c[i].if_rev, (unsigned long long)at);
	}
	for (size_t i = 0; i < n; i++)
		(void)apply(s, &c[i]);

	struct commit *k = mem_new(struct commit);

	*k = (struct commit){.rev = s->rev, .done = done, .arg = arg};
	list_push_back(&s->commits, &k->link);
	if (rev)
		*rev = s->rev;
	s->ops->persist(s);
	return 0;
}

/* --- watching --------------------------------------------------------------------------------- */

static void deliver(void *arg)
{
	struct store_watch *w = arg;
	struct store *s = w->store;
	bool freed = false;

	w->freed = &freed;
	for (unsigned n = 0; w->since < s->durable && n < SLICE;) {
		const struct store_change_event *at = event_at(s, ++w->since);

		if (!str_starts(at->version->key, w->prefix))
			continue;

		struct store_event ev = {
			.type = at->type,
			.entry = entry_of(at->version),
			.created = at->type == STORE_PUT && !at->before,
			.prev_value = at->before ? at->before->value : NULL,
		};

		n++;
		ev.entry.rev = at->rev;
		w->fn(&ev, w->arg);
		if (freed)
			return;
	}
	w->freed = NULL;
	if (w->since < s->durable)
		loop_defer(&w->defer);
}

/* Returns the revision, at most the durable one, up to which every watch has received all its
 * events. Watches of dropped groups do not count. */
static uint64_t seen_by_all(const struct store *s)
{
	uint64_t seen = s->durable;

	list_for_each (w, &s->watches, const struct store_watch, link)
		if (w->since < seen && !loop_group_dropped(w->defer.group))
			seen = w->since;
	return seen;
}

static void wake_watch(struct store *s, struct store_watch *w)
{
	if (list_linked(&w->defer.link) || loop_group_dropped(w->defer.group))
		return;
	while (w->since < s->durable) {
		if (str_starts(event_at(s, w->since + 1)->version->key, w->prefix)) {
			loop_defer(&w->defer);
			return;
		}
		w->since++;
	}
}

static void trim(struct store *s)
{
	uint64_t seen = s->nevents > s->keep ? seen_by_all(s) : 0;

	while (s->nevents > s->keep && s->first_rev <= seen) {
		if (s->ops->forget)
			s->ops->forget(s, event_at(s, s->first_rev));
		drop_first_event(s);
	}
}

static void on_wake(void *arg)
{
	struct store *s = arg;

	list_for_each (w, &s->watches, struct store_watch, link)
		wake_watch(s, w);
	trim(s);
}

static void call_done(struct store *s, uint64_t rev, const struct err *e)
{
	for (struct commit *k;
	     (k = list_first(&s->commits, struct commit, link)) && k->rev <= rev;) {
		list_remove(&k->link);
		if (k->done)
			k->done(e, k->arg);
		free(k);
	}
}

void store_durable(struct store *s, uint64_t rev, const struct err *e)
{
	if (e) {
		rev = s->rev;
		s->broken = true;
		s->why = *e;
		while (s->rev > s->durable)
			undo(s);
		trim(s);
		call_done(s, rev, e);
		return;
	}
	s->durable = rev;
	call_done(s, rev, NULL);
	loop_defer(&s->wake);
}

struct store_watch *store_watch(struct store *s, struct loop_group *g, const char *prefix,
				uint64_t since, void (*fn)(const struct store_event *ev, void *arg),
				void *arg, struct err *e)
{
	if (since < store_oldest(s)) {
		err_note(e, ERR_NOT_FOUND, 410,
			 "revision %llu is older than the history, which begins at %llu",
			 (unsigned long long)since, (unsigned long long)store_oldest(s));
		return NULL;
	}

	struct store_watch *w = mem_new(struct store_watch);

	w->store = s;
	w->prefix = mem_strdup(prefix);
	w->since = since;
	w->fn = fn;
	w->arg = arg;
	loop_defer_init(&w->defer, g, deliver, w);
	list_push_back(&s->watches, &w->link);
	wake_watch(s, w);
	return w;
}

uint64_t store_watch_seen(const struct store_watch *w)
{
	return w->since;
}

void store_watch_free(struct store_watch *w)
{
	if (!w)
		return;
	if (w->freed)
		*w->freed = true;
	loop_defer_cancel(&w->defer);
	list_remove(&w->link);
	free(w->prefix);
	free(w);
}

/* --- loading ---------------------------------------------------------------------------------- */

void store_load_begin(struct store *s, uint64_t oldest)
{
	s->rev = s->durable = oldest;
	s->first_rev = oldest + 1;
}

int store_load(struct store *s, const struct store_entry *c, struct err *e)
{
	const struct store_version *old = store_index_get(s->index, c->key);
	const struct store_change change = {
		.key = c->key, .value = c->value, .value_len = c->value_len};

	if (c->rev >= s->first_rev) {
		if (c->rev != s->rev + 1)
			return err_set(e, ERR_INVALID, 0, "revision %llu follows %llu",
				       (unsigned long long)c->rev, (unsigned long long)s->rev);
		if (!apply(s, &change) || event_at(s, c->rev)->version->create_rev != c->create_rev)
			return err_set(e, ERR_INVALID, 0,
				       "revision %llu: earlier versions of its key are missing",
				       (unsigned long long)c->rev);
		s->durable = c->rev;
		return 0;
	}
	/* Before the history, each key may have only one version, which is not a deletion: all
	 * others have been deleted from the disk. */
	if (old || !c->value || c->create_rev > c->rev)
		return err_set(e, ERR_INVALID, 0,
			       "revision %llu is invalid before the start of the history",
			       (unsigned long long)c->rev);
	store_version_unref(store_index_put(s->index, version_new(&change, c->rev, c->create_rev)));
	return 0;
}

void store_load_end(struct store *s)
{
	trim(s);
}
