#include <stdlib.h>
#include <string.h>

#include "controller/view/event_ring.h"
#include "base/mem.h"
#include "base/str.h"

struct event {
	struct list link;
	/* Set of enum event_topic; 0: no reader gets the event */
	unsigned topics;
	/* Receiver; NULL: all channels */
	const struct event_channel *channel;
	/* Number of readers whose `at` is this event */
	size_t refs;
	size_t len;
	char text[];
};

void event_ring_init(struct event_ring *ring, size_t max)
{
	*ring = (struct event_ring){.max = max};
	list_init(&ring->events);
	list_init(&ring->channels);
	list_init(&ring->readers);
}

static bool is_for(const struct event *v, const struct event_reader *r)
{
	return (v->topics & r->topics) && (!v->channel || v->channel == r->channel);
}

static void drop(struct event_ring *ring, struct event *v)
{
	list_remove(&v->link);
	ring->bytes -= sizeof(*v) + v->len;
	free(v);
}

/* Frees the oldest events that no reader needs. */
static void trim(struct event_ring *ring)
{
	struct event *v;

	while ((v = list_first(&ring->events, struct event, link)) && !v->refs)
		drop(ring, v);
}

static void release(struct event_reader *r)
{
	if (r->at)
		r->at->refs--;
	r->at = NULL;
	r->at_read = 0;
}

/* event_reader_end(), but frees no event. */
static void end(struct event_reader *r, bool broken)
{
	release(r);
	r->broken = broken;
	r->ended = true;
	r->wake(r);
}

void event_reader_end(struct event_reader *r, bool broken)
{
	end(r, broken);
	trim(r->ring);
}

static void drop_oldest(struct event_ring *ring)
{
	struct event *v = list_first(&ring->events, struct event, link);

	list_for_each (r, &ring->readers, struct event_reader, link)
		if (r->at == v)
			end(r, true);
	drop(ring, v);
}

static void push(struct event_ring *ring, unsigned topics, const struct event_channel *channel,
		 const struct buf *b)
{
	struct event *v = mem_alloc(sizeof(*v) + b->len);

	*v = (struct event){.topics = topics, .channel = channel, .len = b->len};
	memcpy(v->text, b->data, b->len);
	list_push_back(&ring->events, &v->link);
	ring->bytes += sizeof(*v) + b->len;
	list_for_each (r, &ring->readers, struct event_reader, link) {
		if (r->at || r->ended || !is_for(v, r))
			continue;
		r->at = v;
		v->refs++;
		r->wake(r);
	}
	while (ring->bytes > ring->max)
		drop_oldest(ring);
	trim(ring);
}

void event_ring_send(struct event_ring *ring, unsigned topics, const struct event_channel *channel,
		     const struct buf *b)
{
	if (!b->over) {
		push(ring, topics, channel, b);
		return;
	}
	list_for_each (r, &ring->readers, struct event_reader, link)
		if ((!channel || r->channel == channel) && (r->topics & topics) && !r->ended)
			end(r, true);
	trim(ring);
}

/* Moves the reader to the next event that is for it. */
static void advance(struct event_reader *r)
{
	const struct list *l = r->at->link.next;

	release(r);
	for (; l != &r->ring->events; l = l->next) {
		struct event *next = list_entry(l, struct event, link);

		if (is_for(next, r)) {
			r->at = next;
			next->refs++;
			break;
		}
	}
	trim(r->ring);
}

size_t event_reader_read(struct event_reader *r, char *out, size_t max)
{
	size_t n;

	if (!r->at)
		return 0;
	n = r->at->len - r->at_read;
	n = n < max ? n : max;
	memcpy(out, r->at->text + r->at_read, n);
	r->at_read += n;
	if (r->at_read == r->at->len)
		advance(r);
	return n;
}

static struct event_channel *channel_of(struct event_ring *ring, const char *tenant, bool brief)
{
	struct event_channel *ch;

	list_for_each (old, &ring->channels, struct event_channel, link)
		if (str_eq(old->tenant, tenant) && old->brief == brief)
			return old;
	ch = mem_new(struct event_channel);
	ch->brief = brief;
	ch->tenant = tenant ? mem_strdup(tenant) : NULL;
	list_push_back(&ring->channels, &ch->link);
	return ch;
}

static void channel_leave(struct event_ring *ring, struct event_channel *ch)
{
	if (--ch->readers)
		return;
	/* Make the events that are left in the ring reach no reader: a later channel may be
	 * allocated at this address. */
	list_for_each (v, &ring->events, struct event, link)
		if (v->channel == ch)
			v->topics = 0;
	list_remove(&ch->link);
	free(ch->tenant);
	free(ch);
}

void event_reader_join(struct event_reader *r, struct event_ring *ring, const char *tenant,
		       bool brief)
{
	r->ring = ring;
	r->at = NULL;
	r->at_read = 0;
	r->broken = r->ended = false;
	r->channel = channel_of(ring, tenant, brief);
	r->channel->readers++;
	list_push_back(&ring->readers, &r->link);
}

void event_reader_leave(struct event_reader *r)
{
	release(r);
	trim(r->ring);
	list_remove(&r->link);
	channel_leave(r->ring, r->channel);
}
