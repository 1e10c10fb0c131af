#include "tests/unit/sim/cluster/works.h"

#define WEB DEPLOYMENTS "/web"
#define BODY(name, spec)                                                                           \
	"{'metadata':{'name':'" name "'},'spec':{'selector':{'matchLabels':{'app':'web'}},"        \
	"'template':{'metadata':{'labels':{'app':'web'}},"                                         \
	"'spec':{'containers':[{'name':'c','image':'x'}]}}," spec "}}"
#define FOUR BODY("web", "'replicas':4")

static void set_image(struct works *w, const char *image)
{
	char body[200];

	str_format(body, sizeof(body),
		   "{'spec':{'template':{'spec':{'containers':[{'name':'c','image':'%s'}]}}}}",
		   image);
	merge(w, WEB, body);
}

static int64_t of_image(struct works *w, const char *image, const char *group, const char *member)
{
	OWN_JSON sets = items(w, SETS);
	json_t *rs;
	size_t i;

	json_array_foreach (sets, i, rs) {
		json_t *c =
			json_array_get(json_at(rs, "spec", "template", "spec", "containers"), 0);

		if (str_eq(json_str_at(c, "image"), image))
			return json_int_at(rs, group, member);
	}
	return -1;
}

/* True if the condition holds for which `kubectl rollout status` waits. */
static bool is_rolled_out(struct works *w, int64_t replicas)
{
	get(w, WEB);
	return api_int(&w->r, "status.observedGeneration") ==
		       api_int(&w->r, "metadata.generation") &&
	       status_count(w, "updatedReplicas") == replicas &&
	       status_count(w, "replicas") == replicas &&
	       status_count(w, "availableReplicas") == replicas;
}

static void it_makes_a_replica_set_named_by_the_templates_hash(void **state)
{
	struct works *w = *state;
	OWN_JSON sets = NULL;
	const json_t *rs;
	const char *hash;
	char name[80];

	create(w, DEPLOYMENTS, FOUR);
	turn(w);
	sets = items(w, SETS);
	assert_int_equal(json_array_size(sets), 1);
	rs = json_array_get(sets, 0);
	hash = json_str_at(rs, "metadata", "labels", "pod-template-hash");
	assert_non_null(hash);
	str_format(name, sizeof(name), "web-%s", hash);
	assert_string_equal(sim_object_name(rs), name);
	assert_string_equal(json_str_at(rs, "spec", "selector", "matchLabels", "pod-template-hash"),
			    hash);
	assert_string_equal(
		json_str_at(rs, "spec", "template", "metadata", "labels", "pod-template-hash"),
		hash);
	assert_string_equal(json_str_at(sim_object_controller(rs), "kind"), "Deployment");
	assert_int_equal(json_int_at(rs, "spec", "replicas"), 4);
	turn(w);
	assert_int_equal(count(w, SETS), 1);
	assert_int_equal(count(w, PODS), 4);
}

static void its_status_ends_a_rollout(void **state)
{
	struct works *w = *state;

	create(w, DEPLOYMENTS, FOUR);
	turn(w);
	assert_false(is_rolled_out(w, 4));
	assert_string_equal(reason_of(w, WEB, "Progressing"), "ReplicaSetUpdated");
	assert_string_equal(reason_of(w, WEB, "Available"), "MinimumReplicasUnavailable");
	settle(w);
	assert_true(is_rolled_out(w, 4));
	assert_int_equal(status_count(w, "readyReplicas"), 4);
	assert_int_equal(status_count(w, "unavailableReplicas"), 0);
	assert_string_equal(reason_of(w, WEB, "Progressing"), "NewReplicaSetAvailable");
	assert_string_equal(reason_of(w, WEB, "Available"), "MinimumReplicasAvailable");
}

static void it_scales_up_and_down(void **state)
{
	struct works *w = *state;

	create(w, DEPLOYMENTS, FOUR);
	settle(w);
	merge(w, WEB "/scale", "{'spec':{'replicas':6}}");
	settle(w);
	assert_true(is_rolled_out(w, 6));
	assert_int_equal(count(w, PODS), 6);
	merge(w, WEB "/scale", "{'spec':{'replicas':1}}");
	settle(w);
	assert_true(is_rolled_out(w, 1));
	assert_int_equal(count(w, PODS), 1);
	assert_int_equal(count(w, SETS), 1);
}

/* Counts the pods that are not being deleted (*all), and those of them that are Ready (*ready). */
static void count_pods(struct works *w, int64_t *all, int64_t *ready)
{
	OWN_JSON pods = items(w, PODS);
	json_t *pod;
	size_t i;

	*all = *ready = 0;
	json_array_foreach (pods, i, pod) {
		if (sim_object_is_going(pod))
			continue;
		(*all)++;
		*ready += sim_object_is(pod, "Ready");
	}
}

/* Makes one pod Ready, so that each step of the rollout is visible. */
static void serve_one(struct works *w)
{
	OWN_JSON pods = items(w, PODS);
	char path[160];
	json_t *pod;
	size_t i;

	json_array_foreach (pods, i, pod) {
		if (sim_object_is(pod, "Ready") || sim_object_is_going(pod))
			continue;
		pod_path(path, pod, "/binding");
		api_do(&w->r, "POST", path,
		       "{'metadata':{'name':'x'},'target':{'kind':'Node','name':'n1'}}");
		set_phase(w, pod, "Running", true);
		return;
	}
}

static const struct {
	const char *strategy;
	/* Highest and lowest number of pods during a rollout of 4 replicas */
	int64_t most, least;
} bounds[] = {
	{"{'rollingUpdate':{'maxSurge':1,'maxUnavailable':0}}", 5, 4},
	{"{'rollingUpdate':{'maxSurge':0,'maxUnavailable':1}}", 4, 3},
	{"{'rollingUpdate':{'maxSurge':0,'maxUnavailable':0}}", 4, 3},
	{"{'rollingUpdate':{'maxSurge':'50%','maxUnavailable':'30%'}}", 6, 3},
	{"{'rollingUpdate':{'maxSurge':'26%','maxUnavailable':'100%'}}", 6, 0},
};

static void a_rollout_keeps_its_bounds(void **state)
{
	struct works *w = *state;

	create(w, DEPLOYMENTS, FOUR);
	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		int64_t all, ready, most = 0, least = 4;
		char body[200], image[20];

		settle(w);
		str_format(body, sizeof(body), "{'spec':{'strategy':%s}}", bounds[i].strategy);
		merge(w, WEB, body);
		str_format(image, sizeof(image), "y:%zu", i);
		set_image(w, image);
		for (int step = 0; step < 60; step++) {
			api_run(&w->r, 250);
			count_pods(w, &all, &ready);
			most = all > most ? all : most;
			least = ready < least ? ready : least;
			if (step % 6 == 5)
				serve_one(w);
		}
		if (most != bounds[i].most || least != bounds[i].least)
			fail_msg("%s: %lld pods, %lld ready", bounds[i].strategy, (long long)most,
				 (long long)least);
		settle(w);
		assert_true(is_rolled_out(w, 4));
		assert_int_equal(of_image(w, image, "spec", "replicas"), 4);
	}
}

static void pods_that_serve_nobody_are_replaced_first(void **state)
{
	struct works *w = *state;
	int64_t all, ready;

	create(w, DEPLOYMENTS, FOUR);
	settle(w);
	set_image(w, "broken");
	turn(w);
	set_image(w, "mended");
	turn(w);
	turn(w);
	assert_int_equal(of_image(w, "broken", "spec", "replicas"), 0);
	count_pods(w, &all, &ready);
	assert_int_equal(ready, 3); /* One of 4 may be unavailable: maxUnavailable is 25%. */
	settle(w);
	assert_true(is_rolled_out(w, 4));
}

/* Recreate must wait, because a pod that is being deleted may still use its GPUs. */
static void recreate_waits_until_the_old_pods_are_gone(void **state)
{
	struct works *w = *state;

	create(w, DEPLOYMENTS, BODY("web", "'replicas':2,'strategy':{'type':'Recreate'}"));
	settle(w);
	set_image(w, "y");
	turn(w);
	turn(w);
	assert_int_equal(of_image(w, "x", "spec", "replicas"), 0);
	assert_int_equal(of_image(w, "y", "spec", "replicas"), 0);
	assert_int_equal(count(w, PODS), 2);
	kubelet(w);
	turn(w);
	assert_int_equal(of_image(w, "y", "spec", "replicas"), 2);
	settle(w);
	assert_true(is_rolled_out(w, 2));
}

static void undo_brings_the_old_replica_set_back(void **state)
{
	struct works *w = *state;

	create(w, DEPLOYMENTS, FOUR);
	settle(w);
	get(w, WEB);
	assert_string_equal(
		json_str_at(w->r.j, "metadata", "annotations", "deployment.kubernetes.io/revision"),
		"1");
	set_image(w, "y");
	settle(w);
	set_image(w, "x");
	settle(w);
	assert_int_equal(count(w, SETS), 2);
	assert_int_equal(of_image(w, "x", "spec", "replicas"), 4);
	assert_int_equal(of_image(w, "y", "spec", "replicas"), 0);
	get(w, WEB);
	assert_string_equal(
		json_str_at(w->r.j, "metadata", "annotations", "deployment.kubernetes.io/revision"),
		"3");
}

static void history_is_limited(void **state)
{
	struct works *w = *state;
	static const char *const images[] = {"a", "b", "c"};

	create(w, DEPLOYMENTS, BODY("web", "'replicas':1,'revisionHistoryLimit':1"));
	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		settle(w);
		set_image(w, images[i]);
	}
	settle(w);
	assert_int_equal(count(w, SETS), 2);
	assert_int_equal(of_image(w, "c", "spec", "replicas"), 1);
	assert_int_equal(of_image(w, "b", "spec", "replicas"), 0);
}

static void one_that_is_paused_scales_and_rolls_nothing_out(void **state)
{
	struct works *w = *state;

	create(w, DEPLOYMENTS, FOUR);
	settle(w);
	merge(w, WEB, "{'spec':{'paused':true,'replicas':5}}");
	set_image(w, "y");
	settle(w);
	assert_int_equal(count(w, SETS), 1);
	assert_int_equal(count(w, PODS), 5);
	assert_string_equal(reason_of(w, WEB, "Progressing"), "DeploymentPaused");
	merge(w, WEB, "{'spec':{'paused':null}}");
	settle(w);
	assert_true(is_rolled_out(w, 5));
	assert_int_equal(of_image(w, "y", "spec", "replicas"), 5);
}

static void a_rollout_that_stands_still_is_told(void **state)
{
	struct works *w = *state;

	create(w, DEPLOYMENTS, BODY("web", "'replicas':1,'progressDeadlineSeconds':60"));
	api_run(&w->r, 50000);
	assert_true(is(w, WEB, "Progressing"));
	api_run(&w->r, 20000);
	assert_string_equal(reason_of(w, WEB, "Progressing"), "ProgressDeadlineExceeded");
	assert_false(is(w, WEB, "Progressing"));
	settle(w);
	assert_true(is(w, WEB, "Progressing"));
}

/* A change long after the last rollout gets a full deadline. */
static void a_new_rollout_begins_its_deadline_anew(void **state)
{
	struct works *w = *state;

	create(w, DEPLOYMENTS, BODY("web", "'replicas':1,'progressDeadlineSeconds':60"));
	settle(w);
	set_image(w, "y");
	settle(w);
	api_run(&w->r, 600000);
	set_image(w, "x");
	for (int i = 0; i < 100; i++) {
		/* Progressing is never False, because kubectl gives up at the first False. */
		api_run(&w->r, 100);
		assert_true(is(w, WEB, "Progressing"));
	}
}

static void all_goes_with_it_unless_it_is_orphaned(void **state)
{
	struct works *w = *state;

	create(w, DEPLOYMENTS, FOUR);
	turn(w);
	turn(w);
	api_do(&w->r, "DELETE", WEB, "{'propagationPolicy':'Orphan'}");
	turn(w);
	assert_int_equal(count(w, SETS), 1);
	assert_int_equal(count(w, PODS), 4);
	create(w, DEPLOYMENTS, FOUR);
	turn(w);
	assert_int_equal(count(w, SETS), 1);
	api_do(&w->r, "DELETE", WEB, "{'propagationPolicy':'Foreground'}");
	turn(w);
	api_do(&w->r, "GET", WEB, NULL);
	assert_status(&w->r, 404);
	assert_int_equal(count(w, SETS), 0);
	assert_int_equal(count(w, PODS), 0);
}

/* A ReplicaSet that does not belong to the Deployment already has the name with the computed
 * hash. */
static void a_name_that_is_taken_makes_another_hash(void **state)
{
	struct works *w = *state;
	OWN_JSON sets = NULL;
	char body[600];

	create(w, DEPLOYMENTS, FOUR);
	turn(w);
	sets = items(w, SETS);
	api_do(&w->r, "DELETE", WEB, "{'propagationPolicy':'Background'}");
	turn(w);
	str_format(body, sizeof(body),
		   "{'metadata':{'name':'%s'},'spec':{'replicas':0,'selector':{'matchLabels':{"
		   "'app':'other'}},'template':{'metadata':{'labels':{'app':'other'}},'spec':{"
		   "'containers':[{'name':'c','image':'x'}]}}}}",
		   sim_object_name(json_array_get(sets, 0)));
	create(w, SETS, body);
	create(w, DEPLOYMENTS, FOUR);
	settle(w);
	assert_int_equal(count(w, SETS), 2);
	assert_true(is_rolled_out(w, 4));
	assert_int_equal(api_int(&w->r, "status.collisionCount"), 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(it_makes_a_replica_set_named_by_the_templates_hash),
		T(its_status_ends_a_rollout),
		T(it_scales_up_and_down),
		T(a_rollout_keeps_its_bounds),
		T(pods_that_serve_nobody_are_replaced_first),
		T(recreate_waits_until_the_old_pods_are_gone),
		T(undo_brings_the_old_replica_set_back),
		T(history_is_limited),
		T(one_that_is_paused_scales_and_rolls_nothing_out),
		T(a_rollout_that_stands_still_is_told),
		T(a_new_rollout_begins_its_deadline_anew),
		T(all_goes_with_it_unless_it_is_orphaned),
		T(a_name_that_is_taken_makes_another_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
