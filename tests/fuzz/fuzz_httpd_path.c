/*
 * fuzz_httpd_path: sends request targets to an HTTP server, from the bytes to the reply.
 *
 * The input is METHOD, a newline, and the target. Asserts that there is exactly one reply. A
 * handler must never get an empty, "." or ".." segment, a control character, or more bytes than
 * were sent.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/httpd/httpd.h"
#include "tests/simulated/loop_sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t sent;
static unsigned replies;

static void respond(void *conn, int status, const struct http_header *h, size_t n,
		    const struct httpd_reader *body)
{
	char out[256];
	uint64_t pos = 0;
	int64_t got;

	(void)conn, (void)h, (void)n;
	replies++;
	assert(status == 200 || status == 206 || (status >= 400 && status < 500));
	while (body && (got = body->read(out, sizeof(out), pos, body->arg)) > 0)
		pos += (uint64_t)got;
}

static void wake(void *conn)
{
	(void)conn;
}

static void check_segment(const char *s, size_t n)
{
	assert(n > 0 && !(n == 1 && *s == '.') && !(n == 2 && s[0] == '.' && s[1] == '.'));
	for (size_t i = 0; i < n; i++)
		assert((unsigned char)s[i] >= ' ' && s[i] != 0x7f);
}

static void serve(struct httpd_req *q, void *arg)
{
	const char *path = httpd_path(q);

	(void)arg;
	assert(*path == '/' && strlen(path) <= sent + 1);
	for (const char *s = path; path[1] && *s == '/';) {
		size_t n = strcspn(s + 1, "/");

		check_segment(s + 1, n);
		s += 1 + n;
	}
	for (size_t i = 0; httpd_segment(q, i); i++)
		assert(strlen(httpd_segment(q, i)) <= sent);
	httpd_query(q, "limit");
	httpd_reply(q, 200, "text/plain", path, strlen(path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct httpd_listener_ops ops = {respond, wake, wake};
	static const struct httpd_identity who = {.address = "fuzz"};
	static struct httpd *d;
	struct httpd_incoming in = {.identity = &who, .ops = &ops};
	struct httpd_req *q;
	char *text, *target;

	if (!d) {
		d = httpd_new(loop_group_new(loop_sim_new(1, 0), "fuzz"));
		httpd_route(d, "GET", "/a/{}/b", 0, serve, NULL);
		httpd_route(d, "GET", "/files/{}/**", 0, serve, NULL);
		httpd_route(d, "POST", "/**", 0, serve, NULL);
	}
	text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	target = strchr(text, '\n');
	if (target) {
		*target++ = '\0';
		sent = strlen(target);
		in.method = text;
		in.target = target;
		replies = 0;
		if (httpd_begin(d, &in, &q) >= 0)
			httpd_dispatch(q);
		assert(replies == 1);
		httpd_finished(q);
	}
	free(text);
	return 0;
}
