#include "base/http/http_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * Every change of a request's state happens in turn(), which the loop calls from its own stack:
 *
 *   http_start() -> waiting -> [turn] -> flying -> over -> ended -> [turn] -> done()
 *
 * Therefore the owner's done() is never called while a function of the transport is on the stack. A
 * transport is never started or cancelled inside one of its own callbacks, which libcurl forbids.
 * done() may close everything. In contrast, on_head() and on_data() are called by the transport; a
 * request that its owner cancels inside them moves to the list `ended` and is cancelled in the next
 * turn.
 */
#define TIMEOUT_MS 30000
#define CONNECT_MS 10000
#define BODY_MAX (1u << 20)
/* Largest number of requests that one turn of the loop finishes, and that it starts. The limit lets
 * other code have its turn: with 100, a turn took 22 ms while 20,000 pods were read. */
#define TURN_MAX 32
#define HEADERS_MAX 128
#define HEADER_BYTES_MAX 65536

struct http_req {
	struct list link;
	struct http_peer *peer;
	/* Copy of the caller's struct. Do not use its pointers to text after http_start(). */
	struct http_call call;
	struct http_exchange x;
	/* True: the request counts against the concurrency limits. */
	bool started;
	/* True: the transport no longer uses x. */
	bool transport_done;
	bool over, abandoned;
	/* For a paced request: true while delivery is paused until http_want(). */
	bool held;
	bool has_head, failed;

	struct loop_timer timer;
	/* deadline: loop_now() at which the request times out, 0: none. last: loop_now() of the
	 * last received byte. began: loop_now() when the request left the queue, 0: it has not. */
	int64_t deadline, last, began;

	/* Headers to send. */
	struct http_header *headers;
	size_t nheaders, headers_cap;
	/* Headers from this index on are secret: their values are cleared before they are freed. */
	size_t secret_from;

	int status;
	struct http_header *reply_headers;
	size_t nreply_headers;
	uint32_t retry_after_ms;
	size_t body_seen;
	struct buf body;
	struct err err;
};

static bool streams(const struct http_req *q)
{
	return q->call.on_data && q->status >= 200 && q->status < 300;
}

void http_peer_unref(struct http_peer *p)
{
	if (--p->refs > 0)
		return;
	free((char *)p->spec.base_url);
	free((char *)p->spec.ca_pem);
	free((char *)p->spec.server_name);
	free((char *)p->spec.client_cert_pem);
	free((char *)p->spec.user_agent);
	secret_free(p->client_key);
	free(p->origin);
	free(p->host);
	free(p->prefix);
	free(p);
}

static void headers_free(struct http_header *h, size_t n, size_t secret_from)
{
	for (size_t i = 0; i < n; i++) {
		if (i >= secret_from)
			secret_wipe((char *)h[i].value, strlen(h[i].value));
		free((char *)h[i].name);
		free((char *)h[i].value);
	}
	free(h);
}

static void req_free(struct http_req *q)
{
	struct http_peer *p = q->peer;

	loop_timer_stop(&q->timer);
	headers_free(q->headers, q->nheaders, q->secret_from);
	headers_free(q->reply_headers, q->nreply_headers, q->nreply_headers);
	buf_done(&q->body);
	if (q->x.body)
		secret_wipe((void *)q->x.body,
			    /* Clear the body, because it may contain logins and keys. */
			    q->x.body_len);
	free((void *)q->x.body);
	free((char *)q->x.method);
	free((char *)q->x.url);
	free(q);
	http_peer_unref(p);
}

/* --- building a request ----------------------------------------------------------------------- */

static void add_header(struct http_req *q, const char *name,
		       char *value /* Takes ownership of value. */)
{
	mem_grow(q->headers, q->nheaders, q->headers_cap);
	q->headers[q->nheaders++] = (struct http_header){mem_strdup(name), value};
}

static bool has_header(const struct http_req *q, const char *name)
{
	for (size_t i = 0; i < q->nheaders; i++)
		if (!strcasecmp(q->headers[i].name, name))
			return true;
	return false;
}

static int check_header(const char *name, const char *value, struct err *e)
{
	if (!http_is_token(name))
		return err_set(e, ERR_INVALID, 0, "\"%s\" is not a header name", name);
	if (!http_is_header_value(value))
		return err_set(e, ERR_INVALID, 0, "header %s: control characters in the value",
			       name);
	return 0;
}

static void add_basic(struct http_req *q, const char *user, const struct secret *password)
{
	size_t n = strlen(user) + 1 + secret_len(password);
	char *pair = mem_alloc(n + 1), *text;

	memcpy(pair, user, strlen(user));
	pair[strlen(user)] = ':';
	memcpy(pair + strlen(user) + 1, secret_expose(password), secret_len(password));
	text = crypto_base64(pair, n);
	secret_wipe(pair, n);
	free(pair);
	add_header(q, "Authorization", mem_printf("Basic %s", text));
	secret_wipe(text, strlen(text));
	free(text);
}

static int build_headers(struct http_req *q, const struct http_call *c, struct err *e)
{
	for (size_t i = 0; i < c->nheaders; i++) {
		if (check_header(c->headers[i].name, c->headers[i].value, e) < 0)
			return -1;
		add_header(q, c->headers[i].name, mem_strdup(c->headers[i].value));
	}
	if (!has_header(q, "User-Agent"))
		add_header(q, "User-Agent", mem_strdup(q->peer->spec.user_agent));
	if (c->content_type || (c->body && !has_header(q, "Content-Type"))) {
		const char *type = c->content_type ? c->content_type : "application/json";

		if (check_header("Content-Type", type, e) < 0)
			return -1;
		add_header(q, "Content-Type", mem_strdup(type));
	}

	q->secret_from = q->nheaders;
	if (c->bearer) {
		if (!http_is_header_value(secret_expose(c->bearer)))
			return err_set(e, ERR_INVALID, 0, "control characters in the bearer token");
		add_header(q, "Authorization", mem_printf("Bearer %s", secret_expose(c->bearer)));
	} else if (c->basic_user && c->basic_password) {
		if (strchr(c->basic_user, ':'))
			return err_set(e, ERR_INVALID, 0, "a user name may not contain a colon");
		add_basic(q, c->basic_user, c->basic_password);
	}
	if (c->secret_header && c->secret_value) {
		if (!http_is_token(c->secret_header) ||
		    !http_is_header_value(secret_expose(c->secret_value)))
			return err_set(e, ERR_INVALID, 0, "bad characters in a secret header");
		add_header(q, c->secret_header, mem_strdup(secret_expose(c->secret_value)));
	}
	return 0;
}

static int check_target(const char *path, struct err *e)
{
	if (!path || *path != '/')
		return err_set(e, ERR_INVALID, 0, "a request's path begins with /");
	for (const char *s = path; *s; s++)
		if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 0x7f || *s == '#')
			return err_set(e, ERR_INVALID, 0, "%s: bad character in the path", path);
	return 0;
}

static int build(struct http_req *q, const struct http_call *c, struct err *e)
{
	struct http_peer *p = q->peer;
	const char *method = c->method ? c->method : "GET";

	if (!http_is_token(method))
		return err_set(e, ERR_INVALID, 0, "\"%s\" is not a method", method);
	if (check_target(c->path, e) < 0 || build_headers(q, c, e) < 0)
		return -1;
	q->x = (struct http_exchange){
		.req = q,
		.peer = &p->spec,
		.origin = p->origin,
		.host = p->host,
		.method = mem_strdup(method),
		.url = mem_printf("%s%s%s", p->origin, c->absolute ? "" : p->prefix, c->path),
		.headers = q->headers,
		.nheaders = q->nheaders,
		.body_len = c->body ? c->body_len : 0,
		.connect_ms = c->connect_ms ? c->connect_ms : CONNECT_MS,
		.paced = c->paced,
		.unpack = c->unpack,
		.piece_bytes = c->piece_bytes,
	};
	if (c->body) {
		char *copy = mem_alloc(c->body_len + 1);

		memcpy(copy, c->body, c->body_len);
		q->x.body = copy;
	}
	return 0;
}

/* --- life of a request ------------------------------------------------------------------------ */

static void peer_ready(struct http_peer *p)
{
	if (p->h && !list_empty(&p->waiting) && !list_linked(&p->ready_link) &&
	    (!p->spec.max_in_flight || p->in_flight < p->spec.max_in_flight))
		list_push_back(&p->h->ready, &p->ready_link);
}

/* Records the end of the request. Afterwards only done() is called, in the next turn; not even
 * done() if the request was cancelled. */
static void req_over(struct http_req *q, const struct err *e)
{
	struct http *h = q->peer->h;

	if (!q->started && !q->over && list_linked(&q->link))
		h->stats.waiting--;
	q->over = true;
	if (e) {
		q->failed = true;
		q->err = *e;
	}
	loop_timer_stop(&q->timer);
	list_remove(&q->link);
	list_push_back(&h->ended, &q->link);
	loop_defer(&h->turn);
}

/* Releases the transport and the request's concurrency slot. Must not be called inside a callback
 * of the transport. */
static void req_land(struct http_req *q)
{
	struct http_peer *p = q->peer;
	struct http *h = p->h;

	list_remove(&q->link);
	if (!q->started)
		return;
	if (!q->transport_done)
		h->transport->ops->cancel(h->transport, &q->x);
	q->started = false;
	h->stats.in_flight--;
	p->in_flight--;
	peer_ready(p);
}

static void arm(struct http_req *q)
{
	int64_t now = loop_now(loop_of(q->timer.group));
	int64_t at = q->deadline;

	if (q->call.idle_ms && !q->held && (!at || q->last + q->call.idle_ms < at))
		at = q->last + q->call.idle_ms;
	if (at)
		loop_timer_start(&q->timer, at > now ? at - now : 0);
}

static void on_timer(void *arg)
{
	struct http_req *q = arg;
	int64_t now = loop_now(loop_of(q->timer.group));
	struct err e;

	if (q->deadline && now >= q->deadline)
		err_note(&e, ERR_TIMEOUT, 0, "no complete answer within %u ms", q->call.timeout_ms);
	else if (q->call.idle_ms && !q->held && now - q->last >= q->call.idle_ms)
		err_note(&e, ERR_TIMEOUT, 0, "nothing received for %u ms", q->call.idle_ms);
	else
		return arm(q);
	req_over(q, &e);
}

static void req_launch(struct http_req *q)
{
	struct http_peer *p = q->peer;
	struct http *h = p->h;
	struct err e;

	list_remove(&q->link);
	list_push_back(&p->flying, &q->link);
	q->started = true;
	p->in_flight++;
	h->stats.waiting--;
	h->stats.in_flight++;
	q->last = q->began = loop_now(loop_of(h->group));
	q->deadline = q->call.no_timeout ? 0 : q->last + q->call.timeout_ms;
	arm(q);
	if (h->transport->ops->start(h->transport, &q->x, &e) < 0) {
		q->transport_done = true;
		req_over(q, &e);
	}
}

void http_on_ended(struct http *h, void (*fn)(const struct http_ended *x, void *arg), void *arg)
{
	h->on_ended = fn;
	h->on_ended_arg = arg;
}

/* Calls the function of http_on_ended(). */
static void report(const struct http_req *q)
{
	const struct http *h = q->peer->h;
	struct http_ended x = {.origin = q->peer->origin,
			       .method = q->x.method,
			       .status = q->status,
			       .error = q->failed ? &q->err : NULL,
			       .began = q->began};
	char path[256];

	if (!h->on_ended || !q->began)
		return;
	str_copy(path, sizeof(path), q->x.url + strlen(x.origin));
	path[strcspn(path, "?")] = '\0';
	x.path = path;
	h->on_ended(&x, h->on_ended_arg);
}

static void tell(struct http_req *q)
{
	struct http *h = q->peer->h;
	struct http_reply r = {
		.status = q->status,
		.body = q->body.data,
		.body_len = q->body.len,
		.retry_after_ms = q->retry_after_ms,
		.headers = q->reply_headers,
		.nheaders = q->nreply_headers,
	};

	if (q->failed)
		h->stats.failed++;
	else
		h->stats.done++;
	report(q);
	q->call.done(q->failed ? NULL : &r, q->failed ? &q->err : NULL, q->call.arg);
}

static void turn(void *arg)
{
	struct http *h = arg;
	struct http_req *q;
	struct http_peer *p;

	/* A request that ends during this loop waits for the next turn. Otherwise an owner that
	 * starts a new request in each done() could block the loop. */
	for (unsigned n = 0; n < TURN_MAX && (q = list_first(&h->ended, struct http_req, link));
	     n++) {
		list_remove(&q->link);
		list_push_back(&h->batch, &q->link);
	}
	if (!list_empty(&h->ended))
		loop_defer(&h->turn);
	h->in_turn = true;
	while (!h->closed && (q = list_first(&h->batch, struct http_req, link))) {
		req_land(q);
		if (!q->abandoned)
			tell(q);
		req_free(q);
	}
	for (unsigned n = 0;
	     !h->closed && (!h->max_in_flight || h->stats.in_flight < h->max_in_flight) &&
	     (p = list_first(&h->ready, struct http_peer, ready_link));
	     n++) {
		if (n == TURN_MAX) {
			loop_defer(&h->turn);
			break;
		}
		list_remove(&p->ready_link);
		q = list_first(&p->waiting, struct http_req, link);
		/* q is NULL if the waiting request was cancelled after its peer became ready. */
		if (q)
			req_launch(q);
		peer_ready(p);
	}
	h->in_turn = false;
	if (h->closed)
		free(h);
}

struct http_req *http_start(struct http_peer *p, const struct http_call *c)
{
	struct http *h = p->h;
	struct http_req *q = mem_new(struct http_req);
	struct err e;

	assert(h && !h->closed && c->done);
	p->refs++;
	q->peer = p;
	q->call = *c;
	if (!q->call.timeout_ms)
		q->call.timeout_ms = TIMEOUT_MS;
	if (!q->call.max_body && !c->on_data)
		q->call.max_body = BODY_MAX;
	list_init(&q->link);
	buf_init(&q->body, q->call.max_body ? q->call.max_body : BODY_MAX);
	loop_timer_init(&q->timer, h->group, on_timer, q);
	h->stats.started++;
	if (build(q, c, &e) < 0) {
		req_over(q, &e);
		return q;
	}
	h->stats.waiting++;
	list_push_back(&p->waiting, &q->link);
	peer_ready(p);
	loop_defer(&h->turn);
	return q;
}

void http_cancel(struct http_req *q)
{
	struct http *h;

	if (!q || q->abandoned)
		return;
	h = q->peer->h;
	q->abandoned = true;
	if (h->frames > 0) {
		req_over(q, NULL);
		return;
	}
	if (!q->over && !q->started)
		h->stats.waiting--;
	req_land(q);
	req_free(q);
	/* Run a turn, because a waiting request may use the slot that is now free. */
	loop_defer(&h->turn);
}

void http_want(struct http_req *q)
{
	struct http_transport *t = q->peer->h->transport;

	if (q->over || !q->held)
		return;
	q->held = false;
	q->last = loop_now(loop_of(q->timer.group));
	arm(q);
	if (!q->transport_done)
		t->ops->want(t, &q->x);
}

void http_cancel_all(struct http_peer *p)
{
	struct http *h = p->h;

	list_for_each (q, &p->waiting, struct http_req, link)
		http_cancel(q);
	list_for_each (q, &p->flying, struct http_req, link)
		http_cancel(q);
	list_for_each (q, &h->batch, struct http_req, link)
		if (q->peer == p)
			http_cancel(q);
	list_for_each (q, &h->ended, struct http_req, link)
		if (q->peer == p && !q->abandoned)
			http_cancel(q);
}

struct http *http_new(struct loop_group *g, struct http_transport *t, unsigned max_in_flight)
{
	struct http *h = mem_new(struct http);

	h->group = g;
	h->transport = t;
	h->max_in_flight = max_in_flight;
	list_init(&h->peers);
	list_init(&h->ready);
	list_init(&h->ended);
	list_init(&h->batch);
	loop_defer_init(&h->turn, g, turn, h);
	return h;
}

void http_free(struct http *h)
{
	struct http_req *q;

	if (!h || h->closed)
		return;
	/* http_free() must not be called while the transport is on the stack, that is inside
	 * on_head() and on_data() (see http.h). */
	assert(h->frames == 0);
	list_for_each (p, &h->peers, struct http_peer, link)
		http_cancel_all(p);
	/* Release the requests whose peers were freed before, which the loop above does not
	 * reach. */
	while ((q = list_first(&h->ended, struct http_req, link)) ||
	       (q = list_first(&h->batch, struct http_req, link))) {
		req_land(q);
		req_free(q);
	}
	list_for_each (p, &h->peers, struct http_peer, link) {
		list_remove(&p->link);
		list_remove(&p->ready_link);
		p->h = NULL;
	}
	loop_defer_cancel(&h->turn);
	h->transport->ops->free(h->transport);
	h->closed = true;
	if (!h->in_turn)
		free(h);
}

struct http_stats http_stats(const struct http *h)
{
	return h->stats;
}

/* --- calls from the transport ----------------------------------------------------------------- */

static int keep_headers(struct http_req *q, const struct http_header *in, size_t n, struct err *e)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += strlen(in[i].name) + strlen(in[i].value);
	if (n > HEADERS_MAX || bytes > HEADER_BYTES_MAX)
		return err_set(e, ERR_PROTOCOL, 0, "%zu headers of %zu bytes in a reply", n, bytes);
	q->reply_headers = mem_calloc(n ? n : 1, sizeof(*q->reply_headers));
	for (size_t i = 0; i < n; i++)
		q->reply_headers[i] =
			(struct http_header){mem_strdup(in[i].name), mem_strdup(in[i].value)};
	q->nreply_headers = n;
	return 0;
}

void http_transport_head(struct http_req *q, int status, const struct http_header *headers,
			 size_t n)
{
	struct http *h = q->peer->h;
	struct http_reply r;
	const char *retry;
	struct err e;

	if (q->over || q->has_head)
		return;
	q->has_head = true;
	q->status = status;
	q->last = loop_now(loop_of(h->group));
	if (keep_headers(q, headers, n, &e) < 0) {
		req_over(q, &e);
		return;
	}
	r = (struct http_reply){
		.status = status, .body = "", .headers = q->reply_headers, .nheaders = n};
	retry = http_reply_header(&r, "Retry-After");
	if (retry)
		q->retry_after_ms = http_retry_after_ms(retry, loop_wall(loop_of(h->group)));
	r.retry_after_ms = q->retry_after_ms;
	if (!q->call.on_head)
		return;
	h->frames++;
	if (q->call.on_head(&r, q->call.arg, &e) < 0 && !q->over)
		req_over(q, &e);
	h->frames--;
}

bool http_transport_data(struct http_req *q, const char *data, size_t len)
{
	struct http *h = q->peer->h;
	struct err e;
	int rc;

	if (q->over)
		return false;
	if (!len)
		return true;
	q->last = loop_now(loop_of(h->group));
	q->body_seen += len;
	if (q->call.max_body && q->body_seen > q->call.max_body) {
		err_note(&e, ERR_PROTOCOL, 0, "a reply of more than %zu bytes", q->call.max_body);
		req_over(q, &e);
		return false;
	}
	if (!streams(q)) {
		rc = buf_add(&q->body, data, len, &e);
		/* Request the next piece of a collected body here, because the owner calls
		 * http_want() only for a streamed body. */
		if (rc == 0 && q->x.paced)
			h->transport->ops->want(h->transport, &q->x);
	} else {
		q->held = q->x.paced;
		h->frames++;
		rc = q->call.on_data(data, len, q->call.arg, &e);
		h->frames--;
	}
	if (rc < 0 && !q->over)
		req_over(q, &e);
	return !q->over;
}

void http_transport_end(struct http_req *q, const struct err *e)
{
	struct err none;

	q->transport_done = true;
	if (q->over)
		return;
	if (!e && !q->has_head) {
		err_note(&none, ERR_PROTOCOL, 0, "the reply had no status line");
		e = &none;
	}
	req_over(q, e);
}

void http_transport_reached(struct http_req *q, const char *address)
{
	if (!q->over)
		(void)str_copy(q->peer->reached, sizeof(q->peer->reached), str_or(address, ""));
}

void http_transport_learned(struct http_req *q, const char *pin_sha256)
{
	struct http_peer *p = q->peer;

	if (!p->spec.learn_pin || p->spec.pin_sha256)
		return;
	str_copy(p->pin, sizeof(p->pin), pin_sha256);
	p->spec.pin_sha256 = p->pin;
	p->learned = true;
}
