#include "tests/unit/testing.h"

#include "tests/unit/base/http/http_rig.h"

#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/crypto.h"
#include "base/str.h"

#define OVER_TLS(name)                                                                             \
	static void over_tls_##name(void **state)                                                  \
	{                                                                                          \
		struct rig r;                                                                      \
                                                                                                   \
		(void)state;                                                                       \
		rig_start(&r, true);                                                               \
		name(&r);                                                                          \
		rig_stop(&r);                                                                      \
	}
HTTP_CASES(OVER_TLS)

/* --- trust ------------------------------------------------------------------------------------ */

static void try(struct rig *r, const struct http_peer_spec *spec, struct got *g)
{
	struct http_peer *old = r->p;
	struct err e;

	r->p = http_peer_new(r->h, spec, &e);
	if (!r->p)
		fail_msg("%s", e.text);
	rig_get(r, g, "/hello/x");
	http_peer_free(r->p);
	r->p = old;
}

static void a_server_of_another_ca_is_refused(void **state)
{
	struct http_peer_spec spec;
	struct secret *key;
	struct rig r;
	struct got g;
	struct err e;
	char *pem;

	(void)state;
	rig_start(&r, true);
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.status, 200);
	assert_ok(crypto_ca_new("test CA", loop_wall(r.loop), 2, &pem, &key, &e), &e);
	spec = rig_spec(&r);
	spec.ca_pem = pem;
	try(&r, &spec, &g);
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_DENIED);
	spec.ca_pem = NULL; /* the system's CAs */
	try(&r, &spec, &g);
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_DENIED);
	assert_int_equal(r.served, 1);
	free(pem);
	secret_free(key);
	rig_stop(&r);
}

static void the_address_behind_a_name_is_told_with_the_first_reply(void **state)
{
	struct rig r;
	struct got g;

	(void)state;
	rig_start(&r, true); /* URL: https://localhost */
	assert_null(http_peer_reached(r.p));
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.status, 200);
	assert_string_equal(http_peer_reached(r.p), "127.0.0.1");
	rig_stop(&r);
}

static void a_certificate_for_another_name_is_refused(void **state)
{
	static const char *const names[] = {"api.example", NULL};
	struct http_peer_spec spec;
	struct httpd_mhd *other;
	struct secret *key;
	char *cert, url[64];
	struct rig r;
	struct got g;
	struct err e;

	(void)state;
	rig_start(&r, true);
	assert_ok(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = r.ca_pem,
							       .ca_key = r.ca_key,
							       .cn = "x",
							       .names = names,
							       .wall_ms = loop_wall(r.loop),
							       .days = 2},
				    &cert, &key, &e),
		  &e);
	other = httpd_mhd_new(r.d,
			      &(struct httpd_mhd_spec){
				      .address = "127.0.0.1:0", .cert_pem = cert, .key_pem = key},
			      &e);
	assert_non_null(other);
	str_format(url, sizeof(url), "https://localhost:%u", httpd_mhd_port(other));
	spec = rig_spec(&r);
	spec.base_url = url;
	try(&r, &spec, &g);
	assert_int_equal(g.err.kind, ERR_DENIED);
	assert_int_equal(r.served, 0);
	spec.server_name = "api.example";
	try(&r, &spec, &g);
	assert_false(g.failed);
	assert_int_equal(g.status, 200);
	httpd_mhd_free(other); /* the listener is freed before its httpd */
	free(cert);
	secret_free(key);
	rig_stop(&r);
}

static void a_changed_certificate_is_refused_after_the_first(void **state)
{
	static const char *const names[] = {"localhost", NULL};
	struct http_peer_spec spec;
	struct http_peer *old;
	struct secret *key;
	char *cert, address[32];
	struct rig r;
	struct got g;
	struct err e;

	(void)state;
	rig_start(&r, true);
	spec = rig_spec(&r);
	spec.ca_pem = NULL;
	spec.learn_pin = true;
	old = r.p;
	r.p = http_peer_new(r.h, &spec, &e);
	rig_get(&r, &g, "/hello/x");
	assert_string_equal(http_peer_learned(r.p), r.pin);
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.status, 200);

	assert_ok(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = r.ca_pem,
							       .ca_key = r.ca_key,
							       .cn = "server",
							       .names = names,
							       .wall_ms = loop_wall(r.loop),
							       .days = 2},
				    &cert, &key, &e),
		  &e);
	str_format(address, sizeof(address), "127.0.0.1:%u", httpd_mhd_port(r.mhd));
	httpd_mhd_free(r.mhd);
	r.mhd = httpd_mhd_new(
		r.d, &(struct httpd_mhd_spec){.address = address, .cert_pem = cert, .key_pem = key},
		&e);
	if (!r.mhd)
		fail_msg("%s", e.text);
	rig_get(&r, &g, "/hello/x");
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_DENIED);
	assert_int_equal(r.served, 2);
	http_peer_free(r.p);
	r.p = old;
	free(cert);
	secret_free(key);
	rig_stop(&r);
}

static void a_client_certificate_of_another_ca_is_no_identity(void **state)
{
	static const char *const names[] = {"x", NULL};
	struct secret *ca_key, *key;
	struct http_peer_spec spec;
	char *ca, *cert;
	struct http_peer *old;
	struct rig r;
	struct got g;
	struct err e;

	(void)state;
	rig_start(&r, true);
	assert_ok(crypto_ca_new("test CA", loop_wall(r.loop), 2, &ca, &ca_key, &e), &e);
	assert_ok(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = ca,
							       .ca_key = ca_key,
							       .cn = "tester",
							       .names = names,
							       .wall_ms = loop_wall(r.loop),
							       .days = 2},
				    &cert, &key, &e),
		  &e);
	spec = rig_spec(&r);
	spec.client_cert_pem = cert;
	spec.client_key_pem = key;
	old = r.p;
	r.p = http_peer_new(r.h, &spec, &e);
	rig_get(&r, &g, "/who");
	assert_string_equal(r.seen, "-/-");
	http_peer_free(r.p);
	spec.client_cert_pem = NULL;
	spec.client_key_pem = NULL;
	r.p = http_peer_new(r.h, &spec, &e);
	rig_get(&r, &g, "/who");
	assert_string_equal(r.seen, "-/-");
	http_peer_free(r.p);
	r.p = old;
	rig_get(&r, &g, "/who");
	assert_string_equal(r.seen, "tester/-");
	free(ca);
	free(cert);
	secret_free(ca_key);
	secret_free(key);
	rig_stop(&r);
}

/* --- servers that misbehave ------------------------------------------------------------------- */

/* A server that sends the same bytes on every connection, or nothing. */
struct raw {
	struct loop_group *g;
	struct loop_fd *listener;
	int fd, conn;
	unsigned accepted;
	const char *answer;
	size_t len;
	bool shut;
	char url[64];
};

static void on_raw(int events, void *arg)
{
	struct raw *s = arg;

	(void)events;
	if (s->conn >= 0)
		close(s->conn);
	s->conn = accept(s->fd, NULL, NULL);
	s->accepted++;
	if (s->answer)
		(void)!write(s->conn, s->answer, s->len);
	if (s->shut)
		shutdown(s->conn, SHUT_WR);
}

static void raw_start(struct raw *s, struct rig *r, const char *answer, bool shut)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof(a);

	*s = (struct raw){
		.conn = -1, .answer = answer, .len = answer ? strlen(answer) : 0, .shut = shut};
	s->g = loop_group_new(r->loop, "raw");
	s->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s->fd, 10), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&a, &n), 0);
	s->listener = loop_fd(s->g, s->fd, on_raw, s);
	loop_fd_want(s->listener, LOOP_READ);
	str_format(s->url, sizeof(s->url), "http://127.0.0.1:%u/", ntohs(a.sin_port));
}

static void raw_stop(struct raw *s)
{
	loop_fd_free(s->listener);
	close(s->fd);
	if (s->conn >= 0)
		close(s->conn);
	loop_group_free(s->g);
}

static void ask_raw(struct rig *r, struct got *g, const char *answer, bool shut,
		    uint32_t timeout_ms, unsigned *accepted)
{
	struct http_peer *old = r->p;
	struct raw s;
	struct err e;

	raw_start(&s, r, answer, shut);
	r->p = http_peer_new(r->h, &(struct http_peer_spec){.base_url = s.url, .plain_ok = true},
			     &e);
	assert_non_null(r->p);
	rig_call(r, g, (struct http_call){.path = "/", .timeout_ms = timeout_ms});
	rig_done(r, g);
	http_peer_free(r->p);
	r->p = old;
	*accepted = s.accepted;
	raw_stop(&s);
}

/* Makes one call to a server that sends this answer; *g gets the result. */
static void ask_answer(struct rig *r, struct got *g, const char *answer, size_t len,
		       struct http_call call)
{
	struct http_peer *old = r->p;
	struct raw s;
	struct err e;

	raw_start(&s, r, answer, true);
	s.len = len;
	r->p = http_peer_new(r->h, &(struct http_peer_spec){.base_url = s.url, .plain_ok = true},
			     &e);
	assert_non_null(r->p);
	call.path = "/";
	rig_call(r, g, call);
	rig_done(r, g);
	http_peer_free(r->p);
	r->p = old;
	raw_stop(&s);
}

/* {"a": "a, a hundred times"}, compressed although the client did not accept compression. */
static const char compressed[] =
	"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 31"
	"\r\n\r\n"
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x4a\x54\xb2\x52\x4a"
	"\xa4\x03\x50\xaa\x05\x00\x71\x68\x35\x74\x6c\x00\x00\x00";

static void what_is_compressed_unasked_is_read_within_its_bound(void **state)
{
	struct rig r;
	struct got g;

	(void)state;
	rig_start(&r, true);
	ask_answer(&r, &g, compressed, sizeof(compressed) - 1,
		   (struct http_call){.unpack = true, .max_body = 108});
	assert_false(g.failed);
	assert_int_equal(g.len, 108);
	assert_true(str_starts(g.body, "{\"a\":\"aaaa"));
	ask_answer(&r, &g, compressed, sizeof(compressed) - 1,
		   (struct http_call){.unpack = true, .max_body = 107});
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_PROTOCOL);
	ask_answer(&r, &g, compressed, sizeof(compressed) - 5,
		   (struct http_call){.unpack = true, .max_body = 108});
	assert_true(g.failed);
	ask_answer(&r, &g, compressed, sizeof(compressed) - 1, (struct http_call){0});
	assert_false(g.failed);
	assert_int_equal(g.len, 31); /* not decompressed: images may be compressed files */
	rig_stop(&r);
}

static void trailers_are_no_headers(void **state)
{
	static const char answer[] =
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Location\r\n\r\n"
		"3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nLocation: https://b\r\n\r\n";
	struct rig r;
	struct got g;

	(void)state;
	rig_start(&r, true);
	ask_answer(&r, &g, answer, sizeof(answer) - 1, (struct http_call){0});
	assert_false(g.failed);
	assert_string_equal(g.body, "abcdefg");
	rig_stop(&r);
}

static void nonsense_from_a_server_is_an_error(void **state)
{
	static const struct {
		const char *answer;
		bool shut;
		enum err_kind kind;
	} cases[] = {
		{NULL, false, ERR_TIMEOUT},
		{NULL, true, ERR_UNAVAILABLE},
		{"220 smtp\r\n", true, ERR_PROTOCOL},
		{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", true, ERR_UNAVAILABLE},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", true,
		 ERR_UNAVAILABLE},
		{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", false, ERR_TIMEOUT},
	};
	struct rig r;
	struct got g;
	unsigned accepted;

	(void)state;
	rig_start(&r, true);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ask_raw(&r, &g, cases[i].answer, cases[i].shut,
			cases[i].kind == ERR_TIMEOUT ? 60 : 0, &accepted);
		assert_true(g.failed);
		assert_int_equal(g.err.kind, cases[i].kind);
	}
	rig_stop(&r);
}

static void too_many_headers_are_refused(void **state)
{
	char *answer = malloc(40000);
	size_t n;
	unsigned accepted;
	struct rig r;
	struct got g;

	(void)state;
	n = (size_t)sprintf(answer, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 1000; i++)
		n += (size_t)sprintf(answer + n, "X-Header-%d: value\r\n", i);
	sprintf(answer + n, "\r\n");
	rig_start(&r, true);
	ask_raw(&r, &g, answer, true, 0, &accepted);
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_PROTOCOL);
	rig_stop(&r);
	free(answer);
}

/* --- names that resolve to this machine ------------------------------------------------------- */

static unsigned lookups;

/* Replaces getaddrinfo() for libcurl: each name below rebound.example resolves to 127.0.0.1, as its
 * owner's DNS server may answer at any moment (DNS rebinding). */
__attribute__((visibility("default"))) int getaddrinfo(const char *node, const char *service,
						       const struct addrinfo *hints,
						       struct addrinfo **res)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
	bool ours = node && str_ends(node, ".rebound.example");

	memcpy(&real, &symbol, sizeof(real));
	lookups += ours;
	return real(ours ? "127.0.0.1" : node, service, hints, res);
}

static void a_name_does_not_lead_to_this_machine(void **state)
{
	struct http_peer_spec spec;
	char url[64];
	struct rig r;
	struct got g;

	(void)state;
	rig_start(&r, true);
	spec = rig_spec(&r);
	str_format(url, sizeof(url), "https://a.rebound.example:%u", httpd_mhd_port(r.mhd));
	spec.base_url = url;
	spec.server_name = "localhost";
	lookups = 0;
	try(&r, &spec, &g);
	assert_int_equal(lookups, 1);
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_DENIED);
	assert_non_null(strstr(g.err.text, "leads to a loopback or link-local address"));
	assert_int_equal(r.served, 0);

	/* Port 1 is closed. If a packet were sent, the connection would be reported as refused. */
	spec.base_url = "https://a.rebound.example:1";
	try(&r, &spec, &g);
	assert_int_equal(g.err.kind, ERR_DENIED);
	spec.base_url = url;
	lookups = 1;

	spec.local_ok = true;
	try(&r, &spec, &g);
	assert_int_equal(g.status, 200);
	assert_int_equal(lookups, 2);

	/* The connection stays open, but a peer that may not open it must not use it. */
	spec.local_ok = false;
	try(&r, &spec, &g);
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_DENIED);
	assert_int_equal(lookups, 2);
	assert_int_equal(r.served, 1);
	rig_stop(&r);
}

static bool but_not_its_port(const char *address, int port, void *arg)
{
	const struct rig *r = arg;

	return !(str_eq(address, "127.0.0.1") && port == (int)httpd_mhd_port(r->mhd));
}

/* may_reach() is called with the resolved address, whatever the name. It is also called before a
 * connection that another peer opened is reused. */
static void an_owner_says_where_its_peer_may_not_go(void **state)
{
	struct http_peer_spec spec;
	struct rig r;
	struct got g;
	char url[80];

	(void)state;
	rig_start(&r, true);
	spec = rig_spec(&r);
	str_format(url, sizeof(url), "https://a.rebound.example:%u", httpd_mhd_port(r.mhd));
	spec.base_url = url;
	spec.server_name = "localhost";
	spec.local_ok = true;
	spec.may_reach = but_not_its_port;
	spec.may_reach_arg = &r;
	try(&r, &spec, &g);
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_DENIED);
	assert_non_null(strstr(g.err.text, "an address that this connection may not reach"));
	assert_int_equal(r.served, 0);
	spec.may_reach = NULL;
	try(&r, &spec, &g);
	assert_int_equal(g.status, 200);
	spec.may_reach = but_not_its_port;
	try(&r, &spec, &g);
	assert_int_equal(g.err.kind, ERR_DENIED);
	assert_int_equal(r.served, 1);
	rig_stop(&r);
}

static void redirects_are_not_followed(void **state)
{
	unsigned accepted;
	struct rig r;
	struct got g;

	(void)state;
	rig_start(&r, true);
	ask_raw(&r, &g,
		"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
		true, 0, &accepted);
	assert_false(g.failed);
	assert_int_equal(g.status, 302);
	assert_int_equal(accepted, 1);
	rig_stop(&r);
}

static void proxies_of_the_environment_are_ignored(void **state)
{
	static const char *const names[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
	struct rig r;
	struct got g;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		setenv(names[i], "http://127.0.0.1:1", 1);
	rig_start(&r, true);
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.status, 200);
	rig_stop(&r);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
}

/* A server that breaks a reused connection after the request was sent. The server may have acted on
 * the request. */
struct flaky {
	struct raw raw;
	struct loop_fd *conn;
	unsigned requests;
};

static void on_flaky_data(int events, void *arg)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	struct flaky *s = arg;
	char data[4096];

	(void)events;
	if (read(s->raw.conn, data, sizeof(data)) > 0 && ++s->requests % 2) {
		assert_int_equal(write(s->raw.conn, ok, sizeof(ok) - 1), sizeof(ok) - 1);
		return;
	}
	loop_fd_free(s->conn);
	s->conn = NULL;
	close(s->raw.conn);
	s->raw.conn = -1;
}

static void on_flaky(int events, void *arg)
{
	struct flaky *s = arg;

	(void)events;
	s->raw.conn = accept(s->raw.fd, NULL, NULL);
	s->raw.accepted++;
	s->conn = loop_fd(s->raw.g, s->raw.conn, on_flaky_data, s);
	loop_fd_want(s->conn, LOOP_READ);
}

static void only_what_changes_nothing_is_sent_twice(void **state)
{
	static const char *const methods[] = {"POST", "GET"};
	struct rig r;
	struct got g;
	struct err e;

	(void)state;
	rig_start(&r, true);
	for (int i = 0; i < 2; i++) {
		struct http_peer *old = r.p;
		struct flaky s = {0};

		raw_start(&s.raw, &r, NULL, false);
		loop_fd_free(s.raw.listener);
		s.raw.listener = loop_fd(s.raw.g, s.raw.fd, on_flaky, &s);
		loop_fd_want(s.raw.listener, LOOP_READ);
		r.p = http_peer_new(
			r.h, &(struct http_peer_spec){.base_url = s.raw.url, .plain_ok = true}, &e);
		rig_call(&r, &g, (struct http_call){.path = "/"});
		rig_done(&r, &g);
		assert_string_equal(g.body, "ok");
		rig_call(&r, &g, (struct http_call){.method = methods[i], .path = "/"});
		rig_done(&r, &g);
		assert_int_equal(g.failed, i == 0);
		assert_int_equal(s.requests, 2 + i);
		if (g.failed)
			assert_int_equal(g.err.kind, ERR_UNAVAILABLE);
		http_peer_free(r.p);
		r.p = old;
		loop_fd_free(s.conn);
		raw_stop(&s.raw);
	}
	rig_stop(&r);
}

/* An idle connection is checked at once: neither the loop nor the next request suffers when the
 * server closes it. */
static void a_kept_connection_that_the_server_closes_does_not_keep_the_loop_busy(void **state)
{
	struct http_peer *old;
	uint64_t turns;
	struct raw s;
	struct rig r;
	struct got g;
	struct err e;

	(void)state;
	rig_start(&r, true);
	old = r.p;
	raw_start(&s, &r, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false);
	r.p = http_peer_new(r.h, &(struct http_peer_spec){.base_url = s.url, .plain_ok = true}, &e);
	rig_get(&r, &g, "/");
	assert_string_equal(g.body, "ok");
	shutdown(s.conn, SHUT_WR);
	turns = loop_stats(r.loop).turns;
	rig_run_ms(&r, 300);
	/* About 300 turns are due to rig_run_ms(), which checks its condition each millisecond. */
	assert_in_range(loop_stats(r.loop).turns - turns, 1, 600);
	rig_get(&r, &g, "/");
	assert_string_equal(g.body, "ok");
	assert_int_equal(s.accepted, 2);
	http_peer_free(r.p);
	r.p = old;
	raw_stop(&s);
	rig_stop(&r);
}

/* The connection is never established: a machine without power, or a network that drops packets.
 * libcurl closes such a socket without notice. */
static void a_connection_that_never_stands_leaves_nothing_watched(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0), full[4], pair[8][2];
	struct http_peer *old;
	char url[64];
	struct rig r;
	struct got g;
	struct err e;

	(void)state;
	rig_start(&r, true);
	old = r.p;
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 0), 0); /* nothing calls accept() */
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	for (size_t i = 0; i < 4; i++) {
		full[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(full[i], (struct sockaddr *)&a, sizeof(a));
	}
	str_format(url, sizeof(url), "http://127.0.0.1:%u/", ntohs(a.sin_port));
	r.p = http_peer_new(r.h, &(struct http_peer_spec){.base_url = url, .plain_ok = true}, &e);
	for (int i = 0; i < 3; i++) {
		struct loop_group *others = loop_group_new(r.loop, "others");
		struct loop_fd *watched[8];

		rig_call(&r, &g, (struct http_call){.path = "/", .timeout_ms = 50});
		rig_done(&r, &g);
		assert_true(g.failed);
		assert_int_equal(g.err.kind, ERR_TIMEOUT);
		/* The same file descriptor number now belongs to another watch. */
		for (size_t k = 0; k < 8; k++) {
			assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair[k]), 0);
			watched[k] = loop_fd(others, pair[k][0], on_raw, NULL);
			loop_fd_want(watched[k], LOOP_READ);
		}
		rig_run_ms(&r, 20);
		for (size_t k = 0; k < 8; k++) {
			loop_fd_free(watched[k]);
			close(pair[k][0]);
			close(pair[k][1]);
		}
		loop_group_free(others);
	}
	for (size_t i = 0; i < 4; i++)
		close(full[i]);
	close(fd);
	http_peer_free(r.p);
	r.p = old;
	rig_get(&r, &g, "/hello/x");
	assert_int_equal(g.status, 200);
	rig_stop(&r);
}

int main(void)
{
#define ENTRY(name) cmocka_unit_test(over_tls_##name),
	const struct CMUnitTest tests[] = {
		HTTP_CASES(ENTRY) cmocka_unit_test(a_server_of_another_ca_is_refused),
		cmocka_unit_test(the_address_behind_a_name_is_told_with_the_first_reply),
		cmocka_unit_test(a_certificate_for_another_name_is_refused),
		cmocka_unit_test(a_changed_certificate_is_refused_after_the_first),
		cmocka_unit_test(a_client_certificate_of_another_ca_is_no_identity),
		cmocka_unit_test(nonsense_from_a_server_is_an_error),
		cmocka_unit_test(what_is_compressed_unasked_is_read_within_its_bound),
		cmocka_unit_test(trailers_are_no_headers),
		cmocka_unit_test(too_many_headers_are_refused),
		cmocka_unit_test(a_name_does_not_lead_to_this_machine),
		cmocka_unit_test(an_owner_says_where_its_peer_may_not_go),
		cmocka_unit_test(redirects_are_not_followed),
		cmocka_unit_test(proxies_of_the_environment_are_ignored),
		cmocka_unit_test(only_what_changes_nothing_is_sent_twice),
		cmocka_unit_test(
			a_kept_connection_that_the_server_closes_does_not_keep_the_loop_busy),
		cmocka_unit_test(a_connection_that_never_stands_leaves_nothing_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
