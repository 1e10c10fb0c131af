#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "redfish/link.h"

/*
 * Sends one request at a time. r->req is the operation's request. r->login is the request of a
 * login in the middle of the operation; after the login r->req is sent again.
 *
 * Tests: tests/unit/redfish/test_redfish.c, tests/unit/redfish/test_system.c
 */
#define MAX_BODY (1u << 20)
#define MAX_REDIRECTS 2
#define MAX_TOKEN 4096

char *rf_link(const struct redfish *r, const json_t *ref, struct err *e)
{
	const char *s =
		json_is_string(ref) ? json_string_value(ref) : json_str_at(ref, "@odata.id");

	err_clear(e);
	return s ? link_path(r->origin, s, e) : NULL;
}

bool rf_is_lacking(const struct rf_reply *p)
{
	switch (p->status) {
	case 0:
	case 408:
	case 429:
	case 502:
	case 503:
	case 504:
		return false;
	default:
		return p->err.kind != ERR_NONE && !p->err.retry_after_ms &&
		       p->err.code != REDFISH_PASSWORD_CHANGE;
	}
}

/* Sets the error of p to "PATCH /redfish/v1/Systems/1: 400 Bad Request: ..." with the kind that
 * fits status and messages best. */
static void reply_err(struct redfish *r, const struct rf_request *q, const struct http_reply *http,
		      struct rf_reply *p)
{
	const json_t *messages = rf_messages(p->json);
	char words[RF_WORDS];
	bool told = q->secret_body ? rf_message_id(messages, words) : rf_words(messages, words);
	struct err was;

	(void)!http_err(http, &p->err);
	if (http->status == 401)
		p->err.code = 0; /* 401 is reserved for refused logins, see redfish.h. */
	if (http->status < 400)
		p->err.kind = ERR_PROTOCOL;
	if (http->status == 405 || http->status == 501)
		p->err.kind = ERR_UNSUPPORTED;
	/* ERR_CONFLICT is reserved for refusals by may_act() and fits(), see redfish.h. A BMC
	 * reports a conflict only for a wrong ETag or a temporary state, so choose another kind. */
	if (p->err.kind == ERR_CONFLICT)
		p->err.kind = http->status == 409 ? ERR_UNAVAILABLE : ERR_PROTOCOL;
	rf_heed(messages, &p->err);
	was = p->err;
	if (told || q->secret_body)
		err_note(&p->err, was.kind, was.code, "%d%s%s", http->status, told ? " " : "",
			 told ? words : "");
	p->err.retry_after_ms = was.retry_after_ms;
	err_note_wrap(&p->err, "%s %.100s", q->method, q->path);
	p->err.scope = ERR_MACHINE;
	(void)rf_password_change(r, p->json, &p->err);
}

/*
 * Returns the ETag of the reply: the header if there is one, else @odata.etag. Corrects faults of
 * BMCs: drops empty ETags, undoes doubled quotes, removes the suffix that compression adds. NULL:
 * none.
 */
static char *etag_of(const struct http_reply *http, const json_t *j)
{
	const char *s = http_reply_header(http, "ETag");
	size_t len;
	char *tag, *at;

	if (str_empty(s))
		s = json_str_at(j, "@odata.etag");
	if (str_empty(s) || !rf_text_ok(s) || str_eq(s, "\"\"") || str_eq(s, "W/\"\""))
		return NULL;
	tag = mem_strdup(s);
	len = strlen(tag);
	if (len > 4 && str_starts(tag, "\"\"") && str_ends(tag, "\"\"")) {
		memmove(tag, tag + 1, len - 2);
		tag[len - 2] = '\0';
	}
	at = strstr(tag, "-gzip\"");
	if (at)
		memcpy(at, "\"", 2);
	return tag;
}

static void on_done(const struct http_reply *http, const struct err *e, void *arg);

static void transmit(struct redfish *r, struct rf_request *q)
{
	struct http_header h[4];
	size_t n = 0;
	struct http_call c = {
		.method = q->method,
		.path = q->path,
		.body = q->body,
		.body_len = q->body ? strlen(q->body) : 0,
		.timeout_ms = r->call_ms,
		.max_body = MAX_BODY,
		.unpack = true,
		.done = on_done,
		.arg = r,
	};
	enum rf_login login = q->own_login ? q->login : r->basic ? RF_BASIC : RF_SESSION;

	h[n++] = (struct http_header){"Accept", "application/json"};
	h[n++] = (struct http_header){"OData-Version", "4.0"};
	if (q->if_match)
		h[n++] = (struct http_header){"If-Match", q->if_match};
	c.headers = h;
	c.nheaders = n;
	if (login == RF_BASIC) {
		c.basic_user = r->user;
		c.basic_password = r->password;
	} else if (login == RF_SESSION && r->token) {
		c.secret_header = "X-Auth-Token";
		c.secret_value = r->token;
	}
	r->sent_at = loop_now(loop_of(r->group));
	r->calls++;
	r->http = http_start(r->peer, &c);
}

/* Calls may_act() before each request that changes the machine, also before a redirected one.
 * Returns false if may_act() refused; the operation has then ended with ERR_CONFLICT. */
static bool is_allowed(struct redfish *r, const struct rf_request *q)
{
	struct err e;

	if (!q->effect || !r->may_act || r->may_act(r->op->arg))
		return true;
	err_note(&e, ERR_CONFLICT, 0,
		 "%s %s: not sent, because drover may no longer change the machine", q->method,
		 q->path);
	rf_fail(r, &e);
	return false;
}

void rf_send(struct redfish *r, struct rf_request *q)
{
	struct rf_request *slot = q->own_login ? &r->login : &r->req;

	if (!q->method)
		q->method = "GET";
	rf_request_done(slot);
	*slot = *q;
	*q = (struct rf_request){0};
	if (!is_allowed(r, slot))
		return;
	r->logging_in = slot->own_login;
	transmit(r, slot);
}

void rf_get(struct redfish *r, char *path, rf_step *next)
{
	rf_send(r, &(struct rf_request){.path = path, .next = next});
}

void rf_resend(struct redfish *r)
{
	struct rf_request q = r->req;

	r->req = (struct rf_request){0};
	rf_send(r, &q);
}

static bool is_redirect(int status)
{
	return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

/* True if the request may be sent again to the new location: any request after 307 and 308; after
 * other redirects only a read or a login, as in other Redfish clients, because the BMC may already
 * have made the change. */
static bool is_repeatable(const struct rf_request *q, int status)
{
	return status == 307 || status == 308 || str_eq(q->method, "GET") || q->secret_body;
}

/* Returns (malloc'd) the path of the redirect's target.  NULL: the redirect is not followed; *e has
 * the cause and the target. */
static char *redirect_path(const struct redfish *r, const struct rf_request *q,
			   const struct http_reply *http, struct err *e)
{
	const char *to = http_reply_header(http, "Location");
	char *path = NULL;

	if (!to)
		err_note(e, ERR_PROTOCOL, 0, "the reply has no Location header");
	else if (q->redirects >= MAX_REDIRECTS)
		err_note(e, ERR_PROTOCOL, 0, "not followed after %d other redirects, to %s",
			 MAX_REDIRECTS, to);
	else if (!is_repeatable(q, http->status))
		err_note(e, ERR_PROTOCOL, 0,
			 "to %s, not followed because the BMC may have made the change", to);
	else
		path = link_from(r->origin, q->path, to, e);
	if (!path)
		err_note_wrap(e, "%s %.80s: redirect %d", q->method, q->path, http->status);
	e->code = http->status;
	e->scope = ERR_MACHINE;
	return path;
}

/* Follows a redirect.  True: the request was sent again, or the operation has ended.  False: the
 * reply is no redirect, or *e has the reason why the redirect is not followed. */
static bool redirected(struct redfish *r, struct rf_request *q, const struct http_reply *http,
		       struct err *e)
{
	char *path;

	err_clear(e);
	if (!is_redirect(http->status))
		return false;
	path = redirect_path(r, q, http, e);
	if (!path)
		return false;
	rf_set(&q->path, path);
	q->redirects++;
	/* mutant: redirect-unasked */
	if (is_allowed(r, q))
		transmit(r, q);
	return true;
}

static void read_body(const struct rf_request *q, const struct http_reply *http, struct rf_reply *p)
{
	struct err e;
	bool must = http->status >= 200 && http->status < 300 && str_eq(q->method, "GET");

	p->json = rf_body(http, &e);
	if (!p->json && must) {
		p->err = e;
		p->err.scope = ERR_MACHINE;
		err_note_wrap(&p->err, "GET %.100s", q->path);
	}
}

/* True if the exchange brought no usable reply (no reply, or 5xx), which counts for the circuit
 * breaker. Requests for the list of drives never count (rf_is_optional()). */
static bool is_silent(const struct redfish *r, const struct http_reply *http)
{
	return !rf_is_optional(r) && (!http || http->status >= 500);
}

static void on_done(const struct http_reply *http, const struct err *e, void *arg)
{
	struct redfish *r = arg;
	struct rf_request *q = r->logging_in ? &r->login : &r->req;
	struct rf_reply p = {.sent_at = r->sent_at};
	/* Reason why the reply's redirect is not followed; kind ERR_NONE: the reply is no
	 * redirect. */
	struct err astray;
	char *etag = NULL;

	r->http = NULL;
	r->silent = is_silent(r, http);
	if (http)
		rf_latency(r, loop_now(loop_of(r->group)) - r->sent_at);
	if (!http) {
		p.err = *e;
		p.err.scope = ERR_MACHINE;
		err_note_wrap(&p.err, "%s %.100s", q->method, q->path);
	} else {
		const char *token = http_reply_header(http, "X-Auth-Token");

		if (redirected(r, q, http, &astray))
			return;
		if (http->status == 401 && !q->own_login) {
			r->on_refused(r);
			return;
		}
		p.status = http->status;
		p.retry_after_ms = http->retry_after_ms;
		p.location = http_reply_header(http, "Location");
		p.challenge = http_reply_header(http, "WWW-Authenticate");
		read_body(q, http, &p);
		if (astray.kind != ERR_NONE)
			p.err = astray;
		else if (http->status < 200 || http->status >= 300)
			reply_err(r, q, http, &p);
		else if (!q->own_login)
			r->used_at = p.sent_at;
		p.etag = etag = etag_of(http, p.json);
		if (token && *token && strlen(token) <= MAX_TOKEN && q->own_login)
			p.token = secret_from_str(token);
	}
	/* Use only local variables afterwards: next() may end the operation, whose owner may then
	 * free r. */
	if (!r->on_accepted(r, &p))
		q->next(r, &p);
	json_decref(p.json);
	secret_free(p.token);
	free(etag);
}
