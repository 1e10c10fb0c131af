#include "netris/netris.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/list.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "base/quoted.h"

/*
 * States of a request: it waits for a session, is sent, and ends with the reply. A 401 (session
 * expired) puts the request back among the waiting ones, but only once.
 *
 *   waiting ---- a session ----> sent ---- 401 ----> waiting, once more
 *      \------ login failed ------\---- reply -----> done
 *
 * One login runs at a time; waiting requests continue when it ends.
 */
#define MAX_BODY (32u << 20)
#define MAX_COOKIE 4096
#define IN_FLIGHT 8
#define COOKIE "connect.sid="

struct netris {
	struct loop_group *group;
	struct http_peer *peer;
	char *user;
	/* cookie: the session cookie "connect.sid=..."; NULL: no session. */
	struct secret *password, *cookie;
	/* Number of the current session, from 1. */
	uint64_t session;
	struct http_req *login;
	/* Error of the last failed login. Until no_login_until (loop_now()), every request fails
	 * with this error and is not sent. */
	struct err no_login;
	int64_t no_login_until;
	struct backoff pause;
	/* List of netris_request.link. */
	struct list requests;
	struct loop_defer pump;
};

struct netris_request {
	struct list link;
	struct netris *n;
	enum netris_kind kind;
	const char *method;
	char *path, *body;
	/* one: the reply is one object, not a list. changes: the method is not GET. again: the
	 * request has met a 401 and is sent once more. */
	bool one, changes, again;
	/* True: done() is called with err in the next loop turn. */
	bool ended;
	/* Number of the session in which the request was sent; 0: not sent. */
	uint64_t session;
	struct http_req *http;
	struct netris_call call;
	struct loop_defer end;
	struct err err;
};

static void request_free(struct netris_request *q)
{
	list_remove(&q->link);
	loop_defer_cancel(&q->end);
	http_cancel(q->http);
	free(q->path);
	free(q->body);
	free(q);
}

void netris_cancel(struct netris_request *q)
{
	if (q)
		request_free(q);
}

/* Ends the request: calls done() and frees q. Must be the caller's last act, because done() may
 * free the client. */
static void request_end(struct netris_request *q, struct netris_objects *o, const struct err *e)
{
	struct err why;

	if (e) {
		why = *e;
		/* mutant: secret-quoted */
		quoted_redact_err(&why, q->n->password, q->n->cookie);
		(void)!err_wrap(&why, "Netris %s %.80s", q->method, q->path);
	}
	list_remove(&q->link);
	q->call.done(e ? NULL : o, e ? &why : NULL, q->call.arg);
	request_free(q);
}

static void on_end(void *arg)
{
	struct netris_request *q = arg;

	request_end(q, NULL, &q->err);
}

static void request_fail(struct netris_request *q, const struct err *e)
{
	q->ended = true;
	q->err = *e;
	loop_defer(&q->end);
}

/* --- replies ---------------------------------------------------------------------------------- */

/* Returns the controller's text for a failure, from `message` or from `errors` ({name, error});
 * NULL: none. */
static const char *said(const json_t *j)
{
	const json_t *errors = json_object_get(j, "errors");
	const char *s = json_str_at(j, "message");

	if (json_is_array(errors))
		errors = json_array_get(errors, 0);
	if (str_empty(s))
		s = json_str_at(errors, "error");
	if (str_empty(s))
		s = json_str_at(errors, "name");
	return str_or(s, "no message");
}

/* Checks a reply for a failure, which has one of two forms: an HTTP error status, or isSuccess
 * false in the body. Returns 0 for success, -1 with *e for a failure. */
static int failure(const struct http_reply *r, const json_t *j, struct err *e)
{
	const json_t *success = json_object_get(j, "isSuccess");
	const json_t *code = json_at(j, "meta", "statusCode");
	int64_t status = 0;

	if (r->status >= 300 && r->status < 400)
		return err_set(e, ERR_PROTOCOL, r->status,
			       "it redirects to %.100s: set network.netris.endpoint to "
			       "the address that answers without a redirect",
			       str_or(http_reply_header(r, "Location"), "nowhere"));
	if (http_err(r, e) < 0) {
		/* The controller also answers 500 to invalid input, which cannot be distinguished
		 * from a failure of the controller itself. So keep the kind that belongs to the
		 * status, and add the controller's text. */
		const struct err was = *e;

		if (json_is_object(j))
			(void)!err_set(e, was.kind, was.code, "%d: %.200s", r->status, said(j));
		e->scope = was.scope;
		e->retry_after_ms = was.retry_after_ms;
		return -1;
	}
	if (!success || netris_truth(success) != NETRIS_NO)
		return 0;
	if (json_is_integer(code))
		status = json_integer_value(code);
	else if (json_is_string(code))
		(void)str_to_i64(json_string_value(code), 0, 999, &status);
	return err_set(e, status >= 400 ? err_kind_of_http((int)status) : ERR_INVALID, r->status,
		       "%d with isSuccess false: %.200s", r->status, said(j));
}

/* Returns `data` of the envelope, or the whole reply if there is none (v1). */
static const json_t *data_of(const json_t *j)
{
	return json_is_object(j) && json_object_get(j, "data") ? json_object_get(j, "data") : j;
}

static int read_objects(const struct netris_request *q, const json_t *j, struct netris_objects *out,
			struct err *e)
{
	const json_t *data = data_of(j);

	if (q->changes) {
		out->id = netris_id(data);
		return 0;
	}
	if (q->one && (json_is_null(data) || (json_is_array(data) && !json_array_size(data))))
		return err_set(e, ERR_NOT_FOUND, 0, "there is no %s of this id",
			       netris_kinds[q->kind].name);
	/* An empty reply is not an empty list: treating it as one would remove every member of a
	 * cluster. */
	if (!q->one && !json_is_array(data))
		return err_set(e, ERR_PROTOCOL, 0, "not a list of %ss", netris_kinds[q->kind].name);
	out->arena = arena_new();
	if (netris_decode(q->kind, data, out->arena, out, e) < 0)
		return -1;
	if (q->one && out->n != 1)
		return err_set(e, ERR_PROTOCOL, 0, "%zu objects for one id, want one", out->n);
	return 0;
}

/* Returns the parsed body; NULL with *e if it is not JSON. An empty reply to a change counts as
 * JSON null. */
static json_t *parse(const struct netris_request *q, const struct http_reply *r, struct err *e)
{
	json_t *j;

	if (!r->body_len && q->changes)
		return json_null();
	j = json_parse(r->body, r->body_len, e);
	if (!j)
		(void)!err_wrap(e, "its answer is not JSON");
	return j;
}

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct netris_request *q = arg;
	struct netris *n = q->n;
	OWN_JSON j = NULL;
	struct netris_objects o = {0};
	struct err bad, unread;

	q->http = NULL;
	if (!r) {
		request_end(q, NULL, e);
		return;
	}
	if (r->status == 401) {
		if (q->session == n->session) {
			secret_free(n->cookie);
			n->cookie = NULL;
		}
		q->session = 0;
		if (!q->again) {
			q->again = true;
			loop_defer(&n->pump);
			return;
		}
		(void)!err_set(&bad, ERR_DENIED, r->status,
			       "401 right after a login: the controller refuses its own cookie");
		request_end(q, NULL, &bad);
		return;
	}
	j = parse(q, r, &unread);
	if (failure(r, j, &bad) < 0) {
		request_end(q, NULL, &bad);
		return;
	}
	if (!j || read_objects(q, j, &o, &bad) < 0)
		request_end(q, NULL, j ? &bad : &unread);
	else
		request_end(q, &o, NULL);
	arena_free(o.arena);
}

static void send(struct netris_request *q)
{
	struct netris *n = q->n;
	struct http_call c = {
		.method = q->method,
		.path = q->path,
		.body = q->body,
		.body_len = q->body ? strlen(q->body) : 0,
		.secret_header = "Cookie",
		.secret_value = n->cookie,
		.timeout_ms = NETRIS_CALL_MS,
		.max_body = MAX_BODY,
		.done = on_reply,
		.arg = q,
	};
	struct err e;

	/* mutant: netris-may-act */
	if (q->changes && q->call.may_act && !q->call.may_act(q->call.arg)) {
		(void)!err_set(&e, ERR_CONFLICT, 0, "no longer allowed: the change was not sent");
		request_fail(q, &e);
		return;
	}
	q->session = n->session;
	q->http = http_start(n->peer, &c);
}

/* --- the session ------------------------------------------------------------------------------ */

/* Records the error of a failed login: requests that wait for a session end with it in the next
 * loop turn, and new requests end with it for for_ms, so that the login is not repeated at once. */
static void login_failed(struct netris *n, const struct err *e, int64_t for_ms)
{
	n->no_login = *e;
	n->no_login_until = loop_now(loop_of(n->group)) + for_ms;
	loop_defer(&n->pump);
}

/* Returns "connect.sid=..." from Set-Cookie, without its attributes; NULL: no valid cookie. */
static struct secret *cookie_of(const struct http_reply *r)
{
	for (size_t i = 0; i < r->nheaders; i++) {
		const char *v = r->headers[i].value;
		size_t len = strcspn(v, ";");
		bool fit = len > strlen(COOKIE) && len <= MAX_COOKIE;

		if (strcasecmp(r->headers[i].name, "Set-Cookie") || !str_starts(v, COOKIE))
			continue;
		for (size_t k = 0; k < len; k++)
			fit = fit && v[k] > ' ' && v[k] < 0x7f;
		return fit ? secret_new(v, len) : NULL;
	}
	return NULL;
}

static bool is_refused_login(const struct err *e)
{
	return e->kind == ERR_DENIED || e->kind == ERR_INVALID;
}

static void on_login(const struct http_reply *r, const struct err *e, void *arg)
{
	struct netris *n = arg;
	OWN_JSON j = NULL;
	struct err bad, unread;
	uint64_t random = loop_random(loop_of(n->group));

	n->login = NULL;
	if (r) {
		j = r->body_len ? json_parse(r->body, r->body_len, &unread) : NULL;
		if (failure(r, j, &bad) == 0) {
			n->cookie = cookie_of(r);
			if (n->cookie) {
				n->session++;
				backoff_reset(&n->pause);
				loop_defer(&n->pump);
				return;
			}
			(void)!err_set(&bad, ERR_PROTOCOL, 0,
				       "the answer to the login sets no cookie connect.sid");
		}
		/* Replace the reply's text, because it may quote the request, which contains the
		 * password. */
		if (is_refused_login(&bad))
			(void)!err_set(&bad, ERR_DENIED, NETRIS_LOGIN_REFUSED,
				       "the login of user %.64s is refused (status %d)", n->user,
				       r->status);
	} else {
		bad = *e;
	}
	bad.scope = ERR_PROVIDER;
	quoted_redact_err(&bad, n->password, NULL);
	(void)!err_wrap(&bad, "login");
	login_failed(n, &bad,
		     is_refused_login(&bad) ? NETRIS_REFUSED_MS : backoff_next(&n->pause, random));
}

static void start_login(struct netris *n)
{
	OWN_JSON body = json_pack("{s:s, s:s, s:i}", "user", n->user, "password",
				  secret_expose(n->password), "auth_scheme_id", 1);
	char *text = body ? json_text(body) : NULL;
	struct http_call c = {
		.method = "POST",
		.path = "/api/auth",
		.body = text,
		.body_len = text ? strlen(text) : 0,
		.timeout_ms = NETRIS_CALL_MS,
		.max_body = 64u << 10,
		.done = on_login,
		.arg = n,
	};
	struct err e;

	if (!text) {
		(void)!err_set(&e, ERR_INVALID, 0, "user or password is not UTF-8");
		login_failed(n, &e, NETRIS_REFUSED_MS);
		return;
	}
	n->login = http_start(n->peer, &c);
	secret_wipe(text, strlen(text));
	free(text);
}

/* Sends the waiting requests. Without a session, logs in first. If a login failed a short time ago
 * (no_login_until), ends the requests with the error of that login instead. */
static void on_pump(void *arg)
{
	struct netris *n = arg;
	bool waiting = false, barred = loop_now(loop_of(n->group)) < n->no_login_until;

	list_for_each (q, &n->requests, struct netris_request, link) {
		if (q->session || q->ended)
			continue;
		waiting = true;
		if (n->cookie)
			send(q);
		else if (barred)
			request_fail(q, &n->no_login);
	}
	if (waiting && !n->cookie && !barred && !n->login)
		start_login(n);
}

/* --- requests --------------------------------------------------------------------------------- */

static struct netris_request *request(struct netris *n, enum netris_kind kind, const char *method,
				      char *path /* Takes ownership of path. */,
				      const struct netris_call *c)
{
	struct netris_request *q = mem_new(struct netris_request);

	q->n = n;
	q->kind = kind;
	q->method = method;
	q->path = path;
	q->changes = !str_eq(method, "GET");
	q->call = *c;
	loop_defer_init(&q->end, n->group, on_end, q);
	list_push_back(&n->requests, &q->link);
	loop_defer(&n->pump);
	return q;
}

struct netris_request *netris_list(struct netris *n, enum netris_kind kind,
				   const struct netris_call *c)
{
	return request(n, kind, "GET",
		       mem_printf("%s%s", netris_kinds[kind].path, netris_kinds[kind].query), c);
}

struct netris_request *netris_get(struct netris *n, enum netris_kind kind, int64_t id,
				  const struct netris_call *c)
{
	struct netris_request *q = request(
		n, kind, "GET", mem_printf("%s/%lld", netris_kinds[kind].path, (long long)id), c);

	q->one = true;
	return q;
}

struct netris_request *netris_read(struct netris *n, enum netris_kind kind,
				   const struct netris_call *c)
{
	struct netris_request *q = request(n, kind, "GET", mem_strdup(netris_kinds[kind].path), c);

	q->one = true;
	return q;
}

struct netris_request *netris_change(struct netris *n, const char *method, enum netris_kind kind,
				     int64_t id, json_t *body, const struct netris_call *c)
{
	const char *path = netris_kinds[kind].path;
	struct netris_request *q =
		request(n, kind, method,
			id ? mem_printf("%s/%lld", path, (long long)id) : mem_strdup(path), c);

	q->body = body ? json_text(body) : NULL;
	json_decref(body);
	return q;
}

bool netris_refused(const struct err *e)
{
	return e->kind == ERR_DENIED || e->kind == ERR_INVALID || e->kind == ERR_CONFLICT ||
	       e->kind == ERR_NOT_FOUND || e->kind == ERR_UNSUPPORTED;
}

struct netris *netris_new(const struct netris_spec *s, struct err *e)
{
	struct http_peer_spec ps = {
		.base_url = s->url,
		.ca_pem = s->ca_pem,
		.pin_sha256 = s->pin_sha256,
		.max_in_flight = IN_FLIGHT,
		.plain_ok = s->plain_ok,
	};
	struct netris *n;
	struct http_peer *peer = http_peer_new(s->http, &ps, e);

	if (!peer)
		return NULL;
	n = mem_new(struct netris);
	n->group = s->group;
	n->peer = peer;
	n->user = mem_strdup(s->user);
	n->password = secret_copy(s->password);
	n->no_login_until = INT64_MIN;
	n->pause = (struct backoff){.base_ms = 1000, .cap_ms = 30000};
	list_init(&n->requests);
	loop_defer_init(&n->pump, n->group, on_pump, n);
	return n;
}

void netris_free(struct netris *n)
{
	if (!n)
		return;
	loop_defer_cancel(&n->pump);
	http_cancel(n->login);
	list_for_each (q, &n->requests, struct netris_request, link)
		request_free(q);
	http_peer_free(n->peer);
	secret_free(n->password);
	secret_free(n->cookie);
	free(n->user);
	free(n);
}
