#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/endpoints.h"

#define ORIGIN "http://127.0.0.1:9090"

static struct httpd *server;
static struct endpoints endpoints;

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	server = httpd_new(d->g);
	endpoints = (struct endpoints){&d->c, gauges_new(&d->c, d->tenants)};
	endpoints_routes(&endpoints, server);
	http_mem_serve(d->net, ORIGIN, server);
	return 0;
}

static int teardown(void **state)
{
	httpd_free(server);
	gauges_free(endpoints.gauges);
	return bench_teardown(state);
}

static int get(struct bench *d, const char *method, const char *path)
{
	struct http_peer_spec spec = {.base_url = ORIGIN, .plain_ok = true};
	struct bench_api ops = {.admin = http_peer_new(d->admin, &spec, &d->e)};
	int status = bench_do(d, &ops, method, path, NULL);

	http_peer_free(ops.admin);
	return status;
}

static void it_lives_as_long_as_its_loop_turns(void **state)
{
	struct bench *d = *state;

	d->c.ready = d->c.leading = false;
	assert_int_equal(get(d, "GET", "/healthz"), 200);
	assert_string_equal(d->text, "ok\n");
}

static void it_is_ready_once_caches_and_keys_are_in(void **state)
{
	struct bench *d = *state;

	d->c.ready = false;
	assert_int_equal(get(d, "GET", "/readyz"), 503);
	assert_string_equal(d->text, "caches or keys are missing\n");
	d->c.ready = true;
	assert_int_equal(get(d, "GET", "/readyz"), 200);
}

static void metrics_are_text_for_prometheus(void **state)
{
	struct bench *d = *state;

	assert_int_equal(get(d, "GET", "/metrics"), 200);
	assert_non_null(strstr(d->text, "# TYPE drover_plans_total counter\n"));
	assert_true(str_ends(d->text, "\n"));
}

static void nothing_else_is_served(void **state)
{
	struct bench *d = *state;

	assert_int_equal(get(d, "GET", "/"), 404);
	assert_int_equal(get(d, "GET", "/metrics/x"), 404);
	assert_int_equal(get(d, "POST", "/metrics"), 405);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(it_lives_as_long_as_its_loop_turns),
		T(it_is_ready_once_caches_and_keys_are_in),
		T(metrics_are_text_for_prometheus),
		T(nothing_else_is_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
