#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/lines.h"
#include "kube/apiserver/table.h"

/*
 * Serves watches. The store delivers events only when they are durable; the initial events of a
 * watch (one for each present object) wait until those objects are durable. A watch queues lines
 * that its client has not read yet; watches share the lines of an event (lines.c). A client that
 * reads too slowly is disconnected; it may begin a new watch from the last revision that it
 * received.
 */
#define MAX_BACKLOG ((size_t)32 << 20)
#define BOOKMARK_MS 60000
#define TIMEOUT_MIN_MS (INT64_C(30) * 60 * 1000)

struct watch {
	struct apiserver *a;
	struct httpd_req *q;
	/* Copy of the resource, because the definition of a custom kind may be deleted during the
	 * watch. */
	struct resource r;
	struct arena *arena;
	const char *api_version;
	struct filter filter;
	struct store_watch *store_watch;
	struct loop_timer timeout, bookmark;
	bool ended;
	/* True: the disk failed before all initial events were durable. The watch is then broken
	 * off. */
	bool broken;
	/* Barrier that reports when the initial events are durable; NULL: not waiting. */
	struct barrier *barrier;
	struct line_queue queue;
	struct list link;
};

static void watch_done(void *arg)
{
	struct watch *w = arg;

	list_remove(&w->link);
	barrier_cancel(w->barrier);
	store_watch_free(w->store_watch);
	loop_timer_stop(&w->timeout);
	loop_timer_stop(&w->bookmark);
	filter_done(&w->filter);
	line_queue_clear(&w->queue);
	arena_free(w->arena);
	free(w);
}

static int64_t watch_read(char *out, size_t max, uint64_t pos, void *arg)
{
	struct watch *w = arg;
	size_t n;

	(void)pos;
	if (w->broken)
		return -2;
	if (w->barrier)
		return 0;
	n = line_queue_read(&w->queue, out, max);
	if (n && !w->queue.bytes)
		w->queue.max = MAX_BACKLOG;
	return n ? (int64_t)n : w->ended ? -1 : 0;
}

static void watch_end(struct watch *w)
{
	w->ended = true;
	store_watch_free(w->store_watch);
	w->store_watch = NULL;
	loop_timer_stop(&w->timeout);
	loop_timer_stop(&w->bookmark);
	httpd_wake(w->q);
}

/* Adds the line, and takes ownership of one reference. If the line exceeds the backlog limit, it
 * is not added, and the watch ends. */
static void add_line(struct watch *w, struct line *l)
{
	if (!line_queue_add(&w->queue, l))
		watch_end(w);
	httpd_wake(w->q);
}

static void add_text(struct watch *w, const char *type, const char *object, size_t len)
{
	add_line(w, line_new(type, object, len));
}

/* Returns the type of the event for the watch; NULL: the event does not concern it. */
static const char *type_of(const struct watch *w, const struct store_event *ev, struct shared *s)
{
	const char *put = ev->created ? "ADDED" : "MODIFIED";
	const json_t *before;
	bool now;

	if (filter_is_empty(&w->filter))
		return ev->type == STORE_DELETE ? "DELETED" : put;
	if (!shared_object(s))
		return NULL;
	now = filter_matches(&w->filter, shared_object(s));
	if (ev->type == STORE_DELETE)
		return now ? "DELETED" : NULL;
	before = shared_before(s);
	if (before && filter_matches(&w->filter, before))
		return now ? "MODIFIED" : "DELETED";
	return now ? "ADDED" : NULL;
}

static void on_event(const struct store_event *ev, void *arg)
{
	struct watch *w = arg;
	struct shared *s = lines_of(w->a->lines, ev);
	const char *type = type_of(w, ev, s);
	struct line *l = type ? shared_line(s, type, &w->filter, &w->r) : NULL;

	if (l)
		add_line(w, l);
}

static bool on_initial(const struct store_entry *entry, void *arg)
{
	struct watch *w = arg;
	struct err e;

	if (!filter_parses(&w->filter, &w->r)) {
		add_text(w, "ADDED", entry->value, entry->value_len);
		return !w->ended;
	}

	OWN_JSON obj = json_parse(entry->value, entry->value_len, &e);

	if (obj && filter_matches(&w->filter, obj)) {
		char *text = filter_text(&w->filter, &w->r, obj);

		add_text(w, "ADDED", text, strlen(text));
		free(text);
	}
	return !w->ended;
}

static void on_timeout(void *arg)
{
	watch_end(arg);
}

static void add_bookmark(struct watch *w, uint64_t seen, bool ends_initial)
{
	OWN_JSON obj = json_object();
	OWN_JSON meta = json_object();
	char rev[32], *text;

	snprintf(rev, sizeof(rev), "%llu", (unsigned long long)seen);
	json_object_set_new(meta, "resourceVersion", json_string(rev));
	json_object_set_new(meta, "creationTimestamp", json_null());
	if (ends_initial)
		json_object_set_new(meta, "annotations",
				    json_pack("{s:s}", "k8s.io/initial-events-end", "true"));
	json_object_set_new(obj, "kind",
			    json_string(w->filter.partial ? "PartialObjectMetadata" : w->r.kind));
	json_object_set_new(obj, "apiVersion",
			    json_string(w->filter.partial ? "meta.k8s.io/v1" : w->api_version));
	json_object_set(obj, "metadata", meta);
	text = w->filter.table ? table_bookmark(w->filter.table, meta) : json_text(obj);
	add_text(w, "BOOKMARK", text, strlen(text));
	free(text);
}

static void on_bookmark(void *arg)
{
	struct watch *w = arg;

	add_bookmark(w, store_watch_seen(w->store_watch), false);
	if (!w->ended)
		loop_timer_start(&w->bookmark, BOOKMARK_MS);
}

/* Adds the error 410 Expired as an ERROR event, because the HTTP status of the stream is already
 * 200, as in kube-apiserver. */
static void add_expired(struct watch *w, struct request *rq, const char *rev)
{
	struct fault f;

	(void)!fault_set(&f, FAULT_EXPIRED, "too old resource version: %s (%llu)", rev,
			 (unsigned long long)store_oldest(w->a->store));

	OWN_JSON status = status_object(rq, &f);
	char *text = json_text(status);

	add_text(w, "ERROR", text, strlen(text));
	free(text);
	w->ended = true;
}

struct watch_query {
	int64_t since, timeout_s;
	bool bookmarks;
	/* True: the watch begins with an event for each present object. */
	bool initial;
	/* True: a bookmark must mark the end of the initial events. */
	bool mark;
};

static int parse_query(const struct request *rq, struct watch_query *out, struct fault *f)
{
	const char *rev = httpd_query(rq->q, "resourceVersion"),
		   *timeout = httpd_query(rq->q, "timeoutSeconds");
	const char *initial = httpd_query(rq->q, "sendInitialEvents"),
		   *match = httpd_query(rq->q, "resourceVersionMatch");

	*out = (struct watch_query){
		.bookmarks = name_is_true(httpd_query(rq->q, "allowWatchBookmarks"))};
	if (!initial && !str_empty(match))
		return fault_set(f, FAULT_INVALID,
				 "resourceVersionMatch: Forbidden: resourceVersionMatch is "
				 "forbidden for watch unless sendInitialEvents is provided");
	if (initial && !str_eq(match, "NotOlderThan"))
		return fault_set(
			f, FAULT_INVALID,
			"sendInitialEvents: Forbidden: resourceVersionMatch must be NotOlderThan");
	if (!str_empty(rev) && !str_to_i64(rev, 0, INT64_MAX, &out->since))
		return fault_set(f, FAULT_BAD_REQUEST, "resourceVersion: Invalid value: \"%s\"",
				 rev);
	if (!str_empty(timeout) && !str_to_i64(timeout, 0, INT32_MAX, &out->timeout_s))
		return fault_set(f, FAULT_BAD_REQUEST, "timeoutSeconds: want a number, got %s",
				 timeout);
	out->mark = name_is_true(initial);
	out->initial = initial ? out->mark : out->since == 0;
	if (out->mark && (uint64_t)out->since > store_rev(rq->a->store))
		return fault_set(f, FAULT_TIMEOUT, "Too large resource version: %s, current: %llu",
				 rev, (unsigned long long)store_rev(rq->a->store));
	return 0;
}

static void on_begun(const struct err *e, void *arg)
{
	struct watch *w = arg;

	w->barrier = NULL;
	w->broken = e != NULL;
	httpd_wake(w->q);
}

/* Adds the present objects as initial events; sets query->since to the revision from which the
 * watch continues. */
static void add_initial(struct watch *w, const char *prefix, struct watch_query *query)
{
	query->since = (int64_t)store_rev(w->a->store);
	/* Lift the backlog limit for the initial events, so that only later events can exceed
	 * it. */
	w->queue.max = SIZE_MAX;
	store_list(w->a->store, prefix, NULL, 0, on_initial, w);
	if (query->mark && query->bookmarks && !w->ended)
		add_bookmark(w, (uint64_t)query->since, true);
	w->queue.max = w->queue.bytes + MAX_BACKLOG;
}

void do_watch(struct request *rq)
{
	struct apiserver *a = rq->a;
	struct watch_query query;
	struct filter filter;
	struct err e;

	if (parse_query(rq, &query, &rq->fault) < 0 || filter_init(&filter, rq, &rq->fault) < 0) {
		reply_fault(rq);
		return;
	}

	struct watch *w = mem_new(struct watch);
	struct httpd_reader reader = {.read = watch_read, .done = watch_done, .arg = w, .size = -1};
	const char *prefix;

	w->a = a;
	w->q = rq->q;
	w->r = *rq->r;
	w->arena = arena_new();
	w->api_version = resource_api_version(rq->r, w->arena);
	w->filter = filter;
	w->r.kind = arena_strdup(w->arena, rq->r->kind);
	w->queue.max = MAX_BACKLOG;
	loop_timer_init(&w->timeout, a->group, on_timeout, w);
	loop_timer_init(&w->bookmark, a->group, on_bookmark, w);
	list_push_back(&a->watches, &w->link);
	httpd_reply_stream(rq->q, 200, "application/json", &reader);

	prefix = filter_prefix(&w->filter, rq, rq->arena);
	if (query.initial)
		add_initial(w, prefix, &query);
	/* No revision was given: begin the watch at the present revision. */
	if (query.since == 0)
		query.since = (int64_t)store_rev(a->store);
	if (!store_is_durable(a->store, (uint64_t)query.since))
		w->barrier = barrier_new(a, on_begun, w);
	if (w->ended)
		return;
	w->store_watch =
		store_watch(a->store, a->group, prefix, (uint64_t)query.since, on_event, w, &e);
	if (!w->store_watch) {
		add_expired(w, rq, httpd_query(rq->q, "resourceVersion"));
		return;
	}
	if (query.timeout_s == 0)
		query.timeout_s =
			(TIMEOUT_MIN_MS + (int64_t)loop_random_below(a->loop, TIMEOUT_MIN_MS)) /
			1000;
	loop_timer_start(&w->timeout, query.timeout_s * 1000);
	if (query.bookmarks)
		loop_timer_start(&w->bookmark, BOOKMARK_MS);
}
