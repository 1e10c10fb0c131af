/* Spans reach a collector once, or are counted as dropped; the collector cannot delay anybody. */
#include "base/traces/traces.h"

#include <stdlib.h>
#include <string.h>
#include "tests/simulated/http_mem.h"
#include "base/httpd/httpd.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"
/* The generated decoder is the judge of what was encoded. */
#include "otlp.pb-c.h"

#define START 1764240000000
#define ORIGIN "https://collector:4318"

struct rig {
	struct loop *loop;
	struct loop_group *group, *server;
	struct http_mem_net *net;
	struct http *http;
	struct httpd *httpd;
	struct traces *traces;
	/* Status of the collector's next replies, and its body for 200. */
	int status;
	const char *body;
	size_t body_len;
	const char *retry_after;
	/* What the collector received: requests, spans, the latest request. */
	unsigned requests, spans;
	int64_t last_at;
	Otlp__ExportTraceServiceRequest *last;
	char bearer[64];
};

static void on_post(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	OWN(secret) token = httpd_bearer(q);
	size_t len;
	const char *body = httpd_body(q, &len);

	r->requests++;
	r->last_at = loop_now(r->loop);
	str_copy(r->bearer, sizeof(r->bearer), token ? secret_expose(token) : "");
	assert_string_equal(httpd_header(q, "Content-Type"), "application/x-protobuf");
	if (r->last)
		otlp__export_trace_service_request__free_unpacked(r->last, NULL);
	r->last = otlp__export_trace_service_request__unpack(NULL, len, (const uint8_t *)body);
	assert_non_null(r->last);
	if (r->status == 200)
		r->spans += r->last->resource_spans[0]->scope_spans[0]->n_spans;
	if (r->retry_after)
		httpd_reply_header(q, "Retry-After", r->retry_after);
	httpd_reply(q, r->status, "application/x-protobuf", r->body, r->body_len);
}

static void rig_init(struct rig *r, const char *endpoint)
{
	struct traces_spec s = {.endpoint = endpoint, .version = "0.1", .instance = "drover-0"};
	OWN(secret) token = secret_from_str("t0ken");
	struct err e;

	*r = (struct rig){.loop = loop_sim_new(3, START), .status = 200, .body = ""};
	r->group = loop_group_new(r->loop, "client");
	r->server = loop_group_new(r->loop, "collector");
	r->net = http_mem_net_new(r->loop);
	r->http =
		http_new(r->group, http_mem_transport(r->net, r->group, "10.0.0.1", NULL, NULL), 0);
	r->httpd = httpd_new(r->server);
	httpd_route(r->httpd, "POST", "/v1/traces", 1 << 20, on_post, r);
	http_mem_serve(r->net, ORIGIN, r->httpd);
	s.group = r->group;
	s.http = r->http;
	s.token = token;
	r->traces = traces_new(&s, &e);
	if (!r->traces)
		fail_msg("%s", e.text);
}

static void rig_done(struct rig *r)
{
	traces_free(r->traces);
	if (r->last)
		otlp__export_trace_service_request__free_unpacked(r->last, NULL);
	http_free(r->http);
	httpd_free(r->httpd);
	http_mem_net_free(r->net);
	loop_group_free(r->server);
	loop_group_free(r->group);
	loop_free(r->loop);
}

static void stop(void *arg)
{
	loop_stop(arg);
}

static void pass(struct rig *r, int64_t ms)
{
	struct loop_timer t;

	loop_timer_init(&t, r->group, stop, r->loop);
	loop_timer_start(&t, ms);
	loop_run(r->loop);
}

static void add(struct rig *r, size_t n)
{
	const struct span s = {.trace = {1}, .id = {2}, .name = "wiping", .start = START};

	for (size_t i = 0; i < n; i++)
		traces_add(r->traces, &s);
}

static void a_span_arrives_as_it_was_given(void **state)
{
	const struct span_attribute attributes[] = {
		{.key = "drover.machine", .text = "gpu-1\xff"},
		{.key = "http.response.status_code", .number = 503},
	};
	const struct span s = {.trace = {0xaa, [15] = 0xbb},
			       .id = {0xcc},
			       .parent = {0xdd},
			       .name = "POST",
			       .kind = SPAN_CLIENT,
			       .start = START,
			       .end = START + 1500,
			       .attributes = attributes,
			       .nattributes = 2,
			       .error = "503 Service Unavailable"};
	Otlp__Span *got;
	struct rig r;

	(void)state;
	rig_init(&r, ORIGIN);
	traces_add(r.traces, &s);
	pass(&r, TRACES_DELAY_MS + 1000);
	assert_int_equal(r.spans, 1);
	assert_string_equal(r.bearer, "t0ken");
	assert_string_equal(r.last->resource_spans[0]->resource->attributes[0]->value->string_value,
			    "drover");
	got = r.last->resource_spans[0]->scope_spans[0]->spans[0];
	assert_int_equal(got->trace_id.len, 16);
	assert_memory_equal(got->trace_id.data, s.trace, 16);
	assert_int_equal(got->span_id.len, 8);
	assert_memory_equal(got->span_id.data, s.id, 8);
	assert_memory_equal(got->parent_span_id.data, s.parent, 8);
	assert_string_equal(got->name, "POST");
	assert_int_equal(got->kind, OTLP__SPAN_KIND__SPAN_KIND_CLIENT);
	assert_true(got->start_time_unix_nano == (uint64_t)START * 1000000);
	assert_true(got->end_time_unix_nano == (uint64_t)(START + 1500) * 1000000);
	assert_int_equal(got->n_attributes, 2);
	assert_string_equal(got->attributes[0]->value->string_value, "gpu-1?");
	assert_int_equal(got->attributes[1]->value->int_value, 503);
	assert_int_equal(got->status->code, OTLP__STATUS_CODE__STATUS_CODE_ERROR);
	assert_string_equal(got->status->message, "503 Service Unavailable");
	assert_int_equal(traces_stats(r.traces).exported, 1);
	assert_null(traces_error(r.traces));
	rig_done(&r);
}

static void a_root_span_that_ends_before_its_start_is_sent_without_either_oddity(void **state)
{
	const struct span s = {
		.trace = {1}, .id = {2}, .name = "x", .start = START, .end = START - 5000};
	Otlp__Span *got;
	struct rig r;

	(void)state;
	rig_init(&r, ORIGIN "/");
	traces_add(r.traces, &s);
	pass(&r, TRACES_DELAY_MS + 1000);
	got = r.last->resource_spans[0]->scope_spans[0]->spans[0];
	assert_int_equal(got->parent_span_id.len, 0);
	assert_true(got->end_time_unix_nano == got->start_time_unix_nano);
	assert_null(got->status);
	rig_done(&r);
}

static void attributes_and_texts_of_a_span_are_limited(void **state)
{
	struct span_attribute attributes[SPAN_ATTRIBUTES + 3];
	char text[SPAN_TEXT_BYTES + 100];
	const struct span s = {.trace = {1},
			       .id = {2},
			       .name = "x",
			       .attributes = attributes,
			       .nattributes = SPAN_ATTRIBUTES + 3};
	Otlp__Span *got;
	struct rig r;

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (size_t i = 0; i < s.nattributes; i++)
		attributes[i] = (struct span_attribute){.key = "k", .text = text};
	rig_init(&r, ORIGIN);
	traces_add(r.traces, &s);
	pass(&r, TRACES_DELAY_MS + 1000);
	got = r.last->resource_spans[0]->scope_spans[0]->spans[0];
	assert_int_equal(got->n_attributes, SPAN_ATTRIBUTES);
	assert_int_equal(strlen(got->attributes[0]->value->string_value), SPAN_TEXT_BYTES);
	rig_done(&r);
}

static void spans_travel_in_batches(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, ORIGIN "/v1/traces");
	add(&r, TRACES_BATCH * 2 + 1);
	/* The full batches are sent at once, the rest when its time is over. */
	pass(&r, TRACES_DELAY_MS / 2);
	assert_int_equal(r.requests, 2);
	assert_int_equal(r.spans, TRACES_BATCH * 2);
	pass(&r, TRACES_DELAY_MS);
	assert_int_equal(r.requests, 3);
	assert_int_equal(r.spans, TRACES_BATCH * 2 + 1);
	pass(&r, 60000);
	assert_int_equal(r.requests, 3);
	rig_done(&r);
}

static void a_collector_that_is_away_gets_the_spans_when_it_is_back(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, ORIGIN);
	http_mem_serve(r.net, ORIGIN, NULL);
	add(&r, 3);
	pass(&r, 60000);
	assert_non_null(traces_error(r.traces));
	/* These do not join the batch whose request may have arrived. */
	add(&r, 4);
	http_mem_serve(r.net, ORIGIN, r.httpd);
	pass(&r, 120000);
	assert_int_equal(r.requests, 2);
	assert_int_equal(r.spans, 7);
	assert_int_equal(traces_stats(r.traces).exported, 7);
	assert_int_equal(traces_stats(r.traces).dropped, 0);
	assert_null(traces_error(r.traces));
	rig_done(&r);
}

static void an_overloaded_collector_sets_the_delay(void **state)
{
	int64_t first;
	struct rig r;

	(void)state;
	rig_init(&r, ORIGIN);
	r.status = 429;
	r.retry_after = "40";
	add(&r, 1);
	pass(&r, TRACES_DELAY_MS + 1000);
	assert_int_equal(r.requests, 1);
	first = r.last_at;
	r.status = 200;
	r.retry_after = NULL;
	/* A further full batch does not shorten the delay. */
	add(&r, TRACES_BATCH);
	pass(&r, 39000 - (loop_now(r.loop) - first));
	assert_int_equal(r.requests, 1);
	pass(&r, 60000);
	assert_int_equal(r.requests, 3);
	assert_int_equal(r.spans, TRACES_BATCH + 1);
	rig_done(&r);
}

static void after_the_end_nothing_is_sent(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, ORIGIN);
	add(&r, 1);
	traces_free(give(r.traces));
	pass(&r, 60000);
	assert_int_equal(r.requests, 0);
	rig_done(&r);

	/* with a request that has no answer yet */
	rig_init(&r, ORIGIN);
	http_mem_hang(r.net, ORIGIN, true);
	add(&r, TRACES_BATCH + 1);
	pass(&r, 1000);
	traces_free(give(r.traces));
	http_mem_hang(r.net, ORIGIN, false);
	pass(&r, 60000);
	rig_done(&r);
}

static void a_collector_that_stays_away_costs_only_spans(void **state)
{
	struct traces_stats stats;
	struct rig r;

	(void)state;
	rig_init(&r, ORIGIN);
	http_mem_hang(r.net, ORIGIN, true);
	add(&r, TRACES_QUEUE + 10);
	stats = traces_stats(r.traces);
	assert_int_equal(stats.dropped, 10);
	assert_non_null(traces_error(r.traces));
	/* Each batch is tried for TRACES_KEEP_MS; what waits behind it is kept. */
	pass(&r, TRACES_KEEP_MS + 2 * 60000);
	stats = traces_stats(r.traces);
	assert_int_equal(stats.dropped, 10 + TRACES_BATCH);
	http_mem_hang(r.net, ORIGIN, false);
	pass(&r, 5 * 60000);
	stats = traces_stats(r.traces);
	assert_int_equal(stats.exported + stats.dropped, TRACES_QUEUE + 10);
	assert_true(stats.exported >= TRACES_QUEUE - 2 * TRACES_BATCH);
	rig_done(&r);
}

static void a_refused_batch_is_not_repeated(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, ORIGIN);
	r.status = 400;
	add(&r, 2);
	pass(&r, 60000);
	assert_int_equal(r.requests, 1);
	assert_int_equal(traces_stats(r.traces).dropped, 2);
	assert_non_null(strstr(traces_error(r.traces), "400"));
	rig_done(&r);
}

static void spans_that_the_collector_refuses_are_counted(void **state)
{
	/* partial_success {rejected_spans: 1, error_message: "no"} */
	static const char partial[] = "\x0a\x06\x08\x01\x12\x02no";
	struct rig r;

	(void)state;
	rig_init(&r, ORIGIN);
	r.body = partial;
	r.body_len = sizeof(partial) - 1;
	add(&r, 3);
	pass(&r, TRACES_DELAY_MS + 1000);
	assert_int_equal(traces_stats(r.traces).exported, 2);
	assert_int_equal(traces_stats(r.traces).dropped, 1);
	assert_non_null(strstr(traces_error(r.traces), "no"));
	/* A reply that is no such message, or claims more than was sent, counts for nothing. */
	r.body = "\xff\xff";
	r.body_len = 2;
	add(&r, 1);
	pass(&r, TRACES_DELAY_MS + 1000);
	r.body = "\x0a\x02\x08\x7f";
	r.body_len = 4;
	add(&r, 1);
	pass(&r, TRACES_DELAY_MS + 1000);
	assert_int_equal(traces_stats(r.traces).exported, 4);
	assert_int_equal(traces_stats(r.traces).dropped, 1);
	rig_done(&r);
}

static void a_wrong_endpoint_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",	    "collector:4318",	       "ftp://collector/",
		"https://", "https://user@collector/", "https://collector/v1/traces?x=1"};
	OWN(secret) token = secret_from_str("t");
	struct traces_spec s = {.version = "0", .instance = "i"};
	struct rig r;
	struct err e;

	(void)state;
	rig_init(&r, ORIGIN);
	s.group = r.group;
	s.http = r.http;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		s.endpoint = wrong[i];
		assert_null(traces_new(&s, &e));
		assert_int_equal(e.kind, ERR_INVALID);
	}
	/* A token is not sent in clear text. */
	s.endpoint = "http://collector:4318";
	s.token = token;
	assert_null(traces_new(&s, &e));
	assert_int_equal(e.kind, ERR_DENIED);
	traces_add(NULL, &(struct span){.name = "x"});
	rig_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_arrives_as_it_was_given),
		cmocka_unit_test(
			a_root_span_that_ends_before_its_start_is_sent_without_either_oddity),
		cmocka_unit_test(attributes_and_texts_of_a_span_are_limited),
		cmocka_unit_test(spans_travel_in_batches),
		cmocka_unit_test(a_collector_that_is_away_gets_the_spans_when_it_is_back),
		cmocka_unit_test(an_overloaded_collector_sets_the_delay),
		cmocka_unit_test(after_the_end_nothing_is_sent),
		cmocka_unit_test(a_collector_that_stays_away_costs_only_spans),
		cmocka_unit_test(a_refused_batch_is_not_repeated),
		cmocka_unit_test(spans_that_the_collector_refuses_are_counted),
		cmocka_unit_test(a_wrong_endpoint_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
