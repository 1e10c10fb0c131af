#include "base/http/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/quoted.h"
#include "base/retry.h"

/*
 * A call is in exactly one list (waiting, sent, failed), except while its done() runs. Calls of
 * done() come from turn() and on_reply() alone, as their last act, because done() may free the
 * session. A call that ends without a reply goes through `failed`, one in each loop turn.
 */
#define LOGIN_MAX_BODY (64u << 10)

struct session {
	/* Copy of the caller's struct; do not use its peer, user and password. */
	struct session_spec spec;
	struct http_peer *peer;
	char *user;
	struct secret *password, *token;
	/* Number of the last login, from 1. */
	unsigned login;
	bool logged_in, logging_in;
	/* Request of the login, and the client's done() for it; NULL: none in flight. */
	struct http_req *asked;
	void (*answered)(const struct http_reply *r, const struct err *e, void *client);
	/* Error of the last login; NULL: it succeeded. Calls end with the error until refused_until
	 * (loop_now()). */
	struct err *refused;
	int64_t refused_until;
	unsigned in_flight, nwaiting;
	struct bucket bucket;
	/* Lists of session_call.link. */
	struct list waiting, sent, failed;
	struct loop_defer turn;
	/* Calls turn() when the rate permits the next call. */
	struct loop_timer pace;
};

/* --- calls ------------------------------------------------------------------------------------ */

/* Moves q to the list `to` of its session; NULL: to none. */
static void move(struct session_call *q, struct list *to, int state)
{
	struct session *s = q->session;

	s->nwaiting += (state == SESSION_WAITS) - (q->state == SESSION_WAITS);
	s->in_flight += (state == SESSION_SENT) - (q->state == SESSION_SENT);
	q->state = state;
	list_remove(&q->link);
	if (to)
		list_push_back(to, &q->link);
	loop_defer(&s->turn);
}

static void call_free(struct session_call *q)
{
	http_cancel(q->http);
	if (q->body)
		secret_wipe(q->body, strlen(q->body));
	free(q->body);
	free(q->path);
	free(q->name);
	free(q->err);
	free(q);
}

/* Must be the caller's last act, because done() may free the session. */
static void finish(struct session_call *q, const struct http_reply *r, const struct err *e)
{
	const struct session_spec *spec = &q->session->spec;

	move(q, NULL, SESSION_OVER);
	spec->ops->done(spec->client, q, r, e);
	if (q->state == SESSION_OVER)
		call_free(q);
}

static void fail(struct session_call *q, const struct err *e)
{
	err_save(&q->err, e);
	q->sent = false;
	move(q, &q->session->failed, SESSION_FAILED);
}

static void fail_waiting(struct session *s)
{
	list_for_each (q, &s->waiting, struct session_call, link)
		fail(q, s->refused);
}

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct session_call *q = arg;

	q->http = NULL;
	finish(q, r, e);
}

/* Sends the waiting call q, or ends it if may_act() forbids it. */
static void send(struct session *s, struct session_call *q)
{
	struct http_call c = {.method = q->method,
			      .path = q->path,
			      .body = q->body,
			      .body_len = q->body ? strlen(q->body) : 0,
			      .secret_header = "Cookie",
			      .secret_value = s->token,
			      .timeout_ms = s->spec.timeout_ms,
			      .max_body = s->spec.max_body,
			      .done = on_reply,
			      .arg = q};
	struct err e;

	/* mutant: session-unasked netris-may-act ec2-unasked */
	if (q->may_act && !q->may_act(q->may_act_arg)) {
		err_note(&e, ERR_CONFLICT, 0, "no longer allowed: the change was not sent");
		fail(q, &e);
		return;
	}
	move(q, &s->sent, SESSION_SENT);
	q->sent = true;
	q->login = s->login;
	if (s->spec.ops->sign)
		s->spec.ops->sign(s->spec.client, q, &c);
	q->http = http_start(s->peer, &c);
}

static void log_in(struct session *s)
{
	if (s->logging_in)
		return;
	if (s->refused && loop_now(loop_of(s->spec.group)) < s->refused_until) {
		fail_waiting(s);
		return;
	}
	s->logging_in = true;
	s->spec.ops->login(s->spec.client);
}

static bool is_ready(struct session *s)
{
	return s->spec.ops->ready ? s->spec.ops->ready(s->spec.client) : s->logged_in;
}

static void turn(void *arg)
{
	struct session *s = arg;
	struct session_call *q;
	int64_t ms = 0;

	while ((q = list_first(&s->waiting, struct session_call, link)) &&
	       s->in_flight < s->spec.max_in_flight && !loop_timer_active(&s->pace)) {
		if (!is_ready(s)) {
			log_in(s);
			break;
		}
		if (s->spec.per_s > 0)
			ms = bucket_take(&s->bucket, loop_now(loop_of(s->spec.group)));
		if (ms > 0)
			loop_timer_start(&s->pace, ms);
		else
			send(s, q);
	}
	q = list_first(&s->failed, struct session_call, link);
	if (q)
		finish(q, NULL, q->err);
}

void session_start(struct session *s, struct session_call *q)
{
	struct err e;

	q->session = s;
	q->state = SESSION_OVER;
	list_init(&q->link);
	move(q, &s->waiting, SESSION_WAITS);
	if (s->nwaiting <= s->spec.max_waiting)
		return;
	err_note(&e, ERR_UNAVAILABLE, 0, "%u calls already wait for %s", s->spec.max_waiting,
		 http_peer_origin(s->peer));
	e.scope = ERR_PROVIDER;
	fail(q, &e);
}

void session_cancel(struct session_call *q)
{
	if (!q || q->state == SESSION_OVER)
		return;
	move(q, NULL, SESSION_OVER);
	call_free(q);
}

/* --- the login -------------------------------------------------------------------------------- */

static void forget_login(struct session *s)
{
	secret_free(s->token);
	s->token = NULL;
	s->logged_in = false;
}

bool session_repeat(struct session_call *q)
{
	struct session *s = q->session;

	if (/* mutant: session-repeats-again */ q->repeated)
		return false;
	q->repeated = true;
	/* Retain a login that is newer than the refused one. */
	if (q->login == s->login)
		forget_login(s);
	move(q, &s->waiting, SESSION_WAITS);
	return true;
}

static void on_answer(const struct http_reply *r, const struct err *e, void *arg)
{
	struct session *s = arg;

	s->asked = NULL;
	s->answered(r, e, s->spec.client);
}

void session_ask(struct session *s, const char *path, const char *body,
		 void (*done)(const struct http_reply *r, const struct err *e, void *client))
{
	const struct http_call c = {.method = body ? "POST" : "GET",
				    .path = path,
				    .body = body,
				    .body_len = body ? strlen(body) : 0,
				    .basic_user = body ? NULL : s->user,
				    .basic_password = s->password,
				    .timeout_ms = s->spec.timeout_ms,
				    .max_body = LOGIN_MAX_BODY,
				    .done = on_answer,
				    .arg = s};

	assert(s->logging_in && !s->asked);
	s->answered = done;
	s->asked = http_start(s->peer, &c);
}

void session_ask_json(struct session *s, const char *path, json_t *body,
		      void (*done)(const struct http_reply *r, const struct err *e, void *client))
{
	char *text = body ? json_text(body) : NULL;
	struct err e;

	json_decref(body);
	if (!text) {
		err_note(&e, ERR_INVALID, 0, "user or password is not UTF-8");
		e.scope = ERR_PROVIDER;
		session_login_failed(s, &e, SESSION_FOREVER);
		return;
	}
	session_ask(s, path, text, done);
	secret_wipe(text, strlen(text));
	free(text);
}

void session_logged_in(struct session *s, struct secret *token)
{
	forget_login(s);
	s->token = token;
	s->login++;
	s->logged_in = true;
	s->logging_in = false;
	err_save(&s->refused, NULL);
	loop_defer(&s->turn);
}

void session_login_failed(struct session *s, const struct err *e, int64_t refuse_ms)
{
	struct err why = *e;

	session_redact(s, why.text);
	err_note_wrap(&why, "%s", http_peer_origin(s->peer));
	err_save(&s->refused, &why);
	s->refused_until = loop_now(loop_of(s->spec.group)) + refuse_ms;
	s->logging_in = false;
	fail_waiting(s);
}

const char *session_user(const struct session *s)
{
	return s->user;
}

const struct secret *session_password(const struct session *s)
{
	return s->password;
}

void session_redact(const struct session *s, char *text)
{
	/* mutant: secret-quoted */
	quoted_redact(text, s->password);
	quoted_redact(text, s->token);
}

/* --- the session ------------------------------------------------------------------------------ */

struct session *session_new(const struct session_spec *spec, struct err *e)
{
	struct http_peer *peer = http_peer_new(spec->http, &spec->peer, e);
	struct session *s;

	assert(spec->max_in_flight > 0);
	if (!peer)
		return NULL;
	s = mem_new(struct session);
	s->spec = *spec;
	s->spec.max_waiting = spec->max_waiting ? spec->max_waiting : SESSION_WAITING;
	s->peer = peer;
	s->user = mem_strdup(spec->user);
	s->password = secret_copy(spec->password);
	bucket_init(&s->bucket, spec->per_s, spec->burst, loop_now(loop_of(spec->group)));
	list_init(&s->waiting);
	list_init(&s->sent);
	list_init(&s->failed);
	loop_defer_init(&s->turn, spec->group, turn, s);
	loop_timer_init(&s->pace, spec->group, turn, s);
	return s;
}

void session_free(struct session *s)
{
	struct session_call *q;

	if (!s)
		return;
	while ((q = list_first(&s->waiting, struct session_call, link)) ||
	       (q = list_first(&s->sent, struct session_call, link)) ||
	       (q = list_first(&s->failed, struct session_call, link)))
		session_cancel(q);
	loop_defer_cancel(&s->turn);
	loop_timer_stop(&s->pace);
	http_peer_free(s->peer); /* Cancels the request of a login too. */
	forget_login(s);
	secret_free(s->password);
	free(s->refused);
	free(s->user);
	free(s);
}
