/* Tests the lists of the view: members, pages, versions, and which replica answers. */
#include "api/annotations.h"
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "controller/claims/waiting.h"
#include "controller/view/view.h"

#define ORIGIN "https://view.test:8444"

struct bed {
	struct bench *d;
	struct waiting *waiting;
	struct view *view;
	struct httpd *server;
	struct http_peer *reader;
	struct secret *token;
	bool done;
	int status;
	json_t *j;
	char text[1024], tag[128];
};

static void on_published(void *arg)
{
	(void)arg;
}

/* Returns a token for this audience of a new ServiceAccount of a cluster. */
static struct secret *token(struct bench *d, struct bench_api *api, const char *account,
			    const char *audience)
{
	const char *path = "/api/v1/namespaces/drover-system/serviceaccounts";
	struct err e;

	bench_must(d, api, "POST", path,
		   arena_printf(d->a, "{'metadata': {'name': '%s'}}", account));
	bench_must(d, api, "POST", arena_printf(d->a, "%s/%s/token", path, account),
		   arena_printf(d->a, "{'spec': {'audiences': ['%s']}}", audience));
	OWN_JSON made = json_parse(d->text, strlen(d->text), &e);

	return secret_from_str(json_str_at(made, "status", "token"));
}

static void on_closing(struct bench *d, const struct tenant *t)
{
	view_hang_up(((struct bed *)d->closing_arg)->view, t->name);
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));
	struct http_peer_spec peer = {.base_url = ORIGIN};
	struct kube_lease_spec lease = {
		.ns = BENCH_NS, .name = "drover-controller", .identity = "me"};
	struct bench *d;
	struct err e;

	assert_int_equal(bench_setup_fleet((void **)&b->d), 0);
	d = b->d;
	lease.client = d->c.host;
	d->c.o.identity = "me";
	d->c.lease = kube_lease_new(d->g, &lease);
	d->c.ready = d->c.leading = true;
	b->waiting = waiting_new(&d->c, on_published, b);
	b->view = view_new(&d->c, d->tenants, b->waiting, provisioner_last_plan(d->provisioner),
			   provisioner_bursts(d->provisioner));
	b->server = httpd_new(d->g);
	view_routes(b->view, b->server);
	http_mem_serve(d->net, ORIGIN, b->server);
	b->reader = http_peer_new(d->admin, &peer, &e);
	d->on_closing = on_closing;
	d->closing_arg = b;
	b->token = token(d, &d->host, "reader", VIEW_AUDIENCE);
	bench_run(d, 5000);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	d->on_closing = NULL;
	json_decref(b->j);
	secret_free(b->token);
	http_peer_free(b->reader);
	httpd_free(b->server);
	view_free(b->view);
	waiting_free(b->waiting);
	kube_lease_free(d->c.lease);
	d->c.lease = NULL;
	free(b);
	return bench_teardown((void **)&d);
}

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bed *b = arg;
	struct err bad;

	b->done = true;
	b->status = r ? r->status : -1;
	json_decref(b->j);
	b->j = r ? json_parse(r->body, r->body_len, &bad) : NULL;
	str_copy(b->text, sizeof(b->text), r ? r->body : e->text);
	str_copy(b->tag, sizeof(b->tag), r ? str_or(http_reply_header(r, "ETag"), "") : "");
}

static bool is_done(void *arg)
{
	return ((struct bed *)arg)->done;
}

static int get_if(struct bed *b, const char *path, const char *tag)
{
	const struct http_header h = {"If-None-Match", tag};
	struct http_call c = {.path = path,
			      .bearer = b->token,
			      .headers = &h,
			      .nheaders = tag ? 1 : 0,
			      .done = on_reply,
			      .arg = b};

	b->done = false;
	http_start(b->reader, &c);
	assert_true(loop_sim_run_cond(b->d->l, is_done, b, loop_now(b->d->l) + 60000));
	return b->status;
}

static int get(struct bed *b, const char *path)
{
	return get_if(b, path, NULL);
}

/* Publishes a list with pods p-0 to p-(n-1) of two tenants. */
static void queue(struct bed *b, int n)
{
	waiting_begin(b->waiting);
	for (int i = 0; i < n; i++)
		waiting_put(b->waiting,
			    &(struct waiting_row){
				    .tenant = i % 2 ? "team-b" : "team-a",
				    .at = {.pod = arena_printf(b->d->a, "ns/p-%d", i),
					   .place = i + 1,
					   .reason = "NoCapacity",
					   .message = "pool h100: 4 machines fit, all taken",
					   .claim = i ? NULL : "c-1"},
				    .p50 = i ? 0 : INT64_C(1764000000000),
				    .p90 = i ? 0 : INT64_C(1764000600000)});
	waiting_end(b->waiting);
	bench_run(b->d, WAITING_MS);
}

static void only_the_leader_answers(void **state)
{
	struct bed *b = *state;

	b->d->c.leading = false;
	assert_int_equal(get(b, "/v1/queue"), 503);
	assert_string_equal(b->text, "{\"error\":\"no replica of drover leads now\"}");
	b->d->c.ready = false;
	assert_int_equal(get(b, "/v1/fleet"), 503);
	b->d->c.ready = true;
	bench_must(b->d, &b->d->host, "PATCH",
		   "/apis/coordination.k8s.io/v1/namespaces/drover-system/leases/drover-controller",
		   "{'spec': {'holderIdentity': 'another'}}");
	bench_run(b->d, 5000);
	assert_int_equal(get(b, "/v1/queue"), 503);
	assert_string_equal(b->text, "{\"error\":\"replica another leads: ask there\"}");
}

static void a_machine_has_its_explanation_and_its_place_in_the_fleet(void **state)
{
	struct bed *b = *state;
	const json_t *m;

	bench_patch(b->d, OBJECT_MACHINE, "m-1",
		    "{'metadata': {'labels': {'topology.drover.dev/rack': 'r1'}}}");
	bench_status(b->d, OBJECT_MACHINE, "m-1",
		     "{'state': 'serving', 'stateSince': '2026-01-02T03:04:05Z', 'pool': 'h100', "
		     "'claimRef': {'name': 'c-1', 'uid': 'u'}, 'tenant': {'name': 'team-a', 'uid': "
		     "'t'}, 'inventory': {'gpus': 8}}");
	assert_int_equal(get(b, "/v1/fleet"), 200);
	m = json_array_get(json_object_get(b->j, "machines"), 0);
	assert_string_equal(json_str_at(m, "name"), "m-1");
	assert_string_equal(json_str_at(m, "state"), "serving");
	assert_string_equal(json_str_at(m, "since"), "2026-01-02T03:04:05Z");
	assert_string_equal(json_str_at(m, "tenant"), "team-a");
	assert_string_equal(json_str_at(m, "claim"), "c-1");
	assert_string_equal(json_str_at(m, "pool"), "h100");
	assert_string_equal(json_str_at(m, "provider"), "hall-a");
	assert_string_equal(json_str_at(m, "rack"), "r1");
	assert_int_equal(json_int_at(m, "gpus"), 8);
	assert_null(json_object_get(m, "kind"));
	assert_int_equal(get(b, "/v1/fleet?brief=true"), 200);
	assert_string_equal(b->text,
			    "{\"total\":1,\"byState\":{\"serving\":1},\"machines\":[{\"name\":"
			    "\"m-1\",\"state\":\"serving\",\"since\":\"2026-01-02T03:04:05Z\","
			    "\"tenant\":\"team-a\",\"rack\":\"r1\",\"pool\":\"h100\"}]}");
	assert_int_equal(json_int_at(b->j, "total"), 1);
	assert_int_equal(json_int_at(b->j, "byState", "serving"), 1);
	assert_int_equal(json_object_size(json_object_get(b->j, "byState")), 1);
}

static void a_brief_machine_that_is_stuck_has_its_reason(void **state)
{
	struct bed *b = *state;
	const json_t *m;

	bench_status(b->d, OBJECT_MACHINE, "m-1",
		     "{'state': 'attaching', 'stateSince': '2025-01-02T03:04:05Z', 'operation': "
		     "{'step': 'place tenant/team-a', 'lastError': {'reason': 'FabricUnavailable', "
		     "'message': 'm', 'time': '2025-01-02T03:05:05Z'}}}");
	assert_int_equal(get(b, "/v1/fleet?brief=true"), 200);
	m = json_array_get(json_object_get(b->j, "machines"), 0);
	assert_string_equal(json_str_at(m, "reason"), "FabricUnavailable");
	assert_true(json_true_at(m, "slow"));
	bench_status(b->d, OBJECT_MACHINE, "m-1",
		     "{'state': 'quarantined', 'quarantine': {'reason': 'DriveMissing', "
		     "'message': 'm', 'exit': 'operator'}}");
	assert_int_equal(get(b, "/v1/fleet?brief=true"), 200);
	m = json_array_get(json_object_get(b->j, "machines"), 0);
	assert_string_equal(json_str_at(m, "reason"), "DriveMissing");
	assert_null(json_object_get(m, "slow"));
}

static void a_machine_is_served_with_its_past(void **state)
{
	struct bed *b = *state;
	const json_t *x;

	bench_status(b->d, OBJECT_MACHINE, "m-1",
		     "{'state': 'quarantined', 'stateSince': '2026-01-02T03:04:05Z', 'failures': "
		     "[{'time': '2026-01-02T03:04:05Z', 'step': 'wipe', 'reason': 'DriveFailed', "
		     "'message': 'no answer'}]}");
	view_machine(b->view, NULL, CTX_GET(&b->d->c, OBJECT_MACHINE, machine, "m-1"));
	assert_int_equal(get(b, "/v1/machines/m-1"), 200);
	assert_string_equal(json_str_at(b->j, "state"), "quarantined");
	x = json_array_get(json_object_get(b->j, "states"), 0);
	assert_string_equal(json_str_at(x, "since"), "2026-01-02T03:04:05Z");
	x = json_array_get(json_object_get(b->j, "failures"), 0);
	assert_string_equal(json_str_at(x, "reason"), "DriveFailed");
	assert_string_equal(json_str_at(x, "message"), "no answer");
	assert_true(json_is_array(json_object_get(b->j, "wipes")));
	assert_int_equal(get(b, "/v1/machines/m-9"), 404);
	assert_non_null(strstr(b->text, "there is no machine m-9"));
}

static void the_fleet_is_paged_by_name(void **state)
{
	struct bed *b = *state;
	char seen[64] = "", path[128] = "/v1/fleet?limit=2";

	for (int i = 2; i <= 5; i++) {
		OWN(arena) a = arena_new();

		bench_put(b->d, arena_printf(a,
					     "{'kind': 'Machine', 'metadata': {'name': 'm-%d'}, "
					     "'spec': {'providerRef': {'name': 'hall-a'}, "
					     "'instanceType': 'h100x8', 'bmc': {'address': "
					     "'https://10.0.0.%d', 'tls': {'trustOnFirstUse': "
					     "true}}}, 'status': {'state': '%s'}}",
					     i, i, i == 4 ? "quarantined" : "free"));
	}
	for (int pages = 0; pages < 3; pages++) {
		const json_t *m;
		size_t i;

		assert_int_equal(get(b, path), 200);
		assert_int_equal(json_int_at(b->j, "total"), 5);
		json_array_foreach (json_object_get(b->j, "machines"), i, m)
			str_format(seen + strlen(seen), sizeof(seen) - strlen(seen), "%s ",
				   json_str_at(m, "name"));
		if (pages < 2)
			str_format(path, sizeof(path), "/v1/fleet?limit=2&continue=%s",
				   json_str_at(b->j, "continue"));
	}
	assert_null(json_object_get(b->j, "continue"));
	assert_string_equal(seen, "m-1 m-2 m-3 m-4 m-5 ");
	assert_int_equal(get(b, "/v1/fleet?state=quarantined"), 200);
	assert_int_equal(json_int_at(b->j, "total"), 1);
	assert_int_equal(json_int_at(b->j, "byState", "free"), 4);
	assert_int_equal(get(b, "/v1/fleet?tenant=team-b"), 200);
	assert_int_equal(json_int_at(b->j, "total"), 0);
}

static void a_waiting_pod_has_its_place_reason_and_times(void **state)
{
	struct bed *b = *state;
	const json_t *p;

	assert_int_equal(get(b, "/v1/queue"), 200);
	assert_int_equal(json_int_at(b->j, "total"), 0);
	queue(b, 2);
	assert_int_equal(get(b, "/v1/queue"), 200);
	p = json_array_get(json_object_get(b->j, "pods"), 0);
	assert_string_equal(json_str_at(p, "tenant"), "team-a");
	assert_string_equal(json_str_at(p, "pod"), "ns/p-0");
	assert_int_equal(json_int_at(p, "place"), 1);
	assert_string_equal(json_str_at(p, "reason"), "NoCapacity");
	assert_string_equal(json_str_at(p, "message"), "pool h100: 4 machines fit, all taken");
	assert_string_equal(json_str_at(p, "claim"), "c-1");
	assert_string_equal(json_str_at(p, "expectedP50"), "2025-11-24T16:00:00Z");
	assert_string_equal(json_str_at(p, "expectedP90"), "2025-11-24T16:10:00Z");
	assert_non_null(json_str_at(p, "since"));
	p = json_array_get(json_object_get(b->j, "pods"), 1);
	assert_null(json_object_get(p, "expectedP50"));
	assert_null(json_object_get(p, "claim"));
	assert_int_equal(json_int_at(b->j, "total"), 2);
}

static void the_queue_is_paged_also_when_pods_leave_it(void **state)
{
	struct bed *b = *state;
	char path[128];

	queue(b, 7);
	assert_int_equal(get(b, "/v1/queue?limit=3"), 200);
	assert_int_equal(json_array_size(json_object_get(b->j, "pods")), 3);
	str_format(path, sizeof(path), "/v1/queue?limit=3&continue=%s",
		   json_str_at(b->j, "continue"));
	assert_int_equal(get(b, path), 200);
	assert_string_equal(json_str_at(json_array_get(json_object_get(b->j, "pods"), 0), "pod"),
			    "ns/p-3");
	queue(b, 2); /* The last pod of the first page no longer waits. */
	assert_int_equal(get(b, path), 200);
	assert_int_equal(json_array_size(json_object_get(b->j, "pods")), 0);
	queue(b, 7);
	assert_int_equal(get(b, "/v1/queue?tenant=team-b&limit=3"), 200);
	assert_int_equal(json_int_at(b->j, "total"), 3);
	assert_int_equal(json_array_size(json_object_get(b->j, "pods")), 3);
	assert_null(json_object_get(b->j, "continue"));
}

static void the_pods_of_a_gang_are_one_row(void **state)
{
	struct bed *b = *state;
	struct waiting_gang gang = {.name = "ns/podgroups/train\x1b[2J", .size = 4, .begun = 1};
	const json_t *rows, *g;
	char since[STR_TIME_SIZE];
	size_t n;

	waiting_begin(b->waiting);
	waiting_put(b->waiting,
		    &(struct waiting_row){
			    .tenant = "team-a",
			    .at = {.pod = "ns/p-1", .reason = "GangNotWhole", .message = "m"},
			    .gang = &gang});
	waiting_end(b->waiting);
	bench_run(b->d, WAITING_MS);
	str_time(since, waiting_rows(b->waiting, &n)[0].at.since);
	waiting_begin(b->waiting);
	for (int i = 0; i < 5; i++)
		waiting_put(b->waiting,
			    &(struct waiting_row){.tenant = i == 4 ? "team-b" : "team-a",
						  .at = {.pod = arena_printf(b->d->a, "ns/p-%d", i),
							 .place = i + 1,
							 .reason = "GangNotWhole",
							 .message = "m"},
						  .p50 = INT64_C(1764000000000) +
							 (i % 3) * INT64_C(60000),
						  .p90 = i == 1 ? 0 : INT64_C(1764000600000),
						  .gang = i == 2 ? NULL : &gang});
	waiting_end(b->waiting);
	bench_run(b->d, WAITING_MS);
	assert_int_equal(get(b, "/v1/queue"), 200);
	assert_int_equal(json_int_at(b->j, "total"), 5);
	assert_int_equal(json_int_at(b->j, "rows"), 3);
	rows = json_object_get(b->j, "pods");
	assert_int_equal(json_array_size(rows), 3);
	assert_string_equal(json_str_at(json_array_get(rows, 0), "pod"), "ns/p-0");
	assert_string_equal(json_str_at(json_array_get(rows, 0), "expectedP50"),
			    "2025-11-24T16:01:00Z");
	assert_null(json_object_get(json_array_get(rows, 0), "expectedP90"));
	assert_string_equal(json_str_at(json_array_get(rows, 0), "since"), since);
	g = json_object_get(json_array_get(rows, 0), "gang");
	assert_string_equal(json_str_at(g, "name"), "ns/podgroups/train\x1b[2J");
	assert_int_equal(json_int_at(g, "size"), 4);
	assert_int_equal(json_int_at(g, "bound"), 1);
	assert_int_equal(json_int_at(g, "waiting"), 3);
	assert_string_equal(json_str_at(json_array_get(rows, 1), "pod"), "ns/p-2");
	assert_null(json_object_get(json_array_get(rows, 1), "gang"));
	/* Another tenant's gang of the same name is another gang. */
	assert_int_equal(json_int_at(json_array_get(rows, 2), "gang", "waiting"), 1);
	assert_int_equal(get(b, "/v1/queue?tenant=team-a&limit=1"), 200);
	assert_int_equal(json_int_at(b->j, "rows"), 2);
	assert_int_equal(get(b, arena_printf(b->d->a, "/v1/queue?tenant=team-a&limit=1&continue=%s",
					     json_str_at(b->j, "continue"))),
			 200);
	rows = json_object_get(b->j, "pods");
	assert_string_equal(json_str_at(json_array_get(rows, 0), "pod"), "ns/p-2");
	assert_null(json_object_get(b->j, "continue"));
}

static void an_unchanged_list_is_not_sent_again(void **state)
{
	struct bed *b = *state;
	char queue_tag[128], fleet_tag[128];

	queue(b, 2);
	assert_int_equal(get(b, "/v1/queue"), 200);
	str_copy(queue_tag, sizeof(queue_tag), b->tag);
	assert_int_equal(get_if(b, "/v1/queue", queue_tag), 304);
	assert_string_equal(b->text, "");
	assert_string_equal(b->tag, queue_tag);
	queue(b, 3);
	assert_int_equal(get_if(b, "/v1/queue", queue_tag), 200);
	assert_int_equal(get(b, "/v1/fleet"), 200);
	str_copy(fleet_tag, sizeof(fleet_tag), b->tag);
	assert_int_equal(get_if(b, "/v1/fleet", fleet_tag), 304);
	view_changed(b->view, OBJECT_MACHINE, "m-1");
	assert_int_equal(get_if(b, "/v1/fleet", fleet_tag), 200);
	str_copy(fleet_tag, sizeof(fleet_tag), b->tag);
	bench_run(b->d, 60000); /* an explanation may depend on the time */
	assert_int_equal(get_if(b, "/v1/fleet", fleet_tag), 200);
}

static void what_needs_attention_is_paged_and_tagged(void **state)
{
	struct bed *b = *state;
	char path[256], tag[128];

	bench_patch(b->d, OBJECT_PROVIDER, "hall-a", "{'spec': {'paused': true}}");
	bench_status(b->d, OBJECT_MACHINE, "m-1",
		     "{'state': 'quarantined', 'stateSince': '2026-01-02T03:04:05Z', 'tenant': "
		     "{'name': 'team-a', 'uid': 't'}, 'quarantine': {'reason': 'DriveMissing', "
		     "'message': '<b>', 'exit': 'operator'}}");
	assert_int_equal(get(b, "/v1/attention?limit=1"), 200);
	assert_int_equal(json_int_at(b->j, "total"), 2);
	assert_int_equal(json_int_at(b->j, "byNeed", "Person"), 1);
	assert_int_equal(json_int_at(b->j, "byNeed", "Held"), 1);
	assert_string_equal(json_str_at(json_array_get(json_at(b->j, "rows"), 0), "object"),
			    "machine/m-1");
	str_format(path, sizeof(path), "/v1/attention?limit=1&continue=%s",
		   json_str_at(b->j, "continue"));
	assert_int_equal(get(b, path), 200);
	assert_null(json_object_get(b->j, "continue"));
	assert_string_equal(json_str_at(json_array_get(json_at(b->j, "rows"), 0), "object"),
			    "provider/hall-a");
	assert_int_equal(get(b, "/v1/attention?tenant=team-a"), 200);
	assert_int_equal(json_int_at(b->j, "total"), 1);
	str_copy(tag, sizeof(tag), b->tag);
	bench_run(b->d, 120000);
	assert_int_equal(get_if(b, "/v1/attention?tenant=team-a", tag), 304);
	bench_patch(b->d, OBJECT_PROVIDER, "hall-a", "{'spec': {'paused': false}}");
	view_changed(b->view, OBJECT_PROVIDER, "hall-a");
	assert_int_equal(get_if(b, "/v1/attention", tag), 200);
	assert_int_equal(json_int_at(b->j, "total"), 1);
	assert_int_equal(get(b, "/v1/attention?state=free"), 400);
}

static void on_stopped(void *arg)
{
	(*(int *)arg)++;
}

static void the_history_begins_with_leadership(void **state)
{
	struct bed *b = *state;
	char tag[128];
	int stopped = 0;

	assert_int_equal(get(b, "/v1/history?step=5m"), 200);
	assert_int_equal(json_int_at(b->j, "points"), 0);
	view_lead(b->view);
	bench_status(b->d, OBJECT_MACHINE, "m-1", "{'state': 'free', 'inventory': {'gpus': 8}}");
	bench_run(b->d, 300000);
	assert_int_equal(get(b, "/v1/history?step=5m"), 200);
	assert_int_equal(json_int_at(b->j, "points"), 2);
	assert_int_equal(json_integer_value(json_array_get(json_at(b->j, "states", "free"), 1)), 8);
	str_copy(tag, sizeof(tag), b->tag);
	assert_int_equal(get_if(b, "/v1/history?step=5m", tag), 304);
	bench_run(b->d, 300000);
	assert_int_equal(get_if(b, "/v1/history?step=5m", tag), 200);
	view_stop(b->view, on_stopped, &stopped);
	bench_run(b->d, 3000);
	assert_int_equal(stopped, 1);
	b->d->c.leading = false;
	assert_int_equal(get(b, "/v1/history"), 503);
}

static void the_newest_plan_tells_its_claims_and_reasons(void **state)
{
	struct bed *b = *state;
	const json_t *claim, *reason;
	char tag[128];

	bench_pod(b->d, "train", 8);
	bench_pod(b->d, "next", 8);
	for (int i = 0; i < 60 && json_array_size(json_object_get(b->j, "claims")) == 0; i++) {
		bench_run(b->d, 100);
		assert_int_equal(get(b, "/v1/plan"), 200);
	}
	claim = json_array_get(json_object_get(b->j, "claims"), 0);
	assert_string_equal(json_str_at(claim, "machine"), "m-1");
	assert_string_equal(json_str_at(claim, "tenant"), "team-a");
	assert_string_equal(json_str_at(claim, "pool"), "h100");
	assert_non_null(json_str_at(claim, "claim"));
	assert_null(json_object_get(claim, "gang"));
	assert_int_equal(json_int_at(claim, "pods"), 1);
	reason = json_array_get(json_object_get(b->j, "reasons"), 0);
	assert_string_equal(json_str_at(reason, "reason"), "NoCapacity");
	assert_string_equal(json_str_at(reason, "pool"), "h100");
	assert_int_equal(json_int_at(reason, "pods"), 1);
	assert_int_equal(json_int_at(b->j, "pods", "onNewClaim"), 1);
	assert_int_equal(json_int_at(b->j, "pods", "unplaced"), 1);
	assert_int_equal(json_int_at(b->j, "totals", "claims"), 1);
	assert_non_null(json_str_at(b->j, "time"));
	str_copy(tag, sizeof(tag), b->tag);
	assert_int_equal(get_if(b, "/v1/plan", tag), 304);
	assert_int_equal(get(b, "/v1/plan?limit=3"), 400);
}

/* From now on requests have a token of ServiceAccount `dev` in the cluster of team-a. */
static void become_tenant(struct bed *b)
{
	struct bench *d = b->d;

	bench_must(d, &d->team, "POST", "/api/v1/namespaces",
		   "{'metadata': {'name': 'drover-system'}}");
	secret_free(b->token);
	b->token = token(d, &d->team, "dev", VIEW_AUDIENCE "/team-a");
}

static void a_tenants_user_sees_its_own_part(void **state)
{
	struct bed *b = *state;
	const json_t *pods;

	queue(b, 4);
	become_tenant(b);
	assert_int_equal(get(b, "/v1/tenants/team-a/queue?limit=1"), 200);
	assert_null(strstr(b->text, "team-b"));
	assert_int_equal(json_int_at(b->j, "total"), 2);
	assert_int_equal(get(b, "/v1/tenants/team-a/queue"), 200);
	pods = json_object_get(b->j, "pods");
	assert_int_equal(json_array_size(pods), 2);
	assert_string_equal(json_str_at(json_array_get(pods, 1), "pod"), "ns/p-2");
	assert_int_equal(json_int_at(json_array_get(pods, 1), "place"), 3);
	assert_int_equal(get(b, "/v1/tenants/team-a/queue?tenant=team-b"), 400);
	view_lead(b->view);
	bench_run(b->d, 1000);
	assert_int_equal(get(b, "/v1/tenants/team-a/history"), 200);
	assert_null(json_object_get(b->j, "states"));
	assert_null(json_object_get(b->j, "otherTenants"));
	assert_int_equal(get(b, "/v1/tenants/team-a/history?tenant=team-b"), 400);
	assert_int_equal(get(b, "/v1/tenants/team-b/queue"), 401);
	assert_int_equal(get(b, "/v1/tenants/team-a/fleet"), 404);
	assert_int_equal(get(b, "/v1/queue"), 401);
	assert_int_equal(get(b, "/v1/fleet"), 401);
}

static void an_operator_reads_a_tenants_path_too(void **state)
{
	struct bed *b = *state;

	queue(b, 4);
	assert_int_equal(get(b, "/v1/tenants/team-a/queue"), 200);
	assert_int_equal(json_int_at(b->j, "total"), 2);
	assert_int_equal(get(b, "/v1/tenants/team-z/queue"), 404);
	assert_string_equal(b->text, "{\"error\":\"there is no tenant team-z\"}");
}

static void a_tenant_that_is_removed_during_the_review_gets_503(void **state)
{
	struct bed *b = *state;
	struct http_call c = {.path = "/v1/tenants/team-a/queue", .done = on_reply, .arg = b};

	become_tenant(b);
	http_mem_hang(b->d->net, BENCH_TEAM, true);
	c.bearer = b->token;
	b->done = false;
	http_start(b->reader, &c);
	bench_run(b->d, 2000);
	assert_false(b->done);
	bench_must(b->d, &b->d->host, "DELETE", "/apis/drover.dev/v1alpha1/virtualclusters/team-a",
		   NULL);
	bench_run(b->d, 2000);
	assert_true(b->done);
	assert_int_equal(b->status, 503);
	assert_non_null(strstr(b->text, "its VirtualCluster or kubeconfig changed"));
	http_mem_hang(b->d->net, BENCH_TEAM, false);
	assert_int_equal(get(b, "/v1/tenants/team-a/queue"), 401);
}

static void bad_parameters_are_refused_by_name(void **state)
{
	struct bed *b = *state;

	assert_int_equal(get(b, "/v1/queue?limit=0"), 400);
	assert_non_null(strstr(b->text, "limit"));
	assert_int_equal(get(b, "/v1/queue?limit=1001"), 400);
	assert_int_equal(get(b, "/v1/queue?limit=3x"), 400);
	assert_int_equal(get(b, "/v1/queue?limit=99999999999999999999"), 400);
	assert_int_equal(get(b, "/v1/queue?state=free"), 400);
	assert_non_null(strstr(b->text, "state: unknown"));
	assert_int_equal(get(b, "/v1/fleet?brief=yes"), 400);
	assert_int_equal(get(b, "/v1/fleet?brief=false"), 200);
	assert_int_equal(get(b, "/v1/queue?continue=nonsense"), 200);
	assert_int_equal(get(b, "/v1/queue?continue=99999999999999999999/x"), 200);
	assert_int_equal(get(b, "/v1/other"), 404);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(only_the_leader_answers),
		T(a_machine_has_its_explanation_and_its_place_in_the_fleet),
		T(a_brief_machine_that_is_stuck_has_its_reason),
		T(a_machine_is_served_with_its_past),
		T(the_fleet_is_paged_by_name),
		T(a_waiting_pod_has_its_place_reason_and_times),
		T(the_queue_is_paged_also_when_pods_leave_it),
		T(what_needs_attention_is_paged_and_tagged),
		T(the_pods_of_a_gang_are_one_row),
		T(an_unchanged_list_is_not_sent_again),
		T(the_history_begins_with_leadership),
		T(the_newest_plan_tells_its_claims_and_reasons),
		T(a_tenants_user_sees_its_own_part),
		T(an_operator_reads_a_tenants_path_too),
		T(a_tenant_that_is_removed_during_the_review_gets_503),
		T(bad_parameters_are_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
