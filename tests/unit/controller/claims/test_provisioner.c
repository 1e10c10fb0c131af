#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include <string.h>
#include "base/metrics.h"
#include "base/str.h"
#include "controller/claims/waiting.h"
#include "planner/plan.h"
#include "planner/world.h"

#define PODS "/api/v1/namespaces/default/pods"

struct names {
	struct bench *d;
	const char *v[16];
	size_t n;
};

static bool on_claim(const struct kube_entry *en, void *arg)
{
	struct names *w = arg;

	w->v[w->n++] = arena_strdup(w->d->a, en->name);
	return w->n < 16;
}

static struct names claims(struct bench *d)
{
	struct names w = {.d = d};

	kube_cache_each(d->c.cache[OBJECT_NODE_CLAIM], on_claim, &w);
	return w;
}

/* Lets the only claim fail, frees its machine and deletes the claim. */
static void fail_claim(struct bench *d)
{
	struct names w = claims(d);

	assert_int_equal(w.n, 1);
	bench_status(d, OBJECT_NODE_CLAIM, w.v[0], "{'phase': 'Failed'}");
	bench_status(d, OBJECT_NODE_CLAIM, w.v[0],
		     /* A second change of the failed claim does not count as a second failure. */
		     "{'nodeName': 'x'}");
	bench_patch(d, OBJECT_NODE_CLAIM, w.v[0], "{'metadata': {'finalizers': null}}");
	bench_must(d, &d->host, "DELETE",
		   arena_printf(d->a, "/apis/" OBJECT_API_VERSION "/nodeclaims/%s", w.v[0]), NULL);
	bench_run(d, 5000);
}

static void a_waiting_pod_gets_one_claim_and_is_told(void **state)
{
	struct bench *d = *state;
	struct names w;

	bench_pod(d, "train", 8);
	bench_run(d, 60000);
	w = claims(d);
	assert_int_equal(w.n, 1);
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, w.v[0]);
	assert_string_equal(json_str_at(o, "spec", "machineRef", "name"), "m-1");
	assert_string_equal(json_str_at(o, "spec", "virtualClusterRef", "name"), "team-a");
	assert_string_equal(json_str_at(o, "spec", "resources", "requests", "nvidia.com/gpu"), "8");
	assert_true(bench_events(&d->team, "Nominated") >= 1);
}

/* Returns the only event in the tenant's cluster; the caller owns the result. */
static json_t *the_event(struct bench *d)
{
	bench_must(d, &d->team, "GET", "/api/v1/namespaces/default/events", NULL);
	OWN_JSON list = bench_json(d->text);

	assert_int_equal(json_array_size(json_at(list, "items")), 1);
	return json_incref(json_array_get(json_at(list, "items"), 0));
}

/* Returns how many events the pod got. *text: message of the last one. */
static size_t told(struct bench *d, const char *pod, const char **text)
{
	int64_t newest = 0, rv;
	size_t n = 0, i;
	json_t *e;

	bench_must(
		d, &d->team, "GET",
		arena_printf(
			d->a,
			"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%%3D%s",
			pod),
		NULL);
	OWN_JSON list = json_parse(d->text, strlen(d->text), &d->e);

	json_array_foreach (json_at(list, "items"), i, e) {
		n += (size_t)json_int_at(e, "count");
		rv = strtoll(str_or(json_str_at(e, "metadata", "resourceVersion"), "0"), NULL, 10);
		if (rv <= newest)
			continue;
		newest = rv;
		*text = arena_strdup(d->a, json_str_at(e, "message"));
	}
	return n;
}

static void delete_pods(struct bench *d, int from, int n)
{
	for (int i = from; i < from + n; i++)
		bench_must(d, &d->team, "DELETE",
			   arena_printf(d->a, "/api/v1/namespaces/default/pods/huge-%d", i), NULL);
}

/* The limit of events is that of tenant/budget.h. The pods at the end of the queue are deleted
 * before their turn, so nothing is sent about them. */
static void many_waiting_pods_are_told_one_after_the_other(void **state)
{
	struct bench *d = *state;
	size_t n;

	for (int i = 0; i < 300; i++)
		bench_pod(d, arena_printf(d->a, "huge-%d", i), 9);
	bench_run(d, 3000);
	/* The queue is ordered by age, and pods of the same second by name. */
	delete_pods(d, 290, 10);
	delete_pods(d, 90, 10);
	bench_run(d, 60000);
	n = bench_events(&d->team, "TooBig");
	assert_in_range(n, 280, 290);
}

static void a_pod_that_gets_nothing_is_told_why_and_told_again_before_the_event_is_dropped(
	void **state)
{
	struct bench *d = *state;
	const char *text;

	bench_pod(d, "huge", 9);
	bench_run(d, 10000);
	assert_int_equal(claims(d).n, 0);
	OWN_JSON first = the_event(d);
	assert_string_equal(json_str_at(first, "type"), "Warning");
	assert_true(str_starts(json_str_at(first, "message"), "pool h100: "));
	for (int i = 0; i < 20; i++) {
		provisioner_kick(d->provisioner);
		bench_run(d, 10000);
	}
	OWN_JSON again = the_event(d);
	assert_true(json_equal(first, again));
	bench_run(d, 30 * 60 * 1000);
	assert_int_equal(told(d, "huge", &text), 1);
	bench_run(d, 20 * 60 * 1000);
	assert_int_equal(told(d, "huge", &text), 2);
	assert_string_equal(text, json_str_at(first, "message"));
}

static void of_many_pools_five_are_told_in_full_and_the_others_counted(void **state)
{
	struct bench *d = *state;
	const char *text, *at;
	size_t full = 0;

	for (int i = 0; i < 7; i++)
		bench_put(d,
			  arena_printf(
				  d->a,
				  "{'kind': 'NodePool', 'metadata': {'name': 'p-%d'}, "
				  "'spec': {'virtualClusterSelector': {},"
				  " 'template': {'metadata': {'labels': {"
				  "'example.com/pool': 'p'}}, 'spec': {"
				  "  'providerRefs': [{'name': 'hall-a'}], 'requirements': [%s],"
				  "  'images': [{'kubernetesVersion': '1.36', "
				  "'url': 'https://img.example/n.raw', 'format': 'raw',"
				  "   'digest': 'sha256:0123456789abcdef0123456789abcdef"
				  "0123456789abcdef0123456789abcdef'}],"
				  "  'network': {'isolation': 'NotRequired'}, 'gate': 'G0'}},"
				  " 'wipe': {'minimumLevel': {'flash': 'Purge', 'hdd': 'Clear'}, "
				  "'minimumTrust': 'BootNetwork'}}}",
				  i,
				  i < 5 ? "" : "{'key': 'x', 'operator': 'In', 'values': ['y']}"));
	bench_pod(d, "huge", 9);
	bench_run(d, 10000);
	assert_int_equal(told(d, "huge", &text), 1);
	for (at = text; (at = strstr(at, " has too little ")); at++)
		full++;
	assert_int_equal(full, 5);
	assert_true(str_ends(text,
			     "; also RequirementsNotMet in 2 other pools, TooBig in 1 other pool"));
}

static void of_its_claim_a_pod_hears_once(void **state)
{
	struct bench *d = *state;
	struct names w;

	bench_pod(d, "train", 8);
	bench_run(d, 5000);
	w = claims(d);
	assert_int_equal(w.n, 1);
	for (int i = 0; i < 4; i++) { /* Plans are made while the claim is in progress. */
		bench_pod(d, arena_printf(d->a, "huge-%d", i), 9);
		bench_run(d, 5000);
	}
	bench_must(d, &d->team, "GET",
		   "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dtrain",
		   NULL);
	OWN_JSON list = bench_json(d->text);
	const json_t *e = json_array_get(json_at(list, "items"), 0);

	assert_int_equal(json_array_size(json_at(list, "items")), 1);
	assert_null(json_object_get(e, "series"));
	assert_string_equal(json_str_at(e, "message"),
			    arena_printf(d->a,
					 "machine m-1 of pool h100 is being prepared (claim %s)",
					 w.v[0]));
}

static void another_place_in_the_queue_is_no_news(void **state)
{
	struct bench *d = *state;

	bench_pod(d, "huge", 9);
	bench_run(d, 10000);
	OWN_JSON first = the_event(d);
	/* Otherwise equal pods are queued by name: "ahead" comes before "train". */
	bench_pod(d, "ahead", 9);
	bench_run(d, 10000);
	bench_must(d, &d->team, "GET", "/api/v1/namespaces/default/events", NULL);
	OWN_JSON list = bench_json(d->text);
	json_t *items = json_at(list, "items");
	bool kept = false;

	assert_int_equal(json_array_size(items), 2);
	for (size_t i = 0; i < 2; i++)
		kept |= json_equal(first, json_array_get(items, i));
	assert_true(kept);
}

static void another_number_is_no_news_and_another_reason_is(void **state)
{
	struct bench *d = *state;
	const char *text;

	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'serving'}");
	bench_pod(d, "train", 8);
	bench_run(d, 10000);
	assert_int_equal(told(d, "train", &text), 1);
	assert_string_equal(
		text, "place 1 in the queue: pool h100: 1 machine fits, all taken (1 serving)");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'draining'}");
	bench_run(d, 20 * 60 * 1000);
	assert_int_equal(told(d, "train", &text), 1);
	bench_patch(d, OBJECT_NODE_POOL, "h100", "{'spec': {'limits': {'nodes': '0'}}}");
	bench_run(d, 10000);
	assert_int_equal(told(d, "train", &text), 2);
	assert_string_equal(text, "place 1 in the queue: pool h100: the pool's limit of nodes "
				  "is reached: 0 of 0 used");
}

static void another_place_is_told_five_minutes_after_the_last_one(void **state)
{
	struct bench *d = *state;
	const char *text;

	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'serving'}");
	bench_pod(d, "p-4", 8);
	bench_run(d, 10000);
	assert_int_equal(told(d, "p-4", &text), 1);
	/* Otherwise equal pods are queued by name: p-3 comes before p-4. */
	bench_pod(d, "p-3", 8);
	bench_run(d, 4 * 60 * 1000);
	assert_int_equal(told(d, "p-4", &text), 1);
	bench_run(d, 60 * 1000); /* The event comes although nothing changed in the last minute. */
	assert_int_equal(told(d, "p-4", &text), 2);
	assert_true(str_starts(text, "place 2 in the queue: "));
	bench_pod(d, "p-1", 8);
	bench_pod(d, "p-2", 8);
	bench_run(d, 11 * 60 * 1000);
	assert_int_equal(told(d, "p-4", &text), 3);
	assert_true(str_starts(text, "place 4 in the queue: "));
	bench_pod(d, "p-0", 8);
	bench_run(d, 11 * 60 * 1000);
	assert_int_equal(told(d, "p-4", &text), 4);
	assert_true(str_starts(text, "place 5 in the queue: "));
}

static void pods(struct bench *d, int from, int to)
{
	for (int i = from; i < to; i++)
		bench_pod(d, arena_printf(d->a, "p-%02d", i), 8);
}

static void far_back_a_place_is_told_that_is_off_by_a_tenth(void **state)
{
	struct bench *d = *state;
	const char *text;

	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'serving'}");
	pods(d, 10, 40);
	bench_run(d, 10000);
	assert_int_equal(told(d, "p-39", &text), 1);
	assert_true(str_starts(text, "place 30 in the queue: "));
	/* Otherwise equal pods are queued by name: the three new pods come before p-39. */
	pods(d, 7, 10);
	bench_run(d, 11 * 60 * 1000);
	assert_int_equal(told(d, "p-39", &text), 1);
	pods(d, 6, 7);
	bench_run(d, 11 * 60 * 1000);
	assert_int_equal(told(d, "p-39", &text), 2);
	assert_true(str_starts(text, "place 34 in the queue: "));
}

/* Sets up m-1 as wiped since `at`. The Provider expects half an hour for the wipe, and ten more
 * minutes until the next node serves. */
static void wiped_since(struct bench *d, int64_t at)
{
	struct provider_object p = *CTX_GET(&d->c, OBJECT_PROVIDER, provider_object, "hall-a");
	struct provider_object_instance_type hgx = p.spec.instance_types.v[0];
	char t[STR_TIME_SIZE];

	hgx.expected.free = INT64_C(30) * 60 * 1000;
	hgx.expected.serving = INT64_C(10) * 60 * 1000;
	p.spec.instance_types.v = &hgx;
	eta_provider(d->eta, &p);
	bench_status(d, OBJECT_MACHINE, "m-1",
		     arena_printf(d->a, "{'state': 'wiping', 'clean': false, 'stateSince': '%s'}",
				  str_time(t, at)));
}

static const char *expected_text(struct bench *d, int64_t now, int64_t since)
{
	const int64_t at = since + INT64_C(40) * 60 * 1000;
	char between[ETA_BETWEEN_SIZE];

	return arena_printf(d->a,
			    "place 1 in the queue, expected %s: pool h100: 1 machine "
			    "fits, all taken (1 wiping)",
			    eta_between(&(struct eta_span){at, at}, now, between));
}

static void who_waits_for_a_machine_is_told_when_and_again_when_that_has_moved_far(void **state)
{
	struct bench *d = *state;
	const int64_t began = loop_wall(d->c.loop) / 60000 * 60000, min = 60000;
	const char *text;

	wiped_since(d, began);
	bench_pod(d, "train", 8);
	bench_run(d, 10000);
	assert_int_equal(told(d, "train", &text), 1);
	assert_string_equal(text, expected_text(d, began, began));
	/* The expected time moves by 9 min: less than a fourth of the 40 min that were reported, so
	 * no event. */
	wiped_since(d, began + 9 * min);
	bench_run(d, 11 * min);
	assert_int_equal(told(d, "train", &text), 1);
	wiped_since(d, began + 11 * min);
	for (int i = 0; i < 30 && told(d, "train", &text) < 2; i++)
		bench_run(d, 10000);
	assert_int_equal(told(d, "train", &text), 2);
	assert_string_equal(text, expected_text(d, loop_wall(d->c.loop), began + 11 * min));
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'serving'}");
	bench_run(d, 4 * min);
	assert_int_equal(told(d, "train", &text), 2);
	bench_run(d, 2 * min);
	assert_int_equal(told(d, "train", &text), 3);
	assert_string_equal(
		text, "place 1 in the queue: pool h100: 1 machine fits, all taken (1 serving)");
}

static void a_pod_that_is_not_bound_though_there_is_room_is_told_after_a_minute(void **state)
{
	struct bench *d = *state;

	bench_must(d, &d->team, "POST", "/api/v1/nodes",
		   "{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'theirs'}, "
		   "'spec': {'providerID': 'x://1'}, 'status': {"
		   "'allocatable': {'nvidia.com/gpu': '8', 'cpu': '64', "
		   "'memory': '512Gi', 'pods': '110'},"
		   "'conditions': [{'type': 'Ready', 'status': 'True'}]}}");
	bench_run(d, 1000);
	bench_pod(d, "train", 8);
	bench_run(d, 55000);
	assert_int_equal(bench_events(&d->team, "RoomOnNode"), 0);
	bench_run(d, 15000);
	assert_int_equal(bench_events(&d->team, "RoomOnNode"), 1);
	/* A claim for a different Node was created; test_refused.c tests why. */
	assert_int_equal(claims(d).n, 1);
}

static double plans(struct bench *d)
{
	static const char name[] = "\ndrover_plans_total ";
	const char *at;
	struct buf b;
	double n;

	buf_init(&b, 1u << 20);
	metrics_write(d->c.metrics, &b);
	at = strstr(b.data, name);
	n = at ? strtod(at + strlen(name), NULL) : 0;
	buf_done(&b);
	return n;
}

static void what_is_nothing_new_for_the_planner_makes_no_plan(void **state)
{
	struct bench *d = *state;
	double before;

	bench_pod(d, "huge", 9);
	bench_run(d, 10000);
	before = plans(d);
	assert_true(before >= 1);
	for (int i = 0; i < 5; i++) {
		bench_status(
			d, OBJECT_MACHINE, "m-1",
			arena_printf(d->a, "{'power': {'state': '%s'}}", i % 2 ? "On" : "Off"));
		bench_run(d, 5000);
	}
	assert_true(plans(d) == before);
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'wiping'}");
	bench_run(d, 5000);
	assert_true(plans(d) == before + 1);
}

/* The world is paused while a plan is made. Objects that change meanwhile reach the planner when
 * the world is released. */
static void what_changes_during_a_plan_makes_another_one(void **state)
{
	struct bench *d = *state;
	double before;

	bench_pod(d, "huge", 9);
	bench_run(d, 10000);
	before = plans(d);
	world_sync_pause(d->sync);
	bench_status(d, OBJECT_MACHINE, "m-1", "{'power': {'state': 'Off'}}");
	world_sync_resume(d->sync);
	bench_run(d, 5000);
	assert_true(plans(d) == before);
	world_sync_pause(d->sync);
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'wiping'}");
	bench_run(d, 5000);
	assert_true(plans(d) == before);
	world_sync_resume(d->sync);
	bench_run(d, 5000);
	assert_true(plans(d) == before + 1);
}

/* drover pauses after a long plan, because endless changes would otherwise cause one plan after the
 * other. */
static void after_a_plan_of_much_work_there_is_a_rest(void **state)
{
	struct bench *d = *state;
	double before, few;

	bench_pod(d, "huge", 9);
	bench_run(d, 10000);
	before = plans(d);
	for (int i = 0; i < 100; i++) {
		provisioner_kick(d->provisioner);
		bench_run(d, 20);
	}
	few = plans(d) - before;
	/* Plans of an almost empty world take no time in this simulation, so no pause follows. */
	assert_true(few > 20);
	for (int i = 0; i < 30000; i++) {
		struct world_node n = {.tenant = "team-b", .name = arena_printf(d->a, "n%d", i)};

		world_put_node(world_sync_world(d->sync), &n);
	}
	bench_run(d, 5000);
	before = plans(d);
	for (int i = 0; i < 100; i++) {
		provisioner_kick(d->provisioner);
		bench_run(d, 20);
	}
	assert_true(plans(d) - before > 2);
	assert_true(plans(d) - before < few / 3);
	/* Once the pause is over, the next change is planned at once. */
	bench_run(d, 5000);
	before = plans(d);
	provisioner_kick(d->provisioner);
	bench_run(d, 60);
	assert_true(plans(d) == before + 1);
}

static void pods_that_come_together_are_planned_together_and_a_lone_one_at_once(void **state)
{
	struct bench *d = *state;
	double before = plans(d);

	bench_pod(d, "lone", 9);
	bench_run(d, 500);
	assert_true(plans(d) == before + 1);
	bench_run(d, 5000);
	bench_pod(d, "first", 9);
	bench_pod(d, "second", 8);
	bench_run(d, 800);
	assert_int_equal(claims(d).n, 0);
	bench_run(d, 1000);
	assert_int_equal(claims(d).n, 1);
}

static void who_waits_is_told_again_though_nothing_changes(void **state)
{
	struct bench *d = *state;
	const char *text;

	bench_pod(d, "huge", 9);
	bench_run(d, 10000);
	assert_int_equal(told(d, "huge", &text), 1);
	bench_run(d, 51 * 60 * 1000);
	assert_int_equal(told(d, "huge", &text), 2);
}

static void who_does_not_lead_or_is_not_ready_plans_nothing(void **state)
{
	struct bench *d = *state;

	d->c.leading = false;
	bench_pod(d, "train", 8);
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 0);
	d->c.leading = true;
	d->c.ready = false;
	provisioner_kick(d->provisioner);
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 0);
	d->c.ready = true;
	provisioner_kick(d->provisioner);
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 1);
}

static void a_claim_that_could_not_be_created_is_tried_again(void **state)
{
	struct bench *d = *state;

	d->host.denied = true;
	bench_pod(d, "train", 8);
	bench_run(d, 10000);
	assert_int_equal(claims(d).n, 0);
	d->host.denied = false;
	bench_run(d, 10000);
	assert_int_equal(claims(d).n, 1);
}

static void second_machine(struct bench *d)
{
	bench_put(d, "{'kind': 'Machine', 'metadata': {'name': 'm-2'}, "
		     "'spec': {'providerRef': {'name': 'hall-a'},"
		     " 'instanceType': 'hgx', 'managementPolicy': 'Manage',"
		     " 'drives': [{'wwn': 'eui.3', 'bytes': 1000}],"
		     " 'identity': {'systemUUID': '4c4c4544-0000-1000-8000-000000000002', "
		     "'serialNumber': 'S2'},"
		     " 'bmc': {'address': 'https://10.0.8.18/redfish/v1/Systems/1', "
		     "'credentialsSecretRef': {'name': 'bmc-1'},"
		     "  'tls': {'trustOnFirstUse': true}}},"
		     " 'status': {'state': 'free', 'tenancy': 1, 'clean': true,"
		     "  'lastWipe': {'record': 'm-2-1-1', 'tenancy': 1}}}");
}

static void a_claim_that_is_being_created_is_planned_with(void **state)
{
	struct bench *d = *state;
	unsigned before = http_stats(d->c.http).in_flight;

	second_machine(d);
	http_mem_hang(d->net, BENCH_HOST, true);
	bench_pod(d, "train", 8);
	for (int i = 0; i < 30; i++) {
		provisioner_kick(d->provisioner);
		bench_run(d, 100);
	}
	assert_true(plans(d) > 20);
	assert_int_equal(http_stats(d->c.http).in_flight, before + 1);
	/* The claim that is being created for the first pod does not delay the claim of another
	 * pod. */
	bench_pod(d, "eval", 8);
	bench_run(d, 3000);
	assert_int_equal(http_stats(d->c.http).in_flight, before + 2);
	bench_pod(d, "third", 8);
	bench_run(d, 3000);
	assert_int_equal(http_stats(d->c.http).in_flight, before + 2);
	http_mem_hang(d->net, BENCH_HOST, false);
	bench_run(d, 60000);
	assert_int_equal(claims(d).n, 2);
}

static enum http_mem_fault_kind creates_fare(const char *origin, const char *method,
					     const char *target, void *arg)
{
	(void)origin;
	return str_eq(method, "POST") && strstr(target, "/nodeclaims")
		       ? *(const enum http_mem_fault_kind *)arg
		       : HTTP_MEM_WELL;
}

/* Simulates a lost answer, no answer, and a request that the server gets twice: drover does not
 * know whether the claim was created. */
static void a_claim_is_created_once_though_the_answer_is_lost(void **state)
{
	static const enum http_mem_fault_kind fates[] = {HTTP_MEM_REPLY_LOST, HTTP_MEM_SILENT,
							 HTTP_MEM_TWICE};
	struct bench *d = *state;

	second_machine(d);
	for (size_t i = 0; i < 3; i++) {
		enum http_mem_fault_kind fate = fates[i];
		struct names w;

		http_mem_fault(d->net, creates_fare, &fate);
		bench_pod(d, "train", 8);
		for (int k = 0; k < 40; k++) {
			provisioner_kick(d->provisioner);
			bench_run(d, 1000);
		}
		w = claims(d);
		assert_int_equal(w.n, 1);
		bench_must(d, &d->team, "DELETE", PODS "/train", NULL);
		bench_patch(d, OBJECT_NODE_CLAIM, w.v[0], "{'metadata': {'finalizers': null}}");
		bench_must(d, &d->host, "DELETE",
			   arena_printf(d->a, "/apis/" OBJECT_API_VERSION "/nodeclaims/%s", w.v[0]),
			   NULL);
		bench_run(d, 5000);
		assert_int_equal(claims(d).n, 0);
		http_mem_fault(d->net, NULL, NULL);
	}
}

/* Injected fault: a claim can be created, but list and watch of claims do not answer. */
static enum http_mem_fault_kind lags(const char *origin, const char *method, const char *target,
				     void *arg)
{
	(void)origin;
	(void)arg;
	if (!strstr(target, "/nodeclaims"))
		return HTTP_MEM_WELL;
	if (str_eq(method, "POST"))
		return HTTP_MEM_REPLY_LOST;
	return strstr(target, "/nodeclaims/") ? HTTP_MEM_WELL : HTTP_MEM_SILENT;
}

static void a_claim_that_no_cache_shows_yet_is_asked_for_and_not_made_anew(void **state)
{
	struct bench *d = *state;

	second_machine(d);
	bench_away(d, &d->host, true); /* The watch ends; from then on no cache shows new claims. */
	bench_away(d, &d->host, false);
	http_mem_fault(d->net, lags, NULL);
	bench_pod(d, "train", 8);
	for (int k = 0; k < 40; k++) {
		provisioner_kick(d->provisioner);
		bench_run(d, 1000);
	}
	assert_int_equal(claims(d).n, 1);
	http_mem_fault(d->net, NULL, NULL);
}

static void what_is_not_offered_gets_no_claim(void **state)
{
	static const char *const patches[] = {
		"{'state': 'wiping'}", "{'state': 'free', 'clean': false}",
		"{'clean': true, 'claimRef': {'name': 'x', 'uid': 'y'}}"};
	struct bench *d = *state;

	for (size_t i = 0; i < 3; i++) {
		bench_status(d, OBJECT_MACHINE, "m-1", patches[i]);
		if (!i)
			bench_pod(d, "train", 8);
		bench_run(d, 5000);
		assert_int_equal(claims(d).n, 0);
	}
	bench_status(d, OBJECT_MACHINE, "m-1", "{'claimRef': null}");
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 1);
}

static void after_three_failures_in_a_row_it_backs_off_and_says_so(void **state)
{
	struct bench *d = *state;

	bench_pod(d, "train", 8);
	bench_run(d, 5000);
	for (int i = 0; i < 3; i++)
		fail_claim(d);
	assert_int_equal(claims(d).n, 0);
	assert_true(bench_events(&d->team, "BackingOff") >= 1);
	bench_run(d, 9 * 60 * 1000);
	assert_int_equal(claims(d).n, 0);
	bench_run(d, 2 * 60 * 1000);
	assert_int_equal(claims(d).n, 1);
	/* After the fourth failure, the wait is twice as long. */
	fail_claim(d);
	bench_run(d, 15 * 60 * 1000);
	assert_int_equal(claims(d).n, 0);
	bench_run(d, 6 * 60 * 1000);
	assert_int_equal(claims(d).n, 1);
}

static void a_changed_pool_is_tried_at_once(void **state)
{
	struct bench *d = *state;

	bench_pod(d, "train", 8);
	bench_run(d, 5000);
	for (int i = 0; i < 3; i++)
		fail_claim(d);
	assert_int_equal(claims(d).n, 0);
	bench_patch(d, OBJECT_NODE_POOL, "h100", "{'spec': {'weight': 3}}");
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 1);
}

static void a_claim_that_became_ready_ends_the_row(void **state)
{
	struct bench *d = *state;

	bench_pod(d, "train", 8);
	bench_run(d, 5000);
	fail_claim(d);
	fail_claim(d);
	bench_status(d, OBJECT_NODE_CLAIM, claims(d).v[0],
		     "{'conditions': [{'type': 'Ready', 'status': 'True', "
		     "'reason': 'Ready', 'message': '',"
		     " 'lastTransitionTime': '2026-12-01T10:00:00Z'}]}");
	bench_run(d, 1000);
	fail_claim(d);
	fail_claim(d);
	assert_int_equal(claims(d).n, 1);
	fail_claim(d);
	assert_int_equal(claims(d).n, 0);
}

static void backing_off_for_one_demand_holds_up_no_other(void **state)
{
	struct bench *d = *state;
	OWN_JSON pool = bench_get(d, OBJECT_NODE_POOL, "h100");

	bench_pod(d, "train", 8);
	bench_run(d, 5000);
	for (int i = 0; i < 3; i++)
		fail_claim(d);
	assert_int_equal(claims(d).n, 0);
	/* A second pool that could serve the pod has its own count of failures. */
	json_object_set_new(pool, "metadata", json_pack("{s:s}", "name", "spare"));
	json_object_set_new(json_object_get(pool, "spec"), "weight", json_integer(90));
	json_object_del(pool, "status");
	char *text = json_text(pool);
	bench_put(d, text);
	free(text);
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 1);
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, claims(d).v[0]);
	assert_string_equal(json_str_at(o, "spec", "nodePoolRef", "name"), "spare");
}

static void the_next_pool_serves_while_one_backs_off(void **state)
{
	struct bench *d = *state;
	OWN_JSON pool = bench_get(d, OBJECT_NODE_POOL, "h100");

	json_object_set_new(pool, "metadata", json_pack("{s:s}", "name", "spare"));
	json_object_set_new(json_object_get(pool, "spec"), "weight", json_integer(1));
	json_object_del(pool, "status");
	char *text = json_text(pool);
	bench_put(d, text);
	free(text);
	bench_patch(d, OBJECT_NODE_POOL, "h100", "{'spec': {'weight': 90}}");
	bench_pod(d, "train", 8);
	bench_run(d, 5000);
	for (int i = 0; i < 3; i++)
		fail_claim(d);
	assert_int_equal(claims(d).n, 1);
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, claims(d).v[0]);
	assert_string_equal(json_str_at(o, "spec", "nodePoolRef", "name"), "spare");
	/* After the wait, the first pool may be used again. Claims in progress stay. */
	bench_run(d, 11 * 60 * 1000);
	assert_int_equal(claims(d).n, 1);
	OWN_JSON still = bench_get(d, OBJECT_NODE_CLAIM, claims(d).v[0]);
	assert_string_equal(json_str_at(still, "metadata", "uid"),
			    json_str_at(o, "metadata", "uid"));
}

/* Adds a failed claim of another tenant, and deletes the machine with the claim as a cloud Provider
 * does. */
static void failed_elsewhere(struct bench *d, const char *name, const char *tenant,
			     const char *reason)
{
	bench_put(d, arena_printf(
			     d->a,
			     "{'kind': 'NodeClaim', 'metadata': {'name': '%s'}, 'spec': {"
			     "'virtualClusterRef': {'name': '%s'}, 'nodePoolRef': {'name': 'h100'},"
			     " 'providerRef': {'name': 'sky'}, 'image': {"
			     "'kubernetesVersion': '1.36', 'url': 'https://img.example/n136.raw',"
			     " 'format': 'raw', 'digest': 'sha256:"
			     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}},"
			     " 'status': {'phase': 'Failed', 'conditions': [{'type': 'Ready',"
			     " 'status': 'False', 'reason': '%s', 'message': 'instance i-1',"
			     " 'lastTransitionTime': '2026-12-01T10:00:00Z'}]}}",
			     name, tenant, reason));
}

static const char *why_not(struct bench *d)
{
	const struct plan *p = plan_make(world_sync_world(d->sync), 0, d->a);

	return p->npods && p->pods[0].nreasons ? p->pods[0].reasons[0].text : "";
}

static void one_failure_of_several_tenants_holds_the_pool_for_all(void **state)
{
	struct bench *d = *state;

	failed_elsewhere(d, "b-1", "team-b", "InstanceGone");
	failed_elsewhere(d, "b-2", "team-b", "InstanceGone");
	failed_elsewhere(d, "c-1", "team-c", "InstanceGone");
	bench_pod(d, "train", 8);
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 3);
	assert_non_null(strstr(why_not(d), "claims of pool h100 failed 3 times in a row for several"
					   " tenants, the last with InstanceGone: instance i-1"));
	bench_run(d, 11 * 60 * 1000);
	assert_int_equal(claims(d).n, 4);
}

static void failures_of_one_tenant_or_of_other_reasons_hold_up_nobody_else(void **state)
{
	struct bench *d = *state;

	for (int i = 0; i < 5; i++)
		failed_elsewhere(d, arena_printf(d->a, "b-%d", i), "team-b", "InstanceGone");
	failed_elsewhere(d, "c-1", "team-c", "JoinTimeout");
	for (int i = 0; i < 3; i++)
		failed_elsewhere(d, arena_printf(d->a, "d-%d", i), i ? "team-b" : "team-c",
				 "TenantUnreachable");
	bench_pod(d, "train", 8);
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 10);
}

/* Failures of one tenant alone must not keep doubling the wait of a pool. Otherwise, after a single
 * failure of another tenant, one tenant could delay all tenants for ever. */
static void one_tenant_alone_does_not_keep_a_pool_back_for_longer(void **state)
{
	struct bench *d = *state;

	failed_elsewhere(d, "c-1", "team-c", "InstanceGone");
	for (int i = 0; i < 9; i++)
		failed_elsewhere(d, arena_printf(d->a, "b-%d", i), "team-b", "InstanceGone");
	bench_pod(d, "train", 8);
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 10);
	bench_run(d, 11 * 60 * 1000);
	assert_int_equal(claims(d).n, 11);
}

static void gang_pod(struct bench *d, const char *name)
{
	bench_must(d, &d->team, "POST", "/api/v1/namespaces/default/pods",
		   arena_printf(
			   d->a,
			   "{'apiVersion': 'v1', 'kind': 'Pod', "
			   "'metadata': {'name': '%s', 'annotations':"
			   " {'drover.dev/gang': 'train', 'drover.dev/gang-size': '2'}}, 'spec': {"
			   " 'tolerations': [{'key': 'nvidia.com/gpu', 'operator': 'Exists'}],"
			   " 'containers': [{'name': 'c', "
			   "'resources': {'limits': {'nvidia.com/gpu': '8'}}}]}}",
			   name));
	bench_must(d, &d->team, "PATCH",
		   arena_printf(d->a, "/api/v1/namespaces/default/pods/%s/status", name),
		   "{'status': {'phase': 'Pending', "
		   "'conditions': [{'type': 'PodScheduled', 'status': 'False',"
		   " 'reason': 'Unschedulable', 'lastTransitionTime': '2026-12-01T10:00:00Z'}]}}");
}

static void waiting_pods_of_a_gang_name_it(void **state)
{
	struct bench *d = *state;
	const struct waiting_row *rows;
	size_t n;

	gang_pod(d, "train-0");
	bench_pod(d, "other", 8);
	bench_run(d, 15000);
	rows = waiting_rows(provisioner_waiting(d->provisioner), &n);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++) {
		if (str_eq(rows[i].at.pod, "default/other")) {
			assert_null(rows[i].gang);
			continue;
		}
		assert_string_equal(rows[i].at.reason, "GangIncomplete");
		assert_non_null(strstr(rows[i].gang->name, "train"));
		assert_int_equal(rows[i].gang->size, 2);
		assert_int_equal(rows[i].gang->waiting, 1);
		assert_int_equal(rows[i].gang->first, i);
		assert_int_equal(rows[i].gang->since, rows[i].at.since);
	}
}

/* The gang needs one machine from each of two pools, of which one backs off. */
static void of_a_gang_no_claim_is_created_while_another_one_is_held(void **state)
{
	struct bench *d = *state;
	OWN_JSON pool = bench_get(d, OBJECT_NODE_POOL, "h100");
	json_t *spec = json_object_get(pool, "spec");

	bench_pod(d, "lone", 8);
	bench_run(d, 5000);
	for (int i = 0; i < 3; i++)
		fail_claim(d);
	bench_must(d, &d->team, "DELETE", PODS "/lone", NULL);
	json_object_set_new(pool, "metadata", json_pack("{s:s}", "name", "spare"));
	json_object_set_new(spec, "weight", json_integer(90));
	json_object_set_new(spec, "limits", json_pack("{s:s}", "nodes", "1"));
	json_object_del(pool, "status");
	char *text = json_text(pool);
	bench_put(d, text);
	free(text);
	bench_put(d, "{'kind': 'Machine', 'metadata': {'name': 'm-2'}, "
		     "'spec': {'providerRef': {'name': 'hall-a'},"
		     " 'instanceType': 'hgx', 'managementPolicy': 'Manage'},"
		     " 'status': {'state': 'free', 'clean': true}}");
	gang_pod(d, "train-0");
	gang_pod(d, "train-1");
	bench_run(d, 20000);
	assert_int_equal(claims(d).n, 0);
	assert_true(bench_events(&d->team, "GangNotWhole") >= 2);
	bench_run(d, 30 * 60 * 1000);
	assert_int_equal(claims(d).n, 2);
}

static void a_machine_that_does_not_take_its_claims_is_avoided_longer_each_time(void **state)
{
	struct bench *d = *state;

	avoided_add(provisioner_avoided(d->provisioner), "m-1");
	bench_pod(d, "train", 8);
	bench_run(d, 9 * 60 * 1000);
	assert_int_equal(claims(d).n, 0);
	bench_run(d, 2 * 60 * 1000);
	assert_int_equal(claims(d).n, 1);
	avoided_add(provisioner_avoided(d->provisioner), "m-1");
	fail_claim(d);
	bench_run(d, 15 * 60 * 1000);
	assert_int_equal(claims(d).n, 0);
	/* The machine accepts a claim, which resets its number of claims not accepted. */
	bench_status(d, OBJECT_MACHINE, "m-1", "{'claimRef': {'name': 'x', 'uid': 'y'}}");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'claimRef': null}");
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 1);
}

/* The two pods would fit on one machine, but their anti-affinity forbids it. */
static void pods_that_must_be_apart_get_a_machine_each(void **state)
{
	struct bench *d = *state;

	bench_put(d, "{'kind': 'Machine', 'metadata': {'name': 'm-2'}, "
		     "'spec': {'providerRef': {'name': 'hall-a'},"
		     " 'instanceType': 'hgx', 'managementPolicy': 'Manage'},"
		     " 'status': {'state': 'free', 'clean': true}}");
	for (int i = 0; i < 2; i++) {
		bench_must(d, &d->team, "POST", PODS,
			   arena_printf(d->a,
					"{'apiVersion': 'v1', 'kind': 'Pod', "
					"'metadata': {'name': 'p-%d', 'labels': {'app': 'a'}},"
					" 'spec': {'tolerations': [{'key': 'nvidia.com/gpu', "
					"'operator': 'Exists'}],"
					" 'affinity': {'podAntiAffinity': {"
					"'requiredDuringSchedulingIgnoredDuringExecution': ["
					"  {'topologyKey': 'kubernetes.io/hostname', "
					"'labelSelector': {'matchLabels': {'app': 'a'}}}]}},"
					" 'containers': [{'name': 'c', "
					"'resources': {'limits': {'nvidia.com/gpu': '1'}}}]}}",
					i));
		bench_must(d, &d->team, "PATCH", arena_printf(d->a, PODS "/p-%d/status", i),
			   "{'status': {'phase': 'Pending', "
			   "'conditions': [{'type': 'PodScheduled', 'status': 'False',"
			   " 'reason': 'Unschedulable', "
			   "'lastTransitionTime': '2026-12-01T10:00:00Z'}]}}");
	}
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 2);
}

static void (*feed)(struct bench *d, enum object_kind_id kind, const char *name, void *object);

static void feed_claims_too(struct bench *d, enum object_kind_id kind, const char *name,
			    void *object)
{
	feed(d, kind, name, object);
	if (kind == OBJECT_NODE_CLAIM)
		claims_kick(d->claims, name);
}

static void a_claim_that_was_not_taken_is_not_made_for_the_same_machine_at_once(void **state)
{
	struct bench *d = *state;

	feed = d->on_change;
	d->on_change = feed_claims_too;
	bench_pod(d, "train", 8);
	bench_run(d, 20000);
	assert_int_equal(claims(d).n, 1);
	bench_run(d, 20000);
	assert_int_equal(claims(d).n, 0);
	bench_run(d, 9 * 60 * 1000);
	assert_int_equal(claims(d).n, 0);
	bench_run(d, 75000);
	assert_int_equal(claims(d).n, 1);
}

static void a_machine_that_is_gone_is_avoided_no_more(void **state)
{
	struct bench *d = *state;

	avoided_add(provisioner_avoided(d->provisioner), "m-1");
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/machines/m-1", NULL);
	bench_run(d, 30 * 60 * 1000);
	bench_pod(d, "train", 8);
	bench_run(d, 5000);
	assert_int_equal(claims(d).n, 0);
}

static void a_pod_that_is_gone_or_bound_is_no_demand_any_more(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'wiping'}");
	bench_pod(d, "a", 8);
	bench_pod(d, "b", 8);
	bench_run(d, 2000);
	bench_must(d, &d->team, "DELETE", PODS "/a", NULL);
	bench_must(d, &d->team, "POST", PODS "/b/binding",
		   "{'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': 'b'}, "
		   "'target': {'kind': 'Node', 'name': 'n'}}");
	bench_run(d, 2000);
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'free'}");
	bench_run(d, 10000);
	assert_int_equal(claims(d).n, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, bench_setup_fleet, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_waiting_pod_gets_one_claim_and_is_told),
		T(many_waiting_pods_are_told_one_after_the_other),
		T(a_pod_that_gets_nothing_is_told_why_and_told_again_before_the_event_is_dropped),
		T(of_many_pools_five_are_told_in_full_and_the_others_counted),
		T(of_its_claim_a_pod_hears_once),
		T(another_place_in_the_queue_is_no_news),
		T(another_number_is_no_news_and_another_reason_is),
		T(another_place_is_told_five_minutes_after_the_last_one),
		T(far_back_a_place_is_told_that_is_off_by_a_tenth),
		T(who_waits_for_a_machine_is_told_when_and_again_when_that_has_moved_far),
		T(a_pod_that_is_not_bound_though_there_is_room_is_told_after_a_minute),
		T(what_is_nothing_new_for_the_planner_makes_no_plan),
		T(what_changes_during_a_plan_makes_another_one),
		T(after_a_plan_of_much_work_there_is_a_rest),
		T(pods_that_come_together_are_planned_together_and_a_lone_one_at_once),
		T(who_waits_is_told_again_though_nothing_changes),
		T(who_does_not_lead_or_is_not_ready_plans_nothing),
		T(a_claim_that_could_not_be_created_is_tried_again),
		T(a_claim_that_is_being_created_is_planned_with),
		T(a_claim_is_created_once_though_the_answer_is_lost),
		T(a_claim_that_no_cache_shows_yet_is_asked_for_and_not_made_anew),
		T(pods_that_must_be_apart_get_a_machine_each),
		T(what_is_not_offered_gets_no_claim),
		T(after_three_failures_in_a_row_it_backs_off_and_says_so),
		T(a_changed_pool_is_tried_at_once),
		T(a_claim_that_became_ready_ends_the_row),
		T(backing_off_for_one_demand_holds_up_no_other),
		T(the_next_pool_serves_while_one_backs_off),
		T(one_failure_of_several_tenants_holds_the_pool_for_all),
		T(failures_of_one_tenant_or_of_other_reasons_hold_up_nobody_else),
		T(one_tenant_alone_does_not_keep_a_pool_back_for_longer),
		T(waiting_pods_of_a_gang_name_it),
		T(of_a_gang_no_claim_is_created_while_another_one_is_held),
		T(a_machine_that_does_not_take_its_claims_is_avoided_longer_each_time),
		T(a_claim_that_was_not_taken_is_not_made_for_the_same_machine_at_once),
		T(a_machine_that_is_gone_is_avoided_no_more),
		T(a_pod_that_is_gone_or_bound_is_no_demand_any_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
