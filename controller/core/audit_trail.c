/*
 * audit_trail: a queue of entries without numbers. Numbers and digests are set when a segment is
 * written, from the newest segment in the cache.
 */
#include "controller/core/audit_trail.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/loop/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/audit_entries.h"
#include "controller/core/audit_missed.h"
#include "controller/core/counters.h"
#include "controller/core/status_writer.h"

/* Longest time for which a replica that does not lead keeps an entry that no segment has. */
#define FOLLOW_MS 600000
/* Creation times that are this much older than the process belong to objects that were there
 * before; SKEW_MS of audit_missed.c is longer than a list takes. */
#define OLDER_MS 60000
/* Number of segments above which the oldest is deleted although entries wait. */
#define MOST_SEGMENTS (AUDIT_SEGMENTS_KEPT + 8)

struct queued {
	/* wall ms at which the entry was queued */
	int64_t time;
	/* the entry as JSON, without number and digests */
	char *text;
};

struct audit_trail {
	struct context *c;
	/* copy of the log; NULL: none */
	const struct audit_file *file;
	struct status_writer write;
	struct loop_timer timer;
	/* key of an entry -> struct queued, oldest first */
	struct map *queue;
	/* number of entries that did not fit into the queue */
	int64_t lost;
	/* Newest segment that was ever seen, with its last entry; number 0: none. The segment may
	 * have been deleted since. */
	int64_t number, seq;
	char head[CRYPTO_DIGEST_TEXT];
	/* number of the segment that is being deleted; 0: none */
	int64_t pruned;
	/* True: the API server refused to append to the newest segment, so a new one is begun */
	bool fresh;
	/* True: this leader has compared the objects with the log */
	bool compared;
};

static void queued_free(void *p)
{
	struct queued *q = p;

	free(q->text);
	free(q);
}

static const struct audit_segment *segment_of(const struct audit_trail *t, int64_t number)
{
	char name[64];

	str_format(name, sizeof(name), AUDIT_SEGMENT_NAME, (long long)number);
	return CTX_GET(t->c, OBJECT_AUDIT_SEGMENT, audit_segment, name);
}

/* --- the queue -------------------------------------------------------------------------------- */

/* Returns the key of an entry, malloc'd. Entries about the log itself are identified by their
 * writer and time. */
static char *key_of(const struct audit_entry *e)
{
	char time[STR_TIME_SIZE];

	return mem_printf("%s/%s/%s/%s", e->event, str_or(e->uid, e->who),
			  str_or(e->version, str_time(time, e->time)), str_or(e->field, ""));
}

static void drop_oldest(struct audit_trail *t)
{
	struct map_iter it;

	if (map_first(t->queue, &it))
		map_del(t->queue, it.key);
}

/* Drops what a replica that does not lead keeps no longer. */
static void trim(struct audit_trail *t, int64_t now)
{
	struct map_iter it;

	while (map_first(t->queue, &it) && (((struct queued *)it.value)->time < now - FOLLOW_MS ||
					    map_size(t->queue) > AUDIT_TRAIL_FOLLOW))
		drop_oldest(t);
}

static void put(struct audit_trail *t, const struct audit_entry *e)
{
	OWN_JSON j = audit_entry_encode(e);
	struct queued *q = mem_new(struct queued);
	char *key = key_of(e);

	q->time = e->time;
	q->text = json_text(j);
	map_put(t->queue, key, q);
	free(key);
}

static void push(const struct audit_entry *e, void *arg)
{
	struct audit_trail *t = arg;

	if (map_size(t->queue) >= AUDIT_TRAIL_QUEUE) {
		t->lost++;
		counters_audit_lost(t->c->counters, 1);
		return;
	}
	put(t, e);
	if (!t->c->leading)
		trim(t, e->time);
	else if (!loop_timer_active(&t->timer) && !writer_busy(&t->write))
		loop_timer_start(&t->timer, AUDIT_TRAIL_WRITE_MS);
}

/* Adds an entry about the log itself. */
static void push_own(struct audit_trail *t, const char *event, const char *to, const char *why,
		     int64_t count)
{
	const struct audit_entry e = {.time = loop_wall(t->c->loop),
				      .who = t->c->o.identity,
				      .event = event,
				      .to = to,
				      .why = why,
				      .count = count};

	push(&e, t);
}

void audit_trail_change(struct audit_trail *t, enum object_kind_id kind, const void *old,
			const void *new_)
{
	const struct object_meta *m = new_ ? object_meta_of(new_) : NULL;

	if (!t->c->ready || kind == OBJECT_AUDIT_SEGMENT)
		return;
	/* An object that was refused when this process started, and is valid now, is not new. */
	if (!old && m->creation_timestamp < t->c->began - OLDER_MS)
		return;
	audit_entries_of(kind, old, new_, loop_wall(t->c->loop), push, t);
}

/* --- segments --------------------------------------------------------------------------------- */

static void saw_entries(struct audit_trail *t, const struct audit_segment *s, size_t from)
{
	for (size_t i = from; i < s->spec.entries.n; i++) {
		char *key = key_of(&s->spec.entries.v[i]);

		map_del(t->queue, key);
		free(key);
	}
}

static void saw_deleted(struct audit_trail *t, const struct audit_segment *old)
{
	if (old->spec.number == t->pruned) {
		t->pruned = 0;
	} else if (t->c->leading && !ctx_crds_terminating(t->c)) {
		log_error("a segment of the audit log was deleted",
			  LOG_S("segment", old->meta.name));
		push_own(t, AUDIT_DAMAGED, old->meta.name, "segment deleted by another writer",
			 (int64_t)old->spec.entries.n);
	}
}

void audit_trail_segment(struct audit_trail *t, const struct audit_segment *old,
			 const struct audit_segment *new_)
{
	const struct audit_entry *last = new_ && new_->spec.entries.n
						 ? &new_->spec.entries.v[new_->spec.entries.n - 1]
						 : NULL;

	if (!last) {
		if (old)
			saw_deleted(t, old);
		return;
	}
	saw_entries(t, new_, old ? old->spec.entries.n : 0);
	if (new_->spec.number < t->number || (new_->spec.number == t->number && last->seq < t->seq))
		return;
	t->fresh &= new_->spec.number == t->number;
	t->number = new_->spec.number;
	t->seq = last->seq;
	str_copy(t->head, sizeof(t->head), last->digest);
}

/* --- comparison ------------------------------------------------------------------------------- */

static bool lowest(const struct kube_entry *en, void *arg)
{
	const struct audit_segment *s = en->object;
	int64_t *number = arg;

	if (!*number || s->spec.number < *number)
		*number = s->spec.number;
	return true;
}

static int64_t oldest(const struct audit_trail *t)
{
	int64_t number = 0;

	kube_cache_each(t->c->cache[OBJECT_AUDIT_SEGMENT], lowest, &number);
	return number;
}

static void know_queued(const struct audit_trail *t, struct audit_missed *m, struct arena *a)
{
	struct map_iter it;

	map_for_each (it, t->queue) {
		const char *text = ((struct queued *)it.value)->text;
		struct audit_entry e = {0};
		struct err err;
		OWN_JSON j = json_parse(text, strlen(text), &err);

		json_object_set_new(j, "seq", json_integer(1));
		if (fields_decode(audit_entry_fields, j, NULL, &e, a, &err) == 0)
			audit_missed_know(m, &e, false);
	}
}

static void compare(struct audit_trail *t)
{
	OWN(audit_missed) m = audit_missed_new();
	OWN(arena) a = arena_new();

	for (int64_t n = t->number ? oldest(t) : 1; n <= t->number; n++) {
		const struct audit_segment *s = segment_of(t, n);

		for (size_t i = 0; s && i < s->spec.entries.n; i++)
			audit_missed_know(m, &s->spec.entries.v[i], true);
	}
	if (t->number)
		know_queued(t, m, a);
	audit_missed_find(m, t->c, loop_wall(t->c->loop), push, t);
	t->compared = true;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct audit_trail *t = arg;

	(void)o;
	if (e && (e->kind == ERR_INVALID || e->kind == ERR_NOT_FOUND))
		t->fresh = true;
	loop_timer_start(&t->timer, AUDIT_TRAIL_WRITE_MS);
}

/* Appends up to `room` queued entries to the array, with their numbers and digests. */
static void seal(struct audit_trail *t, json_t *entries, size_t room)
{
	const char *previous = t->number ? t->head : AUDIT_GENESIS;
	int64_t seq = t->seq;
	struct map_iter it;

	map_for_each (it, t->queue) {
		const char *text = ((struct queued *)it.value)->text;
		struct err e;
		json_t *j;

		if (!room--)
			break;
		j = json_parse(text, strlen(text), &e);
		audit_entry_seal(j, ++seq, previous);
		previous = json_str_at(j, "digest");
		json_array_append_new(entries, j);
	}
}

static void append(struct audit_trail *t, const struct audit_segment *s)
{
	OWN_JSON all = fields_encode(object_kinds[OBJECT_AUDIT_SEGMENT].fields, s);
	json_t *entries = json_incref(json_at(all, "spec", "entries"));

	seal(t, entries, AUDIT_SEGMENT_ENTRIES - s->spec.entries.n);
	writer_spec(&t->write, OBJECT_AUDIT_SEGMENT, &s->meta,
		    json_pack("{s:o}", "entries", entries), on_written);
}

static void begin(struct audit_trail *t)
{
	json_t *entries = json_array();
	char name[64];

	str_format(name, sizeof(name), AUDIT_SEGMENT_NAME, (long long)t->number + 1);
	seal(t, entries, AUDIT_SEGMENT_ENTRIES);
	writer_create(&t->write, OBJECT_AUDIT_SEGMENT,
		      json_pack("{s:s, s:s, s:{s:s}, s:{s:I, s:o}}", "apiVersion",
				OBJECT_API_VERSION, "kind", "AuditSegment", "metadata", "name",
				name, "spec", "number", (json_int_t)t->number + 1, "entries",
				entries),
		      on_written);
}

/* Deletes the oldest segment if there are too many. While entries wait, a few more are allowed.
 * Returns true if a deletion was started. */
static bool prune(struct audit_trail *t)
{
	const size_t n = kube_cache_size(t->c->cache[OBJECT_AUDIT_SEGMENT]);
	const struct audit_segment *s;

	if (n <= AUDIT_SEGMENTS_KEPT || (n <= MOST_SEGMENTS && map_size(t->queue)))
		return false;
	s = segment_of(t, oldest(t));
	if (s && n <= AUDIT_FILE_SEGMENTS &&
	    !audit_file_has(t->file, s->spec.entries.v[s->spec.entries.n - 1].seq))
		return false;
	t->pruned = s ? s->spec.number : 0;
	if (s)
		writer_delete(&t->write, OBJECT_AUDIT_SEGMENT, &s->meta, on_written);
	return s;
}

/* Adds the number of lost entries to the log once the queue is half empty. */
static void note_lost(struct audit_trail *t)
{
	if (!t->lost || map_size(t->queue) > AUDIT_TRAIL_QUEUE / 2)
		return;
	push_own(t, AUDIT_LOST, NULL, "more changes than the log can take", t->lost);
	t->lost = 0;
}

static void step(void *arg)
{
	struct audit_trail *t = arg;
	const struct audit_segment *s = segment_of(t, t->number);

	if (!t->c->leading || writer_busy(&t->write))
		return;
	if (!t->c->ready || !ctx_may_act(t->c)) {
		loop_timer_start(&t->timer, AUDIT_TRAIL_WRITE_MS);
		return;
	}
	if (!t->compared)
		compare(t);
	note_lost(t);
	if (prune(t) || !map_size(t->queue))
		return;
	if (s && s->spec.entries.n < AUDIT_SEGMENT_ENTRIES && !t->fresh)
		append(t, s);
	else
		begin(t);
}

void audit_trail_lead(struct audit_trail *t, int64_t transitions)
{
	char to[24];

	t->compared = false;
	str_format(to, sizeof(to), "%lld", (long long)transitions);
	push_own(t, AUDIT_LEADER, to, NULL, 0);
	loop_timer_start(&t->timer, 0);
}

struct audit_trail *audit_trail_new(struct context *c, const struct audit_file *file)
{
	struct audit_trail *t = mem_new(struct audit_trail);

	t->c = c;
	t->file = file;
	t->queue = map_new(queued_free);
	writer_init(&t->write, c, t);
	loop_timer_init(&t->timer, c->group, step, t);
	return t;
}

void audit_trail_free(struct audit_trail *t)
{
	if (!t)
		return;
	writer_stop(&t->write);
	loop_timer_stop(&t->timer);
	map_free(t->queue);
	free(t);
}
