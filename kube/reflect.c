#include "kube/reflect.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/call.h"
#include "kube/want.h"

/*
 * Keeps a list and its watch running:
 *
 *          .------------- refused, error -------------.
 *          v                                          |
 *    rest (back-off) --> list --rv--> watch --end--> watch ...
 *          ^                           |
 *          '--- error; 410 in either form: list next --'
 *
 * A watch that delivered something, or was open for STOOD_MS, resets the back-off. So a server that
 * closes or expires each watch at once gets requests at growing intervals, and a server that ends
 * its watches after a normal time does not.
 */
/* Time in ms after which a watch without a reply to its request counts as dead. */
#define OPEN_MS 30000
#define WATCH_S_MIN 300
#define WATCH_S_SPREAD 301
/* Time in ms after the requested end of a watch at which a watch that is still open counts as
 * dead. */
#define SILENCE_MS 30000
/* Time in ms without data after which a watch counts as dead, on a server that sends bookmarks.
 * kube-apiserver sends a bookmark about every minute if requested (bookmarkFrequency in its
 * cacher), so a connection on which two are missing is broken. A server that never sent a bookmark
 * may be silent for longer. */
#define QUIET_MS 150000
#define STOOD_MS 5000
/* Number of failed watches in a row after which the list is read again, because the resourceVersion
 * at which they begin may itself be invalid. */
#define FAILED_WATCHES 3
/* Number of lists older than an earlier one that are refused, because the server may lag behind. */
#define OLD_LISTS 10
/* Size of the buffers for namespace, name and version of an event, which are read before its object
 * is built. */
#define NOTE_MAX 256
/* Limits in bytes of the size of a watch's buffer. A longer event arrives in several pieces. */
#define BUFFER_MIN 4096
#define BUFFER_MAX 16384
#define LINE_EXTRA 4096 /* Bytes of a watch line around its object: {"type":...,"object":...}. */

enum phase { RESTING, LISTING, WATCHING };

struct kube_reflect {
	struct loop_group *group;
	struct kube_client *client;
	const struct kube_resource *resource;
	char *ns, *label_selector, *field_selector;
	const struct scan_want *want;
	struct scan_want *line;
	size_t max_item;
	const struct kube_reflect_ops *ops;
	void *arg;

	enum phase phase;
	struct kube_call *call;
	/* While resting: time of the next list or watch. While watching: end of the time for which
	 * the watch may stay silent. */
	struct loop_timer timer;
	struct backoff backoff;
	char *rv;
	/* Number of objects in the last list so far, and of bytes until the end of the last. */
	uint64_t listed, listed_bytes;
	bool need_list;
	/* True: the current watch has delivered something. */
	bool progress;
	bool open;
	/* True: this server sends bookmarks. */
	bool bookmarks;

	int64_t watch_began, watch_ms;
	unsigned failed_watches, old_lists;
	int64_t heard;
};

bool kube_rv_is_number(const char *rv)
{
	return !str_empty(rv) && strspn(rv, "0123456789") == strlen(rv);
}

bool kube_rv_older(const char *a, const char *b)
{
	size_t na, nb;

	if (!kube_rv_is_number(a) || !kube_rv_is_number(b))
		return false;
	a += strspn(a, "0");
	b += strspn(b, "0");
	na = strlen(a);
	nb = strlen(b);
	return na != nb ? na < nb : strcmp(a, b) < 0;
}

static int64_t now(const struct kube_reflect *r)
{
	return loop_now(loop_of(r->group));
}

static void advance(struct kube_reflect *r, const char *rv)
{
	if (str_empty(rv) || kube_rv_older(rv, r->rv) || str_eq(rv, r->rv))
		return;
	free(r->rv);
	r->rv = mem_strdup(rv);
}

static void rest(struct kube_reflect *r, const struct err *e)
{
	int64_t wait = backoff_next(&r->backoff, loop_random(loop_of(r->group)));

	r->phase = RESTING;
	if (e && e->retry_after_ms > wait)
		wait = e->retry_after_ms;
	loop_timer_start(&r->timer, wait);
}

/* --- list ------------------------------------------------------------------------------------- */

static void begin_watch(struct kube_reflect *r);

static void on_list_item(json_t *object, void *arg)
{
	struct kube_reflect *r = arg;

	r->heard = now(r);
	r->listed++;
	r->listed_bytes = r->call->received;
	r->ops->list_item(object, scan_digest(r->call->scan), r->arg);
}

static void on_list_restart(void *arg)
{
	struct kube_reflect *r = arg;

	r->listed = 0;
	r->ops->list_begin(r->arg);
}

/* Refuses a list that is older than an earlier one, up to OLD_LISTS times. Such a list comes from a
 * server that lags behind, which passes, or from a cluster restored from a backup, which lasts. */
static int check_version(struct kube_reflect *r, const char *rv, struct err *e)
{
	if (!r->rv || !kube_rv_older(rv, r->rv) || r->old_lists >= OLD_LISTS) {
		r->old_lists = 0;
		return 0;
	}
	r->old_lists++;
	return err_set(e, ERR_UNAVAILABLE, 0,
		       "a list of %s has version %s, older than %s, which was seen before",
		       r->resource->plural, rv, r->rv);
}

static void on_list_done(const char *rv, const struct err *e, void *arg)
{
	struct kube_reflect *r = arg;
	struct err refused;

	r->call = NULL;
	if (!e) {
		r->heard = now(r);
		if (check_version(r, rv, &refused) < 0 ||
		    r->ops->list_end(rv, r->arg, &refused) < 0)
			e = &refused;
	}
	if (e) {
		r->ops->health(e, r->arg);
		rest(r, e);
		return;
	}
	free(r->rv);
	r->rv = mem_strdup(rv);
	r->need_list = false;
	r->failed_watches = 0;
	begin_watch(r);
}

static void begin_list(struct kube_reflect *r)
{
	r->phase = LISTING;
	r->listed = 0;
	r->ops->list_begin(r->arg);
	r->call = kube_list_bounded(r->client,
				    &(struct kube_list_spec){
					    .resource = r->resource,
					    .ns = r->ns,
					    .label_selector = r->label_selector,
					    .field_selector = r->field_selector,
					    .want = r->want,
					    .on_item = on_list_item,
					    .on_restart = on_list_restart,
					    .done = on_list_done,
					    .arg = r,
				    },
				    r->max_item);
	r->call->digests = r->ops->same;
}

/* --- watch ------------------------------------------------------------------------------------ */

static void on_open(struct kube_call *call)
{
	struct kube_reflect *r = call->arg;

	r->heard = now(r);
	r->open = true;
	loop_timer_start(&r->timer, QUIET_MS);
	r->ops->health(NULL, r->arg);
}

/* Sets *e from the Status in an ERROR event; returns -1. */
static int error_event(const json_t *object, struct err *e)
{
	const char *reason = json_str_at(object, "reason"),
		   *message = json_str_at(object, "message");
	int64_t code = json_int_at(object, "code");
	enum err_kind kind;

	if (str_eq(reason, "Expired") || str_eq(reason, "Gone"))
		code = 410;
	if (code < 400 || code > 599)
		code = 500;
	kind = err_kind_of_http((int)code);
	return err_set(e, kind, (int)code, "watch: %s: %.200s", str_or(reason, "Unknown"),
		       str_or(message, "no message"));
}

/* Copies a note (one of the texts that the scanner extracts from a watch line, base/data/scan.h) to
 * out as a string; "" if the line lacks it. False: the text does not fit. */
static bool take_note(const struct scan_line *line, enum kube_note which, char *out, size_t size)
{
	const struct scan_note *n = &line->note[which - 1];

	if (n->len >= size)
		return false;
	memcpy(out, n->text ? n->text : "", n->len);
	out[n->len] = '\0';
	return true;
}

/* True if the version in the line is stored already, or if no member that the cache wants has
 * changed. The object in the line is then not built, because in a large cluster the majority of
 * events are heartbeats and this client's own writes. */
static bool is_known(struct kube_call *call, const struct scan_line *line)
{
	struct kube_reflect *r = call->arg;
	const struct kube_reflect_ops *ops = r->ops;
	char type[16], ns[NOTE_MAX], name[NOTE_MAX], rv[NOTE_MAX];
	bool changed;

	if (!take_note(line, KUBE_NOTE_TYPE, type, sizeof(type)) ||
	    !take_note(line, KUBE_NOTE_NAMESPACE, ns, sizeof(ns)) ||
	    !take_note(line, KUBE_NOTE_NAME, name, sizeof(name)) ||
	    !take_note(line, KUBE_NOTE_RV, rv, sizeof(rv)) || !*name || !*rv)
		return false;
	changed = !strcmp(type, "MODIFIED");
	if (!((changed || !strcmp(type, "ADDED")) && ops->stored &&
	      ops->stored(ns, name, rv, r->arg)) &&
	    !(changed && ops->same && ops->same(ns, name, rv, line->digest, r->arg)))
		return false;
	r->heard = now(r);
	r->progress = true;
	advance(r, rv);
	return true;
}

static int on_line(struct kube_call *call, json_t *line, struct err *e)
{
	struct kube_reflect *r = call->arg;

	const char *type = json_str_at(line, "type");
	json_t *object = json_object_get(line, "object");

	r->heard = now(r);
	if (!type || !json_is_object(object))
		return err_set(e, ERR_PROTOCOL, 0, "watch: a line is not an event");
	if (!strcmp(type, "ERROR"))
		return error_event(object, e);
	if (!strcmp(type, "ADDED") || !strcmp(type, "MODIFIED") || !strcmp(type, "DELETED"))
		r->ops->event(type[0] == 'D', object, scan_digest(call->scan), r->arg);
	else if (!strcmp(type, "BOOKMARK"))
		r->bookmarks = true;
	else
		return 0;
	r->progress = true;
	advance(r, json_str_at(object, "metadata", "resourceVersion"));
	return 0;
}

static void watch_over(struct kube_reflect *r, const struct err *e)
{
	r->call = NULL;
	loop_timer_stop(&r->timer);
	if (r->progress || (r->open && now(r) - r->watch_began >= STOOD_MS)) {
		backoff_reset(&r->backoff);
		r->failed_watches = 0;
		if (!e) {
			r->phase = RESTING;
			loop_timer_start(&r->timer, 0);
			return;
		}
	}
	/* The same watch would deliver the invalid data again. Read the list next: either it no
	 * longer contains the data, or it reports the error. */
	if (++r->failed_watches >= FAILED_WATCHES ||
	    (e && (e->code == 410 || e->kind == ERR_PROTOCOL)))
		r->need_list = true;
	/* Do not report an expired version (410) as a failure: it is normal after a pause. */
	if (e && e->code != 410)
		r->ops->health(e, r->arg);
	rest(r, e);
}

static void on_watch_end(struct kube_call *call, json_t *json, const struct err *e)
{
	(void)json;
	watch_over(call->arg, e);
}

/* Returns the size of a watch's buffer, in which an average object of the last list has room one
 * and a half times. Each of a thousand watches has its own buffer. */
static size_t buffer_of(const struct kube_reflect *r)
{
	const uint64_t each = r->listed ? r->listed_bytes / r->listed * 3 / 2 : 0;

	return each < BUFFER_MIN ? BUFFER_MIN : each > BUFFER_MAX ? BUFFER_MAX : (size_t)each;
}

static void begin_watch(struct kube_reflect *r)
{
	uint64_t seconds = WATCH_S_MIN + loop_random_below(loop_of(r->group), WATCH_S_SPREAD);
	char timeout[24];
	struct kube_call *call;
	struct err e;
	struct buf b;
	char *path = kube_path(r->resource, r->ns, NULL, NULL, &e);

	if (path) {
		buf_init(&b, 131072);
		buf_puts(&b, path);
		free(path);
		kube_query(&b, "watch", "true");
		kube_query(&b, "allowWatchBookmarks", "true");
		kube_query(&b, "resourceVersion", r->rv);
		(void)str_format(timeout, sizeof(timeout), "%llu", (unsigned long long)seconds);
		kube_query(&b, "timeoutSeconds", timeout);
		kube_query(&b, "labelSelector", r->label_selector);
		kube_query(&b, "fieldSelector", r->field_selector);
		path = buf_steal(&b);
	}
	call = kube_call_new(r->client, "GET", path, &e);
	call->counted = false;
	/* Send watches ahead of the queue, because drover decides about its queued calls by what
	 * watches report. */
	call->urgent = true;
	call->no_wait = true;
	call->timeout_ms = 0;
	call->piece_bytes = buffer_of(r);
	call->wanted = r->line;
	call->lines = true;
	call->max_item = r->max_item + LINE_EXTRA;
	call->on_open = on_open;
	call->on_item = on_line;
	call->is_known = r->ops->same || r->ops->stored ? is_known : NULL;
	call->digests = r->ops->same;
	call->end = on_watch_end;
	call->arg = r;
	r->phase = WATCHING;
	r->progress = r->open = false;

	r->watch_began = now(r);
	r->watch_ms = (int64_t)seconds * 1000;
	r->call = call;
	loop_timer_start(&r->timer, OPEN_MS);
	kube_call_start(call);
}

/* Returns the time in ms for which the current watch may still stay silent. */
static int64_t patience(const struct kube_reflect *r)
{
	int64_t left = r->watch_began + r->watch_ms + SILENCE_MS - now(r), quiet;

	if (!r->open)
		return 0;
	quiet = r->bookmarks ? r->heard + QUIET_MS - now(r) : left;
	return quiet < left ? quiet : left;
}

static void on_timer(void *arg)
{
	struct kube_reflect *r = arg;
	struct err e;
	int64_t left;

	if (r->phase == RESTING) {
		if (r->need_list)
			begin_list(r);
		else
			begin_watch(r);
		return;
	}
	left = patience(r);
	if (left > 0) {
		/* Check again no later than after QUIET_MS, because the first bookmark, which
		 * shortens the limit of silence, may arrive meanwhile. */
		loop_timer_start(&r->timer, left < QUIET_MS ? left : QUIET_MS);
		return;
	}
	kube_call_cancel(r->call);
	if (r->open && now(r) < r->watch_began + r->watch_ms + SILENCE_MS) {
		/* The watch was merely silent: begin the next one without reporting an error,
		 * because the next one will show whether the server works. */
		watch_over(r, NULL);
		return;
	}
	err_note(&e, ERR_TIMEOUT, 0, "watch of %s: %s", r->resource->plural,
		 r->open ? "not ended in time" : "no answer");
	/* The watch is dead, whatever it delivered before: do not count it as progress. */
	r->progress = false;
	r->open = false;
	watch_over(r, &e);
}

struct kube_reflect *kube_reflect_new(struct loop_group *g, const struct kube_reflect_spec *s)
{
	struct kube_reflect *r = mem_new(struct kube_reflect);

	r->group = g;
	r->client = s->client;
	r->resource = s->resource;
	r->ns = mem_strdup(s->ns);
	r->label_selector = mem_strdup(s->label_selector);
	r->field_selector = mem_strdup(s->field_selector);
	r->want = s->want ? s->want : kube_want_all;
	r->line = kube_want_line(r->want);
	r->max_item = s->max_item;
	r->ops = s->ops;
	r->arg = s->arg;
	r->need_list = true;
	r->heard = -1;
	r->backoff = (struct backoff){.base_ms = 500, .cap_ms = 30000};
	r->phase = RESTING;
	loop_timer_init(&r->timer, g, on_timer, r);
	loop_timer_start(&r->timer, 0);
	return r;
}

void kube_reflect_free(struct kube_reflect *r)
{
	if (!r)
		return;
	kube_call_cancel(r->call);
	loop_timer_stop(&r->timer);
	free(r->ns);
	free(r->label_selector);
	free(r->field_selector);
	free(r->line);
	free(r->rv);
	free(r);
}

void kube_reflect_again(struct kube_reflect *r)
{
	r->need_list = true;
	if (r->phase != WATCHING)
		return;
	kube_call_cancel(r->call);
	r->call = NULL;
	r->phase = RESTING;
	loop_timer_start(&r->timer, 0);
}

const char *kube_reflect_rv(const struct kube_reflect *r)
{
	return r->rv;
}
