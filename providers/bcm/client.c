/*
 * client: the login of the session (base/http/session.h) has one or two requests.
 *
 *   GET /rest/v1/version --> [POST login, without a certificate] --> POST /json ...
 *
 * The version is read once. If the login fails, the next call tries again, except after a refused
 * password.
 */
#include "providers/bcm/client.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/data/json.h"
#include "base/http/session.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#define CALL_MS 30000
#define CONCURRENT 4

static const int64_t oldest[3] = {10, 25, 3};
#define NEWEST_MAJOR 11

struct bcm {
	struct session *session;
	bool by_certificate;
	/* BCM's version; "": not read yet */
	char version[32];
};

/* The name of its call is for error texts, e.g. "cmdevice.getDevice". */
struct bcm_request {
	struct session_call call;
	/* Copied from struct bcm_call */
	bool null_is_none;
	void (*done)(struct exact result, const struct err *e, void *arg);
	void *arg;
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
	err_note(e, kind, code, "BCM refuses %s: %.140s%s", what, text,
		 kind == ERR_DENIED ? "; allow this call in the profile of drover's certificate"
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

void bcm_redact(const struct bcm *b, struct err *e)
{
	session_redact(b->session, e->text);
}

const char *bcm_redacted(const struct bcm *b, const char *text, struct arena *a)
{
	char *copy = arena_strdup(a, text);

	if (copy)
		session_redact(b->session, copy);
	return copy;
}

static void of_transport(struct err *e, const struct err *net, const char *what)
{
	*e = *net;
	e->scope = ERR_PROVIDER;
	err_note_wrap(e, "BCM, %s", what);
}

static void on_done(void *client, struct session_call *c, const struct http_reply *r,
		    const struct err *failed)
{
	const struct bcm *b = client;
	struct bcm_request *q = container_of(c, struct bcm_request, call);
	bool by_cookie = !b->by_certificate && c->body;
	struct exact result = {0};
	struct err e;

	if (r && read_result(r, c->name, q->null_is_none, &result, &e) == 0) {
		q->done(result, NULL, q->arg);
		return;
	}
	/* BCM denies every request that was sent with an expired cookie. A call that the profile
	 * forbids is denied a second time, and then ends. */
	if (r && e.kind == ERR_DENIED && by_cookie && session_repeat(c))
		return;
	if (failed && c->sent)
		of_transport(&e, failed, c->name);
	else if (failed)
		e = *failed;
	bcm_redact(b, &e);
	q->done((struct exact){0}, &e, q->arg);
}

/* Uses Basic authentication for a GET, because BCM does not accept the cookie for paths below
 * /rest/. */
static void sign(void *client, struct session_call *q, struct http_call *c)
{
	const struct bcm *b = client;

	if (q->body)
		return;
	c->secret_value = NULL;
	c->basic_user = session_user(b->session);
	c->basic_password = session_password(b->session);
}

/* --- the login -------------------------------------------------------------------------------- */

static void log_in(void *client);

/* Ends the login with an error. A refused password is never tried again, because further tries
 * would lock the account. A refused certificate is tried again with the next call, because its
 * profile may be changed at any time. */
static void refuse(struct bcm *b, const struct err *e)
{
	session_login_failed(b->session, e,
			     e->kind == ERR_DENIED && !b->by_certificate ? SESSION_FOREVER : 0);
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
		err_note(e, ERR_UNSUPPORTED, 0,
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

static void on_version(const struct http_reply *r, const struct err *net, void *client)
{
	struct bcm *b = client;
	struct err e;

	if (net)
		of_transport(&e, net, "/rest/v1/version");
	if (net || read_version(b, r, &e) < 0)
		refuse(b, &e);
	else
		log_in(b);
}

static int read_login(const struct bcm *b, const struct http_reply *r, struct secret **cookie,
		      struct err *e)
{
	struct exact result;
	bool is_false;

	if (read_result(r, "login", false, &result, e) < 0) {
		if (e->kind == ERR_DENIED)
			e->code = 401;
		return -1;
	}
	if (exact_kind(result) == EXACT_TRUE)
		*cookie = http_reply_cookie(r, "cm-login-token");
	if (*cookie)
		return 0;
	is_false = exact_kind(result) == EXACT_FALSE;
	err_note(e, is_false ? ERR_DENIED : ERR_PROTOCOL, is_false ? 401 : 0,
		 "BCM refuses the login of %.60s: %s", session_user(b->session),
		 is_false ? "user or password is wrong"
		 : exact_kind(result) == EXACT_TRUE
			 ? "the reply has no cookie cm-login-token; use a client certificate"
			 : "the reply is neither true nor false; use a client certificate");
	e->scope = ERR_PROVIDER;
	return -1;
}

static void on_login(const struct http_reply *r, const struct err *net, void *client)
{
	struct bcm *b = client;
	struct secret *cookie = NULL;
	struct err e;

	if (net)
		of_transport(&e, net, "login");
	if (net || read_login(b, r, &cookie, &e) < 0)
		refuse(b, &e);
	else
		session_logged_in(b->session, cookie);
}

static void log_in(void *client)
{
	struct bcm *b = client;
	struct session *s = b->session;

	if (!b->version[0])
		session_ask(s, "/rest/v1/version", NULL, on_version);
	else if (b->by_certificate)
		session_logged_in(s, NULL);
	else
		session_ask_json(s, "/json",
				 json_pack("{s:s, s:s, s:s}", "service", "login", "username",
					   session_user(s), "password",
					   secret_expose(session_password(s))),
				 on_login);
}

/* --- calls ------------------------------------------------------------------------------------ */

struct bcm_request *bcm_call(struct bcm *b, const struct bcm_call *c)
{
	struct bcm_request *q = mem_new(struct bcm_request);

	q->call.method = "POST";
	q->call.path = mem_strdup("/json");
	q->call.name = mem_printf("%s.%s", c->service, c->call);
	q->call.body = mem_printf("{\"service\":\"%s\",\"call\":\"%s\",\"args\":%s}", c->service,
				  c->call, c->args);
	q->call.may_act = c->may_act;
	q->call.may_act_arg = c->may_act_arg;
	q->null_is_none = c->null_is_none;
	q->done = c->done;
	q->arg = c->arg;
	session_start(b->session, &q->call);
	return q;
}

struct bcm_request *bcm_get(struct bcm *b, const char *resource,
			    void (*done)(struct exact result, const struct err *e, void *arg),
			    void *arg)
{
	struct bcm_request *q = mem_new(struct bcm_request);

	q->call.path = mem_printf("/rest/v1/%s", resource);
	q->call.name = mem_strdup(q->call.path);
	q->done = done;
	q->arg = arg;
	session_start(b->session, &q->call);
	return q;
}

void bcm_cancel(struct bcm_request *q)
{
	if (q)
		session_cancel(&q->call);
}

const char *bcm_version(const struct bcm *b)
{
	return b->version[0] ? b->version : NULL;
}

struct bcm *bcm_new(struct loop_group *g, struct http *h, const struct bcm_spec *s, struct err *e)
{
	static const struct session_ops ops = {.login = log_in, .sign = sign, .done = on_done};
	struct session_spec spec = {.group = g,
				    .http = h,
				    .peer = {.base_url = s->endpoint,
					     .ca_pem = s->ca_pem,
					     .pin_sha256 = s->pin_sha256,
					     .client_cert_pem = s->cert_pem,
					     .client_key_pem = s->key_pem,
					     .plain_ok = s->plain_ok},
				    .ops = &ops,
				    .timeout_ms = CALL_MS,
				    .max_body = BCM_MAX_REPLY,
				    .max_in_flight = s->concurrent ? s->concurrent : CONCURRENT};
	struct bcm *b;

	if (!s->cert_pem != !s->key_pem || (!s->cert_pem && (str_empty(s->user) || !s->password))) {
		err_note(e, ERR_INVALID, 0,
			 "BCM needs a client certificate with its key, or user and password");
		return NULL;
	}
	spec.client = b = mem_new(struct bcm);
	b->by_certificate = s->cert_pem != NULL;
	if (!b->by_certificate) {
		spec.user = s->user;
		spec.password = s->password;
	}
	b->session = session_new(&spec, e);
	if (b->session)
		return b;
	bcm_free(b);
	return NULL;
}

void bcm_free(struct bcm *b)
{
	if (!b)
		return;
	session_free(b->session);
	free(b);
}
