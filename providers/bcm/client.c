/*
 * client: every request waits until the client is ready: the version is known and, without a
 * certificate, the client is logged in.
 *
 *   (new) --> GET /rest/v1/version --> [POST login] --> ready --> POST /json ...
 *   	      refused, too old: waiting requests end	'-- cookie denied: log in once more
 *
 * If the request for the version or the login fails, all waiting requests end with that error. The
 * next call tries again, except after a refused password.
 */
#include "providers/bcm/client.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/data/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/quoted.h"

#define CALL_MS 30000
#define COOKIE "cm-login-token="
#define COOKIE_MAX 4096
#define CONCURRENT 4

static const int64_t oldest[3] = {10, 25, 3};
#define NEWEST_MAJOR 11

struct bcm {
	struct loop_group *group;
	struct http_peer *peer;
	char *user;
	struct secret *password, *cookie;
	/* Number of logins so far; the current cookie is from the last login */
	unsigned logins;
	bool by_certificate;
	/* BCM's version; "": not read yet */
	char version[32];
	/* Error of a refused password, which is final; kind ERR_NONE: not refused */
	struct err refused;
	struct http_req *readying;
	/* Lists of bcm_request.link. waiting: not sent. sent: no reply yet. ending: to be ended
	 * with `failed`, one in each loop turn. */
	struct list waiting, sent, ending;
	struct loop_defer end;
	/* Error with which the requests in `ending` end */
	struct err failed;
};

struct bcm_request {
	struct list link;
	struct bcm *b;
	/* Name for error texts, e.g. "cmdevice.getDevice" */
	char *what;
	/* Path of a GET; NULL: the request is a POST to /json */
	char *resource;
	char *body;
	/* null_is_none: copied from struct bcm_call. again: true once the client has logged in
	 * again for this request. */
	bool null_is_none, again;
	/* Number of the login (bcm.logins) whose cookie was sent with the request; 0: no cookie was
	 * sent */
	unsigned login;
	void (*done)(struct exact result, const struct err *e, void *arg);
	void *arg;
	struct http_req *http;
};

/* --- errors ----------------------------------------------------------------------------------- */

static bool holds(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

/* Returns the kind of error for an error text of BCM. BCM's manuals name the first three texts; the
 * others were seen in practice. Any other text is ERR_PROTOCOL. */
static enum err_kind kind_of(const char *text)
{
	if (holds(text, "certificate") || holds(text, "does not allow access") ||
	    holds(text, "permission denied"))
		return ERR_DENIED;
	if (holds(text, "no such call") || holds(text, "no such service"))
		return ERR_UNSUPPORTED;
	if (holds(text, "not found") || holds(text, "does not exist"))
		return ERR_NOT_FOUND;
	if (holds(text, "in progress") || holds(text, "busy") || holds(text, "locked"))
		return ERR_UNAVAILABLE;
	return ERR_PROTOCOL;
}

static int say(struct err *e, enum err_kind kind, int code, const char *what, const char *text)
{
	(void)!err_set(e, kind, code, "BCM refuses %s: %.140s%s", what, text,
		       kind == ERR_DENIED
			       ? "; allow this call in the profile of drover's certificate"
		       : kind == ERR_UNSUPPORTED ? "; this version has no such call"
						 : "");
	e->scope = kind == ERR_DENIED ? ERR_PROVIDER : ERR_REQUEST;
	return -1;
}

static int read_result(const struct http_reply *r, const char *what, bool null_is_none,
		       struct exact *out, struct err *e)
{
	OWN(arena) a = arena_new();
	const char *text;

	if (http_err(r, e) < 0) {
		if (e->kind == ERR_DENIED)
			return say(e, ERR_DENIED, r->status, what, "HTTP 401 or 403");
		e->scope = ERR_PROVIDER;
		return err_wrap(e, "BCM, %s", what);
	}
	if (exact_read(r->body, r->body_len, out, e) < 0)
		return err_wrap(e, "BCM, %s", what);
	text = exact_str_at(*out, "errormessage", a);
	if (!str_empty(text))
		return say(e, kind_of(text), kind_of(text) == ERR_DENIED ? 403 : 0, what, text);
	if (exact_kind(*out) != EXACT_NULL)
		return 0;
	if (null_is_none)
		return err_set(e, ERR_NOT_FOUND, 0, "BCM, %s: not found (null)", what);
	return err_set(e, ERR_PROTOCOL, 0, "BCM, %s: null in place of a result", what);
}

int bcm_written(struct exact result, struct err *e)
{
	OWN(arena) a = arena_new();
	struct exact_iter it;

	exact_for_each(it, exact_member(result, "validation"))
	{
		const char *severity = exact_str_at(it.value, "severity", a);

		if (severity && strcasecmp(severity, "ERROR") == 0)
			return err_set(e, ERR_INVALID, 0, "BCM rejects the change: %s: %.120s",
				       str_or(exact_str_at(it.value, "field", a), "(no field)"),
				       str_or(exact_str_at(it.value, "message", a), "no reason"));
	}
	if (exact_kind(exact_member(result, "success")) != EXACT_TRUE)
		return err_set(e, ERR_PROTOCOL, 0, "BCM does not confirm the write: %.*s",
			       result.len > 80 ? 80 : (int)result.len, str_or(result.at, ""));
	return 0;
}

bool bcm_version_parts(const char *text, int64_t out[static 3])
{
	size_t n = 0;

	out[0] = out[1] = out[2] = 0;
	while (n < 3) {
		int64_t v = 0;
		size_t digits = strspn(text, "0123456789");

		if (!digits || digits > 9)
			return false;
		for (size_t i = 0; i < digits; i++)
			v = v * 10 + (text[i] - '0');
		out[n++] = v;
		text += digits;
		/* Accept the text and ignore its rest, e.g. the suffix of a build. */
		if (*text != '.')
			return true;
		text++;
	}
	return true;
}

/* --- requests --------------------------------------------------------------------------------- */

static void request_free(struct bcm_request *q)
{
	list_remove(&q->link);
	http_cancel(q->http);
	free(q->what);
	free(q->resource);
	free(q->body);
	free(q);
}

void bcm_redact(const struct bcm *b, struct err *e)
{
	quoted_redact_err(e, b->password, b->cookie);
}

const char *bcm_redacted(const struct bcm *b, const char *text, struct arena *a)
{
	char *copy = arena_strdup(a, text);

	if (copy) {
		quoted_redact(copy, b->password);
		quoted_redact(copy, b->cookie);
	}
	return copy;
}

/* Removes q from its list, calls done(), and frees q. done() may free the client. */
static void request_end(struct bcm_request *q, struct exact result, const struct err *e)
{
	struct err told;

	if (e) {
		told = *e;
		bcm_redact(q->b, &told);
		e = &told;
	}
	list_remove(&q->link);
	list_init(&q->link);
	q->done(result, e, q->arg);
	request_free(q);
}

static void make_ready(struct bcm *b);

static void forget_login(struct bcm *b)
{
	secret_free(b->cookie);
	b->cookie = NULL;
}

static void on_reply(const struct http_reply *r, const struct err *net, void *arg)
{
	struct bcm_request *q = arg;
	struct bcm *b = q->b;
	struct exact result = {0};
	struct err e;

	q->http = NULL;
	if (net) {
		e = *net;
		e.scope = ERR_PROVIDER;
		(void)!err_wrap(&e, "BCM, %s", q->what);
		request_end(q, result, &e);
		return;
	}
	if (read_result(r, q->what, q->null_is_none, &result, &e) < 0) {
		/* BCM denies every request that was sent with an expired cookie: log in again and
		 * repeat each such request once. A call that the profile forbids is denied a second
		 * time, and then ends. */
		if (e.kind == ERR_DENIED && q->login && !q->again) {
			q->again = true;
			list_remove(&q->link);
			list_push_back(&b->waiting, &q->link);
			if (q->login == b->logins)
				forget_login(b);
			make_ready(b);
			return;
		}
		request_end(q, (struct exact){0}, &e);
		return;
	}
	request_end(q, result, NULL);
}

static void send_one(struct bcm_request *q)
{
	struct bcm *b = q->b;
	struct http_call c = {.method = q->resource ? "GET" : "POST",
			      .path = q->resource ? q->resource : "/json",
			      .body = q->body,
			      .body_len = q->body ? strlen(q->body) : 0,
			      .timeout_ms = CALL_MS,
			      .max_body = BCM_MAX_REPLY,
			      .done = on_reply,
			      .arg = q};

	if (!b->by_certificate && q->resource) {
		/* Use Basic authentication, because BCM does not accept the cookie for paths below
		 * /rest/. */
		c.basic_user = b->user;
		c.basic_password = b->password;
	} else if (b->cookie) {
		c.secret_header = "Cookie";
		c.secret_value = b->cookie;
		q->login = b->logins;
	}
	list_remove(&q->link);
	list_push_back(&b->sent, &q->link);
	q->http = http_start(b->peer, &c);
}

static void send_all(struct bcm *b)
{
	list_for_each (q, &b->waiting, struct bcm_request, link)
		send_one(q);
}

/* Ends all waiting requests with *e. Ends one in each loop turn, because done() may free the client
 * or cancel other requests. */
static void end_all(struct bcm *b, const struct err *e)
{
	b->failed = *e;
	list_for_each (q, &b->waiting, struct bcm_request, link) {
		list_remove(&q->link);
		list_push_back(&b->ending, &q->link);
	}
	loop_defer(&b->end);
}

static void on_end(void *arg)
{
	struct bcm *b = arg;
	struct bcm_request *q = list_first(&b->ending, struct bcm_request, link);
	struct err e = b->failed;

	if (!q)
		return;
	loop_defer(&b->end);
	request_end(q, (struct exact){0}, &e);
}

/* --- getting ready ---------------------------------------------------------------------------- */

static void on_login(const struct http_reply *r, const struct err *net, void *arg);
static void on_version(const struct http_reply *r, const struct err *net, void *arg);

static void log_in(struct bcm *b)
{
	json_t *o = json_pack("{s:s, s:s, s:s}", "service", "login", "username", b->user,
			      "password", secret_expose(b->password));
	char *body = json_text(o);
	struct http_call c = {.method = "POST",
			      .path = "/json",
			      .body = body,
			      .body_len = strlen(body),
			      .timeout_ms = CALL_MS,
			      .max_body = 1u << 16,
			      .done = on_login,
			      .arg = b};

	b->readying = http_start(b->peer, &c);
	secret_wipe(body, strlen(body));
	free(body);
	json_decref(o);
}

static void make_ready(struct bcm *b)
{
	struct http_call c = {.path = "/rest/v1/version",
			      .timeout_ms = CALL_MS,
			      .max_body = 1u << 16,
			      .done = on_version,
			      .arg = b};

	if (b->readying || list_empty(&b->waiting))
		return;
	if (b->refused.kind != ERR_NONE) {
		end_all(b, &b->refused);
	} else if (!b->version[0]) {
		if (!b->by_certificate) {
			c.basic_user = b->user;
			c.basic_password = b->password;
		}
		b->readying = http_start(b->peer, &c);
	} else if (!b->by_certificate && !b->cookie) {
		log_in(b);
	} else {
		send_all(b);
	}
}

/* Ends all waiting requests with *e. A refused password is remembered, because further tries would
 * lock the account. A refused certificate is tried again with the next call, because its profile
 * may be changed at any time. */
static void refuse(struct bcm *b, const struct err *e)
{
	if (e->kind == ERR_DENIED && !b->by_certificate)
		b->refused = *e;
	end_all(b, e);
}

static int read_version(struct bcm *b, const struct http_reply *r, struct err *e)
{
	OWN(arena) a = arena_new();
	struct exact o;
	const char *text;
	int64_t is[3];
	int c = 0;

	if (read_result(r, "/rest/v1/version", false, &o, e) < 0) {
		if (e->kind == ERR_DENIED)
			e->code = 401;
		return -1;
	}
	text = exact_str_at(o, "cm_version", a);
	if (!text || !bcm_version_parts(text, is))
		return err_set(e, ERR_PROTOCOL, 0,
			       "BCM's /rest/v1/version has no cm_version such as 10.25.3 or 11.0");
	for (int i = 0; i < 3 && !c; i++)
		c = is[i] < oldest[i] ? -1 : is[i] > oldest[i];
	if (c < 0) {
		(void)!err_set(
			e, ERR_UNSUPPORTED, 0,
			"BCM has version %.24s: drover needs BCM 10 from 10.25.3 on, or BCM 11",
			text);
		e->scope = ERR_PROVIDER;
		return -1;
	}
	if (is[0] > NEWEST_MAJOR)
		log_warn("BCM is newer than the versions that drover knows",
			 LOG_S("version", text));
	str_copy(b->version, sizeof(b->version), text);
	str_clean(b->version);
	return 0;
}

static void on_version(const struct http_reply *r, const struct err *net, void *arg)
{
	struct bcm *b = arg;
	struct err e;

	b->readying = NULL;
	if (net) {
		e = *net;
		e.scope = ERR_PROVIDER;
		(void)!err_wrap(&e, "BCM, /rest/v1/version");
		refuse(b, &e);
	} else if (read_version(b, r, &e) < 0) {
		refuse(b, &e);
	} else {
		make_ready(b);
	}
}

/* Returns the value of the login cookie, cut at the first character that may not be in a Cookie
 * header; NULL: none. */
static struct secret *cookie_of(const struct http_reply *r)
{
	for (size_t i = 0; i < r->nheaders; i++) {
		const char *v = r->headers[i].value;
		size_t n;

		if (strcasecmp(r->headers[i].name, "Set-Cookie") != 0 || !str_starts(v, COOKIE))
			continue;
		n = strcspn(v, "; \t\r\n,");
		if (n > strlen(COOKIE) && n <= COOKIE_MAX)
			return secret_new(v, n);
	}
	return NULL;
}

static void on_login(const struct http_reply *r, const struct err *net, void *arg)
{
	struct bcm *b = arg;
	struct exact result;
	struct err e;

	b->readying = NULL;
	if (net) {
		e = *net;
		e.scope = ERR_PROVIDER;
		(void)!err_wrap(&e, "BCM, login");
		refuse(b, &e);
		return;
	}
	if (read_result(r, "login", false, &result, &e) < 0) {
		if (e.kind == ERR_DENIED)
			e.code = 401;
		refuse(b, &e);
		return;
	}
	if (exact_kind(result) == EXACT_TRUE)
		b->cookie = cookie_of(r);
	if (b->cookie) {
		b->logins++;
		make_ready(b);
		return;
	}
	(void)!err_set(&e, exact_kind(result) == EXACT_FALSE ? ERR_DENIED : ERR_PROTOCOL,
		       exact_kind(result) == EXACT_FALSE ? 401 : 0,
		       "BCM refuses the login of %.60s: %s", b->user,
		       exact_kind(result) == EXACT_FALSE ? "user or password is wrong"
		       : exact_kind(result) == EXACT_TRUE
			       ? "the reply has no cookie cm-login-token; use a client certificate"
			       : "the reply is neither true nor false; use a client certificate");
	e.scope = ERR_PROVIDER;
	refuse(b, &e);
}

/* --- calls ------------------------------------------------------------------------------------ */

static struct bcm_request *enqueue(struct bcm *b, struct bcm_request *q)
{
	q->b = b;
	list_push_back(&b->waiting, &q->link);
	make_ready(b);
	return q;
}

struct bcm_request *bcm_call(struct bcm *b, const struct bcm_call *c)
{
	struct bcm_request *q = mem_new(struct bcm_request);

	q->what = mem_printf("%s.%s", c->service, c->call);
	q->body = mem_printf("{\"service\":\"%s\",\"call\":\"%s\",\"args\":%s}", c->service,
			     c->call, c->args);
	q->null_is_none = c->null_is_none;
	q->done = c->done;
	q->arg = c->arg;
	return enqueue(b, q);
}

struct bcm_request *bcm_get(struct bcm *b, const char *resource,
			    void (*done)(struct exact result, const struct err *e, void *arg),
			    void *arg)
{
	struct bcm_request *q = mem_new(struct bcm_request);

	q->what = mem_printf("/rest/v1/%s", resource);
	q->resource = mem_strdup(q->what);
	q->done = done;
	q->arg = arg;
	return enqueue(b, q);
}

void bcm_cancel(struct bcm_request *q)
{
	if (q)
		request_free(q);
}

const char *bcm_version(const struct bcm *b)
{
	return b->version[0] ? b->version : NULL;
}

struct bcm *bcm_new(struct loop_group *g, struct http *h, const struct bcm_spec *s, struct err *e)
{
	struct http_peer_spec peer = {.base_url = s->endpoint,
				      .ca_pem = s->ca_pem,
				      .pin_sha256 = s->pin_sha256,
				      .client_cert_pem = s->cert_pem,
				      .client_key_pem = s->key_pem,
				      .max_in_flight = s->concurrent ? s->concurrent : CONCURRENT,
				      .plain_ok = s->plain_ok};
	struct bcm *b;

	if (!s->cert_pem != !s->key_pem || (!s->cert_pem && (str_empty(s->user) || !s->password))) {
		(void)!err_set(e, ERR_INVALID, 0,
			       "BCM needs a client certificate with its key, or user and password");
		return NULL;
	}
	b = mem_new(struct bcm);
	b->group = g;
	list_init(&b->waiting);
	list_init(&b->sent);
	list_init(&b->ending);
	loop_defer_init(&b->end, g, on_end, b);
	b->by_certificate = s->cert_pem != NULL;
	if (!b->by_certificate) {
		b->user = mem_strdup(s->user);
		b->password = secret_copy(s->password);
	}
	b->peer = http_peer_new(h, &peer, e);
	if (!b->peer) {
		bcm_free(b);
		return NULL;
	}
	return b;
}

void bcm_free(struct bcm *b)
{
	if (!b)
		return;
	loop_defer_cancel(&b->end);
	http_cancel(b->readying);
	list_for_each (q, &b->waiting, struct bcm_request, link)
		request_free(q);
	list_for_each (q, &b->sent, struct bcm_request, link)
		request_free(q);
	list_for_each (q, &b->ending, struct bcm_request, link)
		request_free(q);
	http_peer_free(b->peer);
	forget_login(b);
	secret_free(b->password);
	free(b->user);
	free(b);
}
