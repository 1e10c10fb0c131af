/*
 * audit_trail: a queue of entries without numbers. Numbers and digests are set when a segment is
 * written, from the newest segment in the cache.
 */
#include "controller/core/audit_trail.h"

#include <stdlib.h>
#include <string.h>

#include "api/resources.h"
#include "base/log.h"
#include "base/loop/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/audit_entries.h"
#include "controller/core/audit_known.h"
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
/* Interval of attempts while the API server refuses every entry. */
#define REFUSED_MS 30000

struct queued_audit {
	/* wall ms at which the entry was queued */
	int64_t time;
	/* resourceVersion of the object before the change; 0: not known */
	uint64_t before;
	/* the entry as JSON, without number and digests */
	char *text;
};

struct audit_trail {
	struct context *c;
	/* copy of the log; NULL: none */
	const struct audit_file *file;
	struct status_writer write;
	struct loop_timer timer;
	/* key of an entry -> struct queued_audit, oldest first */
	struct map *queue;
	/* entries of the newest segments */
	struct audit_known *known;
	/* Keys of entries that this replica dropped while it did not lead, and that no segment
	 * has */
	struct map *dropped;
	/* number of other entries that did not fit into the queue */
	int64_t lost;
	/* resourceVersion of the object before the change that is being recorded; 0: not known */
	uint64_t before;
	/* Newest segment that was ever seen, with its last entry; number 0: none. The segment may
	 * have been deleted since. */
	int64_t number, seq;
	char head[CRYPTO_DIGEST_TEXT];
	/* newest segment that the last leader recorded; number 0: not known */
	struct audit_newest recorded;
	/* doubted: number of the newest segment if the cache lacked it when this leader began; 0:
	 * the cache had it. doubted_after: last sequence number that the cache had then */
	int64_t doubted, doubted_after;
	/* number of the segment that is being deleted; 0: none */
	int64_t pruned;
	/* number of a segment that the API server reported as missing when asked for its name; 0:
	 * none */
	int64_t gone;
	/* request for the newest segment by its name; NULL: none */
	struct kube_call *look;
	/* sent: number of entries in the last write. most: highest number in the next one */
	size_t sent, most;
	/* True: this leader has compared the objects with the log */
	bool compared;
};

static void queued_free(void *p)
{
	struct queued_audit *q = p;

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

/* Drops the oldest entry of a replica that does not lead, and remembers its key: the leader may
 * still write the entry. */
static void drop_oldest(struct audit_trail *t)
{
	struct map_iter it;

	if (!map_first(t->queue, &it))
		return;
	if (map_size(t->dropped) < AUDIT_TRAIL_QUEUE)
		map_put(t->dropped, it.key, t);
	else
		t->lost++;
	map_del(t->queue, it.key);
}

/* Drops what a replica that does not lead keeps no longer: entries older than FOLLOW_MS, and more
 * than `most` entries. */
static void trim(struct audit_trail *t, int64_t now, size_t most)
{
	struct map_iter it;

	while (map_first(t->queue, &it) &&
	       (((struct queued_audit *)it.value)->time < now - FOLLOW_MS ||
		map_size(t->queue) > most))
		drop_oldest(t);
}

/* Replaces the entry under the key. */
static void put_at(struct audit_trail *t, const char *key, const struct audit_entry *e)
{
	OWN_JSON j = audit_entry_encode(e);
	struct queued_audit *q = mem_new(struct queued_audit);

	q->time = e->time;
	q->before = t->before;
	q->text = json_text(j);
	map_put(t->queue, key, q);
}

static void put(const struct audit_entry *e, void *arg)
{
	char *key = audit_known_key(e);

	put_at(arg, key, e);
	free(key);
}

static void wake(struct audit_trail *t)
{
	if (t->c->leading && !loop_timer_active(&t->timer) && !writer_busy(&t->write) && !t->look)
		loop_timer_start(&t->timer, AUDIT_TRAIL_WRITE_MS);
}

static void push(const struct audit_entry *e, void *arg)
{
	struct audit_trail *t = arg;

	if (audit_known_has(t->known, e, t->before))
		return;
	if (!t->c->leading)
		trim(t, e->time, AUDIT_TRAIL_QUEUE - 1);
	if (map_size(t->queue) >= AUDIT_TRAIL_QUEUE) {
		t->lost++;
		counters_audit_lost(t->c->counters, 1);
		return;
	}
	put(e, t);
	wake(t);
}

/* Returns the queued entry as JSON, decoded into *e, whose texts are in the arena. */
static json_t *open_queued(const struct queued_audit *q, struct audit_entry *e, struct arena *a)
{
	struct err err;
	json_t *j = json_parse(q->text, strlen(q->text), &err);

	*e = (struct audit_entry){0};
	json_object_set_new(j, "seq", json_integer(1));
	(void)!fields_decode(audit_entry_fields, j, NULL, e, a, &err);
	return j;
}

/* Adds an entry about the log itself, even to a full queue. */
static void push_own(struct audit_trail *t, const char *event, const char *to, const char *why,
		     int64_t count)
{
	const struct audit_entry e = {.time = loop_wall(t->c->loop),
				      .who = str_or(t->c->o.identity, "drover"),
				      .event = event,
				      .to = to,
				      .why = why,
				      .count = count};

	put(&e, t);
	wake(t);
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
	t->before = old ? audit_known_version(object_meta_of(old)->resource_version) : 0;
	audit_entries_of(kind, old, new_, loop_wall(t->c->loop), push, t);
	t->before = 0;
}

/* --- segments --------------------------------------------------------------------------------- */

static void saw_entries(struct audit_trail *t, const struct audit_segment *s, size_t from)
{
	for (size_t i = from; i < s->spec.entries.n; i++) {
		char *key = audit_known_key(&s->spec.entries.v[i]);

		audit_known_add(t->known, &s->spec.entries.v[i]);
		map_del(t->queue, key);
		map_del(t->dropped, key);
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

/* Adds the queued entries, without those that segments have. Before an entry that does not begin
 * where the last one ended, queues an entry for the changes in between. */
static void know_queued(struct audit_trail *t, struct audit_missed *m)
{
	OWN(map) old = t->queue;
	OWN(arena) a = arena_new();
	struct map_iter it;

	t->queue = map_new(queued_free);
	map_for_each (it, old) {
		struct queued_audit *q = it.value;
		struct audit_entry e;
		json_t *j = open_queued(q, &e, a);

		if (!audit_known_has(t->known, &e, q->before)) {
			audit_missed_gap(m, &e, loop_wall(t->c->loop), put, t);
			audit_missed_know(m, &e, false);
			map_put(t->queue, it.key, q);
			(void)map_take(old, it.key);
		}
		json_decref(j);
	}
}

static int by_number(const void *x, const void *y)
{
	const struct audit_segment *const *a = x, *const *b = y;

	return ((*a)->spec.number > (*b)->spec.number) - ((*a)->spec.number < (*b)->spec.number);
}

struct segment_list {
	const struct audit_segment **v;
	size_t n;
};

static bool collect(const struct kube_entry *en, void *arg)
{
	struct segment_list *s = arg;

	s->v[s->n++] = en->object;
	return true;
}

static void know_written(const struct audit_trail *t, struct audit_missed *m)
{
	const struct kube_cache *cache = t->c->cache[OBJECT_AUDIT_SEGMENT];
	struct segment_list all = {.v = mem_calloc(kube_cache_size(cache) + 1, sizeof(*all.v))};

	kube_cache_each(cache, collect, &all);
	qsort(all.v, all.n, sizeof(*all.v), by_number);
	for (size_t n = 0; n < all.n; n++)
		for (size_t i = 0; i < all.v[n]->spec.entries.n; i++)
			audit_missed_know(m, &all.v[n]->spec.entries.v[i], true);
	free(all.v);
}

static bool last_seq(const struct kube_entry *en, void *arg)
{
	const struct audit_segment *s = en->object;
	const int64_t seq = s->spec.entries.v[s->spec.entries.n - 1].seq;
	int64_t *last = arg;

	*last = seq > *last ? seq : *last;
	return true;
}

/* Continues after the newest segment that the last leader recorded, if the cache ends before it. */
static void continue_recorded(struct audit_trail *t)
{
	const struct audit_newest *r = &t->recorded;

	if (/* mutant: audit-newest-forgotten */ r->number > t->number ||
	    (r->number == t->number && r->seq > t->seq)) {
		t->number = r->number;
		t->seq = r->seq;
		str_copy(t->head, sizeof(t->head), r->digest);
	}
	t->doubted = t->number && !segment_of(t, t->number) ? t->number : 0;
	t->doubted_after = 0;
	kube_cache_each(t->c->cache[OBJECT_AUDIT_SEGMENT], last_seq, &t->doubted_after);
}

static void compare(struct audit_trail *t)
{
	OWN(audit_missed) m = audit_missed_new();

	continue_recorded(t);
	know_written(t, m);
	if (t->number)
		know_queued(t, m);
	audit_missed_find(m, t->c, loop_wall(t->c->loop), push, t);
	t->compared = true;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Replaces the oldest entry, which the API server refuses, by one that names it. Returns false if
 * the API server refuses that too: the reason is not in the entry, and the log waits. */
static bool replace_refused(struct audit_trail *t)
{
	OWN(arena) a = arena_new();
	struct audit_entry e, lost = {.time = loop_wall(t->c->loop),
				      .who = str_or(t->c->o.identity, "drover"),
				      .event = AUDIT_LOST,
				      .why = "the API server refused the entry",
				      .count = 1};
	OWN_JSON j = NULL;
	struct map_iter it;

	if (!map_first(t->queue, &it))
		return false;
	j = open_queued(it.value, &e, a);
	if (str_eq(e.event, AUDIT_LOST))
		return false;
	lost.to = arena_printf(a, "%.32s %.63s/%.253s", str_or(e.event, ""), str_or(e.kind, ""),
			       str_or(json_str_at(j, "name"), ""));
	log_error("the API server refuses an entry of the audit log", LOG_S("entry", lost.to));
	counters_audit_lost(t->c->counters, 1);
	put_at(t, it.key, &lost);
	return true;
}

/* Sends fewer entries after a refusal, to find the one that is refused. Returns the time until the
 * next write. */
static int64_t after_refusal(struct audit_trail *t)
{
	t->most = t->sent > 1 ? t->sent / 2 : 1;
	return t->sent > 1 || replace_refused(t) ? AUDIT_TRAIL_WRITE_MS : REFUSED_MS;
}

/* True if the API server found no segment under this name. Without the name the error means that
 * the API server does not serve the kind at present. */
static bool is_gone(const struct err *e, const struct audit_trail *t)
{
	char quoted[64];

	str_format(quoted, sizeof(quoted), "\"" AUDIT_SEGMENT_NAME "\"", (long long)t->number);
	return e && e->kind == ERR_NOT_FOUND && strstr(e->text, quoted);
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct audit_trail *t = arg;
	int64_t wait = AUDIT_TRAIL_WRITE_MS;

	(void)o;
	if (e && (e->kind == ERR_INVALID || e->code == 413))
		wait = after_refusal(t);
	else if (is_gone(e, t))
		t->gone = t->number;
	else if (!e)
		t->most = t->most < AUDIT_SEGMENT_ENTRIES / 2 ? 2 * t->most : AUDIT_SEGMENT_ENTRIES;
	loop_timer_start(&t->timer, wait);
}

/* Returns up to t->most queued entries with their numbers and digests, until a segment that has
 * `n` entries of `bytes` bytes is full. Drops queued entries that segments have. */
static json_t *seal(struct audit_trail *t, size_t n, size_t bytes)
{
	OWN(arena) a = arena_new();
	const char *previous = t->number ? t->head : AUDIT_GENESIS;
	json_t *entries = json_array();
	struct map_iter it;

	map_for_each (it, t->queue) {
		const struct queued_audit *q = it.value;
		struct audit_entry e;
		json_t *j;

		if (json_array_size(entries) == t->most || audit_segment_is_full(n, bytes))
			break;
		j = open_queued(q, &e, a);
		if (audit_known_has(t->known, &e, q->before)) {
			map_del(t->queue, it.key);
			json_decref(j);
			continue;
		}
		json_array_append_new(entries, j);
		audit_entry_seal(j, t->seq + (int64_t)json_array_size(entries), previous);
		previous = json_str_at(j, "digest");
		bytes += audit_entry_bytes(j);
		n++;
	}
	t->sent = json_array_size(entries);
	return entries;
}

static size_t bytes_of(const struct audit_segment *s)
{
	size_t bytes = 0;

	for (size_t i = 0; i < s->spec.entries.n; i++) {
		OWN_JSON j = audit_entry_encode(&s->spec.entries.v[i]);

		bytes += audit_entry_bytes(j);
	}
	return bytes;
}

static void append(struct audit_trail *t, const struct audit_segment *s, size_t bytes)
{
	json_t *entries = seal(t, s->spec.entries.n, bytes);

	if (t->sent)
		writer_append(&t->write, OBJECT_AUDIT_SEGMENT, &s->meta, "/spec/entries", entries,
			      on_written);
	else
		json_decref(entries);
}

static void begin(struct audit_trail *t)
{
	json_t *entries = seal(t, 0, 0);
	char name[64];

	str_format(name, sizeof(name), AUDIT_SEGMENT_NAME, (long long)t->number + 1);
	if (t->sent)
		writer_create(&t->write, OBJECT_AUDIT_SEGMENT,
			      json_pack("{s:s, s:s, s:{s:s}, s:{s:I, s:O}}", "apiVersion",
					OBJECT_API_VERSION, "kind", "AuditSegment", "metadata",
					"name", name, "spec", "number", (json_int_t)t->number + 1,
					"entries", entries),
			      on_written);
	json_decref(entries);
}

/* Notes that the newest segment is gone. If it was before this leader began, adds an entry. */
static void note_gone(struct audit_trail *t)
{
	char name[64];

	t->gone = t->number;
	if (t->doubted != t->number)
		return;
	t->doubted = 0;
	str_format(name, sizeof(name), AUDIT_SEGMENT_NAME, (long long)t->number);
	log_error("the newest segment of the audit log was deleted", LOG_S("segment", name));
	push_own(t, AUDIT_DAMAGED, name, "deleted by another writer while no replica led",
		 t->seq - t->doubted_after);
}

static void on_look(json_t *o, const struct err *e, void *arg)
{
	struct audit_trail *t = arg;

	t->look = NULL;
	if (is_gone(e, t))
		note_gone(t);
	else if (!e)
		kube_cache_learn(t->c->cache[OBJECT_AUDIT_SEGMENT], o);
	if (!e)
		t->doubted = 0;
	loop_timer_start(&t->timer, AUDIT_TRAIL_WRITE_MS);
}

/* Asks the API server for the newest segment, which is not in the cache. */
static void look(struct audit_trail *t)
{
	char name[64];

	str_format(name, sizeof(name), AUDIT_SEGMENT_NAME, (long long)t->number);
	t->look = kube_get(t->c->host, &object_resources[OBJECT_AUDIT_SEGMENT], NULL, name, on_look,
			   t);
}

/* Writes the next entries. The next segment is begun only if the newest one is full, so that nobody
 * appends to it any more, or is gone: otherwise two writers could fork the chain. */
static void write_next(struct audit_trail *t)
{
	const struct audit_segment *s = segment_of(t, t->number);
	const size_t bytes = s ? bytes_of(s) : 0;

	if (s && !audit_segment_is_full(s->spec.entries.n, bytes) && t->gone != t->number)
		append(t, s, bytes);
	else if (s || !t->number || t->gone == t->number)
		begin(t);
	else
		look(t);
}

static void on_pruned(json_t *o, const struct err *e, void *arg)
{
	struct audit_trail *t = arg;

	(void)o;
	(void)e;
	loop_timer_start(&t->timer, AUDIT_TRAIL_WRITE_MS);
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
		writer_delete(&t->write, OBJECT_AUDIT_SEGMENT, &s->meta, on_pruned);
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

	if (!t->c->leading || writer_busy(&t->write) || t->look)
		return;
	if (!t->c->ready || !ctx_may_act(t->c) ||
	    !kube_cache_synced(t->c->cache[OBJECT_AUDIT_SEGMENT])) {
		loop_timer_start(&t->timer, AUDIT_TRAIL_WRITE_MS);
		return;
	}
	if (!t->compared)
		compare(t);
	note_lost(t);
	if (!prune(t) && map_size(t->queue))
		write_next(t);
}

struct audit_newest audit_trail_newest(const struct audit_trail *t)
{
	struct audit_newest n = {.number = t->compared ? t->number : 0, .seq = t->seq};

	str_copy(n.digest, sizeof(n.digest), t->head);
	return n;
}

void audit_trail_recorded(struct audit_trail *t, const struct audit_newest *newest)
{
	t->recorded = *newest;
}

void audit_trail_lead(struct audit_trail *t, int64_t transitions)
{
	char to[24];

	t->compared = false;
	t->lost += (int64_t)map_size(t->dropped);
	counters_audit_lost(t->c->counters, (int64_t)map_size(t->dropped));
	map_clear(t->dropped);
	str_format(to, sizeof(to), "%lld", (long long)transitions);
	push_own(t, AUDIT_LEADER, to, NULL, 0);
	loop_timer_start(&t->timer, 0);
}

void audit_trail_follow(struct audit_trail *t)
{
	trim(t, loop_wall(t->c->loop), AUDIT_TRAIL_QUEUE);
}

struct audit_trail *audit_trail_new(struct context *c, const struct audit_file *file)
{
	struct audit_trail *t = mem_new(struct audit_trail);

	t->c = c;
	t->file = file;
	t->queue = map_new(queued_free);
	t->known = audit_known_new();
	t->dropped = map_new(NULL);
	t->most = AUDIT_SEGMENT_ENTRIES;
	writer_init(&t->write, c, t);
	loop_timer_init(&t->timer, c->group, step, t);
	return t;
}

void audit_trail_free(struct audit_trail *t)
{
	if (!t)
		return;
	writer_stop(&t->write);
	kube_call_cancel(t->look);
	loop_timer_stop(&t->timer);
	map_free(t->queue);
	map_free(t->dropped);
	audit_known_free(t->known);
	free(t);
}
