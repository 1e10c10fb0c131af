#include "providers/ec2/client.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "base/quoted.h"
#include "providers/ec2/errors.h"

#define CALL_MS 30000
#define PER_S 5.0
#define BURST 10.0
#define FORM "application/x-www-form-urlencoded; charset=utf-8"
/* Highest number of calls in `sent`. Further calls wait in `waiting` and not in the HTTP client,
 * because may_act() must be called just before a call is sent. */
#define IN_FLIGHT 64

struct ec2_client {
	struct loop_group *group;
	struct http_peer *peer;
	struct ec2_login *login;
	char *region, *host;
	struct list waiting, sent;
	/* Number of calls in the list `sent`. */
	unsigned in_flight;
	struct bucket bucket;
	struct loop_timer pump;
	struct ec2_login_waiter waiter;
	/* Cloud's clock minus this host's clock, in ms; 0: no relevant difference */
	int64_t skew_ms;
};

struct ec2_request {
	struct list link;
	struct ec2_client *client;
	struct http_req *http;
	struct ec2_call call;
	struct buf body;
	bool sent;
	/* Wall clock used for the signature, Unix ms */
	int64_t signed_at;
};

static void wake(struct ec2_client *c)
{
	if (!loop_timer_active(&c->pump))
		loop_timer_start(&c->pump, 0);
}

/* Removes the call from its list. If the call was in flight, wakes the next waiting call, which may
 * now be sent. */
static void land(struct ec2_request *q)
{
	list_remove(&q->link);
	if (!q->sent)
		return;
	q->sent = false;
	q->client->in_flight--;
	wake(q->client);
}

static void request_free(struct ec2_request *q)
{
	http_cancel(q->http);
	secret_wipe(q->body.data, q->body.len);
	buf_done(&q->body);
	free(q);
}

/* Removes q from its list, calls done(), and frees q. done() may free the client. */
static void request_end(struct ec2_request *q, const struct ec2_reply *r, const struct err *e)
{
	land(q);
	q->call.done(r, e, q->call.arg);
	request_free(q);
}

/* Returns the cloud's wall clock in Unix ms: this host's clock plus the known difference. */
static int64_t cloud_wall(const struct ec2_client *c)
{
	return loop_wall(loop_of(c->group)) + c->skew_ms;
}

const char *ec2_client_region(const struct ec2_client *c)
{
	return c->region;
}

/* --- replies ---------------------------------------------------------------------------------- */

/* Returns the Date of reply r minus the time `of` (Unix ms), in ms; 0: the reply has no Date. */
static int64_t ahead_ms(const struct http_reply *r, int64_t of)
{
	const char *text = http_reply_header(r, "Date");
	int64_t date;

	return text && http_date(text, &date) ? date - of : 0;
}

static void judge(struct ec2_request *q, const struct http_reply *r, const struct ec2_reply *doc,
		  struct err *e)
{
	struct ec2_client *c = q->client;
	struct sigv4_credentials keys;
	OWN(arena) a = arena_new();
	struct ec2_failure f = {.status = r->status,
				.retry_after_ms = r->retry_after_ms,
				.changes = q->call.changes,
				.skew_ms = ahead_ms(r, q->signed_at)};

	if (doc)
		(void)ec2_reply_error(doc, a, &f.code, &f.message);
	(void)!ec2_error(&f, e);
	if (ec2_login_ready(c->login, &keys))
		quoted_redact_err(e, keys.secret_key, keys.session_token);
	if (ec2_is_of_clock(&f))
		c->skew_ms = ahead_ms(r, loop_wall(loop_of(c->group)));
	else if (ec2_is_expired(f.code))
		ec2_login_ended(c->login);
}

static void on_reply(const struct http_reply *r, const struct err *of_transport, void *arg)
{
	struct ec2_request *q = arg;
	OWN(ec2_reply) doc = NULL;
	struct err e, unread;

	q->http = NULL;
	if (of_transport) {
		e = *of_transport;
		e.scope = ERR_PROVIDER;
		if (q->call.changes && (e.kind == ERR_UNAVAILABLE || e.kind == ERR_PROTOCOL))
			e.kind = ERR_TIMEOUT;
	} else {
		doc = ec2_reply_parse(r->body, r->body_len, &unread);
		if (doc && r->status / 100 == 2) {
			request_end(q, doc, NULL);
			return;
		}
		judge(q, r, doc, &e);
		if (r->status / 100 == 2 && q->call.changes)
			/* Treat the reply as lost: the call was carried out, but its result cannot
			 * be read. */
			e.kind = ERR_TIMEOUT;
	}
	(void)!err_wrap(&e, "%s in %s", q->call.action, q->client->region);
	request_end(q, NULL, &e);
}

/* --- requests --------------------------------------------------------------------------------- */

static void send(struct ec2_request *q, const struct sigv4_credentials *keys)
{
	struct ec2_client *c = q->client;
	char date[SIGV4_DATE], *authorization;
	const struct http_header signed_headers[] = {{"Host", c->host}, {"Content-Type", FORM}};
	struct http_header headers[2];
	struct sigv4_request r = {.method = "POST",
				  .path = "/",
				  .headers = signed_headers,
				  .nheaders = 2,
				  .body = q->body.data,
				  .body_len = q->body.len,
				  .region = c->region,
				  .service = "ec2",
				  .at = q->signed_at = cloud_wall(c)};
	struct http_call call = {.method = "POST",
				 .path = "/",
				 .headers = headers,
				 .nheaders = 2,
				 .content_type = FORM,
				 .body = q->body.data,
				 .body_len = q->body.len,
				 .timeout_ms = CALL_MS,
				 .max_body = QUERY_MAX_REPLY,
				 .done = on_reply,
				 .arg = q};

	authorization = sigv4_authorization(&r, keys);
	headers[0] = (struct http_header){"X-Amz-Date", sigv4_date(date, r.at)};
	headers[1] = (struct http_header){"Authorization", authorization};
	if (keys->session_token) {
		call.secret_header = "X-Amz-Security-Token";
		call.secret_value = keys->session_token;
	}
	list_remove(&q->link);
	list_push_back(&c->sent, &q->link);
	q->sent = true;
	c->in_flight++;
	q->http = http_start(c->peer, &call);
	secret_wipe(q->body.data, q->body.len);
	free(authorization);
}

static void on_login(const struct err *failed, void *arg);

/* Handles the first waiting call: sends it, or ends it if may_act() forbids it. If the rate limit
 * delays the call, starts the timer. If there are no credentials, waits for them. */
static void pump(void *arg)
{
	struct ec2_client *c = arg;
	struct ec2_request *q = list_first(&c->waiting, struct ec2_request, link);
	struct sigv4_credentials keys;
	struct err e;
	int64_t ms;

	if (!q || c->in_flight >= IN_FLIGHT || list_linked(&c->waiter.link))
		return;
	if (!ec2_login_ready(c->login, &keys)) {
		ec2_login_wait(c->login, &c->waiter);
		return;
	}
	ms = bucket_take(&c->bucket, loop_now(loop_of(c->group)));
	loop_timer_start(&c->pump, ms);
	if (ms > 0)
		return;
	/* mutant: ec2-unasked */
	if (!q->call.may_act || q->call.may_act(q->call.may_act_arg)) {
		send(q, &keys);
		return;
	}
	(void)!err_set(&e, ERR_CONFLICT, 0, "%s is no longer wanted", q->call.action);
	request_end(q, NULL, &e);
}

/* Called when the credentials are ready, or could not be obtained. On an error, ends the first
 * waiting call. The timer handles the next call in a later loop turn, because done() may free the
 * client or cancel other calls. */
static void on_login(const struct err *failed, void *arg)
{
	struct ec2_client *c = arg;
	struct ec2_request *q = list_first(&c->waiting, struct ec2_request, link);
	struct err e;

	loop_timer_start(&c->pump, 0);
	if (!failed || !q)
		return;
	e = *failed;
	(void)!err_wrap(&e, "%s in %s: credentials", q->call.action, c->region);
	request_end(q, NULL, &e);
}

struct ec2_request *ec2_call(struct ec2_client *c, const struct ec2_call *call)
{
	struct ec2_request *q = mem_new(struct ec2_request);

	q->client = c;
	q->call = *call;
	q->body = *call->body;
	buf_init(call->body, QUERY_MAX_BODY);
	list_push_back(&c->waiting, &q->link);
	wake(c);
	return q;
}

void ec2_cancel(struct ec2_request *q)
{
	if (!q)
		return;
	land(q);
	request_free(q);
}

struct ec2_client *ec2_client_new(const struct ec2_client_spec *s, struct err *e)
{
	struct ec2_client *c = mem_new(struct ec2_client);
	struct http_peer_spec peer = {
		.base_url = s->endpoint, .ca_pem = s->ca_pem, .plain_ok = s->plain_ok};
	double per_s = s->requests_per_s > 0 ? s->requests_per_s : PER_S;

	c->group = s->group;
	c->login = s->login;
	c->region = mem_strdup(s->region);
	list_init(&c->waiting);
	list_init(&c->sent);
	bucket_init(&c->bucket, per_s, per_s > BURST ? per_s : BURST, loop_now(loop_of(s->group)));
	loop_timer_init(&c->pump, s->group, pump, c);
	c->waiter = (struct ec2_login_waiter){.fn = on_login, .arg = c};
	list_init(&c->waiter.link);
	c->peer = http_peer_new(s->http, &peer, e);
	if (!c->peer) {
		ec2_client_free(c);
		return NULL;
	}
	c->host = mem_strdup(strstr(s->endpoint, "://") + 3);
	c->host[strcspn(c->host, "/")] = '\0';
	return c;
}

void ec2_client_free(struct ec2_client *c)
{
	if (!c)
		return;
	list_for_each (q, &c->waiting, struct ec2_request, link)
		ec2_cancel(q);
	list_for_each (q, &c->sent, struct ec2_request, link)
		ec2_cancel(q);
	ec2_login_leave(&c->waiter);
	loop_timer_stop(&c->pump);
	http_peer_free(c->peer);
	free(c->region);
	free(c->host);
	free(c);
}
