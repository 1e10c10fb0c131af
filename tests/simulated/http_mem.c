#include "tests/simulated/http_mem.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/address.h"
#include "base/crypto.h"
#include "base/http/http_transport.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * An exchange is one struct conn, with two ends. Each end has a timer, in the loop group of the
 * code that this end calls:
 *
 *   client end (cli)                            server end (srv)
 *   connect ------------------------------------> begin, body pieces, dispatch
 *   head, data <--- pipe (WINDOW bytes at most) <--- respond, reader
 *   cancel ------------------------------------> gone
 *   broken <------------------------------------ abort
 *
 * Neither end calls the other: each end only starts the other's timer, with a seeded delay. A conn
 * is freed when both ends have released it (x and q are NULL) and none of its functions is on the
 * stack.
 */
#define WINDOW (256u << 10)

struct http_mem_net {
	struct loop *loop;
	struct map *origins;
	struct list conns;
	/* Number of references to the net: the owner's, and one for each transport. */
	unsigned refs;
	enum http_mem_fault_kind (*fate)(const char *origin, const char *method, const char *target,
					 void *arg);
	void *fate_arg;
	/* How far the servers' clocks are ahead, in ms. */
	int64_t ahead_ms;
};

struct origin {
	struct http_mem_net *net;
	char *name;
	/* Server of the origin; NULL: connections are refused. */
	struct httpd *d;
	struct httpd_listener listener;
	char pin[65];
	bool hangs;
};

struct mem_transport {
	struct http_transport base;
	struct http_mem_net *net;
	struct loop_group *group;
	struct httpd_identity identity;
};

struct conn {
	struct list link;
	struct http_mem_net *net;
	struct origin *origin;
	/* The client's identity as the server sees it: `own` if the peer has a client certificate,
	 * otherwise mem_transport.identity. Valid only while x is set. */
	const struct httpd_identity *identity;
	/* Identity that the server sees if the request's http_peer has a client certificate of its
	 * own. */
	struct httpd_identity own;
	struct loop_timer cli, srv;
	unsigned frames;

	/* The client's exchange; NULL: the client has released the conn. */
	struct http_exchange *x;
	bool connected, head_told, credit;
	bool lost, silent;
	/* twice: the request must be processed twice (HTTP_MEM_TWICE), so the first reply is
	 * dropped and the request sent again. again: the first reply was dropped, and the request
	 * is about to be sent again. */
	bool twice, again;

	/* The server's request; NULL: it has not begun, or the server has released the conn. */
	struct httpd_req *q;
	bool begun, dispatched, responded, broken, eof, asleep;
	size_t body_sent;
	int status;
	struct http_header *headers;
	size_t nheaders;
	struct httpd_reader body;
	uint64_t body_pos;
	struct buf pipe;
};

/* --- both ends -------------------------------------------------------------------------------- */

static int64_t delay(struct conn *c)
{
	return (int64_t)loop_random_below(c->net->loop, 3);
}

/* Returns a random size for the next piece, mostly the maximum, sometimes a few bytes, so that
 * parsers which depend on the size fail in tests. */
static size_t piece(struct conn *c, size_t most)
{
	uint64_t r = loop_random_below(c->net->loop, 8);
	size_t n = r == 0  ? 1 + loop_random_below(c->net->loop, 16)
		   : r < 3 ? 1 + loop_random_below(c->net->loop, 4096)
			   : 65536;

	return n < most ? n : most;
}

static void kick_cli(struct conn *c)
{
	if (c->x && !loop_timer_active(&c->cli))
		loop_timer_start(&c->cli, delay(c));
}

/* Starts the server's timer. Does nothing once the server has released the conn, because the
 * timer's loop group may be freed by then. */
static void kick_srv(struct conn *c)
{
	if (c->srv.fn && (c->q || (!c->begun && !c->broken)) && !loop_timer_active(&c->srv))
		loop_timer_start(&c->srv, delay(c));
}

static void conn_settle(struct conn *c)
{
	if (c->x || c->q || c->frames)
		return;
	loop_timer_stop(&c->cli);
	loop_timer_stop(&c->srv);
	list_remove(&c->link);
	for (size_t i = 0; i < c->nheaders; i++) {
		free((char *)c->headers[i].name);
		free((char *)c->headers[i].value);
	}
	free(c->headers);
	buf_done(&c->pipe);
	free((char *)c->own.cert_subject_cn);
	free((char *)c->own.cert_subject_o);
	free(c);
}

/* Detaches the server end by calling how(), which is httpd_finished() or httpd_gone(); both end the
 * request. */
static void srv_let_go(struct conn *c, void (*how)(struct httpd_req *q))
{
	struct httpd_req *q = c->q;

	c->q = NULL;
	if (q)
		how(q);
}

/* --- server end ------------------------------------------------------------------------------- */

/* Returns the value of a Date header, as libmicrohttpd sends it. */
static char *date_of(struct http_mem_net *n)
{
	time_t now = (time_t)((loop_wall(n->loop) + n->ahead_ms) / 1000);
	struct tm t;
	char text[64];

	gmtime_r(&now, &t);
	(void)strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &t);
	return mem_strdup(text);
}

static void mem_respond(void *conn, int status, const struct http_header *h, size_t n,
			const struct httpd_reader *body)
{
	struct conn *c = conn;

	if (c->twice) {
		c->twice = false;
		c->again = true;
		kick_srv(c);
		return;
	}
	c->responded = true;
	c->status = status;
	c->headers = mem_calloc(n + 2, sizeof(*c->headers));
	for (size_t i = 0; i < n; i++)
		c->headers[i] = (struct http_header){mem_strdup(h[i].name), mem_strdup(h[i].value)};
	c->headers[n] = (struct http_header){mem_strdup("Date"), date_of(c->net)};
	c->nheaders = n + 1;
	if (body)
		c->body = *body;
	c->eof = !body || (c->x && !strcmp(c->x->method, "HEAD"));
	kick_cli(c);
	kick_srv(c);
}

static void mem_wake(void *conn)
{
	struct conn *c = conn;

	c->asleep = false;
	kick_srv(c);
}

static void mem_abort(void *conn)
{
	struct conn *c = conn;

	c->q = NULL;
	c->broken = true;
	kick_cli(c);
	conn_settle(c);
}

static const struct httpd_listener_ops mem_listener_ops = {
	.respond = mem_respond,
	.wake = mem_wake,
	.abort = mem_abort,
};

static void srv_begin(struct conn *c)
{
	struct http_exchange *x = c->x;
	struct http_header *h = mem_calloc(x->nheaders + 2, sizeof(*h));
	size_t n = x->nheaders;
	char length[24];
	struct httpd_incoming in = {
		.method = x->method,
		.target = x->url + strlen(x->origin),
		.headers = h,
		.identity = c->identity,
		.ops = &mem_listener_ops,
		.conn = c,
	};

	if (n)
		memcpy(h, x->headers, n * sizeof(*h));
	str_format(length, sizeof(length), "%zu", x->body_len);
	h[n++] = (struct http_header){"Host", strstr(x->origin, "://") + 3};
	if (x->body)
		h[n++] = (struct http_header){"Content-Length", length};
	in.nheaders = n;
	c->begun = true;
	httpd_begin(c->origin->d, &in, &c->q);
	free(h);
}

static void srv_pull(struct conn *c)
{
	char chunk[16384];
	size_t room = WINDOW - c->pipe.len, most = piece(c, sizeof(chunk));
	int64_t n;

	if (!room)
		/* The pipe is full: wait until the client end has read some of it, which starts the
		 * server's timer again. */
		return;
	n = c->body.read(chunk, most < room ? most : room, c->body_pos, c->body.arg);
	if (n > 0) {
		buf_put(&c->pipe, chunk, (size_t)n);
		c->body_pos += (uint64_t)n;
		kick_srv(c);
	} else if (n == 0) {
		c->asleep = true;
	} else {
		c->eof = n == -1;
		c->broken = n != -1;
	}
	kick_cli(c);
}

static void srv_step(struct conn *c)
{
	if (!c->x || c->broken) {
		srv_let_go(c, httpd_gone);
		return;
	}
	if (c->again) {
		c->again = c->begun = c->dispatched = false;
		c->body_sent = 0;
		srv_let_go(c, httpd_gone);
		kick_srv(c);
		return;
	}
	if (!c->begun) {
		srv_begin(c);
		kick_srv(c);
		return;
	}
	if (!c->responded && c->body_sent < c->x->body_len) {
		size_t n = piece(c, c->x->body_len - c->body_sent);

		httpd_body_data(c->q, (const char *)c->x->body + c->body_sent, n);
		c->body_sent += n;
		kick_srv(c);
		return;
	}
	if (!c->responded && !c->dispatched) {
		c->dispatched = true;
		httpd_dispatch(c->q);
		return;
	}
	if (c->responded && !c->eof && !c->asleep)
		srv_pull(c);
	if (c->eof)
		srv_let_go(c, httpd_finished);
	else if (c->broken)
		srv_let_go(c, httpd_gone);
}

static void on_srv(void *arg)
{
	struct conn *c = arg;

	c->frames++;
	if (c->q || !c->begun)
		srv_step(c);
	c->frames--;
	conn_settle(c);
}

/* --- client end ------------------------------------------------------------------------------- */

static void cli_end(struct conn *c, const struct err *e)
{
	struct http_req *req = c->x->req;

	c->x = NULL;
	/* If the server is still busy with the request, wake it, so that it notices that the client
	 * is gone. */
	kick_srv(c);
	http_transport_end(req, e);
}

static int check_pin(struct conn *c, struct err *e)
{
	const struct http_peer_spec *p = c->x->peer;

	if (!str_starts(c->x->origin, "https:"))
		return 0;
	if (p->pin_sha256 && strcmp(p->pin_sha256, c->origin->pin) != 0)
		return err_set(e, ERR_DENIED, 0,
			       "%s: the server's certificate is not the pinned one", c->x->origin);
	if (p->learn_pin && !p->pin_sha256)
		http_transport_learned(c->x->req, c->origin->pin);
	return 0;
}

static int cli_connect(struct conn *c, struct err *e)
{
	struct http_mem_net *n = c->net;
	enum http_mem_fault_kind fate = HTTP_MEM_WELL;

	c->connected = true;
	c->origin = map_get(n->origins, c->x->origin);
	if (c->origin && c->origin->hangs)
		return 0;
	if (!c->origin || !c->origin->d)
		return err_set(e, ERR_UNAVAILABLE, 0, "%s: connection refused", c->x->origin);
	if (n->fate)
		fate = n->fate(c->x->origin, c->x->method, c->x->url + strlen(c->x->origin),
			       n->fate_arg);
	if (fate == HTTP_MEM_REFUSED)
		return err_set(e, ERR_UNAVAILABLE, 0, "%s: connection refused", c->x->origin);
	c->lost = fate == HTTP_MEM_REPLY_LOST;
	c->silent = fate == HTTP_MEM_SILENT;
	c->twice = fate == HTTP_MEM_TWICE;
	if (check_pin(c, e) < 0)
		return -1;
	loop_timer_init(&c->srv, httpd_group(c->origin->d), on_srv, c);
	kick_srv(c);
	return 0;
}

static void cli_data(struct conn *c)
{
	size_t most = c->x->piece_bytes,
	       n = piece(c, most && most < c->pipe.len ? most : c->pipe.len);
	/* Copy the data, because the pipe may grow, and so move, during the callback. */
	char *copy = mem_alloc(n);

	memcpy(copy, c->pipe.data, n);
	buf_drop(&c->pipe, n);
	c->credit = !c->x->paced;
	kick_srv(c);
	http_transport_data(c->x->req, copy, n);
	free(copy);
	if (c->x && c->credit)
		kick_cli(c);
}

static void cli_step(struct conn *c)
{
	char reached[ADDRESS_TEXT];
	struct err e;

	if (!c->connected) {
		if (cli_connect(c, &e) < 0)
			cli_end(c, &e);
	} else if ((c->responded && c->lost) || (c->broken && !c->pipe.len)) {
		err_note(&e, ERR_UNAVAILABLE, 0, "%s: the connection broke", c->x->origin);
		cli_end(c, &e);
	} else if (c->responded && !c->head_told) {
		c->head_told = true;
		(void)address_host(strstr(c->x->origin, "://") + 3, reached);
		http_transport_reached(c->x->req, reached);
		http_transport_head(c->x->req, c->status, c->headers, c->nheaders);
		if (c->x)
			kick_cli(c);
	} else if (c->responded && c->pipe.len) {
		if (c->credit)
			cli_data(c);
	} else if (c->responded && c->eof) {
		cli_end(c, NULL);
	}
}

static void on_cli(void *arg)
{
	struct conn *c = arg;

	if (c->silent && c->responded)
		return;
	c->frames++;
	cli_step(c);
	c->frames--;
	conn_settle(c);
}

/* Sets the identity that the server sees: the names in pem, the peer's own client certificate; the
 * transport's identity if pem is NULL. */
static int show_certificate(struct conn *c, const struct mem_transport *t, const char *pem,
			    struct err *e)
{
	char *cn, *o;

	c->identity = &t->identity;
	if (!pem)
		return 0;
	if (crypto_cert_subject(pem, &cn, &o, e) < 0)
		return -1;
	c->own = (struct httpd_identity){
		.address = t->identity.address, .cert_subject_cn = cn, .cert_subject_o = o};
	c->identity = &c->own;
	return 0;
}

static int mem_start(struct http_transport *base, struct http_exchange *x, struct err *e)
{
	struct mem_transport *t = container_of(base, struct mem_transport, base);
	struct conn *c = mem_new(struct conn);

	c->net = t->net;
	if (show_certificate(c, t, x->peer->client_cert_pem, e) < 0) {
		free(c);
		return -1;
	}
	c->x = x;
	c->credit = true;
	x->state = c;
	buf_init(&c->pipe, WINDOW);
	loop_timer_init(&c->cli, t->group, on_cli, c);
	list_push_back(&t->net->conns, &c->link);
	kick_cli(c);
	return 0;
}

static void mem_want(struct http_transport *base, struct http_exchange *x)
{
	struct conn *c = x->state;

	(void)base;
	c->credit = true;
	kick_cli(c);
}

static void mem_cancel(struct http_transport *base, struct http_exchange *x)
{
	struct conn *c = x->state;

	(void)base;
	c->x = NULL;
	loop_timer_stop(&c->cli);
	if (c->q)
		kick_srv(c);
	conn_settle(c);
}

/* --- the net ---------------------------------------------------------------------------------- */

static void origin_break(struct http_mem_net *n, const struct origin *o)
{
	list_for_each (c, &n->conns, struct conn, link) {
		if (c->origin != o)
			continue;
		c->broken = true;
		kick_srv(c);
		kick_cli(c);
	}
}

static void origin_free(void *p)
{
	struct origin *o = p;

	httpd_listener_remove(&o->listener);
	free(o->name);
	free(o);
}

static void net_unref(struct http_mem_net *n)
{
	struct conn *c;

	if (--n->refs > 0)
		return;
	/* No transport is left, so all clients are gone: detach the servers that still have a
	 * request. */
	while ((c = list_first(&n->conns, struct conn, link))) {
		list_remove(&c->link);
		c->frames++;
		srv_let_go(c, httpd_gone);
		c->frames--;
		conn_settle(c);
	}
	map_free(n->origins);
	free(n);
}

static void mem_free(struct http_transport *base)
{
	struct mem_transport *t = container_of(base, struct mem_transport, base);

	free((char *)t->identity.address);
	free((char *)t->identity.cert_subject_cn);
	free((char *)t->identity.cert_subject_o);
	net_unref(t->net);
	free(t);
}

static const struct http_transport_ops mem_ops = {
	.start = mem_start,
	.want = mem_want,
	.cancel = mem_cancel,
	.free = mem_free,
};

struct http_mem_net *http_mem_net_new(struct loop *l)
{
	struct http_mem_net *n = mem_new(struct http_mem_net);

	n->loop = l;
	n->refs = 1;
	n->origins = map_new(origin_free);
	list_init(&n->conns);
	return n;
}

void http_mem_net_free(struct http_mem_net *n)
{
	struct map_iter it;

	if (!n)
		return;
	map_for_each (it, n->origins)
		http_mem_serve(n, it.key, NULL);
	net_unref(n);
}

static void on_httpd_freed(struct httpd_listener *l)
{
	struct origin *o = container_of(l, struct origin, listener);

	o->d = NULL;
	list_for_each (c, &o->net->conns, struct conn, link) {
		if (c->origin != o || c->q)
			/* Skip a connection whose request has begun: httpd aborts that request
			 * itself. */
			continue;
		loop_timer_stop(&c->srv);
		c->srv.fn = NULL;
		c->broken |= !c->begun;
		kick_cli(c);
	}
}

/* Returns the origin with this name; creates an origin without a server if there is none yet. Names
 * are stored with a port, as http_peer_origin() writes them; a missing port is added. */
static struct origin *origin_of(struct http_mem_net *n, const char *origin)
{
	const char *host = strstr(origin, "://");
	const char *port = host ? strrchr(host + 3, ':') : NULL;
	bool has_port = port && !strchr(port, ']');
	char *name = mem_printf("%s%s", origin,
				has_port		       ? ""
				: str_starts(origin, "https:") ? ":443"
							       : ":80");
	struct origin *o = map_get(n->origins, name);
	uint8_t digest[CRYPTO_SHA256];

	if (o) {
		free(name);
		return o;
	}
	o = mem_new(struct origin);
	o->net = n;
	o->name = name;
	list_init(&o->listener.link);
	o->listener.stopped = on_httpd_freed;
	crypto_sha256(name, strlen(name), digest);
	str_hex(o->pin, digest, sizeof(digest));
	map_put(n->origins, name, o);
	return o;
}

void http_mem_serve(struct http_mem_net *n, const char *origin, struct httpd *d)
{
	struct origin *o = origin_of(n, origin);

	httpd_listener_remove(&o->listener);
	origin_break(n, o);
	o->d = d;
	if (d)
		httpd_listener_add(d, &o->listener);
}

void http_mem_pin(struct http_mem_net *n, const char *origin, const char *pin_sha256)
{
	struct origin *o = origin_of(n, origin);

	str_copy(o->pin, sizeof(o->pin), pin_sha256);
}

void http_mem_hang(struct http_mem_net *n, const char *origin, bool on)
{
	origin_of(n, origin)->hangs = on;
}

void http_mem_clock(struct http_mem_net *n, int64_t ahead_ms)
{
	n->ahead_ms = ahead_ms;
}

void http_mem_fault(struct http_mem_net *n,
		    enum http_mem_fault_kind (*fate)(const char *origin, const char *method,
						     const char *target, void *arg),
		    void *arg)
{
	n->fate = fate;
	n->fate_arg = arg;
}

struct http_transport *http_mem_transport(struct http_mem_net *n, struct loop_group *g,
					  const char *address, const char *cert_cn,
					  const char *cert_o)
{
	struct mem_transport *t = mem_new(struct mem_transport);

	t->base.ops = &mem_ops;
	t->net = n;
	t->group = g;
	t->identity = (struct httpd_identity){
		.address = mem_strdup(address),
		.cert_subject_cn = mem_strdup(cert_cn),
		.cert_subject_o = mem_strdup(cert_o),
	};
	n->refs++;
	return &t->base;
}
