#include "tests/unit/sim/cluster/works.h"

#define WEB BODY("")
#define BODY(labels)                                                                               \
	"{'metadata':{'name':'web'},'spec':{'replicas':3,"                                         \
	"'selector':{'matchLabels':{'app':'web'}},"                                                \
	"'template':{'metadata':{'labels':{'app':'web'" labels "},'annotations':{'a':'b'}},"       \
	"'spec':{'containers':[{'name':'c','image':'x'}]}}}}"

static json_t *first(json_t *list)
{
	return json_array_get(list, 0);
}

static void it_makes_the_pods_that_are_missing(void **state)
{
	struct works *w = *state;
	OWN_JSON all = NULL;
	json_t *ref;

	create(w, SETS, WEB);
	/* Checks the pods before the next round of the controller, which would adopt pods that were
	 * created without an owner. */
	while (count(w, PODS) < 3)
		api_run(&w->r, 20);
	all = items(w, PODS);
	assert_int_equal(json_array_size(all), 3);
	assert_true(str_starts(sim_object_name(first(all)), "web-"));
	assert_int_equal(strlen(sim_object_name(first(all))), strlen("web-") + 5);
	assert_string_equal(json_str_at(first(all), "metadata", "labels", "app"), "web");
	assert_string_equal(json_str_at(first(all), "metadata", "annotations", "a"), "b");
	get(w, SETS "/web");
	ref = sim_object_controller(first(all));
	assert_string_equal(json_str_at(ref, "uid"), api_str(&w->r, "metadata.uid"));
	assert_string_equal(json_str_at(ref, "kind"), "ReplicaSet");
	assert_string_equal(json_str_at(ref, "apiVersion"), "apps/v1");
	assert_true(json_true_at(ref, "blockOwnerDeletion"));
}

static void its_status_counts_what_is_ready(void **state)
{
	struct works *w = *state;

	create(w, SETS, WEB);
	turn(w);
	get(w, SETS "/web");
	assert_int_equal(status_count(w, "replicas"), 3);
	assert_int_equal(status_count(w, "fullyLabeledReplicas"), 3);
	assert_int_equal(status_count(w, "readyReplicas"), 0);
	settle(w);
	get(w, SETS "/web");
	assert_int_equal(status_count(w, "readyReplicas"), 3);
	assert_int_equal(status_count(w, "availableReplicas"), 3);
	assert_int_equal(api_int(&w->r, "status.observedGeneration"), 1);
}

static void a_ready_pod_is_available_after_min_ready_seconds(void **state)
{
	struct works *w = *state;

	create(w, SETS, WEB);
	merge(w, SETS "/web", "{'spec':{'minReadySeconds':60}}");
	turn(w);
	kubelet(w);
	turn(w);
	get(w, SETS "/web");
	assert_int_equal(status_count(w, "readyReplicas"), 3);
	assert_int_equal(status_count(w, "availableReplicas"), 0);
	api_run(&w->r, 60000);
	get(w, SETS "/web");
	assert_int_equal(status_count(w, "availableReplicas"), 3);
}

static void fewer_replicas_delete_those_that_are_missed_least(void **state)
{
	struct works *w = *state;
	OWN_JSON all = NULL;
	OWN_JSON left = NULL;
	char kept[160];

	create(w, SETS, WEB);
	turn(w);
	all = items(w, PODS);
	pod_path(kept, json_array_get(all, 1), "");
	merge(w, kept,
	      "{'metadata':{'annotations':{'controller.kubernetes.io/pod-deletion-cost':'5'}}}");
	merge(w, SETS "/web", "{'spec':{'replicas':2}}");
	turn(w);
	assert_int_equal(count(w, PODS), 2);
	merge(w, SETS "/web", "{'spec':{'replicas':1}}");
	turn(w);
	left = items(w, PODS);
	assert_int_equal(json_array_size(left), 1);
	assert_string_equal(sim_object_name(first(left)), sim_object_name(json_array_get(all, 1)));
}

static void a_pod_that_runs_is_kept_before_one_that_waits(void **state)
{
	struct works *w = *state;
	OWN_JSON one = NULL;
	OWN_JSON left = NULL;

	create(w, SETS, WEB);
	merge(w, SETS "/web", "{'spec':{'replicas':1}}");
	settle(w);
	one = items(w, PODS);
	assert_int_equal(json_array_size(one), 1);
	merge(w, SETS "/web", "{'spec':{'replicas':4}}");
	turn(w);
	merge(w, SETS "/web", "{'spec':{'replicas':1}}");
	turn(w);
	left = items(w, PODS);
	assert_int_equal(json_array_size(left), 1);
	assert_string_equal(sim_object_name(first(left)), sim_object_name(first(one)));
}

static void a_pod_that_is_deleted_or_has_ended_is_replaced(void **state)
{
	struct works *w = *state;
	OWN_JSON all = NULL;
	char path[160];

	create(w, SETS, WEB);
	settle(w);
	all = items(w, PODS);
	pod_path(path, first(all), "");
	api_do(&w->r, "DELETE", path, NULL);
	set_phase(w, json_array_get(all, 1), "Failed", false);
	turn(w);
	/* One pod is being deleted, one has failed, three are live. */
	assert_int_equal(count(w, PODS), 5);
	get(w, SETS "/web");
	assert_int_equal(status_count(w, "replicas"), 3);
}

static void an_orphan_is_adopted_and_a_stranger_released(void **state)
{
	struct works *w = *state;
	OWN_JSON all = NULL;
	char path[160];

	create(w, PODS,
	       "{'metadata':{'name':'orphan','labels':{'app':'web'}},"
	       "'spec':{'containers':[{'name':'c','image':'x'}]}}");
	create(w, SETS, WEB);
	turn(w);
	assert_int_equal(count(w, PODS), 3);
	get(w, PODS "/orphan");
	assert_string_equal(json_str_at(sim_object_controller(w->r.j), "name"), "web");
	all = items(w, PODS);
	pod_path(path, first(all), "");
	merge(w, path, "{'metadata':{'labels':{'app':'debug'}}}");
	turn(w);
	assert_int_equal(count(w, PODS), 4);
	get(w, path);
	assert_null(sim_object_controller(w->r.j));
}

static void pods_go_with_their_set_unless_they_are_orphaned(void **state)
{
	struct works *w = *state;

	create(w, SETS, WEB);
	turn(w);
	api_do(&w->r, "DELETE", SETS "/web", "{'propagationPolicy':'Orphan'}");
	turn(w);
	assert_int_equal(count(w, PODS), 3);
	create(w, SETS, WEB);
	turn(w);
	assert_int_equal(count(w, PODS), 3);
	api_do(&w->r, "DELETE", SETS "/web", "{'propagationPolicy':'Background'}");
	turn(w);
	assert_int_equal(count(w, PODS), 0);
}

/* The API server checks the labels of a pod, but not those of a template. So the ReplicaSet is
 * accepted and its pods are refused. */
static void a_pod_that_is_refused_is_told(void **state)
{
	struct works *w = *state;
	OWN_JSON events = NULL;

	create(w, SETS, BODY(",'x':'bad value'"));
	turn(w);
	assert_int_equal(count(w, PODS), 0);
	assert_string_equal(reason_of(w, SETS "/web", "ReplicaFailure"), "FailedCreate");
	events = items(w, "/api/v1/namespaces/default/events");
	assert_int_equal(json_array_size(events), 1);
	assert_string_equal(json_str_at(first(events), "involvedObject", "name"), "web");
	merge(w, SETS "/web", "{'spec':{'template':{'metadata':{'labels':{'x':null}}}}}");
	turn(w);
	assert_int_equal(count(w, PODS), 3);
	assert_string_equal(reason_of(w, SETS "/web", "ReplicaFailure"), "");
}

static void it_goes_on_where_another_process_stopped(void **state)
{
	struct works *w = *state;

	create(w, SETS, WEB);
	turn(w);
	sim_workloads_free(w->s);
	merge(w, SETS "/web", "{'spec':{'replicas':4}}");
	works_begin(w);
	turn(w);
	assert_int_equal(count(w, PODS), 4);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(it_makes_the_pods_that_are_missing),
		T(its_status_counts_what_is_ready),
		T(a_ready_pod_is_available_after_min_ready_seconds),
		T(fewer_replicas_delete_those_that_are_missed_least),
		T(a_pod_that_runs_is_kept_before_one_that_waits),
		T(a_pod_that_is_deleted_or_has_ended_is_replaced),
		T(an_orphan_is_adopted_and_a_stranger_released),
		T(pods_go_with_their_set_unless_they_are_orphaned),
		T(a_pod_that_is_refused_is_told),
		T(it_goes_on_where_another_process_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
