/* Tests the reply of GET /v1/history: columns, steps, pages, bad parameters. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/json.h"
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "controller/view/history.h"

#define ORIGIN "https://view.test:8444"
/* 2026-01-02T00:00:00Z */
#define FIRST (INT64_C(1767312000000) / GPU_HISTORY_STEP_MS)

struct bed {
	struct loop *l;
	struct loop_group *g;
	struct http_mem_net *net;
	struct http *http;
	struct httpd *server;
	struct http_peer *reader;
	struct gpu_history *h;
	bool done;
	int status;
	size_t len;
	json_t *j;
	char text[256];
};

static void on_request(struct httpd_req *q, void *arg)
{
	view_history_reply(((struct bed *)arg)->h, q, "v1");
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));
	struct http_peer_spec peer = {.base_url = ORIGIN};
	struct err e;

	b->l = loop_sim_new(1, INT64_C(1767312000000));
	b->g = loop_group_new(b->l, "view");
	b->net = http_mem_net_new(b->l);
	b->http = http_new(b->g, http_mem_transport(b->net, b->g, "reader", NULL, NULL), 0);
	b->server = httpd_new(b->g);
	httpd_route(b->server, "GET", "/v1/history", 0, on_request, b);
	http_mem_serve(b->net, ORIGIN, b->server);
	b->reader = http_peer_new(b->http, &peer, &e);
	b->h = gpu_history_new();
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;

	json_decref(b->j);
	gpu_history_free(b->h);
	http_peer_free(b->reader);
	httpd_free(b->server);
	http_free(b->http);
	http_mem_net_free(b->net);
	loop_group_free(b->g);
	loop_free(b->l);
	free(b);
	return 0;
}

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bed *b = arg;
	struct err bad;

	b->done = true;
	b->status = r ? r->status : -1;
	b->len = r ? r->body_len : 0;
	json_decref(b->j);
	b->j = r ? json_parse(r->body, r->body_len, &bad) : NULL;
	str_copy(b->text, sizeof(b->text), r ? r->body : e->text);
}

static bool is_done(void *arg)
{
	return ((struct bed *)arg)->done;
}

static int get(struct bed *b, const char *query)
{
	char path[256];
	struct http_call c = {.path = path, .max_body = 16 << 20, .done = on_reply, .arg = b};

	str_format(path, sizeof(path), "/v1/history%s", query);
	b->done = false;
	http_start(b->reader, &c);
	assert_true(loop_sim_run_cond(b->l, is_done, b, loop_now(b->l) + 60000));
	return b->status;
}

static void sample(struct bed *b, int64_t step, const char *tenant, int64_t n)
{
	(void)gpu_history_open(b->h, step);
	gpu_column_add(gpu_history_group(b->h, GPU_SERVING), step, n);
	gpu_column_add(gpu_history_tenant(b->h, tenant), step, n);
}

static const char *column(struct bed *b, const char *member, const char *name)
{
	static char text[256];
	char *j = json_dumps(name ? json_at(b->j, member, name) : json_object_get(b->j, member),
			     JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));

	str_copy(text, sizeof(text), j ? j : "absent");
	free(j);
	return text;
}

static void an_empty_history_has_no_points(void **state)
{
	struct bed *b = *state;

	assert_int_equal(get(b, ""), 200);
	assert_int_equal(json_int_at(b->j, "points"), 0);
	assert_null(json_object_get(b->j, "from"));
	assert_string_equal(column(b, "states", "serving"), "[]");
	assert_string_equal(column(b, "tenants", NULL), "{}");
}

static void gaps_are_null(void **state)
{
	struct bed *b = *state;

	sample(b, FIRST, "team-a", 8);
	sample(b, FIRST + 1, "team-b", 16);
	sample(b, FIRST + 4, "team-a", 8);
	assert_int_equal(get(b, "?step=5m"), 200);
	assert_string_equal(json_str_at(b->j, "from"), "2026-01-02T00:00:00Z");
	assert_int_equal(json_int_at(b->j, "stepSeconds"), 300);
	assert_int_equal(json_int_at(b->j, "points"), 5);
	assert_string_equal(column(b, "tenants", "team-a"), "[8,0,null,null,8]");
	assert_string_equal(column(b, "tenants", "team-b"), "[0,16,null,null,0]");
	assert_string_equal(column(b, "states", "serving"), "[8,16,null,null,8]");
	assert_string_equal(column(b, "states", "free"), "[0,0,null,null,0]");
	assert_string_equal(column(b, "otherTenants", NULL), "[0,0,null,null,0]");
	assert_int_equal(json_object_size(json_object_get(b->j, "states")), GPU_GROUPS);
}

static void an_hour_is_the_mean_of_its_samples(void **state)
{
	struct bed *b = *state;

	sample(b, FIRST + 6, "team-a", 8);
	sample(b, FIRST + 7, "team-a", 8);
	sample(b, FIRST + 8, "team-a", 16);
	sample(b, FIRST + 36, "team-a", 4);
	sample(b, FIRST + 37, "team-a", 5);
	assert_int_equal(get(b, ""), 200);
	assert_string_equal(json_str_at(b->j, "from"), "2026-01-02T00:00:00Z");
	assert_int_equal(json_int_at(b->j, "stepSeconds"), 3600);
	assert_string_equal(column(b, "tenants", "team-a"), "[10.67,null,null,4.5]");
	assert_non_null(strstr(b->text, "[10.67,null,null,4.5]"));
	sample(b, FIRST + 38, "team-a", 0);
	for (int i = 39; i < 48; i++)
		sample(b, FIRST + i, "team-a", i == 39);
	assert_int_equal(get(b, "?from=2026-01-02T03:20:00Z&step=1h"), 200);
	assert_string_equal(json_str_at(b->j, "from"), "2026-01-02T03:00:00Z");
	assert_string_equal(column(b, "tenants", "team-a"), "[0.83]");
}

static void from_and_tenant_select(void **state)
{
	struct bed *b = *state;

	for (int i = 0; i < 4; i++) {
		sample(b, FIRST + i, "team-a", i);
		sample(b, FIRST + i, "team-b", 8);
	}
	assert_int_equal(get(b, "?step=5m&from=2026-01-02T01:12:59%2B01:00&tenant=team-a"), 200);
	assert_string_equal(json_str_at(b->j, "from"), "2026-01-02T00:10:00Z");
	assert_string_equal(column(b, "tenants", NULL), "{\"team-a\":[2,3]}");
	assert_string_equal(column(b, "states", "serving"), "[10,11]");
	assert_int_equal(get(b, "?step=5m&tenant=nobody"), 200);
	assert_string_equal(column(b, "tenants", NULL), "{}");
	assert_int_equal(get(b, "?step=5m&from=2030-01-01T00:00:00Z"), 200);
	assert_int_equal(json_int_at(b->j, "points"), 0);
	assert_int_equal(get(b, "?step=5m&from=1999-01-01T00:00:00Z"), 200);
	assert_int_equal(json_int_at(b->j, "points"), 4);
}

static void the_window_ends_with_the_newest_sample(void **state)
{
	struct bed *b = *state;

	for (int64_t s = FIRST; s < FIRST + 2500; s++)
		sample(b, s, "team-a", 8);
	assert_int_equal(get(b, "?step=5m"), 200);
	assert_int_equal(json_int_at(b->j, "points"), GPU_HISTORY_STEPS);
	assert_int_equal(get(b, ""), 200);
	assert_in_range(json_int_at(b->j, "points"), 168, 169);
}

static void tenants_are_paged_and_a_reply_is_bounded(void **state)
{
	struct bed *b = *state;
	char name[32], path[128] = "?step=5m";
	size_t seen = 0, pages = 0;

	for (int64_t s = FIRST; s < FIRST + GPU_HISTORY_STEPS; s++)
		for (int t = 0; t < GPU_HISTORY_TENANTS; t++) {
			str_format(name, sizeof(name), "team-%03d", t);
			sample(b, s, name, 1000 + t);
		}
	for (;;) {
		assert_int_equal(get(b, path), 200);
		assert_true(b->len < 2 << 20);
		assert_int_equal(json_int_at(b->j, "points"), GPU_HISTORY_STEPS);
		seen += json_object_size(json_object_get(b->j, "tenants"));
		pages++;
		if (!json_object_get(b->j, "continue"))
			break;
		str_format(path, sizeof(path), "?step=5m&continue=%s",
			   json_str_at(b->j, "continue"));
	}
	assert_int_equal(seen, GPU_HISTORY_TENANTS);
	assert_int_equal(pages, 6);
	/* all tenants by the hour fit into one reply */
	assert_int_equal(get(b, "?limit=1000"), 200);
	assert_int_equal(json_object_size(json_object_get(b->j, "tenants")), GPU_HISTORY_TENANTS);
	print_message("500 tenants by the hour: %zu bytes\n", b->len);
	assert_int_equal(get(b, "?limit=2"), 200);
	assert_string_equal(json_str_at(b->j, "continue"), "team-001");
}

static void bad_parameters_are_refused_by_name(void **state)
{
	struct bed *b = *state;

	assert_int_equal(get(b, "?step=1d"), 400);
	assert_non_null(strstr(b->text, "step: 5m or 1h"));
	assert_int_equal(get(b, "?from=yesterday"), 400);
	assert_non_null(strstr(b->text, "from: a time"));
	assert_int_equal(get(b, "?from=1960-01-01T00:00:00Z"), 400);
	assert_int_equal(get(b, "?to=2026-01-01T00:00:00Z"), 400);
	assert_non_null(strstr(b->text, "to: unknown"));
	assert_int_equal(get(b, "?tenant=%1b%5b31m"), 200);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_empty_history_has_no_points),
		T(gaps_are_null),
		T(an_hour_is_the_mean_of_its_samples),
		T(from_and_tenant_select),
		T(the_window_ends_with_the_newest_sample),
		T(tenants_are_paged_and_a_reply_is_bounded),
		T(bad_parameters_are_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
