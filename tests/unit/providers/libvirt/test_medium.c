#include "tests/unit/testing.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/libvirt/medium.h"

/* A server on the loopback interface that answers each connection with the same bytes */
struct server {
	int fd;
	uint16_t port;
	pthread_t thread;
	const char *head, *body;
	/* Pause between head and body */
	unsigned pause_ms;
	char request[256];
};

static void *run(void *arg)
{
	struct server *s = arg;
	int c = accept(s->fd, NULL, NULL);
	ssize_t n;

	if (c < 0)
		return NULL;
	n = recv(c, s->request, sizeof(s->request) - 1, 0);
	s->request[n > 0 ? n : 0] = '\0';
	(void)!send(c, s->head, strlen(s->head), MSG_NOSIGNAL);
	nanosleep(&(struct timespec){.tv_nsec = s->pause_ms * 1000000L}, NULL);
	(void)!send(c, s->body, strlen(s->body), MSG_NOSIGNAL);
	close(c);
	return NULL;
}

static void serve(struct server *s, const char *head, const char *body)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);

	*s = (struct server){.head = head, .body = body};
	s->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(s->fd, 4), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &len), 0);
	s->port = ntohs(at.sin_port);
	assert_int_equal(pthread_create(&s->thread, NULL, run, s), 0);
}

static void serve_done(struct server *s)
{
	pthread_join(s->thread, NULL);
	close(s->fd);
}

static int64_t in_ms(int64_t ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
}

static int fetched(const char *head, const char *body, struct buf *b, struct err *e)
{
	struct server s;
	char url[128];
	int rc;

	serve(&s, head, body);
	str_format(url, sizeof(url), "http://127.0.0.1:%d/boot/5f1c/a.iso?x=1", s.port);
	rc = medium_fetch(url, in_ms(20000), b, e);
	serve_done(&s);
	if (rc == 0)
		assert_true(str_starts(s.request, "GET /boot/5f1c/a.iso?x=1 HTTP/1.0\r\n"));
	return rc;
}

static void it_is_fetched_whole(void **state)
{
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 1 << 20);
	assert_ok(fetched("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
			  "Content-Length: 6\r\n\r\n",
			  "an iso", &b, &e),
		  &e);
	assert_string_equal(b.data, "an iso");
	buf_done(&b);
}

static void what_is_no_medium_is_an_error(void **state)
{
	static const struct {
		const char *head, *body;
		enum err_kind kind;
	} bad[] = {
		{"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "", ERR_UNAVAILABLE},
		{"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n"
		 "Content-Length: 0\r\n\r\n",
		 "", ERR_PROTOCOL},
		{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "x", ERR_UNAVAILABLE},
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", ERR_PROTOCOL},
		{"what?\r\n\r\n", "", ERR_UNAVAILABLE},
		{"", "", ERR_UNAVAILABLE},
	};
	struct buf b;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		buf_init(&b, 1 << 20);
		assert_int_equal(fetched(bad[i].head, bad[i].body, &b, &e), -1);
		assert_int_equal(e.kind, bad[i].kind);
		assert_null(strstr(e.text, "5f1c"));
		buf_done(&b);
	}
}

static void a_cut_medium_is_an_error(void **state)
{
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 1 << 20);
	assert_int_equal(
		fetched("HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n", "an iso", &b, &e), -1);
	buf_done(&b);
	buf_init(&b, 3);
	assert_int_equal(fetched("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", "an iso", &b, &e),
			 -1);
	buf_done(&b);
}

static void other_schemes_are_refused(void **state)
{
	static const char *const bad[] = {"file:///etc/passwd", "ftp://127.0.0.1/a", "/etc/passwd",
					  ""};
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(medium_fetch(bad[i], in_ms(1000), &b, &e), -1);
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_fetched_whole),
		cmocka_unit_test(what_is_no_medium_is_an_error),
		cmocka_unit_test(a_cut_medium_is_an_error),
		cmocka_unit_test(other_schemes_are_refused),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
