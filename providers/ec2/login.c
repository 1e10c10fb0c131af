#include "providers/ec2/login.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/quoted.h"
#include "base/str.h"
#include "providers/ec2/errors.h"
#include "providers/ec2/keys.h"
#include "providers/ec2/post.h"
#include "providers/ec2/query.h"

#define STS_VERSION "2011-06-15"
#define METADATA "http://169.254.169.254"
#define METADATA_ROLE "/latest/meta-data/iam/security-credentials/"
#define AGAIN_MS 60000
/* Remaining lifetime in ms below which credentials are not used, because a call takes time */
#define LAST_MS 30000
#define CALL_MS 10000
#define TOKEN_MAX 65536

struct ec2_login {
	struct loop_group *group;
	/* Metadata service or STS; NULL: the credentials come from neither */
	struct http_peer *peer;
	struct http_req *asked;
	/* Calls the waiters, one in each loop turn */
	struct loop_defer tell;
	struct list waiters;
	struct ec2_keys keys;
	/* Error of the last renewal, if no usable keys are left after it; kind ERR_NONE: no
	 * error. */
	struct err failed;
	/* loop_now() before which a failed renewal is not repeated while the keys are usable */
	int64_t not_before;
	/* True: the cloud reported that the keys have expired */
	bool ended;
	enum provider_cloud_login from;
	char *file, *profile, *role_arn, *token_file;
	/* Session token of the metadata service */
	struct secret *session;
	/* Login whose credentials sign AssumeRole, and drover's wait for it; NULL: no role is
	 * assumed, and the members below are not used */
	struct ec2_login *source;
	struct ec2_login_waiter source_waiter;
	char *external_id, *session_name, *region, *host;
	/* Wall clock used for the signature of the last AssumeRole, Unix ms */
	int64_t signed_at;
	/* Clock of STS minus this host's clock, in ms; 0: no relevant difference */
	int64_t skew_ms;
};

static int64_t left(const struct ec2_login *l)
{
	if (!l->keys.id || l->ended)
		return 0;
	return l->keys.ends_at ? l->keys.ends_at - loop_wall(loop_of(l->group)) : INT64_MAX;
}

bool ec2_login_ready(struct ec2_login *l, struct sigv4_credentials *out)
{
	int64_t ms = left(l);

	if (ms < LAST_MS || (ms < LOGIN_EARLY_MS && loop_now(loop_of(l->group)) >= l->not_before))
		return false;
	*out = (struct sigv4_credentials){l->keys.id, l->keys.secret, l->keys.token};
	return true;
}

void ec2_login_ended(struct ec2_login *l)
{
	l->ended = true;
}

/* --- calling the waiters ---------------------------------------------------------------------- */

static void tell(void *arg)
{
	struct ec2_login *l = arg;
	struct ec2_login_waiter *w = list_first(&l->waiters, struct ec2_login_waiter, link);
	const struct err failed = l->failed;

	if (!w)
		return;
	list_remove(&w->link);
	if (!list_empty(&l->waiters))
		loop_defer(&l->tell);
	/* Call fn() last, because it may free the login. */
	w->fn(failed.kind == ERR_NONE ? NULL : &failed, w->arg);
}

/* Ends a renewal and calls the waiters. e NULL: `keys` contains new credentials. */
static void end(struct ec2_login *l, const struct err *e)
{
	err_clear(&l->failed);
	if (!e) {
		l->ended = false;
		l->not_before = 0;
	} else {
		l->not_before = loop_now(loop_of(l->group)) + AGAIN_MS;
		if (left(l) < LAST_MS)
			l->failed = *e;
	}
	loop_defer(&l->tell);
}

static void end_after(struct ec2_login *l, int rc, const struct err *e)
{
	end(l, rc < 0 ? e : NULL);
}

/* --- the metadata service, version 2 ---------------------------------------------------------- */

static bool failed(struct ec2_login *l, const struct http_reply *r, const struct err *of_transport,
		   const char *what)
{
	struct err e;

	l->asked = NULL;
	if (of_transport)
		e = *of_transport;
	else if (http_err(r, &e) == 0)
		return false;
	err_note_wrap(&e, "%s", what);
	e.scope = ERR_PROVIDER;
	end(l, &e);
	return true;
}

static void ask_metadata(struct ec2_login *l, const char *path,
			 void (*done)(const struct http_reply *r, const struct err *e, void *arg))
{
	struct http_call c = {.path = path,
			      .secret_header = "X-aws-ec2-metadata-token",
			      .secret_value = l->session,
			      .timeout_ms = CALL_MS,
			      .max_body = TOKEN_MAX,
			      .done = done,
			      .arg = l};

	l->asked = http_start(l->peer, &c);
}

static void on_metadata_keys(const struct http_reply *r, const struct err *of_transport, void *arg)
{
	struct ec2_login *l = arg;
	struct err e;

	if (!failed(l, r, of_transport, "credentials of this instance's role"))
		end_after(l, ec2_keys_from_metadata(&l->keys, r->body, r->body_len, &e), &e);
}

static void on_role(const struct http_reply *r, const struct err *of_transport, void *arg)
{
	struct ec2_login *l = arg;
	struct buf path;
	char *role;

	if (failed(l, r, of_transport, "the role of this instance"))
		return;
	role = mem_strndup(r->body, strcspn(r->body, "\r\n"));
	buf_init(&path, 1024);
	buf_puts(&path, METADATA_ROLE);
	http_escape(&path, role);
	free(role);
	ask_metadata(l, path.data, on_metadata_keys);
	buf_done(&path);
}

static void on_session(const struct http_reply *r, const struct err *of_transport, void *arg)
{
	struct ec2_login *l = arg;

	if (failed(l, r, of_transport, "the instance metadata service"))
		return;
	secret_free(l->session);
	l->session = secret_new(r->body, r->body_len);
	ask_metadata(l, METADATA_ROLE, on_role);
}

static void ask_for_session(struct ec2_login *l)
{
	static const struct http_header ttl = {"X-aws-ec2-metadata-token-ttl-seconds", "600"};
	struct http_call c = {.method = "PUT",
			      .path = "/latest/api/token",
			      .headers = &ttl,
			      .nheaders = 1,
			      .timeout_ms = CALL_MS,
			      .max_body = TOKEN_MAX,
			      .done = on_session,
			      .arg = l};

	l->asked = http_start(l->peer, &c);
}

/* --- STS -------------------------------------------------------------------------------------- */

/* Ends a renewal by STS with an error, whose text then begins with the call and the role. */
static void end_sts(struct ec2_login *l, struct err *e)
{
	if (l->source)
		err_note_wrap(e, "AssumeRole %.100s", l->role_arn);
	else
		err_note_wrap(e, "AssumeRoleWithWebIdentity");
	end(l, e);
}

/* Removes the credentials that signed AssumeRole from the text of an error, and uses the cause of
 * the error for the next call. */
static void judge_source(struct ec2_login *l, const struct http_reply *r,
			 const struct ec2_failure *f, struct err *e)
{
	struct sigv4_credentials keys;

	if (ec2_login_ready(l->source, &keys))
		quoted_redact_err(e, keys.secret_key, keys.session_token);
	if (ec2_is_of_clock(f))
		l->skew_ms = ec2_post_ahead(r, loop_wall(loop_of(l->group)));
	else if (ec2_is_expired(f->code))
		ec2_login_ended(l->source);
}

static void on_sts(const struct http_reply *r, const struct err *of_transport, void *arg)
{
	struct ec2_login *l = arg;
	OWN(arena) a = arena_new();
	OWN(ec2_reply) doc = NULL;
	struct ec2_failure f = {0};
	struct err e;

	l->asked = NULL;
	if (of_transport) {
		e = *of_transport;
		end_sts(l, &e);
		return;
	}
	if (r->status / 100 == 2) {
		if (ec2_keys_from_sts(&l->keys, r->body, r->body_len, &e) < 0)
			end_sts(l, &e);
		else
			end(l, NULL);
		return;
	}
	f.status = r->status;
	f.retry_after_ms = r->retry_after_ms;
	f.skew_ms = l->source ? ec2_post_ahead(r, l->signed_at) : 0;
	doc = ec2_reply_parse(r->body, r->body_len, &e);
	if (doc)
		(void)ec2_reply_error(doc, a, &f.code, &f.message);
	(void)!ec2_error(&f, &e);
	if (l->source)
		judge_source(l, r, &f, &e);
	end_sts(l, &e);
}

static int read_token(const char *path, struct secret **out, struct err *e)
{
	char text[TOKEN_MAX];
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return err_errno(e, errno, "%.150s", path);
	setvbuf(f, NULL, _IONBF, 0);
	n = fread(text, 1, sizeof(text) - 1, f);
	(void)fclose(f);
	text[n] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	*out = secret_from_str(text);
	secret_wipe(text, sizeof(text));
	return secret_len(*out) ? 0 : err_set(e, ERR_INVALID, 0, "%.150s: empty", path);
}

/* Requests credentials from STS. The request has no signature: the token in it authenticates the
 * caller. */
static void ask_sts(struct ec2_login *l)
{
	const char *path = str_or(l->token_file, getenv("AWS_WEB_IDENTITY_TOKEN_FILE"));
	const char *role = str_or(l->role_arn, getenv("AWS_ROLE_ARN"));
	struct http_call c = {.method = "POST",
			      .path = "/",
			      .content_type = QUERY_TYPE,
			      .timeout_ms = CALL_MS,
			      .max_body = TOKEN_MAX,
			      .done = on_sts,
			      .arg = l};
	OWN(secret) token = NULL;
	struct buf b;
	struct err e;

	if (!path || !role)
		err_note(&e, ERR_INVALID, 0, "web identity: the role or the token file is not set");
	if (!path || !role || read_token(path, &token, &e) < 0) {
		end(l, &e);
		return;
	}
	query_begin(&b, "AssumeRoleWithWebIdentity", STS_VERSION);
	query_add(&b, role, "RoleArn");
	query_add(&b, "drover", "RoleSessionName");
	query_add(&b, secret_expose(token), "WebIdentityToken");
	c.body = b.data;
	c.body_len = b.len;
	l->asked = http_start(l->peer, &c);
	secret_wipe(b.data, b.len);
	buf_done(&b);
}

/* --- the assumed role ------------------------------------------------------------------------- */

static void assume(struct ec2_login *l, const struct sigv4_credentials *keys)
{
	struct http_call c = {.content_type = QUERY_TYPE,
			      .timeout_ms = CALL_MS,
			      .max_body = TOKEN_MAX,
			      .done = on_sts,
			      .arg = l};
	struct ec2_post p = {.host = l->host,
			     .region = l->region,
			     .service = "sts",
			     .at = loop_wall(loop_of(l->group)) + l->skew_ms};
	struct buf b;

	query_begin(&b, "AssumeRole", STS_VERSION);
	query_add(&b, l->role_arn, "RoleArn");
	query_add(&b, str_or(l->session_name, "drover"), "RoleSessionName");
	query_add(&b, l->external_id, "ExternalId");
	c.body = b.data;
	c.body_len = b.len;
	l->signed_at = p.at;
	ec2_post_sign(&p, keys, &c);
	l->asked = http_start(l->peer, &c);
	ec2_post_done(&p);
	buf_done(&b);
}

static void ask_role(struct ec2_login *l)
{
	struct sigv4_credentials keys;

	if (ec2_login_ready(l->source, &keys))
		assume(l, &keys);
	else
		ec2_login_wait(l->source, &l->source_waiter);
}

static void on_source(const struct err *failed, void *arg)
{
	struct ec2_login *l = arg;
	struct sigv4_credentials keys;
	struct err e;

	if (!failed && ec2_login_ready(l->source, &keys)) {
		assume(l, &keys);
		return;
	}
	if (failed)
		e = *failed;
	else
		err_note(&e, ERR_UNAVAILABLE, 0, "the credentials that sign it have expired");
	end_sts(l, &e);
}

/* --- all sources ------------------------------------------------------------------------------ */

static void get(struct ec2_login *l)
{
	struct err e;

	if (l->source) {
		ask_role(l);
		return;
	}
	switch (l->from) {
	case PROVIDER_LOGIN_KEYS:
		err_note(&e, ERR_DENIED, 401, "the configured access keys have expired");
		e.scope = ERR_ACCOUNT;
		end(l, l->ended ? &e : NULL);
		return;
	case PROVIDER_LOGIN_ENVIRONMENT:
		end_after(l, ec2_keys_from_environment(&l->keys, &e), &e);
		return;
	case PROVIDER_LOGIN_FILE:
		end_after(l, ec2_keys_from_file(&l->keys, l->file, l->profile, &e), &e);
		return;
	/* Unreachable, because source_of() replaces PROVIDER_LOGIN_FOUND by one of the other
	 * sources. */
	case PROVIDER_LOGIN_FOUND:
	case PROVIDER_LOGIN_INSTANCE:
		ask_for_session(l);
		return;
	case PROVIDER_LOGIN_WEB_IDENTITY:
		ask_sts(l);
		return;
	}
}

void ec2_login_wait(struct ec2_login *l, struct ec2_login_waiter *w)
{
	bool asking = l->asked || !list_empty(&l->waiters) || list_linked(&l->source_waiter.link);

	list_push_back(&l->waiters, &w->link);
	if (!asking)
		get(l);
}

void ec2_login_leave(struct ec2_login_waiter *w)
{
	list_remove(&w->link);
}

static int open_sts(struct ec2_login *l, const struct ec2_login_spec *s, struct err *e)
{
	OWN(arena) a = arena_new();
	const char *url = s->cloud->sts_endpoint
				  ? s->cloud->sts_endpoint
				  : arena_printf(a, "https://sts.%s.amazonaws.com%s", s->region,
						 str_starts(s->region, "cn-") ? ".cn" : "");
	struct http_peer_spec p = {.base_url = url,
				   .ca_pem = s->cloud->ca_pem,
				   .max_in_flight = 1,
				   .plain_ok = s->plain_ok};

	l->peer = http_peer_new(s->http, &p, e);
	if (!l->peer)
		return -1;
	l->host = ec2_post_host(url);
	return 0;
}

static int open_peer(struct ec2_login *l, const struct ec2_login_spec *s, struct err *e)
{
	struct http_peer_spec p = {.base_url = str_or(s->cloud->metadata_endpoint, METADATA),
				   .ca_pem = s->cloud->ca_pem,
				   .max_in_flight = 1,
				   .plain_ok = true,
				   .local_ok = true};

	if (l->from == PROVIDER_LOGIN_WEB_IDENTITY)
		return open_sts(l, s, e);
	if (l->from != PROVIDER_LOGIN_INSTANCE)
		return 0;
	l->peer = http_peer_new(s->http, &p, e);
	return l->peer ? 0 : -1;
}

static enum provider_cloud_login source_of(enum provider_cloud_login given)
{
	if (given != PROVIDER_LOGIN_FOUND)
		return given;
	if (getenv("AWS_ACCESS_KEY_ID"))
		return PROVIDER_LOGIN_ENVIRONMENT;
	if (getenv("AWS_WEB_IDENTITY_TOKEN_FILE"))
		return PROVIDER_LOGIN_WEB_IDENTITY;
	if (getenv("AWS_SHARED_CREDENTIALS_FILE") || getenv("AWS_PROFILE"))
		return PROVIDER_LOGIN_FILE;
	return PROVIDER_LOGIN_INSTANCE;
}

static struct ec2_login *login_alloc(const struct ec2_login_spec *s)
{
	struct ec2_login *l = mem_new(struct ec2_login);

	l->group = s->group;
	list_init(&l->waiters);
	list_init(&l->source_waiter.link);
	loop_defer_init(&l->tell, s->group, tell, l);
	return l;
}

/* Returns the login of the source, without the role to be assumed. */
static struct ec2_login *source_new(const struct ec2_login_spec *s, struct err *e)
{
	const struct provider_cloud *c = s->cloud;
	struct ec2_login *l;

	if (c->login == PROVIDER_LOGIN_KEYS &&
	    (str_empty(c->access_key_id) || !c->secret_access_key)) {
		err_note(e, ERR_INVALID, 0, "the access key or its secret is missing");
		return NULL;
	}
	l = login_alloc(s);
	l->from = source_of(c->login);
	if (c->login == PROVIDER_LOGIN_KEYS) {
		l->keys.id = mem_strdup(c->access_key_id);
		l->keys.secret = secret_copy(c->secret_access_key);
		l->keys.token = secret_copy(c->session_token);
	}
	l->file = mem_strdup(c->file);
	l->profile = mem_strdup(c->profile);
	l->role_arn = mem_strdup(c->role_arn);
	l->token_file = mem_strdup(c->token_file);
	if (open_peer(l, s, e) == 0)
		return l;
	ec2_login_free(l);
	return NULL;
}

struct ec2_login *ec2_login_new(const struct ec2_login_spec *s, struct err *e)
{
	struct ec2_login *source = source_new(s, e), *l;

	if (!source || !s->cloud->assume_role.arn)
		return source;
	l = login_alloc(s);
	l->source = source;
	l->source_waiter.fn = on_source;
	l->source_waiter.arg = l;
	l->role_arn = mem_strdup(s->cloud->assume_role.arn);
	l->external_id = mem_strdup(s->cloud->assume_role.external_id);
	l->session_name = mem_strdup(s->cloud->assume_role.session_name);
	l->region = mem_strdup(s->region);
	if (open_sts(l, s, e) == 0)
		return l;
	ec2_login_free(l);
	return NULL;
}

void ec2_login_free(struct ec2_login *l)
{
	if (!l)
		return;
	list_for_each (w, &l->waiters, struct ec2_login_waiter, link)
		list_remove(&w->link);
	loop_defer_cancel(&l->tell);
	ec2_login_leave(&l->source_waiter);
	ec2_login_free(l->source);
	http_cancel(l->asked);
	http_peer_free(l->peer);
	ec2_keys_done(&l->keys);
	secret_free(l->session);
	free(l->file);
	free(l->profile);
	free(l->role_arn);
	free(l->token_file);
	free(l->external_id);
	free(l->session_name);
	free(l->region);
	free(l->host);
	free(l);
}
