#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/crypto.h"
#include "base/str.h"
#include "controller/core/keys.h"
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
	assert_string_equal(d->text, "not ready: caches or keys are not loaded yet\n");
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

/* True if the last page has a series of this family. */
static bool has_series(const struct bench *d, const char *family)
{
	const char *p = d->text;
	const size_t n = strlen(family);

	while ((p = strstr(p, family)) && (p[-1] != '\n' || (p[n] != '{' && p[n] != ' ')))
		p += n;
	return p != NULL;
}

/* Families of the fleet, one for each part that reads them. */
static const char *const fleet[] = {
	"drover_machines",	 "drover_gpus",		  "drover_machine_oldest_seconds",
	"drover_tenants_usable", "drover_tenants_asleep", "drover_pods_waiting"};

static void page_has_fleet(struct bench *d, bool wanted)
{
	assert_int_equal(get(d, "GET", "/metrics"), 200);
	for (size_t i = 0; i < sizeof(fleet) / sizeof(fleet[0]); i++)
		if (has_series(d, fleet[i]) != wanted)
			fail_msg("%s is %s", fleet[i], wanted ? "missing" : "shown");
	assert_true(has_series(d, "drover_leading"));
	assert_true(has_series(d, "drover_plans_total"));
}

static void the_leader_alone_shows_the_fleet(void **state)
{
	struct bench *d = *state;

	bench_tenants(d);
	bench_fleet(d);
	d->c.ready = true;
	d->c.leading = true;
	page_has_fleet(d, true);
	d->c.leading = false;
	page_has_fleet(d, false);
	d->c.leading = true;
	d->c.ready = false; /* Caches that are not synced have only some of the machines. */
	page_has_fleet(d, false);
	d->c.ready = true;
	page_has_fleet(d, true);
}

static unsigned told;

static void on_told(void *arg)
{
	(void)arg;
	told++;
}

static double machines(const struct bench *d, const char *state)
{
	return metric_get(metrics_find(d->c.metrics, "drover_machines"),
			  (const char *const[]){state});
}

static void the_fleet_is_counted_in_slices(void **state)
{
	struct gauges_wait one = {.done = on_told}, two = {.done = on_told}, gone = one;
	struct bench *d = *state;

	for (int i = 0; i < 450; i++)
		bench_put(d, arena_printf(d->a,
					  "{'kind': 'Machine', 'metadata': {'name': 'm-%d'}, "
					  "'spec': {'providerRef': {'name': 'hall-a'}}, 'status': "
					  "{'state': 'free'}}",
					  i));
	bench_run(d, 1000);
	d->c.ready = d->c.leading = true;
	told = 0;
	gauges_refresh(endpoints.gauges, &one);
	gauges_refresh(endpoints.gauges, &gone);
	assert_int_equal(told, 0);
	gauges_cancel(&gone);
	/* A count at once does not disturb the one in progress. */
	bench_run(d, 0);
	gauges_read(endpoints.gauges);
	assert_true(machines(d, "free") == 450);
	gauges_refresh(endpoints.gauges, &two);
	bench_run(d, 1000);
	assert_int_equal(told, 2);
	assert_true(machines(d, "free") == 450);
	/* A caller that waits when the gauges are freed is not called, and may still cancel. */
	gauges_refresh(endpoints.gauges, &one);
	gauges_free(endpoints.gauges);
	gauges_cancel(&one);
	bench_run(d, 1000);
	assert_int_equal(told, 2);
	endpoints.gauges = NULL;
}

static void on_no_answer(const struct http_reply *r, const struct err *e, void *arg)
{
	(void)r;
	(void)e;
	(void)arg;
	fail_msg("a cancelled request has a reply");
}

static void who_asks_for_metrics_may_leave_before_they_are_counted(void **state)
{
	struct http_peer_spec spec = {.base_url = ORIGIN, .plain_ok = true};
	struct http_call c = {.path = "/metrics", .done = on_no_answer};
	struct bench *d = *state;
	struct http_peer *p = http_peer_new(d->admin, &spec, &d->e);
	struct http_req *q = http_start(p, &c);

	/* The first turn delivers the request, the next ones would count. */
	for (int i = 0; i < 3; i++)
		bench_run(d, 0);
	http_cancel(q);
	bench_run(d, 5000);
	http_peer_free(p);
	assert_int_equal(get(d, "GET", "/metrics"), 200);
}

struct typed {
	bool done;
	char type[128], tail[16];
};

static void on_typed(const struct http_reply *r, const struct err *e, void *arg)
{
	struct typed *t = arg;

	t->done = true;
	if (e || r->body_len < 8)
		return;
	str_copy(t->tail, sizeof(t->tail), r->body + r->body_len - 6);
	for (size_t i = 0; i < r->nheaders; i++)
		if (strcasecmp(r->headers[i].name, "Content-Type") == 0)
			str_copy(t->type, sizeof(t->type), r->headers[i].value);
}

static bool is_typed(void *arg)
{
	return ((struct typed *)arg)->done;
}

static void the_format_is_the_one_that_the_client_prefers(void **state)
{
	static const struct {
		const char *accept;
		bool open;
	} cases[] = {
		{NULL, false},
		{"", false},
		{"*/*", false},
		{"text/plain", false},
		{"application/openmetrics-text", true},
		{"application/openmetrics-text; version=1.0.0; charset=utf-8", true},
		{"application/openmetrics-text;version=0.0.1", false},
		{"application/openmetrics-text;version=1.0.0;q=0", false},
		{"application/openmetrics-textual", false},
		/* Prometheus 2 and 3; a server that is told to prefer the old text */
		{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
		 "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 true},
		{"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
		 "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;"
		 "escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
		 true},
		{"text/plain;version=0.0.4;q=0.6, application/openmetrics-text;version=1.0.0;q=0.5",
		 false},
		{",,,;q=", false},
	};
	struct bench *d = *state;
	struct http_peer_spec spec = {.base_url = ORIGIN, .plain_ok = true};
	struct http_peer *p = http_peer_new(d->admin, &spec, &d->e);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct http_header accept = {"Accept", cases[i].accept};
		struct typed t = {0};
		struct http_call c = {.path = "/metrics",
				      .headers = &accept,
				      .nheaders = cases[i].accept != NULL,
				      .done = on_typed,
				      .arg = &t};

		http_start(p, &c);
		assert_true(loop_sim_run_cond(d->l, is_typed, &t, loop_now(d->l) + 10000));
		if (str_starts(t.type, "application/openmetrics-text; version=1.0.0") !=
			    cases[i].open ||
		    str_eq(t.tail, "# EOF\n") != cases[i].open)
			fail_msg("Accept: %s: %s", cases[i].accept, t.type);
	}
	http_peer_free(p);
}

static void a_page_that_is_too_large_is_an_error(void **state)
{
	struct bench *d = *state;
	const char *const labels[] = {"name", NULL};
	struct metric *f = metrics_gauge(d->c.metrics, "test_names", "Names.", labels);
	char name[128];

	metric_limit(f, 200000);
	for (int i = 0; i < 200000; i++) {
		str_format(name, sizeof(name), "%0100d", i);
		metric_set(f, (const char *const[]){name, NULL}, 1);
	}
	assert_int_equal(get(d, "GET", "/metrics"), 500);
	assert_non_null(strstr(d->text, "the metrics exceed 16 MiB"));
}

static void who_leads_is_told(void **state)
{
	struct bench *d = *state;
	struct kube_lease_spec spec = {.client = d->c.host,
				       .ns = "drover-system",
				       .name = "drover-controller",
				       .identity = "me"};

	d->c.o.identity = "me";
	d->c.lease = kube_lease_new(d->g, &spec);
	d->c.ready = false;
	d->c.leading = true;
	assert_int_equal(get(d, "GET", "/leadz"), 503);
	assert_string_equal(d->text, "not ready: caches or keys are not loaded yet\n");
	bench_run(d, 5000);
	d->c.ready = true;
	assert_int_equal(get(d, "GET", "/leadz"), 200);
	d->c.leading = false; /* the lease was not renewed in time */
	assert_int_equal(get(d, "GET", "/leadz"), 503);
	assert_non_null(strstr(d->text, "this replica did not renew its lease in time"));
	bench_must(d, &d->host, "PATCH",
		   "/apis/coordination.k8s.io/v1/namespaces/drover-system/leases/drover-controller",
		   "{'spec': {'holderIdentity': 'another'}}");
	bench_run(d, 5000);
	assert_int_equal(get(d, "GET", "/leadz"), 503);
	assert_string_equal(d->text, "replica another leads\n");
	d->c.leading = true; /* not told yet that the Lease was lost */
	page_has_fleet(d, false);
	d->c.leading = false;
	kube_lease_free(d->c.lease);
	d->c.lease = kube_lease_new(d->g, &spec);
	assert_int_equal(get(d, "GET", "/leadz"), 503);
	assert_string_equal(d->text, "no replica leads: the lease is free\n");
	kube_lease_free(d->c.lease);
	d->c.lease = NULL;
}

struct asked {
	bool done;
	int status;
};

static void on_asked(const struct http_reply *r, const struct err *e, void *arg)
{
	*(struct asked *)arg = (struct asked){true, e ? -1 : r->status};
}

static bool is_asked(void *arg)
{
	return ((struct asked *)arg)->done;
}

/* Sends a GET request to the listener that is reachable from other machines; returns the HTTP
 * status. */
static int get_remote(struct bench *d, const char *path, const char *token)
{
	struct http_peer_spec spec = {.base_url = "https://10.1.0.5:9091"};
	OWN(secret) bearer = token ? secret_from_str(token) : NULL;
	struct asked a = {0};
	struct http_call c = {.path = path, .bearer = bearer, .done = on_asked, .arg = &a};
	struct httpd *remote = httpd_new(d->g);
	struct http_peer *p = http_peer_new(d->admin, &spec, &d->e);

	endpoints_remote_routes(&endpoints, remote);
	http_mem_serve(d->net, spec.base_url, remote);
	http_start(p, &c);
	assert_true(loop_sim_run_cond(d->l, is_asked, &a, loop_now(d->l) + 10000));
	http_peer_free(p);
	httpd_free(remote);
	return a.status;
}

static void from_elsewhere_metrics_need_the_token(void **state)
{
	struct bench *d = *state;
	OWN_JSON made = NULL;
	char *token;
	size_t len;

	d->c.ready = d->c.leading = false;
	assert_int_equal(get_remote(d, "/metrics", NULL), 401);
	bench_run(d, 5000);
	keys_follow(d->c.keys); /* keys_follow() creates the missing token. */
	bench_run(d, 5000);
	assert_int_equal(get_remote(d, "/metrics", "guessed"), 401);
	made = bench_stored(&d->host, "secrets/" BENCH_NS "/drover-metrics-token");
	token = crypto_base64_decode(json_str_at(made, "data", "token"),
				     strlen(json_str_at(made, "data", "token")), &len, &d->e);
	assert_int_equal(len, 64);
	assert_int_equal(get_remote(d, "/metrics", NULL), 401);
	assert_int_equal(get_remote(d, "/metrics", token), 200);
	assert_int_equal(get_remote(d, "/leadz", NULL), 503);
	assert_int_equal(get_remote(d, "/healthz", NULL), 200);
	assert_int_equal(get_remote(d, "/readyz", NULL), 503);
	/* After the token was replaced, the old one is refused. A token that is too weak is refused
	 * as well. */
	bench_secret(d, "drover-metrics-token", "token", "another-token-of-somebody", NULL, NULL);
	bench_run(d, 35000);
	assert_int_equal(get_remote(d, "/metrics", token), 401);
	assert_int_equal(get_remote(d, "/metrics", "another-token-of-somebody"), 200);
	bench_secret(d, "drover-metrics-token", "token", "short", NULL, NULL);
	bench_run(d, 35000);
	assert_int_equal(get_remote(d, "/metrics", "short"), 401);
	free(token);
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
		T(the_leader_alone_shows_the_fleet),
		T(the_fleet_is_counted_in_slices),
		T(who_asks_for_metrics_may_leave_before_they_are_counted),
		T(the_format_is_the_one_that_the_client_prefers),
		T(a_page_that_is_too_large_is_an_error),
		T(who_leads_is_told),
		T(from_elsewhere_metrics_need_the_token),
		T(nothing_else_is_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
