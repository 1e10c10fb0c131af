#include "tests/unit/testing.h"

#include "tests/unit/base/http/http_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/str.h"

/* A client other than drover's own, over plain TCP to a second listener of the rig. */
struct plain {
	struct rig r;
	struct httpd_mhd *mhd;
	int fd;
	char got[65536];
	size_t len;
	bool closed;
	const char *want;
};

static void dial(struct plain *p)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)httpd_mhd_port(p->mhd)),
		.sin_addr = {htonl(INADDR_LOOPBACK)},
	};

	p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(p->fd, (struct sockaddr *)&a, sizeof(a)), 0);
	p->len = 0;
	p->closed = false;
	memset(p->got, 0, sizeof(p->got));
}

static struct plain *start_with(int64_t head_ms, int64_t body_ms, bool tls)
{
	struct plain *p = calloc(1, sizeof(*p));
	struct err e;

	rig_start(&p->r, true);
	p->mhd = httpd_mhd_new(p->r.d,
			       &(struct httpd_mhd_spec){
				       .address = "127.0.0.1:0",
				       .cert_pem = tls ? p->r.cert_pem : NULL,
				       .key_pem = tls ? p->r.key : NULL,
				       .head_ms = head_ms,
				       .body_ms = body_ms,
			       },
			       &e);
	if (!p->mhd)
		fail_msg("%s", e.text);
	dial(p);
	return p;
}

static struct plain *start(void)
{
	return start_with(0, 0, false);
}

static void stop(struct plain *p)
{
	if (p->fd >= 0)
		close(p->fd);
	httpd_mhd_free(p->mhd);
	rig_stop(&p->r);
	free(p);
}

static void take(struct plain *p)
{
	ssize_t n = recv(p->fd, p->got + p->len, sizeof(p->got) - 1 - p->len, MSG_DONTWAIT);

	if (n > 0)
		p->len += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
		p->closed = true;
}

static bool has_wanted(void *arg)
{
	struct plain *p = arg;

	take(p);
	return strstr(p->got, p->want) != NULL;
}

static bool is_closed(void *arg)
{
	struct plain *p = arg;

	take(p);
	return p->closed;
}

static bool has_something(void *arg)
{
	struct plain *p = arg;

	take(p);
	return p->len > 0 || p->closed;
}

static void say(struct plain *p, const char *text)
{
	assert_int_equal(send(p->fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void expect(struct plain *p, const char *text)
{
	p->want = text;
	rig_until(&p->r, has_wanted, p);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
	struct plain *p = start();

	(void)state;
	say(p, "GET /hello/1 HTTP/1.1\r\nHost: x\r\n\r\nGET /hello/2 HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(p, "[2]");
	assert_true(strstr(p->got, "[1]") < strstr(p->got, "[2]"));
	assert_false(p->closed);
	stop(p);
}

static void an_old_client_is_answered_and_closed(void **state)
{
	struct plain *p = start();

	(void)state;
	say(p, "GET /hello/1 HTTP/1.0\r\n\r\n");
	expect(p, "[1]");
	rig_until(&p->r, is_closed, p);
	stop(p);
}

static void a_small_refused_body_does_not_cost_the_connection(void **state)
{
	struct plain *p = start();

	(void)state;
	say(p, "PUT /small HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n0123456789a");
	expect(p, "too large");
	assert_non_null(strstr(p->got, " 413 "));
	say(p, "GET /hello/1 HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(p, "[1]");
	stop(p);
}

static void a_chunked_body_over_the_limit_is_refused(void **state)
{
	struct plain *p = start();

	(void)state;
	say(p, "PUT /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	       "8\r\n01234567\r\n8\r\n01234567\r\n0\r\n\r\n");
	expect(p, "too large");
	assert_non_null(strstr(p->got, " 413 "));
	assert_int_equal(p->r.served, 0);
	stop(p);
}

static void an_endless_refused_body_ends_the_connection(void **state)
{
	static char chunk[8192 + 16];
	struct plain *p = start();

	(void)state;
	say(p, "PUT /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
	memset(chunk, 'x', sizeof(chunk));
	memcpy(chunk, "2000\r\n", 6);
	memcpy(chunk + 6 + 8192, "\r\n", 2);
	for (int i = 0; i < 200 && !p->closed; i++) {
		(void)!send(p->fd, chunk, 6 + 8192 + 2, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (i % 10 == 0) {
			rig_run_ms(&p->r, 1);
			take(p);
		}
	}
	rig_until(&p->r, is_closed, p);
	assert_int_equal(p->r.served, 0);
	stop(p);
}

static void a_long_body_is_refused_before_it_is_sent(void **state)
{
	struct plain *p = start();

	(void)state;
	say(p, "PUT /small HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n"
	       "Expect: 100-continue\r\n\r\n");
	expect(p, " 413 ");
	assert_null(strstr(p->got, "100 Continue"));
	rig_until(&p->r, is_closed, p);
	stop(p);
}

static void headers_have_a_limit(void **state)
{
	struct plain *p = start();
	char *line = malloc(20000);

	(void)state;
	memset(line, 'a', 20000);
	memcpy(line, "GET /hello/1 HTTP/1.1\r\nHost: x\r\nX-Long: ", 40);
	line[12000] = '\0';
	say(p, line);
	rig_until(&p->r, is_closed, p);
	assert_int_equal(p->r.served, 0);
	if (p->len)
		assert_non_null(strstr(p->got, "HTTP/1.1 4"));
	free(line);
	stop(p);
}

static void a_client_that_leaves_in_the_middle_is_forgotten(void **state)
{
	struct plain *p = start();

	(void)state;
	say(p, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
	rig_run_ms(&p->r, 5);
	close(p->fd);
	dial(p);
	say(p, "GET /zeros HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(p, "000000");
	assert_int_equal(p->r.served, 1);
	close(p->fd);
	p->fd = -1;
	rig_until(&p->r, rig_gone, &p->r);
	assert_int_equal(p->r.readers_done, 1);
	stop(p);
}

static void nonsense_is_refused(void **state)
{
	static const char *const lines[] = {
		"GET /../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET //hello/1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://x/hello/1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /hello/%00 HTTP/1.1\r\nHost: x\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"PUT /small HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"\x16\x03\x01\x02\r\n\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct plain *p = start();

		say(p, lines[i]);
		rig_until(&p->r, has_something, p);
		assert_int_equal(p->r.served, 0);
		assert_null(strstr(p->got, " 200 "));
		stop(p);
	}
}

static void a_listener_may_go_before_its_httpd(void **state)
{
	struct plain *p = start();

	(void)state;
	say(p, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_until(&p->r, rig_served, &p->r);
	httpd_mhd_free(p->mhd);
	p->mhd = NULL;
	assert_int_equal(p->r.gone, 1);
	rig_until(&p->r, is_closed, p);
	stop(p);
}

static void a_bad_listener_is_refused(void **state)
{
	struct plain *p = start();
	struct secret *no_key = secret_from_str("no key");
	char taken[32];
	const struct httpd_mhd_spec specs[] = {
		{.address = "localhost"},
		{.address = "127.0.0.1:66000"},
		{.address = "somewhere.example:80"},
		{.address = "192.0.2.1:0"},
		{.address = taken},
		{.address = "127.0.0.1:0", .cert_pem = "no certificate", .key_pem = no_key},
	};

	(void)state;
	str_format(taken, sizeof(taken), "127.0.0.1:%u", httpd_mhd_port(p->mhd));
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct err e = {0};

		assert_null(httpd_mhd_new(p->r.d, &specs[i], &e));
		assert_true(*e.text);
	}
	secret_free(no_key);
	stop(p);
}

static void connections_are_limited(void **state)
{
	struct plain *p = start();
	struct err e;
	int first;

	(void)state;
	httpd_mhd_free(p->mhd);
	p->mhd = httpd_mhd_new(
		p->r.d, &(struct httpd_mhd_spec){.address = "127.0.0.1:0", .max_connections = 1},
		&e);
	close(p->fd);
	dial(p);
	say(p, "GET /hello/1 HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(p, "[1]");
	first = p->fd;
	dial(p);
	say(p, "GET /hello/2 HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_run_ms(&p->r, 20);
	take(p);
	assert_int_equal(p->len, 0);
	close(first);
	expect(p, "[2]"); /* the request waited for a free connection slot */
	stop(p);
}

/* --- slow clients ----------------------------------------------------------------------------- */

/* Sends one byte at each check; true once the server has closed the connection. */
static bool is_closed_on_a_drip(void *arg)
{
	struct plain *p = arg;

	(void)!send(p->fd, "a", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	take(p);
	return p->closed;
}

static void a_client_that_stalls_in_the_head_is_closed(void **state)
{
	static const char *const heads[] = {"", "GET /he",
					    "GET /hello/1 HTTP/1.1\r\nHost: x\r\nX-A: b"};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		struct plain *p = start_with(50, 0, false);

		say(p, heads[i]);
		rig_until(&p->r, is_closed, p);
		assert_int_equal(p->len, 0);
		stop(p);
	}
}

static void a_client_that_stalls_in_its_handshake_is_closed(void **state)
{
	struct plain *p = start_with(50, 0, true);

	(void)state;
	say(p, "\x16\x03\x01\x02"); /* the beginning of a TLS record */
	rig_until(&p->r, is_closed, p);
	assert_int_equal(p->r.served, 0);
	stop(p);
}

static void a_head_that_drips_has_a_limit(void **state)
{
	struct plain *p = start_with(100, 0, false);

	(void)state;
	say(p, "GET /hello/1 HTTP/1.1\r\nHost: x\r\nX-Long: ");
	rig_until(&p->r, is_closed_on_a_drip, p);
	assert_int_equal(p->r.served, 0);
	/* closed by the time limit, before the head is too large (431) */
	assert_int_equal(p->len, 0);
	stop(p);
}

static void the_head_of_the_next_request_has_a_limit_too(void **state)
{
	struct plain *p = start_with(1000, 0, false);

	(void)state;
	say(p, "GET /hello/1 HTTP/1.1\r\nHost: x\r\n\r\nGET /hello/2");
	expect(p, "[1]");
	rig_until(&p->r, is_closed_on_a_drip, p);
	assert_int_equal(p->r.served, 1);
	/* closed by the time limit, before the head is too large */
	assert_null(strstr(p->got, "HTTP/1.1 4"));
	stop(p);
}

static void a_body_that_drips_has_a_limit(void **state)
{
	static const char *const heads[] = {
		"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n",
		/* Refused, but its body is read so that the client can receive the reply. */
		"PUT /small HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		struct plain *p = start_with(0, 100, false);

		say(p, heads[i]);
		rig_until(&p->r, is_closed_on_a_drip, p);
		assert_int_equal(p->r.served, 0);
		stop(p);
	}
}

static void who_waits_for_an_answer_has_all_the_time(void **state)
{
	static const char *const paths[] = {
		"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n", /* the server sends no reply yet */
		/* the server sends the beginning of its reply */
		"GET /stall HTTP/1.1\r\nHost: x\r\n\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct plain *p = start_with(1000, 1000, false);
		int waiting = p->fd;

		say(p, paths[i]);
		rig_until(&p->r, rig_served, &p->r);
		/* A connection that was opened later has been closed by its time limit. If the
		 * first one had such a limit, it would be closed by now, too. */
		dial(p);
		rig_until(&p->r, is_closed, p);
		close(p->fd);
		p->fd = waiting;
		p->closed = false;
		assert_int_equal(p->r.gone, 0);
		if (i == 0) {
			httpd_on_gone(p->r.waiting, NULL, NULL);
			httpd_reply(p->r.waiting, 200, "text/plain", "late", 4);
			expect(p, "late");
			say(p, "GET /hello/1 HTTP/1.1\r\nHost: x\r\n\r\n");
			expect(p, "[1]");
		} else {
			expect(p, "first");
			p->r.inside = 77;
			httpd_wake(p->r.waiting);
			expect(p, "second");
		}
		assert_false(p->closed);
		stop(p);
	}
}

static void a_client_that_leaves_in_a_later_wait_is_noticed(void **state)
{
	struct plain *p = start();

	(void)state;
	say(p, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_until(&p->r, rig_served, &p->r);
	httpd_reply_json(p->r.waiting, 200, "[1]");
	expect(p, "[1]");
	p->r.served = 0;
	say(p, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_until(&p->r, rig_served, &p->r);
	close(p->fd);
	p->fd = -1;
	rig_until(&p->r, rig_gone, &p->r);
	stop(p);
}

/* --- replies of one piece --------------------------------------------------------------------- */

/* Returns the number of TCP segments with data that have arrived at the client. */
static unsigned segments(const struct plain *p)
{
	struct tcp_info i;
	socklen_t size = sizeof(i);

	assert_int_equal(getsockopt(p->fd, IPPROTO_TCP, TCP_INFO, &i, &size), 0);
	return i.tcpi_data_segs_in;
}

static void a_short_text_arrives_with_its_headers(void **state)
{
	struct plain *p = start();

	(void)state;
	say(p, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_until(&p->r, rig_served, &p->r);
	httpd_on_gone(p->r.waiting, NULL, NULL);
	httpd_reply(p->r.waiting, 200, "text/plain", "at once", 7);
	expect(p, "at once");
	assert_int_equal(segments(p), 1);
	stop(p);
}

static void a_long_text_arrives_whole(void **state)
{
	enum { LONG = 200000 };
	struct plain *p = start();
	char *text = malloc(LONG);
	size_t n = 0;

	(void)state;
	memset(text, 'x', LONG - 3);
	memcpy(text + LONG - 3, "end", 3);
	say(p, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_until(&p->r, rig_served, &p->r);
	httpd_on_gone(p->r.waiting, NULL, NULL);
	httpd_reply(p->r.waiting, 200, "text/plain", text, LONG);
	do {
		n += p->len;
		p->len = 0;
		memset(p->got, 0, sizeof(p->got));
		rig_until(&p->r, has_something, p);
	} while (!strstr(p->got, "end"));
	n += p->len;
	assert_in_range(n, LONG, LONG + 500);
	free(text);
	stop(p);
}

/* A client over TLS. */
struct tls {
	gnutls_session_t session;
	gnutls_certificate_credentials_t credentials;
	char got[4096];
	size_t len;
	const char *want;
};

static bool has_shaken_hands(void *arg)
{
	return gnutls_handshake(((struct tls *)arg)->session) == 0;
}

static bool has_read(void *arg)
{
	struct tls *t = arg;
	ssize_t n = gnutls_record_recv(t->session, t->got + t->len, sizeof(t->got) - 1 - t->len);

	if (n > 0)
		t->len += (size_t)n;
	t->got[t->len] = '\0';
	return strstr(t->got, t->want) != NULL;
}

static void tls_start(struct tls *t, struct plain *p)
{
	assert_int_equal(gnutls_certificate_allocate_credentials(&t->credentials), 0);
	assert_int_equal(gnutls_init(&t->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK), 0);
	assert_int_equal(gnutls_set_default_priority(t->session), 0);
	assert_int_equal(gnutls_credentials_set(t->session, GNUTLS_CRD_CERTIFICATE, t->credentials),
			 0);
	assert_int_equal(fcntl(p->fd, F_SETFL, O_NONBLOCK), 0);
	gnutls_transport_set_int(t->session, p->fd);
	rig_until(&p->r, has_shaken_hands, t);
}

static void tls_stop(struct tls *t)
{
	gnutls_deinit(t->session);
	gnutls_certificate_free_credentials(t->credentials);
}

/* Answers a request over TLS with a text; returns the number of TCP segments of the reply,
 * up to the text `want`. */
static unsigned segments_of(const char *method, const char *want)
{
	struct plain *p = start_with(0, 0, true);
	struct tls t = {.want = want};
	char request[128], text[2000];
	unsigned n;

	tls_start(&t, p);
	str_format(request, sizeof(request), "%s /wait HTTP/1.1\r\nHost: x\r\n\r\n", method);
	assert_int_equal(gnutls_record_send(t.session, request, strlen(request)), strlen(request));
	rig_until(&p->r, rig_served, &p->r);
	n = segments(p);
	httpd_on_gone(p->r.waiting, NULL, NULL);
	memset(text, 'x', sizeof(text));
	memcpy(text + sizeof(text) - 3, "end", 3);
	httpd_reply(p->r.waiting, 200, "text/plain", text, sizeof(text));
	rig_until(&p->r, has_read, &t);
	n = segments(p) - n;
	tls_stop(&t);
	stop(p);
	return n;
}

static void headers_and_text_are_sent_together_over_tls(void **state)
{
	(void)state;
	assert_int_equal(segments_of("GET", "end"), 1);
	assert_int_equal(segments_of("HEAD", "\r\n\r\n"), 1);
}

/* --- many readers that are woken at once ------------------------------------------------------ */

#define CROWD 100

/* CROWD streams without data, and one request without a reply. */
struct crowd {
	struct loop_defer turn;
	struct httpd_req *q[CROWD], *asked;
	int fd[CROWD];
	unsigned begun, read;
	/* Number of streams that were read before the present turn, and the most in one turn. */
	unsigned before, most;
	/* Number of streams that were read by the end of the turn in which the reply to `asked` was
	 * read; -1: not yet. */
	int beside_reply;
	bool replied;
	bool ready;
};

static int64_t read_event(char *out, size_t max, uint64_t pos, void *arg)
{
	struct crowd *c = arg;

	(void)max;
	if (!c->ready || pos)
		return 0;
	c->read++;
	*out = '!';
	return 1;
}

static int64_t read_reply(char *out, size_t max, uint64_t pos, void *arg)
{
	struct crowd *c = arg;

	(void)max;
	if (pos)
		return -1;
	c->replied = true;
	*out = '!';
	return 1;
}

static void crowd_done(void *arg)
{
	(void)arg;
}

static void on_stream(struct httpd_req *q, void *arg)
{
	struct crowd *c = arg;
	struct httpd_reader r = {.read = read_event, .done = crowd_done, .arg = c, .size = -1};

	c->q[c->begun++] = q;
	httpd_reply_stream(q, 200, "text/plain", &r);
}

static void on_asked(struct httpd_req *q, void *arg)
{
	((struct crowd *)arg)->asked = q;
}

static void on_turn(void *arg)
{
	struct crowd *c = arg;

	if (c->read - c->before > c->most)
		c->most = c->read - c->before;
	c->before = c->read;
	if (c->replied && c->beside_reply < 0)
		c->beside_reply = (int)c->read;
	if (c->read < CROWD)
		loop_defer(&c->turn);
}

static bool all_wait(void *arg)
{
	const struct crowd *c = arg;

	return c->begun == CROWD && c->asked;
}

static bool all_were_read(void *arg)
{
	const struct crowd *c = arg;

	return c->read == CROWD && c->before == CROWD && c->replied;
}

static void woken_readers_do_not_delay_a_reply(void **state)
{
	struct plain *p = start();
	struct crowd c = {.beside_reply = -1};
	struct httpd_reader reply = {.read = read_reply, .done = crowd_done, .arg = &c, .size = 1};

	(void)state;
	httpd_route(p->r.d, "GET", "/stream", 0, on_stream, &c);
	httpd_route(p->r.d, "GET", "/asked", 0, on_asked, &c);
	say(p, "GET /asked HTTP/1.1\r\nHost: x\r\n\r\n");
	for (int i = 0; i < CROWD; i++) {
		int fd = p->fd;

		dial(p);
		c.fd[i] = p->fd;
		p->fd = fd;
		assert_int_equal(send(c.fd[i], "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n", 33, 0),
				 33);
	}
	rig_until(&p->r, all_wait, &c);
	rig_run_ms(&p->r, 5); /* All streams were asked for data, and wait. */
	loop_defer_init(&c.turn, p->r.server_g, on_turn, &c);
	loop_defer(&c.turn);
	c.ready = true;
	for (int i = 0; i < CROWD; i++)
		httpd_wake(c.q[i]);
	httpd_reply_stream(c.asked, 200, "text/plain", &reply);
	rig_until(&p->r, all_were_read, &c);
	assert_int_equal(c.beside_reply, 0);
	assert_true(c.most < CROWD / 2);
	for (int i = 0; i < CROWD; i++)
		close(c.fd[i]);
	stop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipelined_requests_are_answered_in_order),
		cmocka_unit_test(an_old_client_is_answered_and_closed),
		cmocka_unit_test(a_small_refused_body_does_not_cost_the_connection),
		cmocka_unit_test(a_chunked_body_over_the_limit_is_refused),
		cmocka_unit_test(an_endless_refused_body_ends_the_connection),
		cmocka_unit_test(a_long_body_is_refused_before_it_is_sent),
		cmocka_unit_test(headers_have_a_limit),
		cmocka_unit_test(a_client_that_leaves_in_the_middle_is_forgotten),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(a_listener_may_go_before_its_httpd),
		cmocka_unit_test(a_bad_listener_is_refused),
		cmocka_unit_test(connections_are_limited),
		cmocka_unit_test(a_client_that_stalls_in_the_head_is_closed),
		cmocka_unit_test(a_client_that_stalls_in_its_handshake_is_closed),
		cmocka_unit_test(a_head_that_drips_has_a_limit),
		cmocka_unit_test(the_head_of_the_next_request_has_a_limit_too),
		cmocka_unit_test(a_body_that_drips_has_a_limit),
		cmocka_unit_test(who_waits_for_an_answer_has_all_the_time),
		cmocka_unit_test(a_client_that_leaves_in_a_later_wait_is_noticed),
		cmocka_unit_test(a_short_text_arrives_with_its_headers),
		cmocka_unit_test(a_long_text_arrives_whole),
		cmocka_unit_test(headers_and_text_are_sent_together_over_tls),
		cmocka_unit_test(woken_readers_do_not_delay_a_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
