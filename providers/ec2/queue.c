#include "providers/ec2/queue.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/data/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/quoted.h"
#include "base/str.h"
#include "providers/ec2/errors.h"
#include "providers/ec2/post.h"

#define MESSAGES 10
#define WAIT_S 20
/* Time for which SQS hides a message that was received and not deleted */
#define HIDDEN_S 60
#define CALL_MS 40000
#define REPLY_MAX (4u << 20)
/* Shortest time between two polls, if SQS does not wait */
#define PAUSE_MS 1000
#define AGAIN_MS 60000

struct ec2_queue {
	struct ec2_queue_spec spec;
	char *url, *region, *host;
	struct http_peer *peer;
	struct http_req *asked;
	struct ec2_login_waiter waiter;
	struct loop_timer next;
	/* loop_now() after which the queue is no longer polled */
	int64_t until;
	/* Wall clock used for the last signature, Unix ms, and clock of SQS minus this host's */
	int64_t signed_at, skew_ms;
};

static int64_t wall(const struct ec2_queue *q)
{
	return loop_wall(loop_of(q->spec.group));
}

static void fail(struct ec2_queue *q, const struct err *e)
{
	log_warn("cannot read the queue of EC2's events", LOG_S("queue", q->url), LOG_E(e));
	loop_timer_start(&q->next, AGAIN_MS);
}

static void judge(struct ec2_queue *q, const struct http_reply *r, struct err *e)
{
	struct sigv4_credentials keys;
	struct err bad;
	OWN_JSON o = json_parse(r->body, r->body_len, &bad);
	const char *type = json_str_at(o, "__type"), *hash = type ? strchr(type, '#') : NULL;
	struct ec2_failure f = {.status = r->status,
				.retry_after_ms = r->retry_after_ms,
				.code = hash ? hash + 1 : type,
				.message = json_str_at(o, "message"),
				.skew_ms = ec2_post_ahead(r, q->signed_at)};

	(void)!ec2_error(&f, e);
	if (ec2_login_ready(q->spec.login, &keys))
		quoted_redact_err(e, keys.secret_key, keys.session_token);
	if (ec2_is_of_clock(&f))
		q->skew_ms = ec2_post_ahead(r, wall(q));
	else if (ec2_is_expired(f.code))
		ec2_login_ended(q->spec.login);
}

/* True if the call failed; then the failure is logged and the next poll is planned. */
static bool failed(struct ec2_queue *q, const struct http_reply *r, const struct err *of_transport)
{
	struct err e;

	q->asked = NULL;
	if (!of_transport && r->status / 100 == 2)
		return false;
	if (!of_transport)
		judge(q, r, &e);
	fail(q, of_transport ? of_transport : &e);
	return true;
}

/* Takes ownership of body. */
static void call(struct ec2_queue *q, const struct sigv4_credentials *keys, const char *target,
		 json_t *body,
		 void (*done)(const struct http_reply *r, const struct err *e, void *arg))
{
	char *text = json_text(body);
	struct http_call c = {.content_type = "application/x-amz-json-1.0",
			      .body = text,
			      .body_len = strlen(text),
			      .timeout_ms = CALL_MS,
			      .max_body = REPLY_MAX,
			      .done = done,
			      .arg = q};
	struct ec2_post p = {.host = q->host,
			     .region = q->region,
			     .service = "sqs",
			     .target = target,
			     .at = wall(q) + q->skew_ms};

	q->signed_at = p.at;
	ec2_post_sign(&p, keys, &c);
	q->asked = http_start(q->peer, &c);
	ec2_post_done(&p);
	free(text);
	json_decref(body);
}

static void on_deleted(const struct http_reply *r, const struct err *e, void *arg)
{
	struct ec2_queue *q = arg;

	if (!failed(q, r, e))
		loop_timer_start(&q->next, PAUSE_MS);
}

static void on_received(const struct http_reply *r, const struct err *of_transport, void *arg)
{
	struct ec2_queue *q = arg;
	OWN(arena) a = arena_new();
	struct sigv4_credentials keys;
	OWN_JSON reply = NULL;
	json_t *messages, *entries;
	struct ec2_event event;
	struct err e;

	if (failed(q, r, of_transport))
		return;
	reply = json_parse(r->body, r->body_len, &e);
	if (!json_is_object(reply)) {
		err_note(&e, ERR_PROTOCOL, 0, "the reply of SQS is not a JSON object");
		fail(q, &e);
		return;
	}
	messages = json_object_get(reply, "Messages");
	entries = json_array();
	for (size_t i = 0; i < json_array_size(messages) && i < MESSAGES; i++) {
		const json_t *m = json_array_get(messages, i);
		const char *body = json_str_at(m, "Body"),
			   *receipt = json_str_at(m, "ReceiptHandle");

		if (body && ec2_event_read(body, strlen(body), wall(q), a, &event))
			q->spec.on_event(&event, q->spec.arg);
		if (receipt)
			json_array_append_new(entries, json_pack("{s:s, s:s}", "Id",
								 arena_printf(a, "%zu", i),
								 "ReceiptHandle", receipt));
	}
	if (json_array_size(entries) && ec2_login_ready(q->spec.login, &keys)) {
		call(q, &keys, "AmazonSQS.DeleteMessageBatch",
		     json_pack("{s:s, s:o}", "QueueUrl", q->url, "Entries", entries), on_deleted);
		return;
	}
	json_decref(entries);
	loop_timer_start(&q->next, PAUSE_MS);
}

static void receive(struct ec2_queue *q, const struct sigv4_credentials *keys)
{
	call(q, keys, "AmazonSQS.ReceiveMessage",
	     json_pack("{s:s, s:i, s:i, s:i}", "QueueUrl", q->url, "MaxNumberOfMessages", MESSAGES,
		       "WaitTimeSeconds", WAIT_S, "VisibilityTimeout", HIDDEN_S),
	     on_received);
}

static void on_next(void *arg)
{
	struct ec2_queue *q = arg;
	struct sigv4_credentials keys;

	if (loop_now(loop_of(q->spec.group)) > q->until)
		return;
	if (ec2_login_ready(q->spec.login, &keys))
		receive(q, &keys);
	else
		ec2_login_wait(q->spec.login, &q->waiter);
}

static void on_login(const struct err *e, void *arg)
{
	struct ec2_queue *q = arg;

	if (e)
		fail(q, e);
	else
		loop_timer_start(&q->next, 0);
}

void ec2_queue_want(struct ec2_queue *q)
{
	q->until = loop_now(loop_of(q->spec.group)) + EC2_QUEUE_WANTED_MS;
	if (!q->asked && !list_linked(&q->waiter.link) && !loop_timer_active(&q->next))
		loop_timer_start(&q->next, 0);
}

struct ec2_queue *ec2_queue_new(const struct ec2_queue_spec *s, struct err *e)
{
	struct ec2_queue *q = mem_new(struct ec2_queue);
	char *origin = http_origin(s->url);

	q->spec = *s;
	q->url = mem_strdup(s->url);
	q->region = mem_strdup(s->region);
	q->waiter = (struct ec2_login_waiter){.fn = on_login, .arg = q};
	list_init(&q->waiter.link);
	loop_timer_init(&q->next, s->group, on_next, q);
	if (origin)
		q->peer = http_peer_new(s->http,
					&(struct http_peer_spec){.base_url = origin,
								 .max_in_flight = 1,
								 .plain_ok = s->plain_ok},
					e);
	else
		err_note(e, ERR_INVALID, 0, "the queue is not a URL");
	free(origin);
	if (q->peer) {
		q->host = ec2_post_host(s->url);
		return q;
	}
	ec2_queue_free(q);
	return NULL;
}

void ec2_queue_free(struct ec2_queue *q)
{
	if (!q)
		return;
	loop_timer_stop(&q->next);
	ec2_login_leave(&q->waiter);
	http_cancel(q->asked);
	http_peer_free(q->peer);
	free(q->url);
	free(q->region);
	free(q->host);
	free(q);
}
