#include "providers/ec2/client.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/http/session.h"
#include "base/mem.h"
#include "base/quoted.h"
#include "providers/ec2/errors.h"
#include "providers/ec2/post.h"

#define CALL_MS 30000
#define PER_S 5.0
#define BURST 10.0
#define IN_FLIGHT 64

struct ec2_client {
	struct loop_group *group;
	struct session *session;
	struct ec2_login *login;
	char *region, *host;
	struct ec2_login_waiter waiter;
	/* Written by is_ready(); borrowed from the login until the next loop turn */
	struct sigv4_credentials keys;
	/* Signature of the last call */
	struct ec2_post post;
	/* Cloud's clock minus this host's clock, in ms; 0: no relevant difference */
	int64_t skew_ms;
};

struct ec2_request {
	struct session_call call;
	bool changes;
	/* Wall clock used for the signature, Unix ms */
	int64_t signed_at;
	void (*done)(const struct ec2_reply *r, const struct err *e, void *arg);
	void *arg;
};

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

static void judge(struct ec2_client *c, const struct ec2_request *q, const struct http_reply *r,
		  const struct ec2_reply *doc, struct err *e)
{
	struct sigv4_credentials keys;
	OWN(arena) a = arena_new();
	struct ec2_failure f = {.status = r->status,
				.retry_after_ms = r->retry_after_ms,
				.changes = q->changes,
				.skew_ms = ec2_post_ahead(r, q->signed_at)};

	if (doc)
		(void)ec2_reply_error(doc, a, &f.code, &f.message);
	(void)!ec2_error(&f, e);
	if (ec2_login_ready(c->login, &keys))
		quoted_redact_err(e, keys.secret_key, keys.session_token);
	if (ec2_is_of_clock(&f))
		c->skew_ms = ec2_post_ahead(r, loop_wall(loop_of(c->group)));
	else if (ec2_is_expired(f.code))
		ec2_login_ended(c->login);
}

static void on_done(void *client, struct session_call *c, const struct http_reply *r,
		    const struct err *failed)
{
	struct ec2_request *q = container_of(c, struct ec2_request, call);
	OWN(ec2_reply) doc = NULL;
	struct err e, unread;
	bool lost = false;

	if (failed) {
		e = *failed;
		e.scope = c->sent ? ERR_PROVIDER : e.scope;
		lost = c->sent && (e.kind == ERR_UNAVAILABLE || e.kind == ERR_PROTOCOL);
	} else {
		doc = ec2_reply_parse(r->body, r->body_len, &unread);
		if (doc && r->status / 100 == 2) {
			q->done(doc, NULL, q->arg);
			return;
		}
		judge(client, q, r, doc, &e);
		/* Treat the reply as lost: the call was carried out, but its result cannot be
		 * read. */
		lost = r->status / 100 == 2;
	}
	if (lost && q->changes)
		e.kind = ERR_TIMEOUT;
	err_note_wrap(&e, "%s", c->name);
	q->done(NULL, &e, q->arg);
}

/* --- requests --------------------------------------------------------------------------------- */

static void sign(void *client, struct session_call *q, struct http_call *call)
{
	struct ec2_client *c = client;

	c->post.at = cloud_wall(c);
	container_of(q, struct ec2_request, call)->signed_at = c->post.at;
	call->content_type = QUERY_TYPE;
	ec2_post_sign(&c->post, &c->keys, call);
}

static bool is_ready(void *client)
{
	struct ec2_client *c = client;

	return ec2_login_ready(c->login, &c->keys);
}

static void log_in(void *client)
{
	struct ec2_client *c = client;

	ec2_login_wait(c->login, &c->waiter);
}

static void on_login(const struct err *failed, void *arg)
{
	struct ec2_client *c = arg;
	struct err e;

	if (!failed) {
		session_logged_in(c->session, NULL);
		return;
	}
	e = *failed;
	err_note_wrap(&e, "credentials");
	session_login_failed(c->session, &e, 0);
}

struct ec2_request *ec2_call(struct ec2_client *c, const struct ec2_call *call)
{
	struct ec2_request *q = mem_new(struct ec2_request);

	q->changes = call->changes;
	q->done = call->done;
	q->arg = call->arg;
	q->call.method = "POST";
	q->call.path = mem_strdup("/");
	q->call.name = mem_printf("%s in %s", call->action, c->region);
	q->call.may_act = call->may_act;
	q->call.may_act_arg = call->may_act_arg;
	q->call.body = buf_steal(call->body);
	session_start(c->session, &q->call);
	return q;
}

void ec2_cancel(struct ec2_request *q)
{
	if (q)
		session_cancel(&q->call);
}

struct ec2_client *ec2_client_new(const struct ec2_client_spec *s, struct err *e)
{
	static const struct session_ops ops = {
		.login = log_in, .ready = is_ready, .sign = sign, .done = on_done};
	double per_s = s->requests_per_s > 0 ? s->requests_per_s : PER_S;
	struct ec2_client *c = mem_new(struct ec2_client);
	const struct session_spec spec = {
		.group = s->group,
		.http = s->http,
		.peer = {.base_url = s->endpoint, .ca_pem = s->ca_pem, .plain_ok = s->plain_ok},
		.ops = &ops,
		.client = c,
		.max_in_flight = IN_FLIGHT,
		.per_s = per_s,
		.burst = per_s > BURST ? per_s : BURST};

	c->group = s->group;
	c->login = s->login;
	c->region = mem_strdup(s->region);
	c->waiter = (struct ec2_login_waiter){.fn = on_login, .arg = c};
	list_init(&c->waiter.link);
	c->session = session_new(&spec, e);
	if (!c->session) {
		ec2_client_free(c);
		return NULL;
	}
	c->host = ec2_post_host(s->endpoint);
	c->post = (struct ec2_post){.host = c->host, .region = c->region, .service = "ec2"};
	return c;
}

void ec2_client_free(struct ec2_client *c)
{
	if (!c)
		return;
	ec2_login_leave(&c->waiter);
	session_free(c->session);
	free(c->region);
	free(c->host);
	ec2_post_done(&c->post);
	free(c);
}
