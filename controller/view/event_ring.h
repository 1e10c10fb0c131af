#ifndef CONTROLLER_VIEW_EVENT_RING_H
#define CONTROLLER_VIEW_EVENT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/crypto.h"
#include "base/list.h"

/*
 * event_ring: encoded events that many readers read, each at its own pace. A reader points to the
 * first event that it has not read completely, and holds a reference to that event, so that this
 * event and all later ones stay in memory. If all events together exceed a number of bytes, the
 * oldest is dropped, and the readers that have not read it are broken.
 *
 * A channel is the set of all readers with the same tenant and brief. Its readers share events.
 * On the loop thread.
 * Tests: tests/unit/controller/view/test_events.c
 */
enum event_topic {
	EVENT_FLEET = 1,
	EVENT_QUEUE = 2,
	EVENT_ATTENTION = 4,
	EVENT_ALL = EVENT_FLEET | EVENT_QUEUE | EVENT_ATTENTION,
};

struct event_channel {
	struct list link;
	/* Tenant whose rows the readers get; NULL: rows of all tenants */
	char *tenant;
	/* True: rows of machines are brief, and the queue is sent only if it changed */
	bool brief;
	size_t readers;
	/* Digest of the last event about the queue, without its version; zero: none yet */
	uint8_t queue[CRYPTO_SHA256];
};

struct event_ring {
	/* Maximum of the bytes of all events */
	size_t max;
	/* Events, the oldest first, and the sum of their bytes */
	struct list events;
	size_t bytes;
	/* All struct event_channel, and all struct event_reader */
	struct list channels, readers;
};

struct event;
struct event_reader {
	struct list link;
	struct event_ring *ring;
	struct event_channel *channel;
	/* Set of enum event_topic */
	unsigned topics;
	/* The event that is read next, and the number of its bytes that were read; NULL: all events
	 * were read */
	struct event *at;
	size_t at_read;
	/* broken: events were dropped before this reader has read them. ended: no further event
	 * follows. */
	bool broken, ended;
	/* Called when there is something to read, or the reader has ended. May not leave the
	 * ring. */
	void (*wake)(struct event_reader *r);
};

void event_ring_init(struct event_ring *ring, size_t max);
/* Sends b to the readers of these topics (set of enum event_topic). channel NULL: to the readers of
 * all channels. If b did not fit into the ring, ends these readers instead, as broken. */
void event_ring_send(struct event_ring *ring, unsigned topics, const struct event_channel *channel,
		     const struct buf *b);

/* Adds a reader of the events from now on. r: all members but topics and wake are set here; must
 * stay at its address until event_reader_leave(). tenant NULL: rows of all tenants. */
void event_reader_join(struct event_reader *r, struct event_ring *ring, const char *tenant,
		       bool brief);
void event_reader_leave(struct event_reader *r);
/* Ends the reader: it reads nothing more. */
void event_reader_end(struct event_reader *r, bool broken);
/* Copies up to max of the next bytes to out and returns their number; 0: nothing to read now, or
 * the reader has ended. */
size_t event_reader_read(struct event_reader *r, char *out, size_t max);

#endif
