/* Tests how the files of the page are served. What the page does is tested in a browser:
 * tests/real/web_page.py. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "controller/view/web_page.h"

#define ORIGIN "https://view.test:8444"

struct bed {
	struct loop *l;
	struct loop_group *g;
	struct http_mem_net *net;
	struct httpd *d;
	struct http *h;
	struct http_peer *p;
	bool done;
	int status;
	size_t len;
	char type[64], policy[512], tag[128], start[64];
};

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));
	struct http_peer_spec spec = {.base_url = ORIGIN};
	struct err e;

	b->l = loop_sim_new(7, 0);
	b->g = loop_group_new(b->l, "test");
	b->net = http_mem_net_new(b->l);
	b->d = httpd_new(b->g);
	web_page_routes(b->d);
	http_mem_serve(b->net, ORIGIN, b->d);
	b->h = http_new(b->g, http_mem_transport(b->net, b->g, "10.0.0.1", NULL, NULL), 0);
	b->p = http_peer_new(b->h, &spec, &e);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;

	http_peer_free(b->p);
	http_free(b->h);
	httpd_free(b->d);
	http_mem_net_free(b->net);
	loop_group_free(b->g);
	loop_free(b->l);
	free(b);
	return 0;
}

static void copy(const struct http_reply *r, const char *header, char *out, size_t size)
{
	str_copy(out, size, str_or(http_reply_header(r, header), ""));
}

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bed *b = arg;

	assert_null(e);
	b->done = true;
	b->status = r->status;
	b->len = r->body_len;
	str_copy(b->start, sizeof(b->start), r->body);
	copy(r, "Content-Type", b->type, sizeof(b->type));
	copy(r, "Content-Security-Policy", b->policy, sizeof(b->policy));
	copy(r, "ETag", b->tag, sizeof(b->tag));
}

static bool is_done(void *arg)
{
	return ((struct bed *)arg)->done;
}

static int get(struct bed *b, const char *path, const char *tag)
{
	const struct http_header h = {"If-None-Match", tag};
	struct http_call c = {
		.path = path, .headers = &h, .nheaders = tag ? 1 : 0, .done = on_reply, .arg = b};

	b->done = false;
	http_start(b->p, &c);
	assert_true(loop_sim_run_cond(b->l, is_done, b, loop_now(b->l) + 60000));
	return b->status;
}

static void files_are_served_whole_with_their_types(void **state)
{
	struct bed *b = *state;

	assert_int_equal(get(b, "/", NULL), 200);
	assert_string_equal(b->type, "text/html; charset=utf-8");
	assert_true(str_starts(b->start, "<!doctype html>"));
	assert_int_equal(get(b, "/page.css", NULL), 200);
	assert_string_equal(b->type, "text/css; charset=utf-8");
	assert_int_equal(get(b, "/page.js", NULL), 200);
	assert_string_equal(b->type, "text/javascript; charset=utf-8");
	assert_true(b->len > 1000);
	assert_int_equal(get(b, "/page.map", NULL), 404);
}

static void nothing_from_elsewhere_is_allowed(void **state)
{
	struct bed *b = *state;

	assert_int_equal(get(b, "/", NULL), 200);
	assert_non_null(strstr(b->policy, "default-src 'none'"));
	assert_non_null(strstr(b->policy, "frame-ancestors 'none'"));
	assert_null(strstr(b->policy, "unsafe"));
	assert_null(strstr(b->policy, "http"));
}

static void an_unchanged_file_is_not_sent_again(void **state)
{
	struct bed *b = *state;
	char tag[128];

	assert_int_equal(get(b, "/page.js", NULL), 200);
	str_copy(tag, sizeof(tag), b->tag);
	assert_int_equal(get(b, "/page.js", tag), 304);
	assert_int_equal(b->len, 0);
	assert_int_equal(get(b, "/page.css", tag), 200);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(files_are_served_whole_with_their_types),
		T(nothing_from_elsewhere_is_allowed),
		T(an_unchanged_file_is_not_sent_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
