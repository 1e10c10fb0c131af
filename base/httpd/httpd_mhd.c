#include "base/httpd/httpd_mhd.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/httpd/httpd_callers.h"
#include "base/httpd/httpd_peer.h"
#include "base/httpd/httpd_sender.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * Runs libmicrohttpd (MHD) without threads. The loop watches MHD's epoll descriptor, MHD_run() does
 * whatever is due, and one loop timer implements MHD's timeouts.
 *
 * While a handler or a reader waits, the connection is suspended. MHD then ignores the connection
 * completely, even a hang-up (0.9.75), so the loop watches its descriptor for a hang-up. If httpd
 * has released the request of a suspended connection, the exchange is marked `dead` and resumed;
 * MHD's next callback then closes the connection.
 *
 * MHD_run() handles all resumed connections before it returns. So a reply resumes its connection at
 * once, but readers that are woken wait in a queue, of which a turn resumes WAKES. Otherwise one
 * event for a thousand watches would delay every other request until all of them have received it.
 *
 *   begin -> body -> dispatch -+-> respond -> queue -> reader ... -> completed
 *                              '-> suspend ... respond: resume -'  '-> suspend, wake: resume
 *
 * MHD's own timeout restarts at each byte, so a client that sends a byte now and then could keep a
 * connection forever. A loop timer per connection therefore runs while the client has to send: from
 * accept or completed to begin, and from begin to dispatch. When it expires, the socket is shut
 * down, which MHD treats as a disconnected client.
 */
#define MAX_CONNECTIONS 1024
#define STALLED_S 30u
#define HEAD_MS 60000
#define BODY_MS 120000
/* Size in bytes of a connection's memory pool. It holds the received headers, the headers to send
 * and the chunks to send. */
#define POOL_BYTES 8192u
/* Largest number of bytes of a refused body that are read and dropped, so that a client that sends
 * its whole body first still reads the reply. */
#define DISCARD_MAX (256u << 10)
#define BLOCK_BYTES 65536u
/* Size in bytes of the largest body that MHD receives as a copy. Such a body is sent in the same
 * run as the headers; a larger one is read in blocks, in later runs. */
#define COPIED_MAX 65536
/* Number of woken readers that one turn resumes. Each run of MHD after a resume walks all suspended
 * connections (0.9.75), up to 0.3 ms for a thousand that are not in the processor's cache, so very
 * small slices would cost more than they deliver. */
#define WAKES 16
/* Length of the accept queue, enough for a whole fleet that reconnects at once; the kernel may
 * allow less. */
#define BACKLOG 4096

struct httpd_mhd {
	struct httpd_listener listener;
	/* The server; NULL: the httpd was freed before this listener. */
	struct httpd *d;
	struct loop_group *group;
	struct MHD_Daemon *daemon;
	struct loop_fd *epoll;
	struct loop_timer timer;
	/* Calls MHD_run() in the next turn, because MHD acts on a resumed connection only in its
	 * next run. */
	struct loop_defer kick;
	/* exchanges: all exchanges. woken: those whose reader was woken and that are not resumed
	 * yet, in order of the calls. */
	struct list exchanges, woken;
	int64_t head_ms, body_ms;
	struct httpd_callers *callers;
	/* connections: number of open connections */
	unsigned port, connections;
	bool tls, client_ca, running, started;
	/* replied: a reply was given since the last kick. gave_way: the last kick resumed no
	 * reader, because of a reply. */
	bool replied, gave_way;
	/* MHD's last error message while starting. */
	char log[160];
};

/* State of one connection, which MHD passes to the callbacks. */
struct caller {
	struct httpd_peer *peer;
	/* Entry of the client's address in httpd_mhd.callers. */
	struct httpd_caller *of;
	/* Time limit; runs while the head or the body of a request is expected. */
	struct loop_timer limit;
	int fd;
	/* True: the connection uses TLS, through `sender`. */
	bool tls;
	struct httpd_sender sender;
	/* Watches fd for a hang-up; NULL: the connection was never suspended. Continues until the
	 * connection ends, because to start and to stop would cost two system calls per request. */
	struct loop_fd *hangup;
	/* Exchange of the suspended connection; NULL: the connection is not suspended. */
	struct exchange *suspended;
};

struct exchange {
	struct list link;
	/* Link in httpd_mhd.woken. */
	struct list woken;
	struct httpd_mhd *m;
	struct MHD_Connection *c;
	/* httpd's request; NULL: it has not begun, or is over. */
	struct httpd_req *q;
	char *target;
	bool begun, dispatched, dead, suspended, answered;
	/* True: a HEAD request, whose reply has no body. */
	bool head;
	size_t discarded;
	int status;
	/* Reply that is not queued in MHD yet; NULL: none, or it is queued. */
	struct MHD_Response *response;
	struct httpd_reader body;
};

static struct caller *caller_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return i ? i->socket_context : NULL;
}

/* Starts the time limit within which the client has to send, in ms. ms 0: stops the limit, because
 * nothing is expected from the client. */
static void expect_within(struct MHD_Connection *c, int64_t ms)
{
	struct caller *who = caller_of(c);

	if (who && ms)
		loop_timer_start(&who->limit, ms);
	else if (who)
		loop_timer_stop(&who->limit);
}

static int64_t now(const struct httpd_mhd *m)
{
	return loop_now(loop_of(m->group));
}

/* --- suspending ------------------------------------------------------------------------------- */

static void resume(struct exchange *x)
{
	if (!x->suspended)
		return;
	x->suspended = false;
	caller_of(x->c)->suspended = NULL;
	list_remove(&x->woken);
	MHD_resume_connection(x->c);
	loop_defer(&x->m->kick);
}

static void on_hangup(int events, void *arg)
{
	struct caller *who = arg;
	struct exchange *x = who->suspended;
	struct httpd_req *q;

	(void)events;
	/* A hang-up persists, so stop watching. MHD detects it itself unless the connection is
	 * suspended; suspend() watches again. */
	loop_fd_want(who->hangup, 0);
	if (!x)
		return;
	q = x->q;
	x->q = NULL;
	x->dead = true;
	resume(x);
	if (q)
		httpd_gone(q);
}

static void suspend(struct exchange *x)
{
	struct caller *who = caller_of(x->c);

	x->suspended = true;
	who->suspended = x;
	MHD_suspend_connection(x->c);
	if (!who->hangup)
		who->hangup = loop_fd(x->m->group, who->fd, on_hangup, who);
	loop_fd_want(who->hangup, LOOP_HANGUP);
}

/* Resumes the next woken readers; gives way to replies, but not twice in succession. */
static void resume_woken(struct httpd_mhd *m)
{
	struct exchange *x;

	m->gave_way = m->replied && !m->gave_way;
	m->replied = false;
	if (m->gave_way)
		return;
	for (int i = 0; i < WAKES && (x = list_first(&m->woken, struct exchange, woken)); i++)
		resume(x);
}

/* --- replies ---------------------------------------------------------------------------------- */

static ssize_t on_read(void *arg, uint64_t pos, char *out, size_t max)
{
	struct exchange *x = arg;
	int64_t n;

	if (!x->q)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	n = x->body.read(out, max, pos, x->body.arg);
	if (n > 0)
		return (ssize_t)n;
	if (n == 0 && x->q)
		suspend(x);
	return n == 0	 ? 0
	       : n == -1 ? MHD_CONTENT_READER_END_OF_STREAM
			 : MHD_CONTENT_READER_END_WITH_ERROR;
}

/* True if MHD gets the body as a copy, which it sends in the same run as the headers. */
static bool is_copied(const struct exchange *x)
{
	return x->body.text && x->body.size <= COPIED_MAX;
}

static struct MHD_Response *new_response(struct exchange *x)
{
	static char nothing[1];
	uint64_t size = x->body.size >= 0 ? (uint64_t)x->body.size : MHD_SIZE_UNKNOWN;
	size_t block = size < BLOCK_BYTES ? (size_t)size : BLOCK_BYTES;

	if (!x->body.read)
		return MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
	if (is_copied(x))
		return MHD_create_response_from_buffer((size_t)size, (void *)x->body.text,
						       MHD_RESPMEM_MUST_COPY);
	/* For a chunked reply MHD does not use the block size, because it builds chunks in the
	 * connection's pool: avoid allocating a block. */
	if (size == MHD_SIZE_UNKNOWN)
		block = 1;
	return MHD_create_response_from_callback(size, block, on_read, x, NULL);
}

static void mhd_respond(void *conn, int status, const struct http_header *h, size_t n,
			const struct httpd_reader *body)
{
	struct exchange *x = conn;
	struct caller *who = caller_of(x->c);

	if (who && status >= 400)
		httpd_caller_refused(who->of, now(x->m));
	x->answered = true;
	x->status = status;
	if (body && body->size != 0)
		x->body = *body;
	x->m->replied = true;
	x->response = new_response(x);
	assert(x->response); /* MHD_create_response_*() fails only without memory. */
	for (size_t i = 0; i < n; i++)
		MHD_add_response_header(x->response, h[i].name, h[i].value);
	resume(x);
}

static void mhd_wake(void *conn)
{
	struct exchange *x = conn;

	if (!x->suspended || list_linked(&x->woken))
		return;
	list_push_back(&x->m->woken, &x->woken);
	loop_defer(&x->m->kick);
}

static void mhd_abort(void *conn)
{
	struct exchange *x = conn;

	x->q = NULL;
	x->dead = true;
	resume(x);
}

static const struct httpd_listener_ops mhd_listener_ops = {
	.respond = mhd_respond,
	.wake = mhd_wake,
	.abort = mhd_abort,
};

/* --- requests --------------------------------------------------------------------------------- */

struct headers {
	struct http_header *v;
	size_t n, cap;
};

static enum MHD_Result on_header(void *arg, enum MHD_ValueKind kind, const char *name,
				 const char *value)
{
	struct headers *h = arg;

	(void)kind;
	mem_grow(h->v, h->n, h->cap);
	h->v[h->n++] = (struct http_header){name, str_or(value, "")};
	return MHD_YES;
}

static const struct httpd_identity *identity_of(struct exchange *x)
{
	const union MHD_ConnectionInfo *i = NULL;
	struct caller *who = caller_of(x->c);

	if (!who)
		return httpd_peer_identity(NULL, NULL);
	if (x->m->client_ca)
		i = MHD_get_connection_info(x->c, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	return httpd_peer_identity(who->peer, i ? i->tls_session : NULL);
}

static void begin(struct exchange *x, const char *method)
{
	struct headers h = {0};
	struct httpd_incoming in = {
		.method = method,
		.target = x->target,
		.identity = identity_of(x),
		.ops = &mhd_listener_ops,
		.conn = x,
	};
	struct caller *who = caller_of(x->c);

	in.exhausted = who && httpd_caller_exhausted(who->of, now(x->m));
	MHD_get_connection_values(x->c, MHD_HEADER_KIND, on_header, &h);
	in.headers = h.v;
	in.nheaders = h.n;
	x->begun = true;
	x->head = str_eq(method, "HEAD");
	expect_within(x->c, x->m->body_ms);
	httpd_begin(x->m->d, &in, &x->q);
	free(h.v);
}

/* True if MHD sends a body directly after the headers. Responses with these statuses have no body
 * (RFC 9110). */
static bool has_body_at_once(const struct exchange *x)
{
	return is_copied(x) && !x->head && x->status >= 200 && x->status != 204 && x->status != 304;
}

static enum MHD_Result queue(struct exchange *x)
{
	enum MHD_Result rc = MHD_queue_response(x->c, (unsigned)x->status, x->response);
	struct caller *who = caller_of(x->c);

	if (rc == MHD_YES && who && who->tls && has_body_at_once(x))
		httpd_sender_hold(&who->sender);
	expect_within(x->c, 0);
	MHD_destroy_response(x->response);
	x->response = NULL;
	return rc;
}

/* True if the Content-Length of a refused body exceeds DISCARD_MAX. A shorter body is read before
 * the connection is closed, because closing with unread bytes resets the connection, and the client
 * would lose the reply. */
static bool has_long_body(struct exchange *x)
{
	const char *length = MHD_lookup_connection_value(x->c, MHD_HEADER_KIND, "Content-Length");
	int64_t n;

	return length && !str_to_i64(length, 0, DISCARD_MAX, &n);
}

static enum MHD_Result take_body(struct exchange *x, const char *data, size_t len)
{
	if (!x->answered && x->q && httpd_body_data(x->q, data, len))
		return MHD_YES;
	x->discarded += len;
	return x->discarded > DISCARD_MAX ? MHD_NO : MHD_YES;
}

static enum MHD_Result on_access(void *arg, struct MHD_Connection *c, const char *url,
				 const char *method, const char *version, const char *data,
				 size_t *len, void **state)
{
	struct httpd_mhd *m = arg;
	struct exchange *x = *state;
	size_t n = *len;

	(void)url, (void)version;
	if (!x || x->dead || !m->d)
		return MHD_NO;
	if (!x->begun) {
		begin(x, method);
		return x->answered && has_long_body(x) ? queue(x) : MHD_YES;
	}
	if (n) {
		*len = 0;
		return take_body(x, data, n);
	}
	expect_within(c, 0);
	if (!x->answered && !x->dispatched) {
		x->dispatched = true;
		httpd_dispatch(x->q);
	}
	if (x->dead)
		return MHD_NO;
	if (x->response)
		return queue(x);
	suspend(x);
	return MHD_YES;
}

/* MHD's first callback for a request: creates the exchange, which MHD passes to its later
 * callbacks. */
static void *on_target(void *arg, const char *target, struct MHD_Connection *c)
{
	struct httpd_mhd *m = arg;
	struct exchange *x = mem_new(struct exchange);

	x->m = m;
	x->c = c;
	list_init(&x->woken);
	x->target = mem_strdup(target);
	list_push_back(&m->exchanges, &x->link);
	return x;
}

static void on_completed(void *arg, struct MHD_Connection *c, void **state,
			 enum MHD_RequestTerminationCode code)
{
	struct exchange *x = *state;
	struct httpd_req *q;

	(void)arg;
	if (!x)
		return;
	*state = NULL;
	/* The time limit for the head of the next request begins now. */
	expect_within(c, x->m->head_ms);
	q = x->q;
	x->q = NULL;
	if (q && code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		httpd_finished(q);
	else if (q)
		httpd_gone(q);
	if (x->response)
		MHD_destroy_response(x->response);
	list_remove(&x->link);
	list_remove(&x->woken);
	free(x->target);
	free(x);
}

/* Ends a connection that exceeded its time limit. Only shuts the socket down, because MHD owns and
 * closes it. */
static void on_limit(void *arg)
{
	struct caller *who = arg;

	(void)shutdown(who->fd, SHUT_RDWR);
}

static struct caller *caller_new(struct httpd_mhd *m, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct caller *who = mem_new(struct caller);
	int on = 1;

	who->peer = httpd_peer_new(i ? i->client_addr : NULL);
	who->of = httpd_callers_enter(m->callers, i ? i->client_addr : NULL, now(m));
	loop_timer_init(&who->limit, m->group, on_limit, who);
	i = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	assert(i);
	who->fd = i->connect_fd;
	i = m->tls ? MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION) : NULL;
	who->tls = i && i->tls_session;
	if (who->tls)
		httpd_sender_init(&who->sender, i->tls_session, who->fd);
	/* Enable keepalive, because a suspended connection would otherwise outlive a client that
	 * lost power. */
	setsockopt(who->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	loop_timer_start(&who->limit, m->head_ms);
	return who;
}

static void caller_free(struct caller *who)
{
	if (!who)
		return;
	loop_timer_stop(&who->limit);
	loop_fd_free(who->hangup);
	if (who->tls)
		httpd_sender_done(&who->sender);
	httpd_callers_leave(who->of);
	httpd_peer_free(who->peer);
	free(who);
}

static void on_connection(void *arg, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = caller_new(arg, c);
		return;
	}
	caller_free(*context);
	*context = NULL;
}

/* --- calls from the loop ---------------------------------------------------------------------- */

static void run(struct httpd_mhd *m)
{
	MHD_UNSIGNED_LONG_LONG ms;
	unsigned before = m->connections;

	m->running = true;
	MHD_run(m->daemon);
	m->connections = MHD_get_daemon_info(m->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
				 ->num_connections;
	m->running = false;
	/* A connection has ended: run MHD again soon. At its connection limit MHD stops listening,
	 * and it resumes listening only at the start of a run. */
	if (m->connections < before)
		loop_defer(&m->kick);
	if (MHD_get_timeout(m->daemon, &ms) == MHD_YES)
		loop_timer_start(&m->timer, ms > INT32_MAX ? INT32_MAX : (int64_t)ms);
	else
		loop_timer_stop(&m->timer);
}

static void on_epoll(int events, void *arg)
{
	(void)events;
	run(arg);
}

static void on_time(void *arg)
{
	run(arg);
}

static void on_kick(void *arg)
{
	struct httpd_mhd *m = arg;

	resume_woken(m);
	run(m);
	if (!list_empty(&m->woken))
		loop_defer(&m->kick);
}

/* --- starting and stopping -------------------------------------------------------------------- */

/* Leaves s as it is, because httpd_target.c decodes percent-encoding, exactly once. */
static size_t leave_escaped(void *arg, struct MHD_Connection *c, char *s)
{
	(void)arg, (void)c;
	return strlen(s);
}

__attribute__((format(printf, 2, 0))) static void on_log(void *arg, const char *fmt, va_list ap)
{
	struct httpd_mhd *m = arg;

	if (!m->started)
		vsnprintf(m->log, sizeof(m->log), fmt, ap);
}

static void on_stopped(struct httpd_listener *l)
{
	container_of(l, struct httpd_mhd, listener)->d = NULL;
}

static int split_address(const char *text, char host[static 64], char port[static 8], struct err *e)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	int64_t number;

	if (!colon || !str_to_i64(colon + 1, 0, 65535, &number) || n >= 64)
		return err_set(e, ERR_INVALID, 0, "\"%s\": want address:port", text);
	if (n >= 2 && *text == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	}
	memcpy(host, text, n);
	host[n] = '\0';
	str_format(port, 8, "%d", (int)number);
	return 0;
}

static int listen_on(struct httpd_mhd *m, const char *address, struct err *e)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				 .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	struct sockaddr_storage bound;
	socklen_t size = sizeof(bound);
	char host[64], port[8];
	int fd, rc, on = 1;

	if (split_address(address, host, port, e) < 0)
		return -1;
	rc = getaddrinfo(*host ? host : NULL, port, &hints, &list);
	if (rc)
		return err_set(e, ERR_INVALID, 0, "\"%s\": %s", address, gai_strerror(rc));
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&bound, &size) < 0) {
		err_note_errno(e, errno, "cannot listen on %s", address);
		freeaddrinfo(list);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	freeaddrinfo(list);
	m->port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
						    : ((struct sockaddr_in *)&bound)->sin_port);
	return fd;
}

static enum MHD_Result may_connect(void *arg, const struct sockaddr *address, socklen_t size)
{
	struct httpd_mhd *m = arg;

	(void)size;
	return httpd_callers_admit(m->callers, address, now(m)) ? MHD_YES : MHD_NO;
}

static struct MHD_Daemon *start(struct httpd_mhd *m, const struct httpd_mhd_spec *s, int fd)
{
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)s->cert_pem},
		{MHD_OPTION_HTTPS_MEM_KEY, 0,
		 s->cert_pem ? (void *)secret_expose(s->key_pem) : NULL},
		{MHD_OPTION_HTTPS_PRIORITIES, 0,
		 (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
		{s->client_ca_pem ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
		 (void *)s->client_ca_pem},
		{MHD_OPTION_END, 0, NULL},
	};
	struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
			 (s->cert_pem ? MHD_USE_TLS : 0);

	return MHD_start_daemon(
		flags, 0, may_connect, m, on_access, m, MHD_OPTION_EXTERNAL_LOGGER, on_log, m,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		s->max_connections ? s->max_connections : MAX_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, STALLED_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)POOL_BYTES, MHD_OPTION_NOTIFY_COMPLETED, on_completed, m,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, m, MHD_OPTION_URI_LOG_CALLBACK,
		on_target, m, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_ARRAY,
		s->cert_pem ? tls : none, MHD_OPTION_END);
}

struct httpd_mhd *httpd_mhd_new(struct httpd *d, const struct httpd_mhd_spec *s, struct err *e)
{
	struct httpd_mhd *m = mem_new(struct httpd_mhd);
	int fd;

	assert(!s->cert_pem || s->key_pem);
	m->d = d;
	m->group = httpd_group(d);
	m->tls = s->cert_pem != NULL;
	m->client_ca = m->tls && s->client_ca_pem;
	m->head_ms = s->head_ms ? s->head_ms : HEAD_MS;
	m->body_ms = s->body_ms ? s->body_ms : BODY_MS;
	list_init(&m->exchanges);
	list_init(&m->woken);
	list_init(&m->listener.link);
	m->listener.stopped = on_stopped;
	loop_timer_init(&m->timer, m->group, on_time, m);
	loop_defer_init(&m->kick, m->group, on_kick, m);
	m->callers = httpd_callers_new(s->per_address);
	fd = listen_on(m, s->address, e);
	if (fd < 0) {
		httpd_callers_free(m->callers);
		free(m);
		return NULL;
	}
	m->daemon = start(m, s, fd);
	if (!m->daemon) {
		err_note(e, ERR_INVALID, 0, "cannot serve on %s: %s", s->address,
			 *m->log ? m->log : "bad certificate or key");
		if (fcntl(fd, F_GETFD) >= 0) /* MHD closes fd in some failures, but not in all. */
			close(fd);
		httpd_callers_free(m->callers);
		free(m);
		return NULL;
	}
	m->started = true;
	httpd_listener_add(d, &m->listener);
	m->epoll = loop_fd(m->group,
			   MHD_get_daemon_info(m->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
			   on_epoll, m);
	loop_fd_want(m->epoll, LOOP_READ);
	return m;
}

void httpd_mhd_free(struct httpd_mhd *m)
{
	if (!m)
		return;
	assert(!m->running); /* httpd_mhd_free() must not be called from a handler. */
	httpd_listener_remove(&m->listener);
	loop_timer_stop(&m->timer);
	loop_fd_free(m->epoll);
	/* Resume all connections first, because MHD aborts the program if it is stopped while a
	 * connection is suspended. */
	list_for_each (x, &m->exchanges, struct exchange, link) {
		struct httpd_req *q = x->q;

		x->q = NULL;
		x->dead = true;
		resume(x);
		if (q)
			httpd_gone(q);
	}
	loop_defer_cancel(&m->kick);
	MHD_stop_daemon(m->daemon);
	httpd_callers_free(m->callers);
	free(m);
}

unsigned httpd_mhd_port(const struct httpd_mhd *m)
{
	return m->port;
}
