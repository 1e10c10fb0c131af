/* Claims that a tenant's webhook decides on. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/str.h"
#include "tests/world/approving.h"
#include "tests/world/leaving.h"

#define ORIGIN "https://approve.test:8443"

struct decider {
	struct sim_world *w;
	struct httpd *d;
	/* status and body of each answer; NULL: no answer */
	int status;
	const char *answer;
	unsigned posts;
	/* id of the first request, and the number of requests with another one */
	char id[64];
	unsigned other_ids;
	char body[2048];
};

static void on_claim(struct httpd_req *q, void *arg)
{
	struct decider *s = arg;
	size_t len;
	struct err e;
	OWN_JSON o = NULL;
	const char *id;

	str_copy(s->body, sizeof(s->body), httpd_body(q, &len));
	o = json_parse(s->body, strlen(s->body), &e);
	id = str_or(json_str_at(o, "id"), "");
	if (!s->posts++)
		str_copy(s->id, sizeof(s->id), id);
	s->other_ids += !str_eq(s->id, id);
	if (s->answer)
		httpd_reply_json(q, s->status, s->answer);
}

static void start(struct sim_world *w, uint64_t seed, unsigned servers, struct decider *s)
{
	world_start(w, seed, servers);
	s->w = w;
	s->d = httpd_new(w->hardware);
	httpd_route(s->d, "POST", "/claims", 65536, on_claim, s);
	http_mem_serve(w->net, ORIGIN, s->d);
	approving_ask(w, json_pack("{s:s, s:{s:s, s:s}}", "claims", "Webhook", "webhook", "url",
				   ORIGIN "/claims", "timeout", "5s"));
	world_replica(w);
	world_wait_all(w, "free", 3600);
}

static void stop(struct sim_world *w, struct decider *s)
{
	http_mem_serve(w->net, ORIGIN, NULL);
	httpd_free(s->d);
	world_stop(w);
}

static void what_the_webhook_approves_is_served(void **state)
{
	struct sim_world w;
	struct decider s = {.status = 200,
			    .answer = "{\"decision\":\"Approved\",\"reason\":\"project 42\"}"};
	OWN_JSON o = NULL;
	OWN_JSON asked = NULL;
	struct err e;

	(void)state;
	start(&w, 8201, 1, &s);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	assert_int_equal(s.posts, 1);
	o = approving_first(&w);
	assert_string_equal(s.id, json_str_at(o, "metadata", "uid"));
	assert_string_equal(json_str_at(o, "status", "approval", "by"), "approve.test:8443");
	assert_string_equal(json_str_at(o, "status", "approval", "reason"), "project 42");
	assert_non_null(strstr(approving_at(o, "message"), "by approve.test:8443"));
	asked = json_parse(s.body, strlen(s.body), &e);
	assert_string_equal(json_str_at(asked, "virtualCluster"), "team-a");
	assert_string_equal(json_str_at(asked, "machine"), "gpu-1");
	assert_string_equal(json_str_at(asked, "nodeClaim"), json_str_at(o, "metadata", "name"));
	stop(&w, &s);
}

static void what_the_webhook_denies_gets_no_machine(void **state)
{
	struct sim_world w;
	struct decider s = {.status = 200,
			    .answer = "{\"decision\":\"Denied\",\"reason\":\"no budget\"}"};

	(void)state;
	start(&w, 8202, 1, &s);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ClaimDenied");
	world_run(&w, 30 * 60 * 1000);
	approving_all_rest(&w);
	assert_int_equal(s.posts, 1);
	assert_int_equal(store_count(w.host.store, APPROVING_CLAIMS), 1);
	assert_true(leaving_was_told(&w.tenants[0], "ClaimDenied", "no budget"));
	stop(&w, &s);
}

/* Each of these answers leaves the claim without an approval, and the condition says why. */
static void in_doubt_nothing_starts(void **state)
{
	static const struct {
		int status;
		const char *answer, *says;
	} rows[] = {
		{200, NULL, ": no complete answer within 5000 ms;"},
		{500, "{\"decision\":\"Approved\"}", ": HTTP 500;"},
		{202, "{\"decision\":\"Approved\"}", ": HTTP 202;"},
		{200, "{\"decision\":\"approved\"}", "the member decision is neither"},
		{200, "{\"decision\":true}", "the member decision is neither"},
		{200, "{\"decision\":\"Approved\",\"reason\":7}", "the member reason is no text"},
		{200, "{\"decision\":\"Approved\",\"dryRun\":true}", "has other members"},
		{200, "[]", "the member decision is neither"},
		{200, "Approved", ": the answer is no JSON: line 1, column 8: "},
		{200, "", ": the answer is no JSON: line 1, column 0: "},
	};
	struct sim_world w;
	struct decider s = {0};

	(void)state;
	start(&w, 8203, 1, &s);
	world_pod(&w, &w.tenants[0], "train");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned before = s.posts;
		OWN_JSON o = NULL;

		s.status = rows[i].status;
		s.answer = rows[i].answer;
		world_run(&w, 11 * 60 * 1000); /* longer than two of the longest back-offs */
		assert_true(s.posts > before);
		o = approving_first(&w);
		assert_string_equal(approving_at(o, "status"), "Unknown");
		assert_string_equal(approving_at(o, "reason"), "WebhookFailed");
		if (!strstr(approving_at(o, "message"), rows[i].says))
			fail_msg("row %zu: want '%s' in: %s", i, rows[i].says,
				 approving_at(o, "message"));
		approving_all_rest(&w);
	}
	assert_int_equal(s.other_ids, 0);
	assert_int_equal(store_count(w.host.store, APPROVING_CLAIMS), 1);
	assert_true(s.posts < 60);
	/* An administrator decides in place of the webhook. */
	approving_decide_first(&w, "Approved");
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	stop(&w, &s);
}

static void an_unreachable_webhook_approves_nothing(void **state)
{
	struct sim_world w;
	struct decider s = {.status = 200, .answer = "{\"decision\":\"Approved\"}"};

	(void)state;
	start(&w, 8204, 1, &s);
	http_mem_serve(w.net, ORIGIN, NULL);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "WebhookFailed");
	world_run(&w, 60 * 60 * 1000);
	approving_all_rest(&w);
	http_mem_serve(w.net, ORIGIN, s.d);
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	stop(&w, &s);
}

static bool has_asked(void *arg)
{
	return ((struct decider *)arg)->posts > 0;
}

/* A request becomes due while the leader may not act, because its Lease was not renewed. */
static void a_request_that_was_due_is_sent_once_the_leader_may(void **state)
{
	struct sim_world w;
	struct decider s = {.status = 500, .answer = "{}"};

	(void)state;
	start(&w, 8207, 1, &s);
	world_pod(&w, &w.tenants[0], "train");
	world_run(&w, 20 * 60 * 1000);
	s.posts = 0;
	world_wait(&w, has_asked, &s, 320, "the next request");
	world_run(&w, 294000);
	assert_int_equal(s.posts, 1);
	w.lease_fails = true;
	/* The Lease is renewed at least every 2.5 s, and lost after 9.5 s without. */
	world_run(&w, 5900);
	assert_int_equal(s.posts, 1);
	w.lease_fails = false;
	world_run(&w, 10 * 1000);
	assert_int_equal(s.posts, 2);
	assert_null(strstr(w.log, "no longer the leader: this replica writes"));
	stop(&w, &s);
}

static void a_new_leader_asks_with_the_same_id(void **state)
{
	struct sim_world w;
	struct decider s = {.status = 200};

	(void)state;
	start(&w, 8205, 1, &s);
	world_pod(&w, &w.tenants[0], "train");
	world_run(&w, 15 * 1000);
	assert_true(s.posts > 0);
	s.posts = 1;
	world_kill(&w.replicas[0]);
	s.answer = "{\"decision\":\"Approved\"}";
	world_replica(&w);
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	assert_int_equal(s.posts, 2);
	assert_int_equal(s.other_ids, 0);
	stop(&w, &s);
}

static void a_gang_is_asked_for_once(void **state)
{
	struct sim_world w;
	struct decider s = {.status = 200, .answer = "{\"decision\":\"Approved\"}"};

	(void)state;
	start(&w, 8206, 3, &s);
	world_gang_pod(&w, &w.tenants[0], "rank-0", "job", "2");
	world_gang_pod(&w, &w.tenants[0], "rank-1", "job", "2");
	world_wait_running(&w, &w.tenants[0], "rank-0", 3600);
	world_wait_running(&w, &w.tenants[0], "rank-1", 3600);
	assert_int_equal(s.posts, 1);
	stop(&w, &s);
}

/* The claim for which the webhook was asked is deleted: the webhook is asked for another one of the
 * gang at once. */
static void a_gang_whose_speaker_goes_is_asked_for_again(void **state)
{
	struct sim_world w;
	OWN(arena) a = arena_new();
	struct decider s = {.status = 500, .answer = "{}"};
	OWN_JSON o = NULL;

	(void)state;
	start(&w, 8208, 3, &s);
	world_gang_pod(&w, &w.tenants[0], "rank-0", "job", "2");
	world_gang_pod(&w, &w.tenants[0], "rank-1", "job", "2");
	world_run(&w, 20 * 60 * 1000);
	o = approving_first(&w);
	assert_string_equal(json_str_at(o, "metadata", "uid"), s.id);
	s.posts = 0;
	world_wait(&w, has_asked, &s, 320, "the next request");
	world_run(&w, 10 * 1000);
	s.posts = 0;
	world_do(&w, &w.host, "DELETE",
		 arena_printf(a, "/apis/drover.dev/v1alpha1/nodeclaims/%s",
			      json_str_at(o, "metadata", "name")),
		 NULL);
	world_run(&w, 1000);
	assert_true(s.posts > 0);
	assert_string_not_equal(json_str_at(o, "metadata", "uid"), s.id);
	stop(&w, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_webhook_approves_is_served),
		cmocka_unit_test(what_the_webhook_denies_gets_no_machine),
		cmocka_unit_test(in_doubt_nothing_starts),
		cmocka_unit_test(an_unreachable_webhook_approves_nothing),
		cmocka_unit_test(a_request_that_was_due_is_sent_once_the_leader_may),
		cmocka_unit_test(a_new_leader_asks_with_the_same_id),
		cmocka_unit_test(a_gang_is_asked_for_once),
		cmocka_unit_test(a_gang_whose_speaker_goes_is_asked_for_again),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
