#include "tests/unit/testing.h"

#include "tests/unit/base/http/http_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

/* --- plain exchanges -------------------------------------------------------------------------- */

void a_request_reaches_its_handler_and_the_reply_comes_back(struct rig *r)
{
	struct got g;

	rig_get(r, &g, "/hello/w%C3%B6rld%20!?q=a%26b+c&other=1");
	assert_false(g.failed);
	assert_int_equal(g.status, 200);
	assert_string_equal(g.body, "GET /hello/w\xc3\xb6rld ! [w\xc3\xb6rld !] q=a&b c ua=yes");
	assert_string_equal(g.header, "a value");
	rig_get(r, &g, "/hello/again"); /* the request uses the same connection */
	assert_string_equal(g.body, "GET /hello/again [again] q=- ua=yes");
	assert_int_equal(http_stats(r->h).done, 2);
	assert_int_equal(http_stats(r->h).in_flight, 0);
}

void a_body_travels_both_ways(struct rig *r)
{
	static const char json[] = "{\"a\":[1,2,3]}";
	struct got g;

	rig_call(r, &g,
		 (struct http_call){.method = "POST",
				    .path = "/echo",
				    .body = json,
				    .body_len = sizeof(json) - 1});
	rig_done(r, &g);
	assert_false(g.failed);
	assert_string_equal(g.body, json);
	assert_string_equal(r->seen, "application/json");
	rig_call(r, &g,
		 (struct http_call){.method = "POST",
				    .path = "/echo",
				    .body = "x",
				    .body_len = 1,
				    .content_type = "text/plain"});
	rig_done(r, &g);
	assert_string_equal(r->seen, "text/plain");
	rig_call(r, &g, (struct http_call){.method = "POST", .path = "/echo"});
	rig_done(r, &g);
	assert_false(g.failed);
	assert_int_equal(g.len, 0);
	assert_string_equal(r->seen, "");
}

void a_large_body_travels_both_ways(struct rig *r)
{
	size_t n = 3 << 20;
	char *body = mem_alloc(n);
	struct got g;

	memset(body, 'b', n);
	rig_call(r, &g,
		 (struct http_call){.method = "POST",
				    .path = "/echo",
				    .body = body,
				    .body_len = n,
				    .max_body = n});
	rig_done(r, &g);
	free(body);
	assert_false(g.failed);
	assert_int_equal(g.len, n);
}

void unknown_paths_and_methods_are_refused(struct rig *r)
{
	struct got g;
	struct http_reply reply;
	struct err e;

	rig_get(r, &g, "/nowhere");
	assert_int_equal(g.status, 404);
	reply = (struct http_reply){.status = g.status, .body = g.body, .body_len = g.len};
	assert_int_equal(http_err(&reply, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_string_equal(e.text, "404 Not Found: no such path");

	rig_call(r, &g, (struct http_call){.method = "DELETE", .path = "/hello/x"});
	rig_done(r, &g);
	assert_int_equal(g.status, 405);
	rig_get(r, &g, "/hello/a%2fb");
	assert_int_equal(g.status, 400);
	rig_get(r, &g, "/hello/%2e%2e");
	assert_int_equal(g.status, 400);
	assert_int_equal(r->served, 0);
}

void a_request_body_over_the_limit_is_refused(struct rig *r)
{
	struct got g;

	rig_call(r, &g,
		 (struct http_call){
			 .method = "PUT", .path = "/small", .body = "0123456789", .body_len = 10});
	rig_done(r, &g);
	assert_int_equal(g.status, 200);
	rig_call(r, &g,
		 (struct http_call){
			 .method = "PUT", .path = "/small", .body = "0123456789a", .body_len = 11});
	rig_done(r, &g);
	assert_int_equal(g.status, 413);
	assert_int_equal(r->served, 1);
}

/* --- limits ----------------------------------------------------------------------------------- */

void a_reply_over_the_limit_ends_early(struct rig *r)
{
	struct got g;

	rig_get(r, &g, "/zeros?size=100000000");
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_PROTOCOL);
	rig_until(r, rig_gone, r);
	assert_true(r->bytes_read < 16 << 20); /* socket buffers contain a part of the body */
	assert_int_equal(r->readers_done, 1);
	/* A limit set by the caller applies to streaming, too. */
	rig_call(r, &g,
		 (struct http_call){.path = "/zeros", .on_data = got_data, .max_body = 100000});
	rig_done(r, &g);
	assert_int_equal(g.err.kind, ERR_PROTOCOL);
	assert_true(g.streamed <= 100000);
}

void a_server_that_does_not_answer_runs_into_the_timeout(struct rig *r)
{
	struct got g;
	int64_t from = loop_now(r->loop);

	rig_call(r, &g, (struct http_call){.path = "/wait", .timeout_ms = 60});
	rig_done(r, &g);
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_TIMEOUT);
	assert_true(loop_now(r->loop) - from >= 60);
	rig_run_ms(r, 5);
	/* on a busy machine the request may not have been served yet */
	assert_true(r->real || r->served);
	if (r->served)
		rig_until(r, rig_gone, r);
	assert_int_equal(r->gone, r->served);
}

void a_stream_that_stalls_runs_into_the_idle_limit(struct rig *r)
{
	struct got g;

	rig_call(r, &g,
		 (struct http_call){
			 .path = "/stall",
			 .no_timeout = true,
			 .idle_ms = 60,
			 .on_data = got_data,
		 });
	rig_done(r, &g);
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_TIMEOUT);
	assert_non_null(strstr(g.err.text, "nothing received"));
	if (!r->real)
		assert_int_equal(g.streamed, 5);
}

/* --- replies ---------------------------------------------------------------------------------- */

void retry_after_is_understood(struct rig *r)
{
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	char time[STR_TIME_SIZE], path[160];
	struct got g;

	rig_get(r, &g, "/busy?when=7");
	assert_int_equal(g.status, 503);
	assert_int_equal(g.retry_after_ms, 7000);
	rig_get(r, &g, "/busy?when=99999");
	assert_int_equal(g.retry_after_ms, 300000);
	rig_get(r, &g, "/busy?when=soon");
	assert_int_equal(g.retry_after_ms, 0);

	str_time(time, loop_wall(r->loop) + 20000); /* for example 2026-11-21T18:42:29Z */
	str_format(path, sizeof(path), "/busy?when=Sat,+%.2s+%s+%.4s+%.8s+GMT", time + 8,
		   months[atoi(time + 5) - 1], time, time + 11);
	rig_get(r, &g, path);
	assert_in_range(g.retry_after_ms, 15000, 20000);
}

static bool has_100_pieces(void *arg)
{
	struct got *g = arg;

	if (g->pieces >= 100)
		return true;
	if (g->req)
		http_want(g->req);
	return false;
}

void a_paced_stream_waits_for_its_reader(struct rig *r)
{
	struct got g;
	size_t before;

	rig_call(r, &g,
		 (struct http_call){
			 .path = "/zeros",
			 .no_timeout = true,
			 /* on a busy machine even the server may be slower */
			 .idle_ms = r->real ? 0 : 30,
			 .on_data = got_data,
			 .paced = true,
		 });
	rig_until(r, got_piece, &g);
	rig_run_ms(r, 60);
	assert_int_equal(g.pieces, 1);
	/* a paused stream is not idle: the client itself is the slow side */
	assert_int_equal(g.done, 0);
	do { /* back-pressure reaches the server once the sockets are full */
		before = r->bytes_read;
		rig_run_ms(r, 20);
	} while (r->bytes_read != before && r->bytes_read < 64 << 20);
	assert_true(r->bytes_read < 64 << 20);
	http_want(g.req);
	/* data arrives in a later loop turn, never inside http_want() */
	assert_int_equal(g.pieces, 1);
	rig_until(r, has_100_pieces, &g);
	http_cancel(g.req);
	rig_until(r, rig_gone, r);
}

static int data_is_small(const char *data, size_t len, void *arg, struct err *e)
{
	if (len > 2048)
		return err_set(e, ERR_PROTOCOL, 0, "a piece of %zu bytes", len);
	return got_data(data, len, arg, e);
}

void pieces_are_as_small_as_asked_for(struct rig *r)
{
	struct got g;

	rig_call(r, &g,
		 (struct http_call){.path = "/zeros?size=100000",
				    .on_data = data_is_small,
				    .piece_bytes = 2048});
	rig_done(r, &g);
	assert_false(g.failed);
	assert_int_equal(g.streamed, 100000);
}

void a_waiting_handler_hears_that_the_client_went_away(struct rig *r)
{
	struct got g;

	rig_call(r, &g, (struct http_call){.path = "/wait"});
	rig_until(r, rig_served, r);
	rig_run_ms(r, 5);
	assert_int_equal(r->gone, 0);
	http_cancel(g.req);
	rig_until(r, rig_gone, r);
	assert_int_equal(r->gone, 1);
	rig_get(r, &g, "/hello/x"); /* the server still works */
	assert_int_equal(g.status, 200);
}

void a_waiting_stream_hears_that_the_client_went_away(struct rig *r)
{
	struct got g;

	rig_call(r, &g,
		 (struct http_call){.path = "/stall", .on_data = got_data, .no_timeout = true});
	rig_until(r, got_piece, &g);
	rig_run_ms(r, 5);
	http_cancel(g.req);
	rig_until(r, rig_gone, r);
	assert_int_equal(r->readers_done, 1);
}

void a_late_reply_arrives(struct rig *r)
{
	struct got g;

	rig_call(r, &g, (struct http_call){.path = "/wait"});
	rig_until(r, rig_served, r);
	rig_run_ms(r, 5);
	httpd_reply_json(r->waiting, 201, "{}");
	rig_done(r, &g);
	assert_int_equal(g.status, 201);
	assert_string_equal(g.body, "{}");
	assert_int_equal(r->gone, 0);
}

void a_sleeping_stream_goes_on_when_woken(struct rig *r)
{
	struct got g;

	rig_call(r, &g, (struct http_call){.path = "/stall"});
	rig_until(r, rig_served, r);
	rig_run_ms(r, 10);
	assert_int_equal(g.done, 0);
	httpd_wake(r->waiting); /* there is no data yet, so the reader waits again */
	rig_run_ms(r, 10);
	r->inside = 77;
	httpd_wake(r->waiting);
	rig_done(r, &g);
	assert_false(g.failed);
	assert_string_equal(g.body, "firstsecond");
	rig_run_ms(r, 5);
	assert_int_equal(r->readers_done, 1);
	assert_int_equal(r->gone, 0);
}

void a_broken_reply_is_not_taken_for_whole(struct rig *r)
{
	struct got g;

	rig_get(r, &g, "/break");
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_UNAVAILABLE);
	rig_run_ms(r, 5);
	assert_int_equal(r->readers_done, 1);
}

void control_characters_cannot_make_headers(struct rig *r)
{
	struct secret *token = secret_from_str("a\nb");
	const struct http_header bad_value = {"X-A", "b\r\nX-C: d"},
				 bad_name = {"X-A: b\r\nX", "d"};
	const struct http_call calls[] = {
		{.path = "/headers", .headers = &bad_value, .nheaders = 1},
		{.path = "/headers", .headers = &bad_name, .nheaders = 1},
		{.path = "/headers HTTP/1.1\r\nX: y"},
		{.path = "/head ers"},
		{.path = "headers"},
		{.path = "/headers", .method = "GET / HTTP/1.1\r\n"},
		{.path = "/headers", .content_type = "a\nb"},
		{.path = "/headers", .bearer = token},
		{.path = "/headers", .secret_header = "X-Auth-Token", .secret_value = token},
		{.path = "/headers", .basic_user = "a:b", .basic_password = token},
	};
	struct got g;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		rig_call(r, &g, calls[i]);
		rig_done(r, &g);
		assert_true(g.failed);
		assert_int_equal(g.err.kind, ERR_INVALID);
	}
	secret_free(token);
	assert_string_equal(r->seen, "");
	rig_get(r, &g, "/headers"); /* control characters in reply headers are replaced, too */
	assert_string_equal(g.header, "one??X-Test: two");
}

void secrets_arrive_as_headers(struct rig *r)
{
	struct secret *s = secret_from_str("t0p");
	struct got g;

	rig_call(r, &g, (struct http_call){.path = "/headers", .bearer = s});
	rig_done(r, &g);
	assert_string_equal(r->seen, "Bearer t0p||t0p");
	rig_call(r, &g,
		 (struct http_call){.path = "/headers", .basic_user = "root", .basic_password = s});
	rig_done(r, &g);
	assert_string_equal(r->seen, "Basic cm9vdDp0MHA=||");
	rig_call(r, &g,
		 (struct http_call){
			 .path = "/headers", .secret_header = "X-Auth-Token", .secret_value = s});
	secret_free(s); /* the request has a copy */
	rig_done(r, &g);
	assert_string_equal(r->seen, "|t0p|");
}

static void get_range(struct rig *r, const char *range, const char *if_range, int status,
		      const char *body)
{
	const struct http_header h[] = {{"Range", range}, {"If-Range", if_range}};
	struct got g;

	rig_call(
		r, &g,
		(struct http_call){.path = "/letters", .headers = h, .nheaders = if_range ? 2 : 1});
	rig_done(r, &g);
	assert_false(g.failed);
	assert_int_equal(g.status, status);
	assert_string_equal(g.body, body);
}

void ranges_are_served(struct rig *r)
{
	static const char all[] = "abcdefghijklmnopqrstuvwxyz";
	struct got g;

	rig_get(r, &g, "/letters");
	assert_int_equal(g.status, 200);
	assert_string_equal(g.body, all);
	get_range(r, "bytes=0-2", NULL, 206, "abc");
	get_range(r, "bytes=23-", NULL, 206, "xyz");
	get_range(r, "bytes=-1", NULL, 206, "z");
	get_range(r, "bytes=-100", NULL, 206, all);
	get_range(r, "bytes=25-99999999999", NULL, 206, "z");
	get_range(r, "bytes=26-", NULL, 416, "");
	get_range(r, "bytes=-0", NULL, 416, "");
	get_range(r, "bytes=3-2", NULL, 200, all);
	get_range(r, "bytes=0-0,2-3", NULL, 200, all);
	get_range(r, "bytes=99999999999999999999-", NULL, 200, all);
	get_range(r, "lines=0-1", NULL, 200, all);
	get_range(r, "bytes=0-2", "\"v1\"", 206, "abc");
	get_range(r, "bytes=0-2", "\"v0\"", 200, all);
	rig_run_ms(r, 5);
	assert_int_equal(r->readers_done, 14);
}

static int head_length(const struct http_reply *reply, void *arg, struct err *e)
{
	struct got *g = arg;
	const char *length = http_reply_header(reply, "content-length");

	(void)e;
	g->heads++;
	str_copy(g->header, sizeof(g->header), str_or(length, ""));
	return 0;
}

void head_has_headers_and_no_body(struct rig *r)
{
	struct got g;

	rig_call(r, &g,
		 (struct http_call){.method = "HEAD", .path = "/letters", .on_head = head_length});
	rig_done(r, &g);
	assert_int_equal(g.status, 200);
	assert_int_equal(g.heads, 1);
	assert_int_equal(g.len, 0);
	rig_get(r, &g, "/hello/x"); /* the connection is still usable */
	assert_int_equal(g.status, 200);
}

static int head_refuses(const struct http_reply *reply, void *arg, struct err *e)
{
	(void)arg;
	return http_err(reply, e) < 0 ? 0 : err_set(e, ERR_CONFLICT, 0, "not wanted");
}

void an_error_reply_is_collected_not_streamed(struct rig *r)
{
	struct got g;

	rig_call(r, &g,
		 (struct http_call){
			 .path = "/busy?when=1",
			 .on_data = got_data,
			 .on_head = head_refuses,
			 .paced = true,
		 });
	rig_done(r, &g);
	assert_int_equal(g.status, 503);
	assert_string_equal(g.body, "busy");
	assert_int_equal(g.streamed, 0);
	rig_call(
		r, &g,
		(struct http_call){.path = "/zeros", .on_data = got_data, .on_head = head_refuses});
	rig_done(r, &g);
	assert_int_equal(g.err.kind, ERR_CONFLICT);
	assert_int_equal(g.streamed, 0);
}

void a_server_may_be_freed_with_requests_waiting(struct rig *r)
{
	struct got g[3];

	rig_call(r, &g[0], (struct http_call){.path = "/wait"});
	rig_until(r, rig_served, r);
	r->served = 0;
	rig_call(r, &g[1], (struct http_call){.path = "/stall"});
	rig_until(r, rig_served, r);
	rig_run_ms(r, 5);
	rig_call(r, &g[2], (struct http_call){.path = "/hello/x"});
	httpd_free(r->d);
	r->d = NULL;
	assert_int_equal(r->gone, 2);
	assert_int_equal(r->readers_done, 1);
	for (int i = 0; i < 2; i++) {
		rig_done(r, &g[i]);
		assert_true(g[i].failed);
		assert_int_equal(g[i].err.kind, ERR_UNAVAILABLE);
	}
	rig_done(r, &g[2]);
	assert_true(g[2].failed);
}

static bool no_server(void *arg)
{
	struct rig *r = arg;

	return !r->d;
}

void a_handler_may_free_the_server(struct rig *r)
{
	struct got g;

	rig_call(r, &g, (struct http_call){.path = "/end"});
	rig_until(r, no_server, r);
	rig_done(r, &g);
	assert_true(g.failed);
}

void an_error_becomes_a_reply(struct rig *r)
{
	struct http_reply reply;
	struct got g;
	struct err e;

	rig_get(r, &g, "/busy");
	assert_int_equal(g.status, 429);
	assert_int_equal(g.retry_after_ms, 7000);
	reply = (struct http_reply){.status = g.status,
				    .body = g.body,
				    .body_len = g.len,
				    .retry_after_ms = g.retry_after_ms};
	assert_int_equal(http_err(&reply, &e), -1);
	assert_int_equal(e.kind, ERR_UNAVAILABLE);
	assert_int_equal(e.retry_after_ms, 7000);
	assert_string_equal(e.text, "429 Too Many Requests: too many, \"please\" wait");
}

void the_client_certificate_is_the_identity(struct rig *r)
{
	struct got g;

	rig_get(r, &g, "/who");
	assert_int_equal(g.status, 204);
	assert_string_equal(r->seen, "tester/-");
}
