#include "tests/unit/sim/cluster/works.h"

#define JOB JOBS "/train"
#define BODY(spec)                                                                                 \
	"{'metadata':{'name':'train'},'spec':{'template':{'spec':{'restartPolicy':'Never',"        \
	"'containers':[{'name':'c','image':'x'}]}}" spec "}}"

static int64_t counted(struct works *w, const char *what)
{
	get(w, JOB);
	return json_int_at(w->r.j, "status", what);
}

static void remove_pods(struct works *w, const char *phase)
{
	OWN_JSON all = items(w, PODS);
	char path[160];
	json_t *pod;
	size_t i;

	json_array_foreach (all, i, pod)
		if (str_eq(json_str_at(pod, "status", "phase"), phase)) {
			pod_path(path, pod, "");
			api_do(&w->r, "DELETE", path, "{'gracePeriodSeconds':0}");
		}
}

static void it_is_complete_when_its_pod_has_succeeded(void **state)
{
	struct works *w = *state;
	OWN_JSON all = NULL;
	const json_t *pod;

	create(w, JOBS, BODY(""));
	turn(w);
	kubelet(w);
	all = items(w, PODS);
	assert_int_equal(json_array_size(all), 1);
	pod = json_array_get(all, 0);
	assert_true(str_starts(sim_object_name(pod), "train-"));
	assert_int_equal(strlen(sim_object_name(pod)), strlen("train-") + 5);
	assert_string_equal(json_str_at(sim_object_controller(pod), "kind"), "Job");
	assert_string_equal(json_str_at(sim_object_controller(pod), "apiVersion"), "batch/v1");
	turn(w);
	assert_int_equal(counted(w, "active"), 1);
	assert_int_equal(counted(w, "ready"), 1);
	assert_non_null(json_str_at(w->r.j, "status", "startTime"));
	assert_false(is(w, JOB, "Complete"));
	end_pods(w, "Succeeded");
	turn(w);
	assert_true(is(w, JOB, "Complete"));
	assert_true(is(w, JOB, "SuccessCriteriaMet"));
	assert_int_equal(counted(w, "succeeded"), 1);
	assert_int_equal(counted(w, "active"), 0);
	assert_non_null(json_str_at(w->r.j, "status", "completionTime"));
	turn(w);
	assert_int_equal(count(w, PODS), 1);
}

static void so_many_at_a_time_until_all_have_succeeded(void **state)
{
	struct works *w = *state;

	create(w, JOBS, BODY(",'completions':5,'parallelism':2"));
	for (int round = 1; round <= 3; round++) {
		turn(w);
		kubelet(w);
		turn(w);
		assert_int_equal(counted(w, "active"), round < 3 ? 2 : 1);
		end_pods(w, "Succeeded");
		turn(w);
		assert_int_equal(counted(w, "succeeded"), round < 3 ? 2 * round : 5);
	}
	assert_true(is(w, JOB, "Complete"));
	assert_int_equal(count(w, PODS), 5);
}

/* A pod may be deleted just after it has ended, for example because its node is released. The Job
 * must count it nevertheless. */
static void a_pod_that_ended_is_counted_though_it_is_deleted(void **state)
{
	struct works *w = *state;

	create(w, JOBS, BODY(",'completions':2"));
	for (int i = 0; i < 2; i++) {
		turn(w);
		kubelet(w);
		end_pods(w, "Succeeded");
		/* The finalizer keeps the ended pod until the Job has counted it. */
		remove_pods(w, "Succeeded");
		turn(w);
		remove_pods(w, "Succeeded");
		assert_int_equal(counted(w, "succeeded"), i + 1);
	}
	assert_true(is(w, JOB, "Complete"));
	assert_int_equal(count(w, PODS), 0);
}

static void each_pod_is_counted_once_over_a_restart(void **state)
{
	struct works *w = *state;

	create(w, JOBS, BODY(",'completions':3,'parallelism':3"));
	turn(w);
	kubelet(w);
	end_pods(w, "Succeeded");
	for (int i = 0; i < 40; i++) {
		api_run(&w->r, 37);
		sim_workloads_free(w->s);
		works_begin(w);
		assert_in_range(counted(w, "succeeded"), 0, 3);
	}
	turn(w);
	assert_int_equal(counted(w, "succeeded"), 3);
	assert_true(is(w, JOB, "Complete"));
	assert_int_equal(count(w, PODS), 3);
}

static void failures_are_tried_again_later_each_time_and_not_for_ever(void **state)
{
	struct works *w = *state;

	create(w, JOBS, BODY(",'backoffLimit':1"));
	turn(w);
	kubelet(w);
	end_pods(w, "Failed");
	turn(w);
	assert_int_equal(counted(w, "failed"), 1);
	assert_int_equal(count(w, PODS), 1); /* No second pod yet: the back-off is 10 s. */
	api_run(&w->r, 10000);
	assert_int_equal(count(w, PODS), 2);
	kubelet(w);
	end_pods(w, "Failed");
	turn(w);
	assert_int_equal(counted(w, "failed"), 2);
	assert_string_equal(reason_of(w, JOB, "Failed"), "BackoffLimitExceeded");
	assert_null(json_str_at(w->r.j, "status", "completionTime"));
	api_run(&w->r, 60000);
	assert_int_equal(count(w, PODS), 2);
}

static void the_rest_is_deleted_when_it_has_failed(void **state)
{
	struct works *w = *state;
	OWN_JSON all = NULL;

	create(w, JOBS, BODY(",'completions':3,'parallelism':3,'backoffLimit':0"));
	turn(w);
	kubelet(w);
	all = items(w, PODS);
	set_phase(w, json_array_get(all, 0), "Failed", false);
	turn(w);
	assert_true(is(w, JOB, "FailureTarget"));
	assert_false(is(w, JOB, "Failed")); /* Not Failed yet: two pods are still terminating. */
	assert_int_equal(counted(w, "terminating"), 2);
	kubelet(w);
	turn(w);
	assert_true(is(w, JOB, "Failed"));
	assert_int_equal(counted(w, "failed"), 3);
	assert_int_equal(count(w, PODS), 1);
}

static void a_deadline_ends_it(void **state)
{
	struct works *w = *state;

	create(w, JOBS, BODY(",'activeDeadlineSeconds':30"));
	turn(w);
	kubelet(w);
	api_run(&w->r, 24000);
	assert_int_equal(counted(w, "active"), 1);
	api_run(&w->r, 6000);
	kubelet(w);
	turn(w);
	assert_string_equal(reason_of(w, JOB, "Failed"), "DeadlineExceeded");
	assert_int_equal(count(w, PODS), 0);
}

static void one_that_is_suspended_has_no_pods(void **state)
{
	struct works *w = *state;

	create(w, JOBS, BODY(",'suspend':true"));
	turn(w);
	assert_int_equal(count(w, PODS), 0);
	assert_true(is(w, JOB, "Suspended"));
	assert_null(json_str_at(w->r.j, "status", "startTime"));
	merge(w, JOB, "{'spec':{'suspend':false}}");
	turn(w);
	kubelet(w);
	assert_int_equal(count(w, PODS), 1);
	assert_string_equal(reason_of(w, JOB, "Suspended"), "JobResumed");
	merge(w, JOB, "{'spec':{'suspend':true}}");
	turn(w);
	kubelet(w);
	turn(w);
	assert_int_equal(count(w, PODS), 0);
	assert_true(is(w, JOB, "Suspended"));
}

static void a_work_queue_ends_with_its_last_pod(void **state)
{
	struct works *w = *state;
	OWN_JSON all = NULL;

	create(w, JOBS, BODY(",'parallelism':3"));
	turn(w);
	kubelet(w);
	all = items(w, PODS);
	assert_int_equal(json_array_size(all), 3);
	set_phase(w, json_array_get(all, 0), "Succeeded", false);
	turn(w);
	assert_int_equal(count(w, PODS), 3);
	assert_false(is(w, JOB, "Complete"));
	end_pods(w, "Succeeded");
	turn(w);
	assert_true(is(w, JOB, "Complete"));
	assert_int_equal(counted(w, "succeeded"), 3);
}

static void each_index_succeeds_once(void **state)
{
	struct works *w = *state;
	OWN_JSON all = NULL;
	json_t *pod, *env;
	size_t i;

	create(w, JOBS, BODY(",'completions':5,'parallelism':5,'completionMode':'Indexed'"));
	turn(w);
	kubelet(w);
	all = items(w, PODS);
	assert_int_equal(json_array_size(all), 5);
	json_array_foreach (all, i, pod) { /* The list is sorted by name, and therefore by index. */
		char index[8], base[20];

		str_format(index, sizeof(index), "%zu", i);
		str_format(base, sizeof(base), "train-%zu", i);
		assert_true(str_starts(sim_object_name(pod), base));
		assert_string_equal(json_str_at(pod, "spec", "hostname"), base);
		assert_string_equal(json_str_at(pod, "metadata", "labels",
						"batch.kubernetes.io/job-completion-index"),
				    index);
		env = json_array_get(
			json_at(json_array_get(json_at(pod, "spec", "containers"), 0), "env"), 0);
		assert_string_equal(json_str_at(env, "name"), "JOB_COMPLETION_INDEX");
		assert_string_equal(json_str_at(env, "value"), index);
		set_phase(w, pod, i == 1 ? "Failed" : i == 3 ? "Running" : "Succeeded", i == 3);
	}
	turn(w);
	assert_int_equal(counted(w, "succeeded"), 3);
	assert_string_equal(api_str(&w->r, "status.completedIndexes"), "0,2,4");
	remove_pods(w, "Succeeded");
	api_run(&w->r, 10000);
	kubelet(w);
	/* Three pods remain: the failed one, its replacement and the one that still ran. */
	assert_int_equal(count(w, PODS), 3);
	end_pods(w, "Succeeded");
	turn(w);
	assert_true(is(w, JOB, "Complete"));
	assert_string_equal(api_str(&w->r, "status.completedIndexes"), "0-4");
}

static void one_that_is_over_goes_after_its_ttl(void **state)
{
	struct works *w = *state;

	create(w, JOBS, BODY(",'ttlSecondsAfterFinished':60"));
	turn(w);
	kubelet(w);
	end_pods(w, "Succeeded");
	turn(w);
	assert_true(is(w, JOB, "Complete"));
	api_run(&w->r, 60000);
	api_do(&w->r, "GET", JOB, NULL);
	assert_status(&w->r, 404);
	assert_int_equal(count(w, PODS), 0);
}

static void its_pods_go_with_it_though_they_have_a_finalizer(void **state)
{
	struct works *w = *state;

	create(w, JOBS, BODY(""));
	turn(w);
	sim_workloads_free(w->s);
	api_do(&w->r, "DELETE", JOB, "{'propagationPolicy':'Background'}");
	turn(w);
	assert_int_equal(count(w, PODS), 1);
	/* The controllers are restarted. They find no Job, but must find its orphaned pods. */
	works_begin(w);
	turn(w);
	assert_int_equal(count(w, PODS), 0);
}

static void an_orphaned_pod_keeps_no_finalizer(void **state)
{
	struct works *w = *state;
	OWN_JSON all = NULL;

	create(w, JOBS, BODY(""));
	turn(w);
	api_do(&w->r, "DELETE", JOB, "{'propagationPolicy':'Orphan'}");
	turn(w);
	all = items(w, PODS);
	assert_int_equal(json_array_size(all), 1);
	assert_int_equal(json_array_size(json_at(json_array_get(all, 0), "metadata", "finalizers")),
			 0);
}

static void one_that_another_controller_manages_is_left_alone(void **state)
{
	struct works *w = *state;

	create(w, JOBS, BODY(",'managedBy':'kueue.x-k8s.io/multikueue'"));
	turn(w);
	assert_int_equal(count(w, PODS), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(it_is_complete_when_its_pod_has_succeeded),
		T(so_many_at_a_time_until_all_have_succeeded),
		T(a_pod_that_ended_is_counted_though_it_is_deleted),
		T(each_pod_is_counted_once_over_a_restart),
		T(failures_are_tried_again_later_each_time_and_not_for_ever),
		T(the_rest_is_deleted_when_it_has_failed),
		T(a_deadline_ends_it),
		T(one_that_is_suspended_has_no_pods),
		T(a_work_queue_ends_with_its_last_pod),
		T(each_index_succeeds_once),
		T(one_that_is_over_goes_after_its_ttl),
		T(its_pods_go_with_it_though_they_have_a_finalizer),
		T(an_orphaned_pod_keeps_no_finalizer),
		T(one_that_another_controller_manages_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
