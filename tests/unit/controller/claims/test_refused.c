#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/str.h"

#define PODS "/api/v1/namespaces/default/pods"
#define MINUTE_MS 60000

/* Adds a Node with room for a pod of 8 GPUs, of the same type as machine m-1. */
static void add_node(struct bench *d, const char *name)
{
	bench_must(d, &d->team, "POST", "/api/v1/nodes",
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Node', "
				"'metadata': {'name': '%s', 'labels': {"
				"'node.kubernetes.io/instance-type': 'hgx'}},"
				" 'spec': {'providerID': 'x://1'}, 'status': {"
				"'allocatable': {'nvidia.com/gpu': '8', 'cpu': '64', "
				"'memory': '512Gi', 'pods': '110'},"
				"'conditions': [{'type': 'Ready', 'status': 'True'}]}}",
				name));
	bench_run(d, 1000);
}

static bool on_claim(const struct kube_entry *en, void *arg)
{
	(void)en;
	++*(size_t *)arg;
	return true;
}

static size_t claims(struct bench *d)
{
	size_t n = 0;

	kube_cache_each(d->c.cache[OBJECT_NODE_CLAIM], on_claim, &n);
	return n;
}

/* Returns the message of the last event with this reason; "" if there is none. */
static const char *note(struct bench *d, const char *reason)
{
	const char *text = "";
	struct err e;
	json_t *o;
	size_t i;

	bench_must(d, &d->team, "GET", "/api/v1/namespaces/default/events", NULL);
	OWN_JSON list = json_parse(d->text, strlen(d->text), &e);
	json_array_foreach (json_object_get(list, "items"), i, o)
		if (str_eq(json_str_at(o, "reason"), reason))
			text = arena_strdup(d->a, str_or(json_str_at(o, "message"), ""));
	return text;
}

static void says(struct bench *d, const char *reason, const char *part)
{
	const char *text = note(d, reason);

	if (!strstr(text, part))
		fail_msg("%s: %s; wanted: %s", reason, text, part);
}

static void a_pod_left_unbound_for_a_minute_gets_another_machine(void **state)
{
	struct bench *d = *state;

	add_node(d, "left");
	bench_pod(d, "train", 8);
	bench_run(d, 50000);
	assert_int_equal(claims(d), 0);
	bench_run(d, 20000);
	assert_int_equal(claims(d), 1);
	says(d, "Nominated", "machine m-1 of pool h100");
	says(d, "Nominated", "kube-scheduler did not bind it within a minute on Node left");
}

/* The pod is nominated for a Node whose pods are to be preempted. These victims do not terminate,
 * and kube-scheduler keeps the nomination. */
static void a_nominated_pod_waits_a_minute_for_its_victims(void **state)
{
	struct bench *d = *state;

	add_node(d, "left");
	bench_pod(d, "there", 8);
	bench_must(d, &d->team, "POST", PODS "/there/binding",
		   "{'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': 'there'},"
		   " 'target': {'kind': 'Node', 'name': 'left'}}");
	bench_pod(d, "train", 8);
	bench_must(d, &d->team, "PATCH", PODS "/train/status",
		   "{'status': {'nominatedNodeName': 'left'}}");
	bench_run(d, 50000);
	assert_int_equal(claims(d), 0);
	bench_run(d, 20000);
	assert_int_equal(claims(d), 1);
	says(d, "Nominated", "kube-scheduler did not bind it within a minute on Node left");
}

static void after_two_nodes_of_a_type_it_gets_none_of_that_type(void **state)
{
	struct bench *d = *state;

	add_node(d, "left-1");
	add_node(d, "left-2");
	bench_pod(d, "train", 8);
	bench_run(d, 3 * MINUTE_MS);
	assert_int_equal(claims(d), 0);
	says(d, "RequirementsNotMet",
	     "Node left-1, Node left-2: drover plans no more machines for it of type hgx");
	/* "other" is a different pod: the Nodes that refused the first pod do not count for it. */
	bench_pod(d, "other", 8);
	bench_run(d, 10000);
	says(d, "RequirementsNotMet", "Node left-2");
	assert_int_equal(claims(d), 0); /* No claim, because the pod has room on a Node. */
}

static void what_was_learnt_is_forgotten_with_the_pod_and_after_a_day(void **state)
{
	struct bench *d = *state;

	add_node(d, "left-1");
	add_node(d, "left-2");
	bench_pod(d, "train", 8);
	bench_run(d, 3 * MINUTE_MS);
	assert_int_equal(bench_events(&d->team, "RequirementsNotMet"), 1);
	bench_must(d, &d->team, "DELETE", PODS "/train", NULL);
	bench_run(d, 1000);
	bench_pod(d, "train", 8);
	bench_run(d, 10000);
	assert_int_equal(bench_events(&d->team, "RequirementsNotMet"), 1);
	bench_run(d, 3 * MINUTE_MS);
	assert_int_equal(bench_events(&d->team, "RequirementsNotMet"), 2);
	bench_must(d, &d->team, "DELETE", "/api/v1/nodes/left-1", NULL);
	bench_must(d, &d->team, "DELETE", "/api/v1/nodes/left-2", NULL);
	bench_run(d, 23 * 60 * MINUTE_MS);
	assert_int_equal(claims(d), 0);
	bench_run(d, 2 * 60 * MINUTE_MS);
	assert_int_equal(claims(d), 1);
}

/* kube-scheduler is down and evaluates no pod at all. drover must not take this for a refusal of
 * the Node. */
static void a_scheduler_that_stands_still_refuses_nothing(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'wiping'}");
	bench_pod(d, "train", 8);
	bench_run(d, 20000);
	add_node(d, "left");
	bench_run(d, MINUTE_MS);
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'free'}");
	bench_run(d, 10 * MINUTE_MS);
	assert_int_equal(claims(d), 0);
	assert_true(bench_events(&d->team, "RoomOnNode") >= 1);
	/* kube-scheduler evaluates a pod again, so now it does refuse the Node. */
	bench_pod(d, "huge", 9);
	bench_run(d, 2 * MINUTE_MS);
	assert_int_equal(claims(d), 1);
}

int main(void)
{
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, bench_setup_fleet, bench_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_pod_left_unbound_for_a_minute_gets_another_machine),
		CASE(a_nominated_pod_waits_a_minute_for_its_victims),
		CASE(after_two_nodes_of_a_type_it_gets_none_of_that_type),
		CASE(what_was_learnt_is_forgotten_with_the_pod_and_after_a_day),
		CASE(a_scheduler_that_stands_still_refuses_nothing),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
