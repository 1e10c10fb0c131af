/*
 * events: once each VIEW_EVENTS_MS the changed rows become events in the ring, a list of encoded
 * events. A stream points to the first event in the ring that it has not sent completely, and holds
 * a reference to that event, so that this event and all later ones stay.
 *
 * A round finds the changes of the machines that may have changed, in slices. A machine that
 * changes during a round is compared again in the next round, whether or not this round has
 * compared it already: if it has, the digest of the row prevents a second event.
 *
 * The first round after the first stream began (`first`) sends nothing, but stores what the reader
 * will find in the list. The reader may read the list at any time during this round. So the round
 * computes all rows as of its begin, and leaves out each machine that has changed since: the next
 * round then sends it.
 *
 * A channel is the set of all streams with the same parameters tenant and brief. Its streams share
 * events.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/view/events.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/crypto.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/view/fleet.h"
#include "controller/view/page.h"
#include "controller/view/queue.h"

#define ALIVE_TICKS (VIEW_EVENTS_ALIVE_MS / VIEW_EVENTS_MS)
#define MINUTE_TICKS (60000 / VIEW_EVENTS_MS)
#define TENANT_MAX 253
/* Longest time that a stream continues while the host cluster does not answer reviews */
#define UNKNOWN_MS (5 * VIEW_GRANT_MS)

enum topic { FLEET = 1, QUEUE = 2, ATTENTION = 4, ALL = FLEET | QUEUE | ATTENTION };

struct channel {
	struct list link;
	/* Tenant whose rows the streams show; NULL: rows of all tenants */
	char *tenant;
	/* True: rows of machines are brief, and the queue is sent only if it changed */
	bool brief;
	size_t streams;
	/* Digest of the last event about the queue, without its version */
	uint8_t queue[CRYPTO_SHA256];
};

struct event {
	struct list link;
	/* Set of enum topic to which the event belongs; ALL for a comment line (":"), which all
	 * streams get */
	unsigned topics;
	/* Receiver; NULL: all channels */
	const struct channel *channel;
	/* Number of streams whose `at` is this event */
	size_t refs;
	size_t len;
	char text[];
};

struct stream {
	struct list link;
	/* Owner of the stream; NULL: the view was freed */
	struct view_events *e;
	struct httpd_req *q;
	struct channel *channel;
	/* Set of enum topic */
	unsigned topics;
	/* First lines of the stream, and the number of their bytes that were sent */
	char *hello;
	size_t hello_sent;
	/* The event that is sent next, and the number of its bytes that were sent; NULL: all
	 * events were sent */
	struct event *at;
	size_t at_sent;
	/* broken: events were dropped before this stream has sent them. ended: no further event
	 * follows. */
	bool broken, ended;
	/* True: the caller's grant has to be checked */
	bool due;
	/* loop_now() when the host cluster granted the path last */
	int64_t granted;
};

/* A row of the fleet or of what needs attention, as the last event showed it. brief: digest of its
 * brief form. */
struct row {
	/* Zero if the reader's row is unknown (first round) */
	uint8_t digest[CRYPTO_SHA256], brief[CRYPTO_SHA256];
	/* "": none; NULL: unknown */
	char *tenant;
};

/* Machines to be compared, in slices */
struct round {
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
	size_t ring_bytes;
	struct list streams, channels;
	size_t nstreams;
	/* Events, the oldest first, and the sum of their bytes */
	struct list ring;
	size_t bytes;
	/* Key: name of a Machine; value: struct row */
	struct map *rows;
	/* Key: member `object` of a row of what needs attention; value: struct row */
	struct map *attention_rows;
	/* Version of what needs attention in the last event */
	char attention_version[VIEW_VERSION_SIZE];
	struct round round;
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

static void row_free(void *p)
{
	struct row *r = p;

	free(r->tenant);
	free(r);
}

/* --- ring ------------------------------------------------------------------------------------- */

static bool is_for(const struct event *v, const struct stream *s)
{
	return (v->topics & s->topics) && (!v->channel || v->channel == s->channel);
}

static void drop(struct view_events *e, struct event *v)
{
	list_remove(&v->link);
	e->bytes -= sizeof(*v) + v->len;
	free(v);
}

/* Frees the oldest events that no stream needs. */
static void trim(struct view_events *e)
{
	struct event *v;

	while ((v = list_first(&e->ring, struct event, link)) && !v->refs)
		drop(e, v);
}

static void stream_end(struct stream *s, bool broken)
{
	if (s->at)
		s->at->refs--;
	s->at = NULL;
	s->broken = broken;
	s->ended = true;
	httpd_wake(s->q);
}

static void drop_oldest(struct view_events *e)
{
	struct event *v = list_first(&e->ring, struct event, link);

	list_for_each (s, &e->streams, struct stream, link)
		if (s->at == v)
			stream_end(s, true);
	drop(e, v);
}

/* Adds an event. channel NULL: for all channels. */
static void push(struct view_events *e, unsigned topics, const struct channel *channel,
		 const char *text, size_t len)
{
	struct event *v = mem_alloc(sizeof(*v) + len);

	*v = (struct event){.topics = topics, .channel = channel, .len = len};
	memcpy(v->text, text, len);
	list_push_back(&e->ring, &v->link);
	e->bytes += sizeof(*v) + len;
	list_for_each (s, &e->streams, struct stream, link) {
		if (s->at || s->ended || !is_for(v, s))
			continue;
		s->at = v;
		s->at_sent = 0;
		v->refs++;
		httpd_wake(s->q);
	}
	while (e->bytes > e->ring_bytes)
		drop_oldest(e);
	trim(e);
}

/* Moves the stream to the next event that is for it. */
static void advance(struct stream *s)
{
	struct view_events *e = s->e;
	struct event *v = s->at;

	v->refs--;
	s->at = NULL;
	s->at_sent = 0;
	for (struct list *l = v->link.next; l != &e->ring; l = l->next) {
		struct event *next = list_entry(l, struct event, link);

		if (is_for(next, s)) {
			s->at = next;
			next->refs++;
			break;
		}
	}
	trim(e);
}

/* --- changed rows ----------------------------------------------------------------------------- */

struct change {
	const char *name;
	/* Tenant before and after the change; "": none; was NULL: unknown, so perhaps any */
	const char *was, *is;
	/* JSON of the row; NULL: it was deleted */
	const char *text;
	/* JSON of the brief form; NULL: it was deleted, or its brief form has not changed */
	const char *brief;
};

/* Changes of the rows of one topic. */
struct changes {
	struct view_events *e;
	enum topic topic;
	/* Version of the rows in the events */
	const char *version;
	/* Rows as the last event showed them */
	struct map *rows;
	struct arena *a;
	struct change *v;
	size_t n, cap;
};

static void add(struct changes *x, struct change c)
{
	mem_grow(x->v, x->n, x->cap);
	x->v[x->n++] = c;
}

/* Returns the tenant in the last event with the row, in the arena; NULL: unknown. r NULL: there was
 * no row. */
static const char *tenant_before(const struct row *r, struct arena *a)
{
	return !r ? "" : r->tenant ? arena_strdup(a, r->tenant) : NULL;
}

static void compare_deleted(struct changes *x, const char *key, const struct row *r)
{
	const char *name = arena_strdup(x->a, key);

	add(x, (struct change){.name = name, .was = tenant_before(r, x->a), .is = ""});
	map_del(x->rows, name);
}

/* Writes the digest of o to out and returns the JSON of o, in the arena. */
static const char *digest_of(const json_t *o, uint8_t out[static CRYPTO_SHA256], struct arena *a)
{
	char *text = json_text(o);
	const char *copy = arena_strdup(a, text);

	crypto_sha256(text, strlen(text), out);
	free(text);
	return copy;
}

/* Adds the row to the changes if it differs from the one in the last event. brief: its brief
 * form. */
static void compare(struct changes *x, const char *name, const char *tenant, const json_t *o,
		    const json_t *brief)
{
	const struct row *old = map_get(x->rows, name);
	struct row *r = mem_new(struct row);
	const char *text = digest_of(o, r->digest, x->a),
		   *brief_text = digest_of(brief, r->brief, x->a);
	bool same_brief = old && !memcmp(old->brief, r->brief, sizeof(r->brief));

	if (old && !memcmp(old->digest, r->digest, sizeof(r->digest))) {
		free(r);
		return;
	}
	add(x, (struct change){.name = arena_strdup(x->a, name),
			       .was = tenant_before(old, x->a),
			       .is = arena_strdup(x->a, str_or(tenant, "")),
			       .text = text,
			       .brief = same_brief ? NULL : brief_text});
	r->tenant = mem_strdup(str_or(tenant, ""));
	map_put(x->rows, name, r);
}

static void put_text(struct buf *b, const char *text)
{
	OWN_JSON o = json_string(text);
	char *dump = json_dumps(o, JSON_ENCODE_ANY);

	buf_puts(b, dump);
	free(dump);
}

/* True if a reader of the channel may have the row and must now remove it. */
static bool leaves(const struct change *c, const struct channel *ch)
{
	if (!ch->tenant)
		return !c->text;
	return (!c->was || str_eq(c->was, ch->tenant)) && !(c->text && str_eq(c->is, ch->tenant));
}

/* Encodes the changes for channel ch. False: none of them is for it. */
static bool encode(const struct changes *x, const struct channel *ch, struct buf *b)
{
	bool first = true, any;

	buf_printf(b, "event: %s\nid: %s\ndata: {\"version\":\"%s\",\"%s\":[",
		   x->topic == FLEET ? "fleet" : "attention", x->version, x->version,
		   x->topic == FLEET ? "machines" : "rows");
	for (size_t i = 0; i < x->n; i++) {
		const struct change *c = &x->v[i];
		const char *text = ch->brief ? c->brief : c->text;

		if (!text || (ch->tenant && !str_eq(c->is, ch->tenant)))
			continue;
		buf_puts(b, first ? "" : ",");
		buf_puts(b, text);
		first = false;
	}
	any = !first;
	first = true;
	buf_puts(b, "],\"removed\":[");
	for (size_t i = 0; i < x->n; i++) {
		const struct change *c = &x->v[i];

		if (!leaves(c, ch))
			continue;
		buf_puts(b, first ? "" : ",");
		put_text(b, c->name);
		first = false;
	}
	buf_puts(b, "]}\n\n");
	return any || !first;
}

/* Sends b to the streams of the channel. If b did not fit into the ring, ends these streams
 * instead, so that their readers read the lists again. */
static void send(struct view_events *e, unsigned topic, const struct channel *ch,
		 const struct buf *b)
{
	if (!b->over) {
		push(e, topic, ch, b->data, b->len);
		return;
	}
	list_for_each (s, &e->streams, struct stream, link)
		if (s->channel == ch && (s->topics & topic) && !s->ended)
			stream_end(s, true);
	trim(e);
}

static void send_changes(const struct changes *x)
{
	struct view_events *e = x->e;

	list_for_each (ch, &e->channels, struct channel, link) {
		struct buf b;

		if (!x->n)
			break;
		buf_init(&b, e->ring_bytes);
		if (encode(x, ch, &b))
			send(e, x->topic, ch, &b);
		buf_done(&b);
	}
}

/* --- changes of the fleet --------------------------------------------------------------------- */

static void compare_machine(struct changes *x, const struct machine *m, int64_t now)
{
	OWN_JSON o = view_fleet_row(x->e->source->c, m, now);
	OWN_JSON brief = view_fleet_brief(o);

	compare(x, m->meta.name, m->status.tenant.name, o, brief);
}

static void round_add(struct round *r, const char *name)
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
	e->round = (struct round){0};
	loop_timer_stop(&e->slice);
}

/* Begins a round of the Machines that may have changed since the last round began, or, first, of
 * all Machines. */
static void round_begin(struct view_events *e, bool first)
{
	const struct kube_cache *machines = e->source->c->cache[OBJECT_MACHINE];
	const bool all = first || e->all;
	struct round *r = &e->round;
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
static void compare_name(struct changes *x, const char *name)
{
	struct view_events *e = x->e;
	const struct round *round = &e->round;
	const struct machine *m = CTX_GET(e->source->c, OBJECT_MACHINE, machine, name);
	const struct row *r = map_get(e->rows, name);

	if (round->first && (!m || e->all || map_has(e->changed, name)))
		map_put(e->rows, name, mem_new(struct row));
	else if (m)
		compare_machine(x, m, round->first ? round->begin : loop_wall(e->source->c->loop));
	else if (r)
		compare_deleted(x, name, r);
}

/* Compares the next machines of the round, and sends their changes. */
static void on_slice(void *arg)
{
	struct view_events *e = arg;
	struct round *r = &e->round;
	const size_t left = r->n - r->at,
		     end = r->at + (left < VIEW_EVENTS_SLICE ? left : VIEW_EVENTS_SLICE);
	OWN(arena) a = arena_new();
	struct changes x = {.e = e, .topic = FLEET, .version = e->sent, .rows = e->rows, .a = a};

	for (; r->at < end; r->at++)
		compare_name(&x, r->names[r->at]);
	if (r->at == r->n)
		memcpy(e->sent, r->version, sizeof(e->sent));
	if (!r->first)
		send_changes(&x);
	free(x.v);
	if (r->at == r->n)
		round_end(e);
	else
		loop_timer_start(&e->slice, 0);
}

/* --- changes of what needs attention ---------------------------------------------------------- */

/* Finds the changes since the last call. */
static void find_attention(struct changes *x)
{
	struct view_events *e = x->e;
	const json_t *rows = attention_rows(e->attention);
	OWN(map) seen = map_new(NULL);
	struct map_iter it;
	json_t *row;
	size_t i;

	attention_version(e->attention, e->attention_version);
	json_array_foreach (rows, i, row) {
		const char *object = json_str_at(row, "object");

		map_put(seen, object, x);
		compare(x, object, json_str_at(row, "tenant"), row, row);
	}
	map_for_each (it, x->rows)
		if (!map_has(seen, it.key))
			compare_deleted(x, it.key, it.value);
}

/* Finds the changes of what needs attention, and sends them unless `silent`. */
static void update_attention(struct view_events *e, bool silent)
{
	OWN(arena) a = arena_new();
	struct changes x = {.e = e,
			    .topic = ATTENTION,
			    .version = e->attention_version,
			    .rows = e->attention_rows,
			    .a = a};

	find_attention(&x);
	if (!silent)
		send_changes(&x);
	free(x.v);
}

static bool is_attention_new(const struct view_events *e)
{
	char version[VIEW_VERSION_SIZE];

	return !str_eq(attention_version(e->attention, version), e->attention_version);
}

/* --- changes of the queue --------------------------------------------------------------------- */

static void send_queue_to(struct view_events *e, struct channel *ch)
{
	OWN_JSON o = view_queue_first(e->source->waiting, ch->tenant, VIEW_EVENTS_PODS);
	char *text = json_text(o), version[VIEW_VERSION_SIZE];
	uint8_t digest[CRYPTO_SHA256];
	struct buf b;

	crypto_sha256(text, strlen(text), digest);
	if ((!ch->tenant && !ch->brief) || memcmp(digest, ch->queue, sizeof(digest)) != 0) {
		memcpy(ch->queue, digest, sizeof(digest));
		view_source_queue(e->source, version);
		buf_init(&b, e->ring_bytes);
		/* text + 1: without its opening brace */
		buf_printf(&b, "event: queue\nid: %s\ndata: {\"version\":\"%s\",%s\n\n", version,
			   version, text + 1);
		send(e, QUEUE, ch, &b);
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
	list_for_each (ch, &e->channels, struct channel, link)
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
	else if (!s->ended && (g == VIEW_REFUSED || now - s->granted >= UNKNOWN_MS))
		stream_end(s, false);
	loop_timer_start(&e->review, 0);
}

/* Checks the grant of the next stream. One stream is reviewed at a time, so that 500 streams do not
 * slow down the controller's own calls to the host cluster. */
static void on_review(void *arg)
{
	struct view_events *e = arg;

	if (e->reviewed)
		return;
	list_for_each (s, &e->streams, struct stream, link) {
		if (!s->due || s->ended)
			continue;
		s->due = false;
		e->reviewed = s;
		e->visit = view_access_again(e->access, s->q, on_reviewed, e);
		return;
	}
}

/* --- time ------------------------------------------------------------------------------------- */

static void on_tick(void *arg)
{
	static const char comment[] = ": ok\n\n";
	struct view_events *e = arg;

	loop_timer_start(&e->tick, VIEW_EVENTS_MS);
	if (!view_source_leads(e->source)) {
		list_for_each (s, &e->streams, struct stream, link)
			if (!s->ended)
				stream_end(s, false);
		trim(e);
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
	push(e, ALL, NULL, comment, sizeof(comment) - 1);
	list_for_each (s, &e->streams, struct stream, link)
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

static struct channel *channel_of(struct view_events *e, const char *tenant, bool brief)
{
	struct channel *ch;

	list_for_each (old, &e->channels, struct channel, link)
		if (str_eq(old->tenant, tenant) && old->brief == brief)
			return old;
	ch = mem_new(struct channel);
	ch->brief = brief;
	ch->tenant = tenant ? mem_strdup(tenant) : NULL;
	list_push_back(&e->channels, &ch->link);
	return ch;
}

static void channel_leave(struct view_events *e, struct channel *ch)
{
	if (--ch->streams)
		return;
	/* Make the events that are left in the ring reach no stream: a later channel may be
	 * allocated at this address. */
	list_for_each (v, &e->ring, struct event, link)
		if (v->channel == ch)
			v->topics = 0;
	list_remove(&ch->link);
	free(ch->tenant);
	free(ch);
}

static int64_t read_stream(char *out, size_t max, uint64_t pos, void *arg)
{
	struct stream *s = arg;
	const size_t hello = strlen(s->hello) - s->hello_sent;
	size_t n;

	(void)pos;
	if (s->ended)
		return s->broken ? -2 : -1;
	if (hello) {
		n = hello < max ? hello : max;
		memcpy(out, s->hello + s->hello_sent, n);
		s->hello_sent += n;
		return (int64_t)n;
	}
	if (!s->at)
		return 0;
	n = s->at->len - s->at_sent;
	n = n < max ? n : max;
	memcpy(out, s->at->text + s->at_sent, n);
	s->at_sent += n;
	if (s->at_sent == s->at->len)
		advance(s);
	return (int64_t)n;
}

/* Releases all that the view keeps for the stream. */
static void stream_leave(struct stream *s)
{
	struct view_events *e = s->e;

	if (s->at)
		s->at->refs--;
	s->at = NULL;
	trim(e);
	list_remove(&s->link);
	channel_leave(e, s->channel);
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
	s->topics = topics;
	s->channel = channel_of(e, tenant, brief);
	s->channel->streams++;
	s->hello = hello_text(e);
	s->granted = loop_now(e->source->c->loop);
	list_push_back(&e->streams, &s->link);
	httpd_reply_stream(q, 200, "text/event-stream", &r);
}

/* Returns the set of enum topic that parameter only selects; 0: it has no valid value. */
static unsigned topics_of(const char *only)
{
	return !only			   ? ALL
	       : str_eq(only, "fleet")	   ? FLEET
	       : str_eq(only, "queue")	   ? QUEUE
	       : str_eq(only, "attention") ? ATTENTION
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
		(void)!err_set(&bad, ERR_UNAVAILABLE, 503, "%d streams are open: try again later",
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
	e->ring_bytes = ring_bytes;
	list_init(&e->streams);
	list_init(&e->channels);
	list_init(&e->ring);
	e->rows = map_new(row_free);
	e->attention_rows = map_new(row_free);
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
	list_for_each (s, &e->streams, struct stream, link) {
		stream_end(s, false);
		stream_leave(s);
		s->e = NULL;
	}
	trim(e);
	loop_timer_stop(&e->tick);
	loop_timer_stop(&e->review);
	round_end(e);
	map_free(e->rows);
	map_free(e->attention_rows);
	map_free(e->changed);
	free(e);
}
