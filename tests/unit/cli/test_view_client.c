/* Tests where commands find the leader's view, with which token, and what they report without
 * it. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/secret.h"
#include "base/str.h"
#include "cli/view_client.h"
#include "tests/unit/kube/fake_api.h"

#define PUBLISHED "https://127.0.0.1:16449"
#define GIVEN "https://view.test:8444"
#define MAP "/api/v1/namespaces/drover-system/configmaps/drover-view"
#define TOKENS "/api/v1/namespaces/drover-system/serviceaccounts/drover-view/token"
#define PROXY "/api/v1/namespaces/drover-system/services/https:drover-view:view/proxy"
#define LIST "/v1/queue"

struct bed {
	struct fake_api f;
	/* Client with a client certificate instead of a token */
	struct kube_client *by_certificate;
	struct cli_client c;
	struct view_where where;
	struct view_client *v;
	/* Server of PUBLISHED and GIVEN */
	struct httpd *d;
	/* status: HTTP status of the proxy's replies. text: message in a failed reply; NULL: the
	 * reply is no Status object. away: number of further replies that are 503, whatever
	 * `status` is */
	int status;
	const char *text;
	unsigned away;
	/* False: a TokenRequest is refused with 403. */
	bool tokens;
	/* Number of pages; each has two rows. -1: pages without rows that never end */
	int pages;
	/* Token of the last request for a page, without "Bearer " */
	char token[64];
	struct err e;
};

static void reply_page(struct bed *b, struct httpd_req *q)
{
	int page = atoi(str_or(httpd_query(q, "continue"), "0")) + 1;
	char text[256], more[64] = "";

	if (b->pages < 0 && page > 1) {
		httpd_reply_json(q, 200, "{\"pods\": [], \"continue\": \"1\"}");
		return;
	}
	if (page < b->pages || b->pages < 0)
		snprintf(more, sizeof(more), ", \"continue\": \"%d/a&b\"", page);
	snprintf(text, sizeof(text), "{\"total\": 7, \"pods\": [{\"n\": %d}, {\"n\": %d}]%s}",
		 page * 2 - 1, page * 2, more);
	httpd_reply_json(q, 200, text);
}

static bool serve(struct fake_api *f, struct httpd_req *q)
{
	struct bed *b = f->arg;
	const char *sent;

	if (str_eq(f->path, TOKENS)) {
		assert_string_equal(
			json_string_value(json_array_get(
				json_object_get(json_object_get(f->body, "spec"), "audiences"), 0)),
			"drover.dev/view");
		if (b->tokens)
			httpd_reply_json(q, 201, "{\"status\": {\"token\": \"made\"}}");
		else
			fake_api_status(q, 403, "Forbidden", "jane may not create a token");
		return true;
	}
	if (!str_starts(f->path, PROXY))
		return false;
	sent = str_or(httpd_header(q, "X-Drover-Authorization"), "Bearer none");
	str_copy(b->token, sizeof(b->token), sent + strlen("Bearer "));
	if (b->away) {
		b->away--;
		httpd_reply_header(q, "Retry-After", "2");
		httpd_reply(q, 503, "text/plain", "ask there", 9);
	} else if (b->status != 200 && !b->text) {
		httpd_reply(q, b->status, "text/plain", "no", 2);
	} else if (b->status != 200) {
		fake_api_status(q, b->status, "NotFound", b->text);
	} else {
		reply_page(b, q);
	}
	return true;
}

static void on_direct(struct httpd_req *q, void *arg)
{
	struct bed *b = arg;
	struct secret *t = httpd_bearer(q);

	str_copy(b->token, sizeof(b->token), t ? secret_expose(t) : "none");
	secret_free(t);
	reply_page(b, q);
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));
	struct kube_config none = {.server = (char *)(uintptr_t)FAKE_API_ORIGIN};
	const struct kube_client_spec s = {.config = &none};

	unsetenv("DROVER_VIEW");
	fake_api_start(&b->f, NULL);
	b->f.serve = serve;
	b->f.arg = b;
	b->by_certificate = fake_api_client(&b->f, b->f.client_g, b->f.http, &s);
	b->d = httpd_new(b->f.server_g);
	httpd_route(b->d, "GET", LIST, 0, on_direct, b);
	http_mem_serve(b->f.net, PUBLISHED, b->d);
	http_mem_serve(b->f.net, GIVEN, b->d);
	b->c = (struct cli_client){.verb = "drover status",
				   .loop = b->f.loop,
				   .group = b->f.client_g,
				   .http = b->f.http,
				   .host = b->f.c,
				   .out = stdout};
	b->where.ns = "drover-system";
	b->status = 200;
	b->pages = 1;
	b->tokens = true;
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;

	view_client_free(b->v);
	httpd_free(b->d);
	kube_client_free(b->by_certificate);
	fake_api_stop(&b->f);
	free(b);
	return 0;
}

/* Reads the list with a new view client; returns the number of rows. -1: failed, b->e is set. */
static int rows(struct bed *b)
{
	view_client_free(b->v);
	b->v = view_client_new(&b->c, &b->where);
	OWN_JSON list = view_client_list(b->v, LIST, "pods", &b->e);
	json_t *all = json_object_get(list, "pods"), *r;
	size_t i;

	json_array_foreach (all, i, r)
		assert_int_equal(json_int_at(r, "n"), i + 1);
	assert_null(json_object_get(list, "continue"));
	return list ? (int)json_array_size(all) : -1;
}

static void assert_fails(struct bed *b, const char *what)
{
	assert_int_equal(rows(b), -1);
	if (!strstr(b->e.text, what))
		fail_msg("want '%s' in: %s", what, b->e.text);
}

static void publish(struct bed *b, const char *url)
{
	struct secret *key;
	struct err e;
	char *ca, *json;

	assert_int_equal(crypto_ca_new("test", loop_wall(b->f.loop), 365, &ca, &key, &e), 0);
	OWN_JSON map = json_pack("{s:{s:s}, s:{s:s, s:s}}", "metadata", "name", "drover-view",
				 "data", "endpoint", url, "ca.crt", ca);

	json = json_text(map);
	fake_api_put(&b->f, MAP, json);
	free(json);
	free(ca);
	secret_free(key);
}

static void the_proxy_gets_the_token_of_the_kubeconfig(void **state)
{
	struct bed *b = *state;

	assert_int_equal(rows(b), 2);
	assert_string_equal(b->token, "first");
	assert_int_equal(fake_api_count(&b->f, "POST " TOKENS), 0);
}

static void without_a_token_one_is_requested_for_the_view(void **state)
{
	struct bed *b = *state;

	b->c.host = b->by_certificate;
	assert_int_equal(rows(b), 2);
	assert_string_equal(b->token, "made");
	b->tokens = false;
	assert_fails(b, "jane may not create a token; what helps: bind the ClusterRole and the "
			"Role drover-view");
}

static void all_pages_are_one_list(void **state)
{
	struct bed *b = *state;

	b->pages = 3;
	assert_int_equal(rows(b), 6);
	b->pages = -1;
	assert_fails(b, "the leader sent an empty page or too many rows");
}

static void the_published_address_comes_first(void **state)
{
	struct bed *b = *state;

	publish(b, PUBLISHED);
	assert_int_equal(rows(b), 2);
	/* The token was created for the view only: whoever can write the ConfigMap must not receive
	 * a token for the API server. */
	assert_string_equal(b->token, "made");
	assert_int_equal(fake_api_count(&b->f, "GET " PROXY LIST), 0);

	/* No leader answers at the published address, so the client uses the proxy. */
	publish(b, "https://127.0.0.1:2");
	assert_int_equal(rows(b), 2);
	assert_string_equal(b->token, "first");
	publish(b, "http://127.0.0.1:2");
	assert_int_equal(rows(b), 2);
}

static void a_given_address_is_the_only_one(void **state)
{
	struct bed *b = *state;

	b->where.url = GIVEN;
	assert_fails(b, "the CA of --view is unknown: give --view-ca FILE");
	publish(b, PUBLISHED);
	assert_int_equal(rows(b), 2);
	assert_string_equal(b->token, "first");
	b->where.url = "https://other.test:1";
	assert_fails(b, "what helps: `drover check` shows whether drover runs");
	b->where.url = "http://view.test:8444";
	assert_fails(b, "--view: want https://HOST:PORT, got 'http://view.test:8444'");
	b->where.url = GIVEN;
	b->where.ca_file = "/nonexistent/ca";
	assert_fails(b, "--view-ca: /nonexistent/ca: no such file");
	b->where.url = b->where.ca_file = NULL;
	setenv("DROVER_VIEW", "https://other.test:1", 1);
	assert_fails(b, "what helps: `drover check` shows whether drover runs");
	unsetenv("DROVER_VIEW");
}

static void a_replica_that_does_not_lead_is_asked_again(void **state)
{
	struct bed *b = *state;
	int64_t began = loop_now(b->f.loop);

	b->away = 3;
	assert_int_equal(rows(b), 2);
	b->away = 1000;
	assert_fails(b, "what helps: `drover check` shows whether drover runs");
	assert_int_equal(b->away, 995);
	assert_true(loop_now(b->f.loop) - began < 2000);
}

static void each_failure_says_what_helps(void **state)
{
	struct bed *b = *state;

	struct err again;

	b->status = 404;
	assert_fails(b, "check --context and --namespace, or run helm upgrade or");
	b->text = "services \"drover-view\" not found";
	assert_fails(b, "deploy/install.sh again, which create the Service");
	assert_null(view_client_list(b->v, LIST, "pods", &again));
	assert_string_equal(again.text, b->e.text);
	fake_api_put(&b->f, "/api/v1/namespaces/drover-system/services/drover-view", "{}");
	assert_fails(b, "the leader is older than this command; update drover");
	b->text = NULL;
	b->status = 401;
	assert_fails(b, "log in again");
	b->status = 403;
	assert_fails(b, "bind the ClusterRole and the Role drover-view");
}

static void a_silent_leader_costs_three_seconds(void **state)
{
	struct bed *b = *state;
	int64_t began = loop_now(b->f.loop);

	publish(b, PUBLISHED);
	http_mem_hang(b->f.net, PUBLISHED, true);
	assert_int_equal(rows(b), 2);
	assert_string_equal(b->token, "first");
	assert_true(loop_now(b->f.loop) - began < 4000);

	/* A second call returns the same error without a further wait. */
	b->where.url = PUBLISHED;
	assert_fails(b, "nothing received for 3000 ms; what helps: `drover check` shows whether "
			"drover runs");
	began = loop_now(b->f.loop);
	assert_null(view_client_list(b->v, LIST, "pods", &b->e));
	assert_true(loop_now(b->f.loop) == began);
}

static void a_total_limit_holds_for_a_given_address(void **state)
{
	struct bed *b = *state;
	int64_t began = loop_now(b->f.loop);

	b->where.total_ms = 2000;
	b->where.url = PUBLISHED;
	publish(b, PUBLISHED);
	http_mem_hang(b->f.net, PUBLISHED, true);
	assert_fails(b, "ms; what helps: `drover check` shows whether drover runs");
	assert_true(loop_now(b->f.loop) - began < 2500);
}

/* A published URL that hangs leaves time for the service proxy. */
static void a_total_limit_leaves_time_for_the_proxy(void **state)
{
	struct bed *b = *state;
	int64_t began = loop_now(b->f.loop);

	b->where.total_ms = 2000;
	publish(b, PUBLISHED);
	http_mem_hang(b->f.net, PUBLISHED, true);
	assert_int_equal(rows(b), 2);
	assert_true(loop_now(b->f.loop) - began < 1500);
	assert_int_equal(fake_api_count(&b->f, "GET " PROXY LIST), 1);
}

static void nonsense_is_no_list(void **state)
{
	struct bed *b = *state;

	b->v = view_client_new(&b->c, &b->where);
	assert_null(view_client_list(b->v, LIST, "machines", &b->e));
	assert_non_null(strstr(b->e.text, "the leader's reply has no list 'machines'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_proxy_gets_the_token_of_the_kubeconfig, setup,
						teardown),
		cmocka_unit_test_setup_teardown(without_a_token_one_is_requested_for_the_view,
						setup, teardown),
		cmocka_unit_test_setup_teardown(all_pages_are_one_list, setup, teardown),
		cmocka_unit_test_setup_teardown(the_published_address_comes_first, setup, teardown),
		cmocka_unit_test_setup_teardown(a_given_address_is_the_only_one, setup, teardown),
		cmocka_unit_test_setup_teardown(a_replica_that_does_not_lead_is_asked_again, setup,
						teardown),
		cmocka_unit_test_setup_teardown(each_failure_says_what_helps, setup, teardown),
		cmocka_unit_test_setup_teardown(a_silent_leader_costs_three_seconds, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_total_limit_holds_for_a_given_address, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_total_limit_leaves_time_for_the_proxy, setup,
						teardown),
		cmocka_unit_test_setup_teardown(nonsense_is_no_list, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
