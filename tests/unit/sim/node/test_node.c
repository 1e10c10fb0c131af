#include "tests/unit/sim/node/town.h"

#define POD "/api/v1/namespaces/default/pods/train"

static void bind_pod(struct town *t, json_t *annotations, int grace)
{
	assert_int_equal(ask(t, "POST", "/api/v1/namespaces/default/pods",
			     json_pack("{s:s, s:s, s:{s:s, s:o}, s:{s:s, s:i, s:[{s:s, s:s}]}}",
				       "apiVersion", "v1", "kind", "Pod", "metadata", "name",
				       "train", "annotations", annotations, "spec", "nodeName",
				       "claim-1", "terminationGracePeriodSeconds", grace,
				       "containers", "name", "c", "image", "work:1")),
			 201);
}

/* --- joining ---------------------------------------------------------------------------------- */

static void a_written_drive_becomes_a_ready_node(void **state)
{
	struct town *t = *state;
	json_t *taints;

	boot(t);
	assert_int_equal(t->f->m.doing, SIM_NODE);
	assert_string_equal(ready(t), "True");
	assert_string_equal(json_str_at(t->j, "spec", "providerID"), "drover://rack/gpu-1");
	assert_string_equal(json_str_at(t->j, "status", "nodeInfo", "systemUUID"), t->f->m.uuid);
	assert_string_equal(json_str_at(t->j, "status", "nodeInfo", "bootID"), t->f->m.boot_id);
	assert_string_equal(json_str_at(t->j, "status", "nodeInfo", "kubeletVersion"), "v1.36.1");
	assert_string_equal(json_str_at(t->j, "status", "capacity", "nvidia.com/gpu"), "8");
	assert_string_equal(json_str_at(t->j, "status", "capacity", "pods"), "64");
	assert_string_equal(json_str_at(t->j, "status", "allocatable", "cpu"), "189500m");
	assert_string_equal(json_str_at(t->j, "status", "allocatable", "memory"), "2043Gi");
	assert_string_equal(json_str_at(t->j, "metadata", "labels", "a/b"), "c");
	taints = json_at(t->j, "spec", "taints");
	assert_int_equal(json_array_size(taints), 2);
	assert_string_equal(json_str_at(json_array_get(taints, 1), "value"), "y");
}

static void gpus_appear_a_while_after_the_node_is_ready(void **state)
{
	struct town *t = *state;

	write_drive(t, "");
	sim_machine_power(&t->f->m, true);
	while (!str_eq(ready(t), "True"))
		aisle_run(t->f, 200);
	assert_null(json_str_at(t->j, "status", "capacity", "nvidia.com/gpu"));
	aisle_run(t->f, 5000);
	assert_string_equal(text_at(t, NODE, "kind", NULL), "Node");
	assert_string_equal(json_str_at(t->j, "status", "allocatable", "nvidia.com/gpu"), "8");
}

static void its_lease_is_renewed_also_when_the_bootstrap_token_is_gone(void **state)
{
	struct town *t = *state;
	char first[64];

	boot(t);
	assert_int_equal(ask(t, "DELETE", TOKEN, NULL), 200);
	str_copy(first, sizeof(first), text_at(t, LEASE, "spec", "renewTime"));
	assert_string_not_equal(first, "");
	aisle_run(t->f, 15000);
	assert_string_not_equal(text_at(t, LEASE, "spec", "renewTime"), first);
}

static void a_token_that_is_not_good_joins_nothing(void **state)
{
	struct town *t = *state;

	assert_int_equal(ask(t, "DELETE", TOKEN, NULL), 200);
	boot(t);
	assert_string_equal(ready(t), "absent");
	mint(t);
	aisle_run(t->f, 10000);
	assert_string_equal(ready(t), "True");
}

static void a_kubelet_whose_token_is_refused_says_so_and_joins_at_the_next_boot(void **state)
{
	struct town *t = *state;

	aisle_fault(t->f, "Node", "TokenRefused", 1);
	boot(t);
	assert_string_equal(ready(t), "absent");
	assert_non_null(strstr(t->f->m.console, "kubelet: 401 "));
	sim_machine_reboot(&t->f->m);
	aisle_run(t->f, 15000);
	assert_string_equal(ready(t), "True");
	/* A kubelet that has joined does not present the token any more. */
	aisle_fault(t->f, "Node", "TokenRefused", 1);
	sim_machine_reboot(&t->f->m);
	aisle_run(t->f, 15000);
	assert_string_equal(ready(t), "True");
}

static void a_node_in_another_segment_reaches_nothing(void **state)
{
	struct town *t = *state;

	aisle_move(t->f, "provisioning");
	boot(t);
	assert_string_equal(ready(t), "absent");
	aisle_move(t->f, "tenant/team-a");
	aisle_run(t->f, 10000);
	assert_string_equal(ready(t), "True");
}

static void a_ca_with_another_hash_is_not_believed(void **state)
{
	struct town *t = *state;

	str_copy(t->ca_hash, sizeof(t->ca_hash),
		 "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	boot(t);
	assert_string_equal(ready(t), "absent");
	assert_non_null(strstr(t->f->m.console, "cluster-info"));
}

static void a_machine_of_the_rack_runs_no_script(void **state)
{
	struct town *t = *state;

	write_drive(t, "JOIN_METHOD=Script\n");
	sim_machine_power(&t->f->m, true);
	aisle_run(t->f, 60000);
	assert_string_equal(ready(t), "absent");
	assert_non_null(strstr(t->f->m.console, "JOIN_METHOD: the simulator does not run scripts"));
}

static void the_ca_is_found_in_cluster_info_as_kubeadm_does(void **state)
{
	struct town *t = *state;
	char *info = sim_cluster_info(ORIGIN, t->ca);
	json_t *map = json_parse(info, strlen(info), &t->f->e);

	free(info);
	t->f->site.cluster_cas = NULL;
	boot(t);
	assert_string_equal(ready(t), "absent");
	assert_int_equal(ask(t, "POST", "/api/v1/namespaces/kube-public/configmaps", map), 201);
	assert_int_equal(ask(t, "POST",
			     "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public/roles",
			     json_pack("{s:s, s:s, s:{s:s}, s:[{s:[s], s:[s], s:[s]}]}",
				       "apiVersion", "rbac.authorization.k8s.io/v1", "kind", "Role",
				       "metadata", "name", "info", "rules", "apiGroups", "",
				       "resources", "configmaps", "verbs", "get")),
			 201);
	assert_int_equal(
		ask(t, "POST",
		    "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public/rolebindings",
		    json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:s}, s:[{s:s, s:s, s:s}]}",
			      "apiVersion", "rbac.authorization.k8s.io/v1", "kind", "RoleBinding",
			      "metadata", "name", "info", "roleRef", "apiGroup",
			      "rbac.authorization.k8s.io", "kind", "Role", "name", "info",
			      "subjects", "apiGroup", "rbac.authorization.k8s.io", "kind", "User",
			      "name", "system:anonymous")),
		201);
	aisle_run(t->f, 15000);
	assert_string_equal(ready(t), "True");
}

static void a_drive_without_image_or_config_boots_nothing(void **state)
{
	struct town *t = *state;

	sim_machine_power(&t->f->m, true);
	aisle_run(t->f, 10000);
	assert_int_equal(t->f->m.doing, SIM_NOTHING);
	sim_machine_cut(&t->f->m);
	write_drive(t, "");
	assert_ok(drive_zero(t->f->m.drives[0], sim_cidata_at(drive_bytes(t->f->m.drives[0])),
			     1 << 20, &t->f->e),
		  &t->f->e);
	sim_machine_power(&t->f->m, true);
	aisle_run(t->f, 10000);
	assert_int_equal(t->f->m.doing, SIM_NOTHING);
	assert_true(t->f->m.on);
}

static void a_kubelet_that_does_not_start_and_one_on_a_wrong_board(void **state)
{
	struct town *t = *state;

	aisle_fault(t->f, "Node", "NoKubelet", 1);
	boot(t);
	assert_int_equal(t->f->m.doing, SIM_NODE);
	assert_string_equal(ready(t), "absent");
	sim_machine_cut(&t->f->m);
	aisle_fault(t->f, "Node", "WrongUUID", 1);
	boot(t);
	assert_string_equal(ready(t), "True");
	assert_string_not_equal(json_str_at(t->j, "status", "nodeInfo", "systemUUID"),
				t->f->m.uuid);
}

/* --- pods ------------------------------------------------------------------------------------- */

static void a_pod_that_is_bound_runs_and_leaves_traces(void **state)
{
	struct town *t = *state;
	static const char trace[] = SIM_NODE_TRACE "default/train";

	boot(t);
	bind_pod(t, json_object(), 30);
	aisle_run(t->f, 5000);
	assert_string_equal(text_at(t, POD, "status", "phase"), "Running");
	assert_true(str_starts(json_str_at(t->j, "status", "podIP"), "10."));
	assert_true(json_true_at(json_array_get(json_at(t->j, "status", "containerStatuses"), 0),
				 "ready"));
	for (unsigned i = 0; i < 2; i++)
		assert_true(drive_holds(t->f->m.drives[i], trace, strlen(trace)));
}

static void a_pod_runs_as_long_as_its_annotation_says_and_succeeds(void **state)
{
	struct town *t = *state;
	json_t *c;

	boot(t);
	bind_pod(t, json_pack("{s:s}", SIM_NODE_RUN_FOR, "20s"), 30);
	aisle_run(t->f, 15000);
	assert_string_equal(text_at(t, POD, "status", "phase"), "Running");
	aisle_run(t->f, 10000);
	assert_string_equal(text_at(t, POD, "status", "phase"), "Succeeded");
	c = json_array_get(json_at(t->j, "status", "containerStatuses"), 0);
	assert_string_equal(json_str_at(c, "state", "terminated", "reason"), "Completed");
}

static void a_pod_with_an_exit_code_fails(void **state)
{
	struct town *t = *state;
	json_t *c;

	boot(t);
	bind_pod(t, json_pack("{s:s, s:s}", SIM_NODE_RUN_FOR, "5s", SIM_NODE_EXIT_CODE, "3"), 30);
	aisle_run(t->f, 15000);
	assert_string_equal(text_at(t, POD, "status", "phase"), "Failed");
	c = json_array_get(json_at(t->j, "status", "containerStatuses"), 0);
	assert_string_equal(json_str_at(c, "state", "terminated", "reason"), "Error");
	assert_int_equal(json_int_at(c, "state", "terminated", "exitCode"), 3);
}

static void own_pod(struct town *t, const char *kind)
{
	assert_int_equal(ask(t, "PATCH", POD,
			     json_pack("{s:{s:[{s:s, s:s, s:s, s:s, s:b}]}}", "metadata",
				       "ownerReferences", "apiVersion", "v1", "kind", kind, "name",
				       "x", "uid", "x", "controller", 1)),
			 200);
}

/* A Job's pod ends by itself without an annotation, because `kubectl create job` cannot add
 * annotations to pods. */
static void a_pod_of_a_job_ends_by_itself(void **state)
{
	struct town *t = *state;

	boot(t);
	bind_pod(t, json_object(), 30);
	own_pod(t, "ReplicaSet");
	aisle_run(t->f, 30000);
	assert_string_equal(text_at(t, POD, "status", "phase"), "Running");
	own_pod(t, "Job");
	aisle_run(t->f, 5000);
	assert_string_equal(text_at(t, POD, "status", "phase"), "Succeeded");
}

static void a_deleted_pod_goes_after_it_stopped_and_within_its_grace(void **state)
{
	struct town *t = *state;

	boot(t);
	bind_pod(t, json_pack("{s:s}", SIM_NODE_STOP_AFTER, "1h"), 20);
	aisle_run(t->f, 5000);
	assert_int_equal(ask(t, "DELETE", POD, NULL), 200);
	aisle_run(t->f, 15000);
	assert_int_equal(ask(t, "GET", POD, NULL), 200);
	aisle_run(t->f, 8000);
	assert_int_equal(ask(t, "GET", POD, NULL), 404);
	bind_pod(t, json_object(), 3600);
	aisle_run(t->f, 5000);
	assert_int_equal(ask(t, "DELETE", POD, NULL), 200);
	aisle_run(t->f, 5000);
	assert_int_equal(ask(t, "GET", POD, NULL), 404);
}

static void a_cut_machine_writes_nothing_any_more(void **state)
{
	struct town *t = *state;
	char last[64];

	boot(t);
	sim_machine_cut(&t->f->m);
	str_copy(last, sizeof(last), text_at(t, LEASE, "spec", "renewTime"));
	bind_pod(t, json_object(), 30);
	aisle_run(t->f, 60000);
	assert_string_equal(text_at(t, LEASE, "spec", "renewTime"), last);
	assert_string_not_equal(text_at(t, POD, "status", "phase"), "Running");
}

static void a_node_outlives_the_rack_that_is_killed(void **state)
{
	struct town *t = *state;
	char boot_id[40], last[64];

	boot(t);
	bind_pod(t, json_pack("{s:s}", SIM_NODE_RUN_FOR, "60s"), 30);
	aisle_run(t->f, 5000);
	assert_int_equal(ask(t, "DELETE", TOKEN, NULL), 200);
	str_copy(boot_id, sizeof(boot_id), t->f->m.boot_id);
	str_copy(last, sizeof(last), text_at(t, LEASE, "spec", "renewTime"));
	aisle_kill(t->f);
	assert_true(t->f->m.on);
	assert_int_equal(t->f->m.doing, SIM_NODE);
	aisle_run(t->f, 30000);
	assert_string_equal(t->f->m.boot_id, boot_id);
	assert_string_not_equal(text_at(t, LEASE, "spec", "renewTime"), last);
	assert_string_equal(ready(t), "True");
	aisle_run(t->f, 35000);
	assert_string_equal(text_at(t, POD, "status", "phase"), "Succeeded");
}

static void a_node_that_reboots_is_back_with_another_boot_id(void **state)
{
	struct town *t = *state;
	char boot_id[40];

	boot(t);
	assert_int_equal(ask(t, "DELETE", TOKEN, NULL), 200);
	str_copy(boot_id, sizeof(boot_id), t->f->m.boot_id);
	aisle_fault(t->f, "Node", "Reboot", 1);
	aisle_run(t->f, 20000);
	assert_string_not_equal(t->f->m.boot_id, boot_id);
	assert_string_equal(ready(t), "True");
	assert_string_equal(json_str_at(t->j, "status", "nodeInfo", "bootID"), t->f->m.boot_id);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_written_drive_becomes_a_ready_node),
		T(gpus_appear_a_while_after_the_node_is_ready),
		T(its_lease_is_renewed_also_when_the_bootstrap_token_is_gone),
		T(a_token_that_is_not_good_joins_nothing),
		T(a_kubelet_whose_token_is_refused_says_so_and_joins_at_the_next_boot),
		T(a_node_in_another_segment_reaches_nothing),
		T(a_ca_with_another_hash_is_not_believed),
		T(a_machine_of_the_rack_runs_no_script),
		T(the_ca_is_found_in_cluster_info_as_kubeadm_does),
		T(a_drive_without_image_or_config_boots_nothing),
		T(a_kubelet_that_does_not_start_and_one_on_a_wrong_board),
		T(a_pod_that_is_bound_runs_and_leaves_traces),
		T(a_pod_runs_as_long_as_its_annotation_says_and_succeeds),
		T(a_pod_with_an_exit_code_fails),
		T(a_pod_of_a_job_ends_by_itself),
		T(a_deleted_pod_goes_after_it_stopped_and_within_its_grace),
		T(a_cut_machine_writes_nothing_any_more),
		T(a_node_outlives_the_rack_that_is_killed),
		T(a_node_that_reboots_is_back_with_another_boot_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
