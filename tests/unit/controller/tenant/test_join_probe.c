#include "tests/unit/controller/bench.h"

#include "api/annotations.h"
#include "base/str.h"
#include "controller/core/api_paths.h"
#include "controller/core/reserved.h"
#include "controller/rules/api_path.h"
#include "controller/tenant/join_probe.h"

#define CONFIGS "/api/v1/namespaces/kube-system/configmaps"
#define INFOS "/api/v1/namespaces/kube-public/configmaps"
#define CLUSTER(endpoint) "controlPlaneEndpoint: " endpoint "\\n"
#define INFO(server)                                                                               \
	"apiVersion: v1\\nkind: Config\\nclusters:\\n- name: c\\n  cluster: {server: " server "}\\n"
/* Longer than the probe's interval of one minute while the cluster accepts no machines */
#define AGAIN_MS 70000

static int setup(void **state)
{
	bench_setup(state);
	bench_tenants(*state);
	bench_fleet(*state);
	return 0;
}

static const struct virtual_cluster *cluster(struct bench *d)
{
	return CTX_GET(&d->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, "team-a");
}

static struct join_answer answer(struct bench *d)
{
	struct join_answer out;

	join_probe_answer(tenant_get(d->tenants, "team-a")->joins, cluster(d), &out);
	return out;
}

static const char *condition(struct bench *d)
{
	return bench_condition(d, OBJECT_VIRTUAL_CLUSTER, "team-a", TENANT_NODES_CONDITION);
}

static void no_config(struct bench *d)
{
	bench_must(d, &d->team, "DELETE", CONFIGS "/kubeadm-config", NULL);
}

/* Stores a ConfigMap with data key = text in the collection path. text must not contain quotes. */
static void put(struct bench *d, const char *path, const char *name, const char *key,
		const char *text)
{
	const char *one = arena_printf(d->a, "%s/%s", path, name);

	(void)bench_do(d, &d->team, "DELETE", one, NULL);
	bench_must(d, &d->team, "POST", path,
		   arena_printf(d->a, "{'metadata': {'name': '%s'}, 'data': {'%s': '%s'}}", name,
				key, text));
}

/* Makes the probe ask anew, whether it has asked already or not. */
static void ask_again(struct bench *d)
{
	bench_secret(d, "team-a", "config", bench_kubeconfig(d, BENCH_TEAM, ""), NULL, NULL);
}

static void no_endpoint(struct bench *d)
{
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'joinEndpoint': null}}");
}

static void a_cluster_that_kubeadm_made_takes_nodes(void **state)
{
	struct bench *d = *state;

	assert_false(answer(d).takes);
	assert_false(answer(d).known);
	assert_string_equal(answer(d).reason, "NotAsked");
	bench_run(d, 5000);
	assert_true(answer(d).takes);
	assert_string_equal(answer(d).endpoint, "10.20.0.10:6443");
	assert_string_equal(condition(d), "True Kubeadm");
}

static void what_an_admin_wrote_goes_before_what_the_tenant_says(void **state)
{
	struct bench *d = *state;

	put(d, CONFIGS, "kubeadm-config", "ClusterConfiguration", CLUSTER("tenant.example:1234"));
	ask_again(d);
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    "{'spec': {'joinEndpoint': '10.20.0.99:6443'}}");
	bench_run(d, 40000);
	assert_string_equal(answer(d).endpoint, "10.20.0.99:6443");
	no_endpoint(d);
	assert_string_equal(answer(d).endpoint, "tenant.example:1234");
	bench_run(d, 5000);
	OWN_JSON vc = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	char *text = json_text(vc);
	assert_non_null(strstr(text, "nodes join at tenant.example:1234"));
	free(text);
}

/* A vCluster that shares the nodes of its host cluster has neither cluster-info nor
 * kubeadm-config. */
static void a_cluster_without_either_config_map_takes_none(void **state)
{
	struct bench *d = *state;

	no_config(d);
	bench_run(d, 5000);
	assert_true(answer(d).known);
	assert_false(answer(d).takes);
	assert_string_equal(condition(d), "False NoPrivateNodes");
	assert_non_null(strstr(answer(d).text, "kube-system/kubeadm-config"));
	/* The vCluster's private nodes are switched on: drover notices within a minute. */
	put(d, CONFIGS, "kubeadm-config", "ClusterConfiguration", CLUSTER("10.20.0.10:6443"));
	bench_run(d, AGAIN_MS);
	assert_string_equal(condition(d), "True Kubeadm");
}

/* A vCluster with private nodes serves the join script. While its ConfigMaps are missing or
 * unreadable, the condition's message mentions the script. */
static void one_that_serves_the_join_script_is_told_what_is_missing(void **state)
{
	static const struct {
		int status;
		bool denied;
		const char *condition, *text;
	} cases[] = {
		{200, false, "False JoinScriptAlone", "which spec.join does not allow"},
		{400, false, "False JoinScriptAlone", "its API server serves /node/join"},
		{404, false, "False NoPrivateNodes", "nodes cannot join it"},
		{401, false, "False NoPrivateNodes", "nodes cannot join it"},
		{403, false, "False NoPrivateNodes", "nodes cannot join it"},
		{200, true, "False NotPermitted",
		 "which serves /node/join: nodes can join with spec.join Script"},
		{404, true, "False NotPermitted", "of the virtual cluster"},
	};
	struct bench *d = *state;

	no_config(d);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		d->team.join_script = cases[i].status;
		d->team.denied_at = cases[i].denied ? "/configmaps/" : NULL;
		bench_run(d, AGAIN_MS);
		assert_string_equal(condition(d), cases[i].condition);
		assert_non_null(strstr(answer(d).text, cases[i].text));
		assert_false(answer(d).takes);
	}
	d->team.denied_at = NULL;
	put(d, CONFIGS, "kubeadm-config", "ClusterConfiguration", CLUSTER("10.20.0.10:6443"));
	bench_run(d, AGAIN_MS);
	assert_string_equal(condition(d), "True Kubeadm");
}

/* An administrator decides (spec.join) whether the script may run. The API server shows whether the
 * script exists. */
static void the_join_script_is_a_way_where_an_administrator_says_so(void **state)
{
	static const struct {
		const char *join;
		int status;
		bool denied;
		const char *condition, *text;
		bool by_script;
	} cases[] = {
		{"Script", 200, false, "True JoinScript", "by the script of /node/join", true},
		{"Script", 400, true, "True JoinScript", "by the script of /node/join", true},
		{"Script", 403, false, "True JoinScript", "which drover could not verify", true},
		{"Script", 404, false, "False JoinScriptNotServed", "does not serve /node/join",
		 true},
		/* Status 503 changes nothing. */
		{"Script", 503, false, "False JoinScriptNotServed", "", true},
		{"Kubeadm", 200, false, "False JoinScriptAlone", "spec.join does not allow", false},
		{"Auto", 200, false, "True JoinScript", "by the script of /node/join", true},
		{"Auto", 200, true, "True JoinScript", "by the script of /node/join", true},
		{"Auto", 403, false, "False NoPrivateNodes", "nodes cannot join it", false},
		{"Auto", 404, true, "False NotPermitted", "may not read ConfigMap", false},
	};
	struct bench *d = *state;

	no_config(d);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
			    arena_printf(d->a, "{'spec': {'join': '%s'}}", cases[i].join));
		d->team.join_script = cases[i].status;
		d->team.denied_at = cases[i].denied ? "/configmaps/" : NULL;
		/* A positive result is valid for 10 min. */
		bench_run(d, i ? 10 * AGAIN_MS : AGAIN_MS);
		OWN_JSON vc = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
		char *text = json_text(vc);
		assert_string_equal(condition(d), cases[i].condition);
		assert_non_null(strstr(text, cases[i].text));
		free(text);
		assert_int_equal(answer(d).by_script, cases[i].by_script);
		assert_int_equal(answer(d).takes, cases[i].condition[0] == 'T');
	}
}

/* If the cluster supports both join methods, the ConfigMaps still determine the address; with Auto
 * they also determine the method. */
static void a_cluster_that_has_both_ways_is_joined_as_is_wanted(void **state)
{
	struct bench *d = *state;

	no_endpoint(d);
	put(d, CONFIGS, "kubeadm-config", "ClusterConfiguration", CLUSTER("10.20.0.9:6443"));
	d->team.join_script = 200;
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'join': 'Auto'}}");
	bench_run(d, AGAIN_MS);
	assert_string_equal(condition(d), "True Kubeadm");
	assert_false(answer(d).by_script);
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'join': 'Script'}}");
	assert_false(answer(d).takes); /* The script was not requested since spec.join changed. */
	bench_run(d, AGAIN_MS);
	assert_string_equal(condition(d), "True JoinScript");
	assert_string_equal(answer(d).endpoint, "10.20.0.9:6443");
	no_config(d);
	bench_run(d, 10 * AGAIN_MS);
	assert_string_equal(condition(d), "False NoJoinEndpoint");
}

static void cluster_info_alone_says_where_nodes_join(void **state)
{
	struct bench *d = *state;

	no_config(d);
	no_endpoint(d);
	put(d, INFOS, "cluster-info", "kubeconfig", INFO("https://10.20.0.77:443"));
	bench_run(d, AGAIN_MS);
	assert_string_equal(condition(d), "True ClusterInfo");
	assert_string_equal(answer(d).endpoint, "10.20.0.77:443");
}

/* kubeadm omits controlPlaneEndpoint if it was not configured. Nodes then use the server in
 * cluster-info. */
static void a_configuration_without_an_endpoint_leaves_it_to_cluster_info(void **state)
{
	struct bench *d = *state;

	no_endpoint(d);
	put(d, CONFIGS, "kubeadm-config", "ClusterConfiguration", "kind: ClusterConfiguration\\n");
	put(d, INFOS, "cluster-info", "kubeconfig", INFO("https://10.20.0.77"));
	ask_again(d);
	bench_run(d, AGAIN_MS);
	assert_string_equal(condition(d), "True Kubeadm");
	assert_string_equal(answer(d).endpoint, "10.20.0.77:6443");
	bench_must(d, &d->team, "DELETE", INFOS "/cluster-info", NULL);
	ask_again(d);
	bench_run(d, 40000);
	assert_string_equal(condition(d), "False NoJoinEndpoint");
}

static void an_endpoint_that_a_tenant_may_not_name_is_refused_with_the_field(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{CLUSTER("localhost:6443"), "loopback"},
		{CLUSTER("127.0.0.1:6443"), "loopback"},
		{CLUSTER("\\\"[::1]:6443\\\""), "loopback"},
		{CLUSTER("169.254.169.254:80"), "loopback"},
		{CLUSTER("10.0.8.17:443"), "points to the BMC of machine m-1"},
		{CLUSTER("a.example:0"), "is not HOST:PORT"},
		{CLUSTER("a.example:65536"), "is not HOST:PORT"},
		{CLUSTER("a.example:6443/x"), "is not HOST:PORT"},
		{CLUSTER("\\\"a.example;reboot\\\""), "is not HOST:PORT"},
		{CLUSTER("fd00::1"), "is not HOST:PORT"},
		{"{", "is not valid YAML"},
	};
	struct bench *d = *state;

	no_endpoint(d);
	reserved_put(d->c.reserved, "the BMC of machine m-1", "https://10.0.8.17/", false);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(d, CONFIGS, "kubeadm-config", "ClusterConfiguration", cases[i].text);
		ask_again(d);
		bench_run(d, AGAIN_MS);
		assert_string_equal(condition(d), "False NoJoinEndpoint");
		if (!strstr(answer(d).text, cases[i].says))
			fail_msg("%s: %s", cases[i].text, answer(d).text);
		assert_non_null(strstr(answer(d).text, "kubeadm-config"));
	}
	put(d, CONFIGS, "kubeadm-config", "ClusterConfiguration",
	    CLUSTER("\\\"[fd00::1]:7443\\\""));
	bench_run(d, AGAIN_MS);
	assert_string_equal(answer(d).endpoint, "[fd00::1]:7443");
}

static void what_was_known_outlives_an_api_that_is_away(void **state)
{
	struct bench *d = *state;

	bench_run(d, 5000);
	bench_away(d, &d->team, true);
	bench_run(d, 1800000);
	assert_true(answer(d).takes);
	assert_string_equal(condition(d), "True Kubeadm");
	bench_away(d, &d->team, false);
	no_config(d);
	bench_run(d, 11 * 60000);
	assert_string_equal(condition(d), "False NoPrivateNodes");
}

static void a_pod_of_a_cluster_that_takes_none_is_told_so(void **state)
{
	struct bench *d = *state;

	no_config(d);
	bench_run(d, 5000);
	bench_pod(d, "train", 8);
	bench_run(d, 20000);
	assert_int_equal(bench_events(&d->team, "NodesNotTaken"), 1);
	assert_int_equal(store_count(d->host.store, "nodeclaims.drover.dev/"), 0);
}

static void way(struct bench *d, const char *spec)
{
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    arena_printf(d->a,
				 "{'spec': {'joinEndpoint': null, 'network': {'apiServer': %s}}}",
				 spec));
	bench_run(d, 2000);
}

static void see_way(struct bench *d, bool up, const char *reason, const char *why)
{
	struct api_path_state seen = {.up = up, .reason = reason};

	str_copy(seen.why, sizeof(seen.why), why);
	(void)api_paths_put(d->c.api_paths, "team-a", api_path_key(cluster(d), d->a), &seen);
	tenants_api_path_changed(d->tenants, "team-a");
	bench_run(d, 2000);
}

static const char *way_condition(struct bench *d)
{
	return bench_condition(d, OBJECT_VIRTUAL_CLUSTER, "team-a", TENANT_API_PATH_CONDITION);
}

static void no_machine_is_taken_but_by_a_way_that_was_seen_up(void **state)
{
	struct bench *d = *state;

	bench_run(d, 5000);
	assert_string_equal(way_condition(d), "");
	way(d, "{'via': 'vip', 'address': '10.20.0.10:6443', 'providerRef': {'name': 'hall-a'}}");
	assert_false(answer(d).takes);
	assert_true(answer(d).known);
	assert_string_equal(way_condition(d), "Unknown NotLookedAt");
	assert_string_equal(condition(d), "False WayNotUp");
	see_way(d, false, "VIPOutside", "10.20.0.10 is of no subnet");
	assert_string_equal(way_condition(d), "False VIPOutside");
	assert_non_null(strstr(answer(d).text, "10.20.0.10 is of no subnet"));
	see_way(d, true, "VIP", "it is");
	assert_string_equal(way_condition(d), "True VIP");
	assert_true(answer(d).takes);
	assert_string_equal(answer(d).endpoint, "10.20.0.10:6443");
	/* An observation of another address does not count for this one. */
	way(d, "{'address': '10.20.0.11:6443'}");
	assert_false(answer(d).takes);
	/* kubeadm would continue with the address in cluster-info, which differs. */
	see_way(d, true, "VIP", "it is");
	assert_string_equal(way_condition(d), "False EndpointDiffers");
	assert_false(answer(d).takes);
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    "{'spec': {'network': {'apiServer': null}}}");
	bench_run(d, 2000);
	assert_string_equal(way_condition(d), "");
	assert_true(answer(d).takes);
}

static void an_address_is_taken_as_it_is(void **state)
{
	struct bench *d = *state;

	bench_run(d, 5000);
	way(d, "{'via': 'address', 'address': '10.9.0.1:6443'}");
	assert_string_equal(way_condition(d), "True Address");
	assert_true(answer(d).takes);
	assert_string_equal(answer(d).endpoint, "10.9.0.1:6443");
}

/* The address in status names the Provider at which it was found; it counts for that Provider
 * only. */
static void a_load_balancer_has_the_address_that_was_found(void **state)
{
	struct bench *d = *state;

	bench_run(d, 5000);
	way(d,
	    "{'via': 'l4lb', 'backends': ['10.20.0.11:6443'], 'providerRef': {'name': 'hall-a'}}");
	see_way(d, true, "Healthy", "all");
	assert_false(answer(d).takes);
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     "{'apiServer': {'provider': 'hall-a', 'address': '10.20.0.50:6443'}}");
	assert_true(answer(d).takes);
	assert_string_equal(answer(d).endpoint, "10.20.0.50:6443");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_that_serves_the_join_script_is_told_what_is_missing),
		T(a_cluster_that_kubeadm_made_takes_nodes),
		T(what_an_admin_wrote_goes_before_what_the_tenant_says),
		T(a_cluster_without_either_config_map_takes_none),
		T(the_join_script_is_a_way_where_an_administrator_says_so),
		T(a_cluster_that_has_both_ways_is_joined_as_is_wanted),
		T(cluster_info_alone_says_where_nodes_join),
		T(a_configuration_without_an_endpoint_leaves_it_to_cluster_info),
		T(an_endpoint_that_a_tenant_may_not_name_is_refused_with_the_field),
		T(what_was_known_outlives_an_api_that_is_away),
		T(a_pod_of_a_cluster_that_takes_none_is_told_so),
		T(no_machine_is_taken_but_by_a_way_that_was_seen_up),
		T(an_address_is_taken_as_it_is),
		T(a_load_balancer_has_the_address_that_was_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
