#include "tests/unit/testing.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/httpd/httpd_sender.h"

/* A sender and the other end of its socket, which keeps the boundaries of system calls. */
struct wire {
	struct httpd_sender s;
	gnutls_session_t session;
	int other;
};

static void wire_init(struct wire *w)
{
	int fds[2], small = 1;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
			 0);
	/* The kernel's minimum, which one large message fills. */
	assert_int_equal(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	assert_int_equal(gnutls_init(&w->session, GNUTLS_SERVER), 0);
	httpd_sender_init(&w->s, w->session, fds[0]);
	w->other = fds[1];
}

static void wire_done(struct wire *w)
{
	httpd_sender_done(&w->s);
	gnutls_deinit(w->session);
	close(w->s.fd);
	close(w->other);
}

static ssize_t push(struct wire *w, const char *text)
{
	size_t half = strlen(text) / 2;
	giovec_t v[] = {{(void *)text, half}, {(void *)(text + half), strlen(text) - half}};

	return httpd_sender_push(&w->s, v, 2);
}

static void assert_arrives(struct wire *w, const char *text)
{
	char got[64] = "";

	assert_int_equal(recv(w->other, got, sizeof(got) - 1, 0), strlen(text));
	assert_string_equal(got, text);
}

static void assert_nothing_arrives(struct wire *w)
{
	char got[64];

	assert_int_equal(recv(w->other, got, sizeof(got), 0), -1);
	assert_int_equal(errno, EAGAIN);
}

static void a_record_is_sent_at_once(void **state)
{
	struct wire w;

	(void)state;
	wire_init(&w);
	assert_int_equal(push(&w, "headers"), 7);
	assert_arrives(&w, "headers");
	wire_done(&w);
}

static void a_held_record_goes_with_the_next(void **state)
{
	struct wire w;

	(void)state;
	wire_init(&w);
	httpd_sender_hold(&w.s);
	assert_int_equal(push(&w, "headers"), 7);
	assert_nothing_arrives(&w);
	assert_int_equal(push(&w, "body"), 4);
	assert_arrives(&w, "headersbody");
	assert_int_equal(push(&w, "next"), 4);
	assert_arrives(&w, "next");
	wire_done(&w);
}

static void a_held_record_waits_for_a_full_socket(void **state)
{
	static char filler[16384];
	struct wire w;

	(void)state;
	wire_init(&w);
	while (send(w.s.fd, filler, 1024, 0) > 0)
		;
	httpd_sender_hold(&w.s);
	assert_int_equal(push(&w, "headers"), 7);
	errno = 0;
	assert_int_equal(push(&w, "body"), -1);
	assert_int_equal(errno, EAGAIN);
	while (recv(w.other, filler, sizeof(filler), 0) > 0)
		;
	assert_int_equal(push(&w, "body"), 4); /* gnutls passes the record again */
	assert_arrives(&w, "headersbody");
	wire_done(&w);
}

/* A stream may accept only a part of what is sent. */
static void no_byte_is_lost_or_sent_twice(void **state)
{
	static char large[1 << 20], got[2 << 20];
	int fds[2], small = 1;
	gnutls_session_t session;
	size_t sent = 0, read = 0;
	struct httpd_sender s;
	ssize_t n;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
			 0);
	assert_int_equal(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	assert_int_equal(gnutls_init(&session, GNUTLS_SERVER), 0);
	httpd_sender_init(&s, session, fds[0]);
	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = (char)(i * 7 / 5);
	httpd_sender_hold(&s);
	assert_int_equal(httpd_sender_push(&s, &(giovec_t){large, sizeof(large) / 2}, 1),
			 sizeof(large) / 2);
	sent = sizeof(large) / 2;
	while (read < sizeof(large)) {
		if (sent < sizeof(large)) {
			n = httpd_sender_push(&s, &(giovec_t){large + sent, sizeof(large) - sent},
					      1);
			assert_true(n > 0 || (n == -1 && errno == EAGAIN));
			sent += n > 0 ? (size_t)n : 0;
		}
		n = recv(fds[1], got + read, sizeof(got) - read, 0);
		read += n > 0 ? (size_t)n : 0;
	}
	assert_int_equal(sent, sizeof(large));
	assert_memory_equal(got, large, sizeof(large));
	httpd_sender_done(&s);
	gnutls_deinit(session);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_sent_at_once),
		cmocka_unit_test(a_held_record_goes_with_the_next),
		cmocka_unit_test(a_held_record_waits_for_a_full_socket),
		cmocka_unit_test(no_byte_is_lost_or_sent_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
