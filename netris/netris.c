#include "netris/netris.h"

#include <stdlib.h>
#include <string.h>
#include "base/http/session.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"

#define MAX_BODY (32u << 20)
#define IN_FLIGHT 8

struct netris {
	struct loop_group *group;
	struct session *session;
	struct backoff pause;
};

struct netris_request {
	struct session_call call;
	enum netris_kind kind;
	/* one: the reply is one object, not a list. changes: the method is not GET. */
	bool one, changes;
	void (*done)(struct netris_objects *o, const struct err *e, void *arg);
	void *arg;
};

void netris_cancel(struct netris_request *q)
{
	if (q)
		session_cancel(&q->call);
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
			err_note(e, was.kind, was.code, "%d: %.200s", r->status, said(j));
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
		err_note_wrap(e, "its answer is not JSON");
	return j;
}

static int read_reply(const struct netris_request *q, const struct http_reply *r,
		      struct netris_objects *out, struct err *e)
{
	struct err unread;
	OWN_JSON j = parse(q, r, &unread);

	if (failure(r, j, e) < 0)
		return -1;
	if (j)
		return read_objects(q, j, out, e);
	*e = unread;
	return -1;
}

static void on_done(void *client, struct session_call *c, const struct http_reply *r,
		    const struct err *failed)
{
	const struct netris *n = client;
	struct netris_request *q = container_of(c, struct netris_request, call);
	struct netris_objects o = {0};
	struct err e;

	if (r && r->status == 401) {
		if (session_repeat(c))
			return;
		err_note(&e, ERR_DENIED, r->status,
			 "401 right after a login: the controller refuses its own cookie");
	} else if (failed) {
		e = *failed;
	} else if (read_reply(q, r, &o, &e) == 0) {
		q->done(&o, NULL, q->arg);
		arena_free(o.arena);
		return;
	}
	arena_free(o.arena);
	session_redact(n->session, e.text);
	err_note_wrap(&e, "Netris %s %.80s", c->method, c->path);
	q->done(NULL, &e, q->arg);
}

/* --- the login -------------------------------------------------------------------------------- */

static bool is_refused_login(const struct err *e)
{
	return e->kind == ERR_DENIED || e->kind == ERR_INVALID;
}

static int read_login(const struct netris *n, const struct http_reply *r, struct secret **cookie,
		      struct err *e)
{
	struct err unread;
	OWN_JSON j = r->body_len ? json_parse(r->body, r->body_len, &unread) : NULL;

	if (failure(r, j, e) < 0) {
		/* Replace the reply's text, because it may quote the request, which contains the
		 * password. */
		if (is_refused_login(e))
			err_note(e, ERR_DENIED, NETRIS_LOGIN_REFUSED,
				 "the login of user %.64s is refused (status %d)",
				 session_user(n->session), r->status);
		return -1;
	}
	*cookie = http_reply_cookie(r, "connect.sid");
	if (*cookie)
		return 0;
	return err_set(e, ERR_PROTOCOL, 0, "the answer to the login sets no cookie connect.sid");
}

static void on_login(const struct http_reply *r, const struct err *failed, void *arg)
{
	struct netris *n = arg;
	uint64_t random = loop_random(loop_of(n->group));
	struct secret *cookie = NULL;
	struct err e;

	if (failed) {
		e = *failed;
	} else if (read_login(n, r, &cookie, &e) == 0) {
		backoff_reset(&n->pause);
		session_logged_in(n->session, cookie);
		return;
	}
	e.scope = ERR_PROVIDER;
	err_note_wrap(&e, "login");
	/* Do not repeat a refused login soon, so that no account is locked. */
	session_login_failed(n->session, &e,
			     is_refused_login(&e) ? NETRIS_REFUSED_MS
						  : backoff_next(&n->pause, random));
}

static void log_in(void *client)
{
	const struct netris *n = client;
	const char *password = secret_expose(session_password(n->session));

	session_ask_json(n->session, "/api/auth",
			 json_pack("{s:s, s:s, s:i}", "user", session_user(n->session), "password",
				   password, "auth_scheme_id", 1),
			 on_login);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Takes ownership of path and body. */
static struct netris_request *request(struct netris *n, enum netris_kind kind, const char *method,
				      char *path, char *body, const struct netris_call *c)
{
	struct netris_request *q = mem_new(struct netris_request);

	q->kind = kind;
	q->changes = !str_eq(method, "GET");
	q->done = c->done;
	q->arg = c->arg;
	q->call = (struct session_call){.method = method,
					.path = path,
					.body = body,
					.may_act = q->changes ? c->may_act : NULL,
					.may_act_arg = c->arg};
	session_start(n->session, &q->call);
	return q;
}

struct netris_request *netris_list(struct netris *n, enum netris_kind kind,
				   const struct netris_call *c)
{
	return request(n, kind, "GET",
		       mem_printf("%s%s", netris_kinds[kind].path, netris_kinds[kind].query), NULL,
		       c);
}

struct netris_request *netris_get(struct netris *n, enum netris_kind kind, int64_t id,
				  const struct netris_call *c)
{
	struct netris_request *q =
		request(n, kind, "GET",
			mem_printf("%s/%lld", netris_kinds[kind].path, (long long)id), NULL, c);

	q->one = true;
	return q;
}

struct netris_request *netris_read(struct netris *n, enum netris_kind kind,
				   const struct netris_call *c)
{
	struct netris_request *q =
		request(n, kind, "GET", mem_strdup(netris_kinds[kind].path), NULL, c);

	q->one = true;
	return q;
}

struct netris_request *netris_change(struct netris *n, const char *method, enum netris_kind kind,
				     int64_t id, json_t *body, const struct netris_call *c)
{
	const char *path = netris_kinds[kind].path;
	char *text = body ? json_text(body) : NULL;

	json_decref(body);
	return request(n, kind, method,
		       id ? mem_printf("%s/%lld", path, (long long)id) : mem_strdup(path), text, c);
}

bool netris_refused(const struct err *e)
{
	return e->kind == ERR_DENIED || e->kind == ERR_INVALID || e->kind == ERR_CONFLICT ||
	       e->kind == ERR_NOT_FOUND || e->kind == ERR_UNSUPPORTED;
}

struct netris *netris_new(const struct netris_spec *s, struct err *e)
{
	static const struct session_ops ops = {.login = log_in, .done = on_done};
	struct netris *n = mem_new(struct netris);
	const struct session_spec spec = {
		.group = s->group,
		.http = s->http,
		.peer = {.base_url = s->url,
			 .ca_pem = s->ca_pem,
			 .pin_sha256 = s->pin_sha256,
			 .plain_ok = s->plain_ok},
		.ops = &ops,
		.client = n,
		.user = s->user,
		.password = s->password,
		.timeout_ms = NETRIS_CALL_MS,
		.max_body = MAX_BODY,
		.max_in_flight = IN_FLIGHT,
	};

	n->group = s->group;
	n->pause = (struct backoff){.base_ms = 1000, .cap_ms = 30000};
	n->session = session_new(&spec, e);
	if (n->session)
		return n;
	netris_free(n);
	return NULL;
}

void netris_free(struct netris *n)
{
	if (!n)
		return;
	session_free(n->session);
	free(n);
}
