#include "base/http/http_curl.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/http/http_address.h"
#include "base/http/http_curl_impl.h"
#include "base/http/http_curl_watch.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * Runs libcurl on the loop. libcurl never waits here: it reports the descriptors and the one timer
 * that it needs, the loop watches them, and curl_multi_socket_action() does what is possible
 * without waiting. Finished transfers are collected after each such call and never inside a libcurl
 * callback.
 *
 * Peers are spread over several multi handles (shards), because libcurl 7.88 walks all connections
 * of a handle for each request that ends (curl_multi_remove_handle()). With 2,000 hosts in one
 * handle that took a fifth of the processor time.
 */
#define RESUME_MS 2 /* Maximum time in ms that one turn spends on continuing paused bodies. */
#define HEADERS_MAX 256
#define HEADER_BYTES_MAX (128u << 10)
#define KEEPALIVE_IDLE_S 30L
/* Longest time, in s, that a kept-alive connection may have been idle before a request with an
 * effect is sent on it. Servers close idle connections, some after 30 s, and with TLS the client
 * may not notice before it sends. */
#define REUSE_IDLE_S 20L
#define KEEPALIVE_EVERY_S 10L

#define SHARDS 32
/* Maximum number of idle easy handles that are stored for reuse, because creating one costs as much
 * as the rest of a small request. */
#define SPARE 64

struct shard {
	struct curl_transport *t;
	struct loop_group *group;
	CURLM *multi;
	struct loop_timer timer;
};

struct curl_transport {
	struct http_transport base;
	struct loop_group *group;
	unsigned max_connections;
	/* One multi handle each, created on first use; each shard has its own descriptors. */
	struct shard *shards[SHARDS];
	struct watches watches;
	struct loop_defer resume;
	/* Flights (requests in libcurl) whose paused delivery may continue. */
	struct list wanting;
	CURL *spare[SPARE];
	size_t nspare;
};

/* --- end of a flight -------------------------------------------------------------------------- */

static void reply_clear(struct flight *f)
{
	for (size_t i = 0; i < f->nreply; i++) {
		free((char *)f->reply[i].name);
		free((char *)f->reply[i].value);
	}
	f->nreply = f->reply_bytes = 0;
}

/* Stores the handle for reuse, after removing all options and headers of the request. TLS sessions
 * need no removal, because none are cached (set_behaviour()). */
static void handle_put(struct curl_transport *t, CURL *easy)
{
	if (t->nspare == SPARE) {
		curl_easy_cleanup(easy);
		return;
	}
	curl_easy_reset(easy);
	t->spare[t->nspare++] = easy;
}

static CURL *handle_take(struct curl_transport *t)
{
	CURL *easy = t->nspare ? t->spare[--t->nspare] : curl_easy_init();

	assert(easy); /* curl_easy_init() fails only without memory. */
	return easy;
}

static void flight_free(struct flight *f)
{
	list_remove(&f->link);
	curl_multi_remove_handle(f->s->multi, f->easy);
	handle_put(f->s->t, f->easy);
	for (struct curl_slist *s = f->headers; s; s = s->next)
		secret_wipe(s->data, strlen(s->data));
	curl_slist_free_all(f->headers);
	curl_slist_free_all(f->connect_to);
	reply_clear(f);
	free(f->reply);
	free(f);
}

static enum err_kind kind_of(CURLcode rc)
{
	switch ((int)rc) { /* All codes that are not listed are unexpected. */
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_CRL_BADFILE:
		return ERR_DENIED;
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_URL_MALFORMAT:
	case CURLE_SSL_ENGINE_NOTFOUND:
		return ERR_INVALID;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_BAD_CONTENT_ENCODING:
	case CURLE_TOO_MANY_REDIRECTS:
		return ERR_PROTOCOL;
	default:
		return ERR_UNAVAILABLE;
	}
}

static void set_error(const struct flight *f, CURLcode rc, struct err *e)
{
	const char *text = *f->text ? f->text : curl_easy_strerror(rc);

	if (f->failed)
		*e = f->err;
	else if (f->barred && rc == CURLE_COULDNT_CONNECT)
		err_note(e, ERR_DENIED, 0, "%s: %s", f->x->origin, f->barred);
	/* The connect timeout is the only timeout that this file sets in libcurl. */
	else if (rc == CURLE_OPERATION_TIMEDOUT)
		err_note(e, ERR_UNAVAILABLE, rc, "%s: no connection within %u ms", f->x->origin,
			 f->x->connect_ms);
	else
		err_note(e, kind_of(rc), rc, "%s: %.160s", f->x->origin, text);
}

/* Collects every finished transfer of the shard. */
static void drain(struct shard *s)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(s->multi, &left))) {
		CURLcode rc = m->data.result;
		struct http_req *req;
		struct flight *f = NULL;
		struct err e;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&f);
		if (rc != CURLE_OK)
			set_error(f, rc, &e);
		req = f->x->req;
		flight_free(f);
		http_transport_end(req, rc == CURLE_OK ? NULL : &e);
	}
}

/* --- calls from the loop ---------------------------------------------------------------------- */

static void on_timer(void *arg)
{
	struct shard *s = arg;
	int running;

	curl_multi_socket_action(s->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	drain(s);
}

static void on_fd(int fd, int events, void *arg)
{
	struct shard *s = arg;
	int running, flags = 0;

	flags |= events & LOOP_READ ? CURL_CSELECT_IN : 0;
	flags |= events & LOOP_WRITE ? CURL_CSELECT_OUT : 0;
	flags |= events & LOOP_HANGUP ? CURL_CSELECT_ERR : 0;
	curl_multi_socket_action(s->multi, fd, flags, &running);
	drain(s);
}

static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *sockp)
{
	struct shard *s = arg;
	int events = 0;

	(void)easy;
	(void)sockp;
	if (what != CURL_POLL_REMOVE) {
		events |= what & CURL_POLL_IN ? LOOP_READ : 0;
		events |= what & CURL_POLL_OUT ? LOOP_WRITE : 0;
	}
	watch_want(&s->t->watches, fd, events, s);
	return 0;
}

static int on_curl_timer(CURLM *multi, long ms, void *arg)
{
	struct shard *s = arg;

	(void)multi;
	if (ms < 0)
		loop_timer_stop(&s->timer);
	else
		/* A delay of 0 means the next turn of the loop, so on_timer() never runs inside
		 * this callback. */
		loop_timer_start(&s->timer, ms);
	return 0;
}

/* Continues paused bodies for at most RESUME_MS per turn, because those of up to five hundred
 * tenants may be due at once. */
static void on_resume(void *arg)
{
	struct curl_transport *t = arg;
	int64_t until = loop_clock(loop_of(t->group)) + RESUME_MS;
	struct flight *f;

	while ((f = list_first(&t->wanting, struct flight, link))) {
		list_remove(&f->link);
		f->paused = false;
		/* curl_easy_pause() may deliver data and thereby finish transfers: collect them. */
		curl_easy_pause(f->easy, CURLPAUSE_CONT);
		drain(f->s);
		if (loop_clock(loop_of(t->group)) >= until) {
			loop_defer(&t->resume);
			return;
		}
	}
}

/* Returns the reason why this peer must not connect to address; NULL: it may. */
static const char *barred(const struct http_peer_spec *p, const char *address, int port)
{
	/* mutant: address-local */
	if (!p->local_ok && http_address_text_is_local(address))
		return "its name leads to a loopback or link-local address";
	if (p->may_reach && !p->may_reach(address, port, p->may_reach_arg))
		return "its name leads to an address that this connection may not reach";
	return NULL;
}

static const char *text_of(const struct sockaddr *a, char out[static INET6_ADDRSTRLEN], int *port)
{
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	/* Use the empty text for an unknown address family. It is not an address, so it counts as
	 * local and is refused. */
	out[0] = '\0';
	*port = 0;
	if (a->sa_family == AF_INET) {
		memcpy(&in, a, sizeof(in));
		*port = ntohs(in.sin_port);
		(void)inet_ntop(AF_INET, &in.sin_addr, out, INET6_ADDRSTRLEN);
	} else if (a->sa_family == AF_INET6) {
		memcpy(&in6, a, sizeof(in6));
		*port = ntohs(in6.sin6_port);
		(void)inet_ntop(AF_INET6, &in6.sin6_addr, out, INET6_ADDRSTRLEN);
	}
	return out;
}

/* Refuses a socket to a forbidden address. This callback sees the final address before any byte is
 * sent, so a name that was rebound in DNS cannot avoid the check. */
static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct flight *f = arg;
	char text[INET6_ADDRSTRLEN];
	const char *why;
	int port, fd;

	(void)purpose;
	(void)text_of(&a->addr, text, &port);
	why = barred(f->x->peer, text, port);
	if (why) {
		f->barred = why;
		return CURL_SOCKET_BAD;
	}
	fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
	if (fd >= 0)
		watch_opened(&f->s->t->watches, fd, f->s);
	return fd;
}

static int on_close(void *arg, curl_socket_t fd)
{
	struct shard *s = arg;

	watch_closed(&s->t->watches, fd);
	return close(fd);
}

/* --- callbacks of a transfer ------------------------------------------------------------------ */

static bool changes_nothing(const struct http_exchange *x)
{
	return !strcmp(x->method, "GET") || !strcmp(x->method, "HEAD");
}

/*
 * Called when a connection is established and each time before the request is sent on it. If the
 * request has an effect, refuses to send it a second time. libcurl resends by itself if a
 * kept-alive connection breaks before a reply, but the server may already have acted.
 */
static int on_prerequest(void *arg, char *remote, char *local, int remote_port, int local_port)
{
	struct flight *f = arg;
	/* Check the address again: the connection may have been opened for another peer, and this
	 * peer may not be allowed to reach its address. */
	const char *why = barred(f->x->peer, remote, remote_port);

	(void)local, (void)local_port;
	if (why) {
		f->failed = true;
		err_note(&f->err, ERR_DENIED, 0, "%s: %s", f->x->origin, why);
		return CURL_PREREQFUNC_ABORT;
	}
	if (f->sent && !changes_nothing(f->x)) {
		f->failed = true;
		err_note(&f->err, ERR_UNAVAILABLE, 0, "%s: the connection closed before an answer",
			 f->x->origin);
		return CURL_PREREQFUNC_ABORT;
	}
	f->sent = true;
	return http_curl_check_connection(f) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static size_t give_up(struct flight *f, const char *why)
{
	f->failed = true;
	err_note(&f->err, ERR_PROTOCOL, 0, "%s: %s", f->x->origin, why);
	return 0;
}

static void add_reply_header(struct flight *f, const char *line, size_t n)
{
	const char *colon = memchr(line, ':', n);
	const char *value, *end = line + n;

	if (!colon || *line == ' ' || *line == '\t')
		return; /* Ignore a line that is no header, or an obsolete folded line. */
	value = colon + 1;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	mem_grow(f->reply, f->nreply, f->reply_cap);
	f->reply[f->nreply++] = (struct http_header){mem_strndup(line, (size_t)(colon - line)),
						     mem_strndup(value, (size_t)(end - value))};
}

static size_t on_header(char *line, size_t size, size_t n, void *arg)
{
	struct flight *f = arg;
	size_t len = size * n;
	long status = 0;
	char *reached = NULL;

	if (f->head_told)
		return len; /* Ignore a trailer, because the head was already reported. */
	f->reply_bytes += len;
	if (f->nreply >= HEADERS_MAX || f->reply_bytes > HEADER_BYTES_MAX)
		return give_up(f, "too many headers in the reply");
	n = len;
	while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
		n--;
	if (len > 5 && !strncmp(line, "HTTP/", 5)) {
		/* A new status line begins a new head, for example after 100 Continue: drop the
		 * headers of the old one. */
		reply_clear(f);
		curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
		f->status = (int)status;
	} else if (n > 0) {
		add_reply_header(f, line, n);
	} else if (f->status >= 200) {
		f->head_told = true;
		curl_easy_getinfo(f->easy, CURLINFO_PRIMARY_IP, &reached);
		http_transport_reached(f->x->req, reached);
		http_transport_head(f->x->req, f->status, f->reply, f->nreply);
	}
	return len;
}

static size_t on_body(char *data, size_t size, size_t n, void *arg)
{
	struct flight *f = arg;

	if (f->x->paced && !f->credit) {
		f->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	f->credit = !f->x->paced;
	return http_transport_data(f->x->req, data, size * n) ? size * n : 0;
}

/* --- starting a transfer ---------------------------------------------------------------------- */

static void add_line(struct flight *f, const char *name, const char *value)
{
	/* To send a header without a value, libcurl requires the spelling "Name;". */
	char *line = *value ? mem_printf("%s: %s", name, value) : mem_printf("%s;", name);
	struct curl_slist *longer = curl_slist_append(f->headers, line);

	assert(longer); /* curl_slist_append() fails only without memory. */
	f->headers = longer;
	secret_wipe(line, strlen(line));
	free(line);
}

static void remove_line(struct flight *f, const char *line)
{
	struct curl_slist *longer = curl_slist_append(f->headers, line);

	assert(longer);
	f->headers = longer;
}

static bool has_header(const struct http_exchange *x, const char *name)
{
	for (size_t i = 0; i < x->nheaders; i++)
		if (!strcasecmp(x->headers[i].name, name))
			return true;
	return false;
}

static void set_headers(struct flight *f)
{
	const struct http_exchange *x = f->x;

	for (size_t i = 0; i < x->nheaders; i++)
		add_line(f, x->headers[i].name, x->headers[i].value);
	if (!has_header(x, "Accept-Encoding"))
		add_line(f, "Accept-Encoding", "identity");
	remove_line(f, "Expect:"); /* Remove the Expect header that libcurl would add by itself. */
	if (!has_header(x, "Content-Type"))
		remove_line(f, "Content-Type:");
}

/* Puts the server name into the URL, where libcurl reads it for the certificate check and SNI. The
 * connection still goes to the original host, and the server receives the original Host header. */
static void set_server_name(struct flight *f)
{
	const struct http_exchange *x = f->x;
	const char *authority = strstr(x->origin, "://") + 3;
	const char *port = strrchr(authority, ':') + 1;
	char *url = mem_printf("https://%s:%s%s", x->peer->server_name, port,
			       x->url + strlen(x->origin));
	/* Leave the first two parts empty, which are the host and port to replace: empty parts
	 * match any host and port. A host there might not match, because libcurl normalises some
	 * hosts before it compares them. */
	char *to = mem_printf("::%s", authority);

	curl_easy_setopt(f->easy, CURLOPT_URL, url);
	f->connect_to = curl_slist_append(NULL, to);
	assert(f->connect_to);
	curl_easy_setopt(f->easy, CURLOPT_CONNECT_TO, f->connect_to);
	if (!has_header(x, "Host"))
		add_line(f, "Host", authority);
	free(url);
	free(to);
}

static void set_method(struct flight *f)
{
	const struct http_exchange *x = f->x;
	bool body = x->body || !strcmp(x->method, "POST") || !strcmp(x->method, "PUT") ||
		    !strcmp(x->method, "PATCH");

	if (!strcmp(x->method, "HEAD")) {
		curl_easy_setopt(f->easy, CURLOPT_NOBODY, 1L);
		return;
	}
	if (body) {
		curl_easy_setopt(f->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->body_len);
		curl_easy_setopt(f->easy, CURLOPT_POSTFIELDS, x->body ? x->body : "");
	}
	curl_easy_setopt(f->easy, CURLOPT_CUSTOMREQUEST, x->method);
}

static void set_behaviour(struct flight *f)
{
	CURL *c = f->easy;

	curl_easy_setopt(c, CURLOPT_PRIVATE, f);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, f->text);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	/* An empty text disables proxies, also those from the environment. */
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	/* Do not cache TLS sessions. A handle serves several peers in turn, and a session with one
	 * peer proves nothing about the next. */
	curl_easy_setopt(c, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	curl_easy_setopt(c, CURLOPT_QUICK_EXIT,
			 /* QUICK_EXIT: a cancel does not wait until the resolver thread has
			  * finished. */
			 1L);
	/* Disable libcurl's DNS cache, which it walks completely for each request (2,000 hosts: a
	 * third of the processor time). Connections stay open, so names are rarely resolved. */
	curl_easy_setopt(c, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)f->x->connect_ms);
	if (!changes_nothing(f->x))
		curl_easy_setopt(c, CURLOPT_MAXAGE_CONN, REUSE_IDLE_S);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_EVERY_S);
	/* Enable decompression of replies; set_headers() still requests Accept-Encoding:
	 * identity. */
	if (f->x->unpack)
		curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "");
	if (f->x->piece_bytes)
		curl_easy_setopt(c, CURLOPT_BUFFERSIZE, (long)f->x->piece_bytes);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, f);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, f);
	curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, on_open);
	curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, f);
	curl_easy_setopt(c, CURLOPT_CLOSESOCKETFUNCTION, on_close);
	/* Pass the shard, not f, because the connection outlives f. */
	curl_easy_setopt(c, CURLOPT_CLOSESOCKETDATA, f->s);
	curl_easy_setopt(c, CURLOPT_PREREQFUNCTION, on_prerequest);
	curl_easy_setopt(c, CURLOPT_PREREQDATA, f);
}

static struct shard *shard_new(struct curl_transport *t)
{
	struct shard *s = mem_new(struct shard);
	/* Limit of the shard: more than an equal share of the connections, because peers do not
	 * spread evenly. */
	long most = (long)t->max_connections / SHARDS * 2 + 16;

	s->t = t;
	s->group = t->group;
	s->multi = curl_multi_init();
	assert(s->multi); /* curl_multi_init() fails only without memory. */
	loop_timer_init(&s->timer, t->group, on_timer, s);
	curl_multi_setopt(s->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
	curl_multi_setopt(s->multi, CURLMOPT_SOCKETDATA, s);
	curl_multi_setopt(s->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
	curl_multi_setopt(s->multi, CURLMOPT_TIMERDATA, s);
	curl_multi_setopt(s->multi, CURLMOPT_MAXCONNECTS, most);
	curl_multi_setopt(s->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	return s;
}

static struct shard *shard_of(struct curl_transport *t, const char *origin)
{
	uint32_t h = 2166136261u; /* Choose the shard by an FNV-1a hash of the origin. */

	for (const char *s = origin; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	h %= SHARDS;
	if (!t->shards[h])
		t->shards[h] = shard_new(t);
	return t->shards[h];
}

static int curl_start(struct http_transport *base, struct http_exchange *x, struct err *e)
{
	struct curl_transport *t = container_of(base, struct curl_transport, base);
	struct flight *f = mem_new(struct flight);
	CURLMcode rc;

	f->s = shard_of(t, x->origin);
	f->x = x;
	f->credit = true;
	list_init(&f->link);
	f->easy = handle_take(t);
	set_behaviour(f);
	http_curl_set_trust(f);
	set_method(f);
	set_headers(f);
	if (x->peer->server_name)
		set_server_name(f);
	else
		curl_easy_setopt(f->easy, CURLOPT_URL, x->url);
	curl_easy_setopt(f->easy, CURLOPT_HTTPHEADER, f->headers);
	rc = curl_multi_add_handle(f->s->multi, f->easy);
	if (rc != CURLM_OK) {
		flight_free(f);
		return err_set(e, ERR_UNAVAILABLE, (int)rc, "%s: %s", x->origin,
			       curl_multi_strerror(rc));
	}
	x->state = f;
	return 0;
}

static void curl_want(struct http_transport *base, struct http_exchange *x)
{
	struct curl_transport *t = container_of(base, struct curl_transport, base);
	struct flight *f = x->state;

	f->credit = true;
	if (f->paused && !list_linked(&f->link)) {
		list_push_back(&t->wanting, &f->link);
		loop_defer(&t->resume);
	}
}

static void curl_cancel(struct http_transport *base, struct http_exchange *x)
{
	(void)base;
	flight_free(x->state);
	x->state = NULL;
}

static void curl_free_(struct http_transport *base)
{
	struct curl_transport *t = container_of(base, struct curl_transport, base);

	for (size_t i = 0; i < SHARDS; i++) {
		if (!t->shards[i])
			continue;
		curl_multi_cleanup(t->shards[i]->multi);
		loop_timer_stop(&t->shards[i]->timer);
		free(t->shards[i]);
	}
	loop_defer_cancel(&t->resume);
	while (t->nspare)
		curl_easy_cleanup(t->spare[--t->nspare]);
	watches_done(&t->watches);
	free(t);
	curl_global_cleanup();
}

struct http_transport *http_curl_new(struct loop_group *g, unsigned max_connections)
{
	static const struct http_transport_ops ops = {
		.start = curl_start,
		.want = curl_want,
		.cancel = curl_cancel,
		.free = curl_free_,
	};
	struct curl_transport *t = mem_new(struct curl_transport);

	/* curl_global_init() may be called repeatedly, because libcurl counts the calls. */
	curl_global_init(CURL_GLOBAL_DEFAULT);
	t->base.ops = &ops;
	t->group = g;
	t->max_connections = max_connections;
	watches_init(&t->watches, g, on_fd);
	list_init(&t->wanting);
	loop_defer_init(&t->resume, g, on_resume, t);
	return &t->base;
}
