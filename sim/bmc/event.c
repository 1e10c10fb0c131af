#include "sim/bmc/bmc_impl.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * bmc_event: server-sent events (DSP0266 section 13.5). Each stream buffers the data that its
 * client has not read yet; a client that does not read is disconnected. Subscriptions are refused,
 * because the simulator sends no requests to event destinations.
 * Tests: tests/unit/sim/bmc/test_bmc.c
 */
#define PENDING_MAX 65536
#define ALIVE_MS 10000
#define STREAM_URI "/redfish/v1/EventService/SSE"

struct stream {
	struct list link;
	/* BMC of the stream; NULL: the BMC was freed. */
	struct sim_bmc *b;
	struct httpd_req *q;
	struct buf pending;
	struct loop_timer alive;
};

static int64_t read_stream(char *out, size_t max, uint64_t pos, void *arg)
{
	struct stream *s = arg;
	size_t n = s->pending.len < max ? s->pending.len : max;

	(void)pos;
	if (s->pending.over)
		return -2;
	if (!n)
		return s->b ? 0 : -1;
	memcpy(out, s->pending.data, n);
	buf_drop(&s->pending, n);
	return (int64_t)n;
}

static void stream_done(void *arg)
{
	struct stream *s = arg;

	if (s->b)
		s->b->nstreams--;
	list_remove(&s->link);
	loop_timer_stop(&s->alive);
	buf_done(&s->pending);
	free(s);
}

static void on_alive(void *arg)
{
	struct stream *s = arg;

	buf_puts(&s->pending, ": alive\n\n");
	loop_timer_start(&s->alive, ALIVE_MS);
	httpd_wake(s->q);
}

static char *event_text(struct sim_bmc *b, const char *id, const char *text, const char *origin)
{
	char number[16], now[STR_TIME_SIZE], message[64];
	OWN_JSON j = NULL;

	str_format(number, sizeof(number), "%u", ++b->next_event);
	str_format(message, sizeof(message), "Drover.1.0.%s", id);
	j = json_pack("{s:s,s:s,s:s,s:[{s:s,s:s,s:s,s:s,s:s,s:s,s:[],s:o}]}", "@odata.type",
		      "#Event.v1_9_0.Event", "Id", number, "Name", "Event", "Events", "MemberId",
		      "0", "EventId", number, "EventTimestamp",
		      str_time(now, loop_wall(loop_of(b->group))), "MessageId", message, "Message",
		      text, "MessageSeverity", "OK", "MessageArgs", "OriginOfCondition",
		      bmc_link(origin));
	return json_text(j);
}

void bmc_event(struct sim_bmc *b, const char *id, const char *text, const char *origin)
{
	char *json;

	if (list_empty(&b->streams))
		return;
	json = event_text(b, id, text, origin);
	list_for_each (s, &b->streams, struct stream, link) {
		buf_printf(&s->pending, "id: %u\ndata: %s\n\n", b->next_event, json);
		httpd_wake(s->q);
	}
	free(json);
}

json_t *bmc_get_stream(struct bmc_call *c)
{
	struct httpd_reader r = {.read = read_stream, .done = stream_done, .size = -1};
	struct sim_bmc *b = c->b;
	struct stream *s;

	if (b->nstreams >= BMC_STREAMS) {
		httpd_reply_header(c->q, "Retry-After", "30");
		bmc_error(c, 503, "CreateLimitReachedForResource");
		return json_null();
	}
	if (str_eq(httpd_method(c->q), "HEAD")) {
		httpd_reply(c->q, 200, "text/event-stream", NULL, 0);
		return json_null();
	}
	s = mem_new(struct stream);
	s->b = b;
	s->q = c->q;
	b->nstreams++;
	list_push_back(&b->streams, &s->link);
	buf_init(&s->pending, PENDING_MAX);
	buf_puts(&s->pending, ": begin\n\n");
	loop_timer_init(&s->alive, b->group, on_alive, s);
	loop_timer_start(&s->alive, ALIVE_MS);
	r.arg = s;
	httpd_reply_stream(c->q, 200, "text/event-stream", &r);
	return json_null();
}

json_t *bmc_get_event_service(struct bmc_call *c)
{
	(void)c;
	return json_pack("{s:s,s:s,s:b,s:i,s:i,s:s,s:[s],s:o,s:{s:s,s:s}}", "Id", "EventService",
			 "Name", "Event Service", "ServiceEnabled", 1, "DeliveryRetryAttempts", 0,
			 "DeliveryRetryIntervalSeconds", 0, "ServerSentEventUri", STREAM_URI,
			 "EventFormatTypes", "Event", "Subscriptions",
			 bmc_link("/redfish/v1/EventService/Subscriptions"), "Status", "State",
			 "Enabled", "Health", "OK");
}

json_t *bmc_get_subscriptions(struct bmc_call *c)
{
	(void)c;
	return bmc_collection("Event Subscriptions", json_array());
}

void bmc_event_init(struct sim_bmc *b)
{
	list_init(&b->streams);
}

void bmc_event_done(struct sim_bmc *b)
{
	list_for_each (s, &b->streams, struct stream, link) {
		s->b = NULL;
		list_remove(&s->link);
		loop_timer_stop(&s->alive);
		httpd_wake(s->q);
	}
}
