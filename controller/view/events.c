/*
 * events: once each VIEW_EVENTS_MS the changed rows are sent to the streams, by an event ring.
 *
 * A round finds the changes of the machines that may have changed, in slices. A machine that
 * changes during a round is compared again in the next round, whether or not this round has
 * compared it already: if it has, the digest of the row prevents a second event.
 *
 * The first round after the first stream began (`first`) sends nothing, but stores what the reader
 * will find in the list. The reader may read the list at any time during this round. So the round
 * computes all rows as of its begin, and leaves out each machine that has changed since: the next
 * round then sends it.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/view/events.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/crypto.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/view/changed_rows.h"
#include "controller/view/event_ring.h"
#include "controller/view/fleet.h"
#include "controller/view/page.h"
#include "controller/view/queue.h"

#define ALIVE_TICKS (VIEW_EVENTS_ALIVE_MS / VIEW_EVENTS_MS)
#define MINUTE_TICKS (60000 / VIEW_EVENTS_MS)
#define TENANT_MAX 253
/* Longest time that a stream continues while the host cluster does not answer reviews */
#define UNKNOWN_MS (5 * VIEW_GRANT_MS)

struct stream {
	/* Member of ring.readers of the view */
	struct event_reader reader;
	/* Owner of the stream; NULL: the view was freed */
	struct view_events *e;
	struct httpd_req *q;
	/* First lines of the stream, and the number of their bytes that were sent */
	char *hello;
	size_t hello_sent;
	/* True: the caller's grant has to be checked */
	bool due;
	/* loop_now() when the host cluster granted the path last */
	int64_t granted;
};

/* Machines to be compared, in slices */
struct event_round {
	/* Memory of the names; NULL: no round is in progress */
	struct arena *a;
	const char **names;
	/* Number of names, and of those that were compared */
	size_t n, cap, at;
	/* True: the round stores rows and sends nothing */
	bool first;
	/* Version of the fleet, and wall ms, at the begin of the round */
	char version[VIEW_VERSION_SIZE];
	int64_t begin;
};

struct view_events {
	const struct view_source *source;
	struct attention *attention;
	struct view_access *access;
	struct event_ring ring;
	size_t nstreams;
	/* Maps of known_rows_new(): machines by name; rows of what needs attention by their member
	 * `object` */
	struct map *rows, *attention_rows;
	/* Version of what needs attention in the last event */
	char attention_version[VIEW_VERSION_SIZE];
	struct event_round round;
	/* Continues the round */
	struct loop_timer slice;
	/* Version of the fleet at the begin of the last complete round */
	char sent[VIEW_VERSION_SIZE];
	/* Names of Machines that changed since the last round began */
	struct map *changed;
	/* True: all Machines may have changed */
	bool all;
	/* waiting_number() of the list in the last event */
	uint64_t queue;
	unsigned ticks;
	struct loop_timer tick, review;
	/* The stream whose caller is being reviewed, and the review; NULL: none */
	struct stream *reviewed;
	struct view_visit *visit;
};

/* --- changes of the fleet --------------------------------------------------------------------- */

static void compare_machine(const struct view_events *e, struct changed_rows *x,
			    const struct machine *m, int64_t now)
{
	OWN_JSON o = view_fleet_row(e->source->c, m, now);
	OWN_JSON brief = view_fleet_brief(o);

	changed_rows_compare(x, m->meta.name, m->status.tenant.name, o, brief);
}

static void round_add(struct event_round *r, const char *name)
{
	mem_grow(r->names, r->n, r->cap);
	r->names[r->n++] = arena_strdup(r->a, name);
}

static bool add_entry(const struct kube_entry *en, void *arg)
{
	round_add(arg, en->name);
	return true;
}

static void round_end(struct view_events *e)
{
	arena_free(e->round.a);
	free((void *)e->round.names);
	e->round = (struct event_round){0};
	loop_timer_stop(&e->slice);
}

/* Begins a round of the Machines that may have changed since the last round began, or, first, of
 * all Machines. */
static void round_begin(struct view_events *e, bool first)
{
	const struct kube_cache *machines = e->source->c->cache[OBJECT_MACHINE];
	const bool all = first || e->all;
	struct event_round *r = &e->round;
	struct map_iter it;

	r->a = arena_new();
	r->first = first;
	r->begin = loop_wall(e->source->c->loop);
	view_source_fleet(e->source, r->version);
	if (all)
		kube_cache_each(machines, add_entry, r);
	map_for_each (it, all ? e->rows : e->changed)
		if (!all || !kube_cache_get(machines, "", it.key))
			round_add(r, it.key);
	map_clear(e->changed);
	e->all = false;
}

/* Compares a machine of the round with its row in the last event. */
static void compare_name(struct view_events *e, struct changed_rows *x, const char *name)
{
	const struct event_round *round = &e->round;
	const struct machine *m = CTX_GET(e->source->c, OBJECT_MACHINE, machine, name);

	if (round->first && (!m || e->all || map_has(e->changed, name)))
		known_rows_add_unknown(e->rows, name);
	else if (m)
		compare_machine(e, x, m,
				round->first ? round->begin : loop_wall(e->source->c->loop));
	else if (map_has(e->rows, name))
		changed_rows_delete(x, name);
}

/* Compares the next machines of the round, and sends their changes. */
static void on_slice(void *arg)
{
	struct view_events *e = arg;
	struct event_round *r = &e->round;
	const size_t left = r->n - r->at,
		     end = r->at + (left < VIEW_EVENTS_SLICE ? left : VIEW_EVENTS_SLICE);
	OWN(arena) a = arena_new();
	struct changed_rows x = {
		.topic = EVENT_FLEET, .version = e->sent, .known = e->rows, .a = a};

	for (; r->at < end; r->at++)
		compare_name(e, &x, r->names[r->at]);
	if (r->at == r->n)
		memcpy(e->sent, r->version, sizeof(e->sent));
	if (!r->first)
		changed_rows_send(&x, &e->ring);
	changed_rows_done(&x);
	if (r->at == r->n)
		round_end(e);
	else
		loop_timer_start(&e->slice, 0);
}

/* --- changes of what needs attention ---------------------------------------------------------- */

/* Finds the changes since the last call. */
static void find_attention(struct view_events *e, struct changed_rows *x)
{
	const json_t *rows = attention_rows(e->attention);
	OWN(map) seen = map_new(NULL);
	struct map_iter it;
	json_t *row;
	size_t i;

	attention_version(e->attention, e->attention_version);
	json_array_foreach (rows, i, row) {
		const char *object = json_str_at(row, "object");

		map_put(seen, object, x);
		changed_rows_compare(x, object, json_str_at(row, "tenant"), row, row);
	}
	map_for_each (it, x->known)
		if (!map_has(seen, it.key))
			changed_rows_delete(x, it.key);
}

/* Finds the changes of what needs attention, and sends them unless `silent`. */
static void update_attention(struct view_events *e, bool silent)
{
	OWN(arena) a = arena_new();
	struct changed_rows x = {.topic = EVENT_ATTENTION,
				 .version = e->attention_version,
				 .known = e->attention_rows,
				 .a = a};

	find_attention(e, &x);
	if (!silent)
		changed_rows_send(&x, &e->ring);
	changed_rows_done(&x);
}

static bool is_attention_new(const struct view_events *e)
{
	char version[VIEW_VERSION_SIZE];

	return !str_eq(attention_version(e->attention, version), e->attention_version);
}

/* --- changes of the queue --------------------------------------------------------------------- */

static void send_queue_to(struct view_events *e, struct event_channel *ch)
{
	OWN_JSON o = view_queue_first(e->source->waiting, ch->tenant, VIEW_EVENTS_PODS);
	char *text = json_text(o), version[VIEW_VERSION_SIZE];
	uint8_t digest[CRYPTO_SHA256];
	struct buf b;

	crypto_sha256(text, strlen(text), digest);
	if ((!ch->tenant && !ch->brief) || memcmp(digest, ch->queue, sizeof(digest)) != 0) {
		memcpy(ch->queue, digest, sizeof(digest));
		view_source_queue(e->source, version);
		buf_init(&b, e->ring.max);
		/* text + 1: without its opening brace */
		buf_printf(&b, "event: queue\nid: %s\ndata: {\"version\":\"%s\",%s\n\n", version,
			   version, text + 1);
		event_ring_send(&e->ring, EVENT_QUEUE, ch, &b);
		buf_done(&b);
	}
	free(text);
}

static void send_queue(struct view_events *e)
{
	const uint64_t number = waiting_number(e->source->waiting);

	if (number == e->queue)
		return;
	e->queue = number;
	list_for_each (ch, &e->ring.channels, struct event_channel, link)
		send_queue_to(e, ch);
}

/* --- grants ----------------------------------------------------------------------------------- */

static void on_reviewed(enum view_grant g, void *arg)
{
	struct view_events *e = arg;
	struct stream *s = e->reviewed;
	const int64_t now = loop_now(e->source->c->loop);

	e->reviewed = NULL;
	e->visit = NULL;
	if (g == VIEW_GRANTED)
		s->granted = now;
	else if (!s->reader.ended && (g == VIEW_REFUSED || now - s->granted >= UNKNOWN_MS))
		event_reader_end(&s->reader, false);
	loop_timer_start(&e->review, 0);
}

/* Checks the grant of the next stream. One stream is reviewed at a time, so that 500 streams do not
 * slow down the controller's own calls to the host cluster. */
static void on_review(void *arg)
{
	struct view_events *e = arg;

	if (e->reviewed)
		return;
	list_for_each (s, &e->ring.readers, struct stream, reader.link) {
		if (!s->due || s->reader.ended)
			continue;
		s->due = false;
		e->reviewed = s;
		e->visit = view_access_again(e->access, s->q, on_reviewed, e);
		return;
	}
}

/* --- time ------------------------------------------------------------------------------------- */

/* Sends a comment line, which keeps the connections open. */
static void send_comment(struct view_events *e)
{
	struct buf b;

	buf_init(&b, e->ring.max);
	buf_puts(&b, ": ok\n\n");
	event_ring_send(&e->ring, EVENT_ALL, NULL, &b);
	buf_done(&b);
}

static void on_tick(void *arg)
{
	struct view_events *e = arg;

	loop_timer_start(&e->tick, VIEW_EVENTS_MS);
	if (!view_source_leads(e->source)) {
		list_for_each (s, &e->ring.readers, struct stream, reader.link)
			if (!s->reader.ended)
				event_reader_end(&s->reader, false);
		return;
	}
	e->ticks++;
	e->all |= e->ticks % MINUTE_TICKS == 0;
	if (!e->round.a && (e->all || map_size(e->changed))) {
		round_begin(e, false);
		on_slice(e);
	}
	send_queue(e);
	if (is_attention_new(e))
		update_attention(e, false);
	if (e->ticks % ALIVE_TICKS)
		return;
	send_comment(e);
	list_for_each (s, &e->ring.readers, struct stream, reader.link)
		s->due = true;
	loop_timer_start(&e->review, 0);
}

void view_events_changed(struct view_events *e, enum object_kind_id kind, const char *name)
{
	if (!e->nstreams)
		return;
	if (kind == OBJECT_MACHINE)
		map_put(e->changed, name, e);
	/* A row of the fleet contains the explanation of its machine, which depends on Drains. */
	e->all |= kind == OBJECT_DRAIN;
}

/* --- streams ---------------------------------------------------------------------------------- */

static int64_t read_stream(char *out, size_t max, uint64_t pos, void *arg)
{
	struct stream *s = arg;
	const size_t hello = strlen(s->hello) - s->hello_sent;
	size_t n;

	(void)pos;
	if (s->reader.ended)
		return s->reader.broken ? -2 : -1;
	if (!hello)
		return (int64_t)event_reader_read(&s->reader, out, max);
	n = hello < max ? hello : max;
	memcpy(out, s->hello + s->hello_sent, n);
	s->hello_sent += n;
	return (int64_t)n;
}

static void on_events(struct event_reader *r)
{
	httpd_wake(container_of(r, struct stream, reader)->q);
}

/* Releases all that the view keeps for the stream. */
static void stream_leave(struct stream *s)
{
	struct view_events *e = s->e;

	event_reader_leave(&s->reader);
	if (e->reviewed == s) {
		view_access_cancel(e->visit);
		e->visit = NULL;
		e->reviewed = NULL;
		loop_timer_start(&e->review, 0);
	}
	if (--e->nstreams)
		return;
	loop_timer_stop(&e->tick);
	round_end(e);
	map_clear(e->rows);
	map_clear(e->attention_rows);
	map_clear(e->changed);
}

static void stream_done(void *arg)
{
	struct stream *s = arg;

	if (s->e)
		stream_leave(s);
	free(s->hello);
	free(s);
}

/* Begins to compute changes, for the first stream. */
static void begin(struct view_events *e)
{
	e->ticks = 0;
	e->queue = waiting_number(e->source->waiting);
	view_source_fleet(e->source, e->sent);
	round_begin(e, true);
	on_slice(e);
	update_attention(e, true);
	loop_timer_start(&e->tick, VIEW_EVENTS_MS);
}

static char *hello_text(const struct view_events *e)
{
	char fleet[VIEW_VERSION_SIZE], queue[VIEW_VERSION_SIZE];
	OWN_JSON o =
		json_pack("{s:s, s:s, s:s, s:s}", "leader", e->source->c->o.identity, "fleet",
			  view_source_fleet(e->source, fleet), "queue",
			  view_source_queue(e->source, queue), "attention", e->attention_version);
	char *data = json_text(o), *text;

	text = mem_printf("retry: 3000\n\nevent: hello\ndata: %s\n\n", data);
	free(data);
	return text;
}

static void stream_start(struct view_events *e, struct httpd_req *q, unsigned topics,
			 const char *tenant, bool brief)
{
	struct stream *s = mem_new(struct stream);
	struct httpd_reader r = {.read = read_stream, .done = stream_done, .arg = s, .size = -1};

	if (!e->nstreams++)
		begin(e);
	s->e = e;
	s->q = q;
	s->reader.topics = topics;
	s->reader.wake = on_events;
	event_reader_join(&s->reader, &e->ring, tenant, brief);
	s->hello = hello_text(e);
	s->granted = loop_now(e->source->c->loop);
	httpd_reply_stream(q, 200, "text/event-stream", &r);
}

/* Returns the set of enum event_topic that parameter only selects; 0: it has no valid value. */
static unsigned topics_of(const char *only)
{
	return !only			   ? EVENT_ALL
	       : str_eq(only, "fleet")	   ? EVENT_FLEET
	       : str_eq(only, "queue")	   ? EVENT_QUEUE
	       : str_eq(only, "attention") ? EVENT_ATTENTION
					   : 0;
}

void view_events_reply(struct view_events *e, struct httpd_req *q)
{
	static const char *const known[] = {"only", "tenant", "brief", NULL};
	const char *only = httpd_query(q, "only"), *tenant = httpd_query(q, "tenant");
	unsigned topics = topics_of(only);
	struct err bad;
	bool brief;

	if (!page_is_known(q, known) || !view_fleet_is_brief(q, &brief))
		return;
	if (!topics) {
		page_refuse(q, "only", "fleet, queue or attention is required");
		return;
	}
	if (tenant && (str_empty(tenant) || strlen(tenant) > TENANT_MAX)) {
		page_refuse(q, "tenant", "the name of a VirtualCluster is required");
		return;
	}
	if (e->nstreams >= VIEW_EVENTS_STREAMS) {
		httpd_reply_header(q, "Retry-After", "30");
		err_note(&bad, ERR_UNAVAILABLE, 503, "%d streams are open: try again later",
			 VIEW_EVENTS_STREAMS);
		httpd_reply_err(q, &bad);
		return;
	}
	httpd_reply_header(q, "Cache-Control", "no-store");
	if (str_eq(httpd_method(q), "HEAD"))
		httpd_reply(q, 200, "text/event-stream", NULL, 0);
	else
		stream_start(e, q, topics, tenant, brief);
}

struct view_events *view_events_new(const struct view_source *source, struct attention *attention,
				    struct view_access *access, size_t ring_bytes)
{
	struct view_events *e = mem_new(struct view_events);

	e->source = source;
	e->attention = attention;
	e->access = access;
	event_ring_init(&e->ring, ring_bytes);
	e->rows = known_rows_new();
	e->attention_rows = known_rows_new();
	e->changed = map_new(NULL);
	loop_timer_init(&e->tick, source->c->group, on_tick, e);
	loop_timer_init(&e->slice, source->c->group, on_slice, e);
	loop_timer_init(&e->review, source->c->group, on_review, e);
	return e;
}

void view_events_free(struct view_events *e)
{
	if (!e)
		return;
	list_for_each (s, &e->ring.readers, struct stream, reader.link) {
		event_reader_end(&s->reader, false);
		stream_leave(s);
		s->e = NULL;
	}
	loop_timer_stop(&e->tick);
	loop_timer_stop(&e->review);
	round_end(e);
	map_free(e->rows);
	map_free(e->attention_rows);
	map_free(e->changed);
	free(e);
}
