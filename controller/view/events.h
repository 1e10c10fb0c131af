#ifndef CONTROLLER_VIEW_EVENTS_H
#define CONTROLLER_VIEW_EVENTS_H

#include "base/httpd/httpd.h"
#include "controller/view/access.h"
#include "controller/view/attention.h"
#include "controller/view/source.h"

/*
 * view_events: changes of the fleet, of the queue and of what needs attention as server-sent
 * events, GET /v1/events. docs/view.md describes the events.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 *
 * Changed rows are collected for VIEW_EVENTS_MS. Each event is encoded once for all streams with
 * the same parameters tenant and brief, and stays in memory until every stream has sent it. If all
 * events together exceed ring_bytes, the oldest is dropped and the streams that have not sent it
 * are broken: their readers connect again and read the lists.
 *
 * Rows are computed for at most VIEW_EVENTS_SLICE machines in one turn of the loop, and sent before
 * the next turn. A client that has the event of such a slice has not all changes of the event's
 * time: its version is therefore that of the last complete round, and only the event of the last
 * slice has the version of the round's begin.
 *
 * Without a stream nothing is computed. A stream ends when this replica no longer leads, and when
 * the host cluster no longer grants the path to its caller. On the loop thread.
 * Tests: tests/unit/controller/view/test_events.c
 */
#define VIEW_EVENTS_MS 1000
/* Interval of the comment lines that keep the connections open. A caller's grant is checked at the
 * same interval, and reviewed again once it is older than VIEW_GRANT_MS. */
#define VIEW_EVENTS_ALIVE_MS 15000
#define VIEW_EVENTS_SLICE 100
#define VIEW_EVENTS_STREAMS 500
#define VIEW_EVENTS_BYTES ((size_t)16 << 20)
/* Maximum number of pods in an event about the queue */
#define VIEW_EVENTS_PODS 50

struct view_events;
/* source, attention, access: must outlive the result. */
struct view_events *view_events_new(const struct view_source *source, struct attention *attention,
				    struct view_access *access, size_t ring_bytes);
/* Ends all streams. */
void view_events_free(struct view_events *e);
DEFINE_OWN(view_events)

/* Replies with a stream. q: request whose caller view_access_check() has granted the path. */
void view_events_reply(struct view_events *e, struct httpd_req *q);
/* Records that the object of this kind and name changed. */
void view_events_changed(struct view_events *e, enum object_kind_id kind, const char *name);

#endif
