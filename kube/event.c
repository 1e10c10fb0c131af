#include "kube/event.h"

#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * Writes core/v1 events. The first event of a series (same object, reason and note) is created;
 * repetitions only increase its count, which is patched at most every PATCH_MS. An event that
 * cannot be written is dropped: nothing may depend on an event.
 *
 * Each event has two families of fields, because some clients read the first and some the second.
 * The first family is firstTimestamp, lastTimestamp, count and source; kubectl sorts and users
 * filter by them. The second family is eventTime, series, action and the reporting members of
 * events.k8s.io. The API group events.k8s.io refuses objects with the first family; core/v1 accepts
 * both.
 */
#define SERIES_MS 600000
#define PATCH_MS 30000
#define MAX_SERIES 1024
#define MAX_QUOTAS 1024
#define QUOTA 25
#define QUOTA_MS 60000
#define NOTE_MAX 1024
#define WORD_MAX 128 /* Longest reason and action that the API accepts, in bytes. */
/* Maximum number of bytes of the object's name in the event's name; a suffix of 17 bytes
 * follows. */
#define NAME_MAX_ 236

struct series {
	/* Link in kube_events.used; the least recently used series is first. */
	struct list link;
	struct kube_events *ev;
	char *key, *ns, *name;
	struct kube_call *call;
	/* Time of the next patch. */
	struct loop_timer timer;
	bool created;
	/* count: occurrences of the event so far; written: the count in the event on the server. */
	int64_t count, written;
	/* loop_now() of the last occurrence (last_at) and of the last write (patched_at). */
	int64_t last_at, patched_at;
	int64_t last_wall;
};

/* Limits the events of one object. from: loop_now() at the start of the current minute; n: number
 * of new events written in that minute. */
struct quota {
	int64_t from;
	unsigned n;
};

struct kube_events {
	struct loop_group *group;
	struct kube_client *client;
	char *controller, *instance;
	/* Maps the key of a series to struct series. */
	struct map *series;
	/* Maps the key of an object to struct quota. */
	struct map *quotas;
	struct list used;
};

static int64_t now(const struct kube_events *ev)
{
	return loop_now(loop_of(ev->group));
}

static void forget(struct series *s)
{
	map_del(s->ev->series, s->key);
	kube_call_cancel(s->call);
	loop_timer_stop(&s->timer);
	list_remove(&s->link);
	free(s->key);
	free(s->ns);
	free(s->name);
	free(s);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Returns s as a JSON string of at most max bytes, truncated only between characters; invalid UTF-8
 * becomes '?'. */
static json_t *text(const char *s, size_t max)
{
	size_t n = strlen(str_or(s, ""));
	char *copy;
	json_t *j;

	if (n > max)
		for (n = max; n && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
			;
	j = json_stringn(str_or(s, ""), n);
	if (j)
		return j;
	copy = mem_strndup(s, n);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	j = json_string(copy);
	free(copy);
	return j;
}

static json_t *reference(const struct kube_ref *r)
{
	json_t *j = json_object();

	json_object_set_new(j, "apiVersion", text(r->api_version, NOTE_MAX));
	json_object_set_new(j, "kind", text(r->kind, NOTE_MAX));
	json_object_set_new(j, "name", text(r->name, NOTE_MAX));
	if (!str_empty(r->ns))
		json_object_set_new(j, "namespace", text(r->ns, NOTE_MAX));
	if (!str_empty(r->uid))
		json_object_set_new(j, "uid", text(r->uid, NOTE_MAX));
	return j;
}

/* Returns a name for a new event, malloc'd: the object's name, truncated at NAME_MAX_ bytes and
 * without '.' or '-' at its end, plus 64 random bits. */
static char *event_name(struct kube_events *ev, const char *object)
{
	size_t n = strlen(object);

	if (n > NAME_MAX_)
		n = NAME_MAX_;
	while (n && (object[n - 1] == '.' || object[n - 1] == '-'))
		n--;
	return mem_printf("%.*s.%016llx", (int)n, object,
			  (unsigned long long)loop_random(loop_of(ev->group)));
}

static void on_patched(json_t *object, const struct err *e, void *arg)
{
	struct series *s = arg;

	(void)object;
	s->call = NULL;
	/* The server has already deleted the event: forget the series, so that a new event is
	 * created. */
	if (e && e->kind == ERR_NOT_FOUND)
		forget(s);
	else if (s->count > s->written)
		loop_timer_start(&s->timer, PATCH_MS);
}

static void patch(void *arg)
{
	struct series *s = arg;
	char last[STR_TIME_SIZE], last_micro[STR_TIME_SIZE];
	OWN_JSON body = json_pack("{s:I, s:s, s:{s:I, s:s}}", "count", (json_int_t)s->count,
				  "lastTimestamp", str_time(last, s->last_wall), "series", "count",
				  (json_int_t)s->count, "lastObservedTime",
				  str_time_micro(last_micro, s->last_wall));

	s->written = s->count;
	s->patched_at = now(s->ev);
	s->call = kube_patch(s->ev->client, &KUBE_EVENTS, s->ns, s->name, NULL, KUBE_PATCH_MERGE,
			     body, on_patched, s);
}

/* Schedules the patch of the series' count, at most one every PATCH_MS. */
static void schedule(struct series *s)
{
	int64_t wait = s->patched_at + PATCH_MS - now(s->ev);

	if (s->created && !s->call && !loop_timer_active(&s->timer))
		loop_timer_start(&s->timer, wait > 0 ? wait : 0);
}

static void on_created(json_t *object, const struct err *e, void *arg)
{
	struct series *s = arg;

	(void)object;
	s->call = NULL;
	if (e) {
		forget(s);
		return;
	}
	s->created = true;
	if (s->count > s->written)
		schedule(s);
}

static void create(struct series *s, const struct kube_ref *regarding, const char *type,
		   const char *reason, const char *action, const char *note)
{
	struct kube_events *ev = s->ev;
	char time[STR_TIME_SIZE], micro[STR_TIME_SIZE];
	OWN_JSON body =
		json_pack("{s:s, s:s, s:{s:s, s:s}, s:s, s:s, s:s, s:i, s:{s:s}, s:s, s:s, "
			  "s:s, s:o, s:o, s:o, s:o}",
			  "apiVersion", "v1", "kind", "Event", "metadata", "name", s->name,
			  "namespace", s->ns, "eventTime", str_time_micro(micro, s->last_wall),
			  "firstTimestamp", str_time(time, s->last_wall), "lastTimestamp", time,
			  "count", 1, "source", "component", ev->controller, "reportingComponent",
			  ev->controller, "reportingInstance", ev->instance, "type", type, "reason",
			  text(reason, WORD_MAX), "action", text(action, WORD_MAX), "message",
			  text(note, NOTE_MAX), "involvedObject", reference(regarding));

	if (!body) { /* A text (for example a name) is not UTF-8, so the event cannot be written. */
		forget(s);
		return;
	}
	s->written = 1;
	s->patched_at = now(ev);
	s->call = kube_create(ev->client, &KUBE_EVENTS, s->ns, body, on_created, s);
}

/* --- requests --------------------------------------------------------------------------------- */

static bool within_quota(struct kube_events *ev, const char *object)
{
	struct quota *q = map_get(ev->quotas, object);
	struct map_iter it;

	if (!q) {
		if (map_size(ev->quotas) >= MAX_QUOTAS && map_first(ev->quotas, &it))
			map_del(ev->quotas, it.key);
		q = mem_new(struct quota);
		q->from = now(ev);
		map_put(ev->quotas, object, q);
	}
	if (now(ev) - q->from >= QUOTA_MS)
		*q = (struct quota){.from = now(ev)};
	if (q->n >= QUOTA)
		return false;
	q->n++;
	return true;
}

/* Returns a key for the object, malloc'd: kind, namespace, name and uid, joined with a byte that
 * none of them contains. */
static char *object_key(const struct kube_ref *r)
{
	return mem_printf("%s\x1f%s\x1f%s\x1f%s", str_or(r->kind, ""), str_or(r->ns, ""),
			  str_or(r->name, ""), str_or(r->uid, ""));
}

static struct series *series_new(struct kube_events *ev, const struct kube_ref *regarding,
				 char *key)
{
	struct series *s, *oldest;

	while (map_size(ev->series) >= MAX_SERIES &&
	       (oldest = list_first(&ev->used, struct series, link)))
		forget(oldest);
	s = mem_new(struct series);
	s->ev = ev;
	s->key = key;
	s->ns = mem_strdup(str_or(regarding->ns, "default"));
	s->name = event_name(ev, str_or(regarding->name, "unknown"));
	s->count = 1;
	loop_timer_init(&s->timer, ev->group, patch, s);
	list_push_back(&ev->used, &s->link);
	map_put(ev->series, key, s);
	return s;
}

void kube_event(struct kube_events *ev, const struct kube_ref *regarding, const char *type,
		const char *reason, const char *action, const char *note)
{
	char *object = object_key(regarding);
	char *key = mem_printf("%s\x1f%s\x1f%s\x1f%s", object, type, reason, str_or(note, ""));
	struct series *s = map_get(ev->series, key);

	if (s && now(ev) - s->last_at >= SERIES_MS) {
		forget(s);
		s = NULL;
	}
	if (s) {
		s->count++;
		list_remove(&s->link);
		list_push_back(&ev->used, &s->link);
		schedule(s);
	} else if (within_quota(ev, object)) {
		s = series_new(ev, regarding, key);
		key = NULL;
	}
	free(object);
	free(key);
	if (!s)
		return;
	s->last_at = now(ev);
	s->last_wall = loop_wall(loop_of(ev->group));
	if (!s->created && !s->call)
		create(s, regarding, type, reason, action, note);
}

struct kube_events *kube_events_new(struct loop_group *g, struct kube_client *c,
				    const char *controller, const char *instance)
{
	struct kube_events *ev = mem_new(struct kube_events);

	ev->group = g;
	ev->client = c;
	ev->controller = mem_strdup(controller);
	ev->instance = mem_strdup(instance);
	ev->series = map_new(NULL);
	ev->quotas = map_new(free);
	list_init(&ev->used);
	return ev;
}

void kube_events_free(struct kube_events *ev)
{
	struct series *s;

	if (!ev)
		return;
	while ((s = list_first(&ev->used, struct series, link)))
		forget(s);
	map_free(ev->series);
	map_free(ev->quotas);
	free(ev->controller);
	free(ev->instance);
	free(ev);
}
