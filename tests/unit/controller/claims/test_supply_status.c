/* Tests the conditions of NodePools and Providers in a whole simulated world. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/claims/supply_status.h"
#include "tests/world/world.h"

#define POOL "nodepools.drover.dev/gpus"
#define RACK "providers.drover.dev/rack"
#define TEAM "virtualclusters.drover.dev/team-a"

/* Returns status and reason of a condition, such as "True Ready"; "" if there is none. The buffer
 * is static. */
static const char *says(const struct sim_world *w, const char *key, const char *type)
{
	static char text[512];
	OWN_JSON o = cluster_get(&w->host, key);
	json_t *x;
	size_t i;

	text[0] = '\0';
	json_array_foreach (json_at(o, "status", "conditions"), i, x)
		if (str_eq(json_str_at(x, "type"), type))
			str_format(text, sizeof(text), "%s %s", json_str_at(x, "status"),
				   json_str_at(x, "reason"));
	return text;
}

static const char *status_of(const struct sim_world *w, const char *key, const char *member)
{
	static char text[512];
	OWN_JSON o = cluster_get(&w->host, key);
	json_t *x = json_at(o, "status", member);
	char *t = x ? json_text_sorted(x) : NULL;

	str_copy(text, sizeof(text), str_or(t, ""));
	free(t);
	return text;
}

static char *version_of(const struct sim_world *w, const char *key)
{
	OWN_JSON o = cluster_get(&w->host, key);

	return strdup(json_str_at(o, "metadata", "resourceVersion"));
}

static int64_t contact_of(const struct sim_world *w)
{
	OWN_JSON o = cluster_get(&w->host, TEAM);
	int64_t t = 0;

	assert_true(str_to_time(json_str_at(o, "status", "lastContactTime"), &t));
	return t;
}

static void start(struct sim_world *w, unsigned servers)
{
	world_start(w, 11, servers);
	world_replica(w);
	world_wait_all(w, "free", 900);
	world_run(w, 5000);
}

static void a_provider_counts_its_machines_by_state_and_forgets_the_state_they_left(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 2);
	assert_string_equal(status_of(&w, RACK, "machines"),
			    "{\"free\":2,\"quarantined\":0,\"serving\":0}");
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(&w.servers[0], "claimed", 60);
	world_run(&w, 2500);
	assert_non_null(strstr(status_of(&w, RACK, "machines"), "\"claimed\":1"));
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 60000);
	assert_string_equal(status_of(&w, RACK, "machines"),
			    "{\"free\":1,\"quarantined\":0,\"serving\":1}");
	world_stop(&w);
}

static void a_pool_counts_its_nodes_and_what_they_have(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 1);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 5000);
	assert_string_equal(status_of(&w, POOL, "nodes"), "1");
	assert_string_equal(
		status_of(&w, POOL, "resources"),
		"{\"cpu\":\"4\",\"memory\":\"8Gi\",\"nvidia.com/gpu\":\"8\",\"pods\":\"110\"}");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(&w.servers[0]);
	world_wait_state(&w.servers[0], "free", 1800);
	world_run(&w, 5000);
	assert_true(str_eq(status_of(&w, POOL, "nodes"), "0") ||
		    str_eq(status_of(&w, POOL, "nodes"), ""));
	assert_string_equal(status_of(&w, POOL, "resources"), "");
	world_stop(&w);
}

static void a_tenant_is_told_what_its_nodes_have_and_when_it_answered_last(void **state)
{
	struct sim_world w;
	int64_t contact;

	(void)state;
	start(&w, 2);
	assert_string_equal(status_of(&w, TEAM, "allocated"), "");
	/* The first write adds the finalizer. The status is not written at the same time, because
	 * the second of two writes based on one version would be refused. */
	w.refused = "/virtualclusters/team-a?";
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(&w.servers[0], "claimed", 60);
	world_run(&w, 5000);
	assert_string_equal(status_of(&w, TEAM, "allocated"), "");
	w.refused = NULL;
	world_run(&w, 20000);
	assert_non_null(strstr(status_of(&w, TEAM, "allocated"), "\"nvidia.com/gpu\":\"8\""));
	world_wait_running(&w, &w.tenants[0], "train", 900);
	contact = contact_of(&w);
	assert_in_range(loop_wall(w.loop) - contact, 0, 330000);
	world_run(&w, 20 * 60000);
	assert_true(contact_of(&w) >= contact + 15 * 60000);
	assert_string_equal(
		status_of(&w, TEAM, "allocated"),
		"{\"cpu\":\"4\",\"memory\":\"8Gi\",\"nvidia.com/gpu\":\"8\",\"pods\":\"110\"}");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(&w.servers[0]);
	world_wait_state(&w.servers[0], "free", 1800);
	world_run(&w, 5000);
	assert_string_equal(status_of(&w, TEAM, "allocated"), "");
	world_stop(&w);
}

static void what_is_ready_says_so_and_what_is_not_says_why(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 0);
	world_run(&w, 60000);
	assert_string_equal(says(&w, RACK, "Ready"), "True DriverRunning");
	assert_string_equal(says(&w, RACK, "Isolating"), "True NetworkDriver");
	assert_string_equal(says(&w, RACK, "Paused"), "False NotPaused");
	assert_string_equal(says(&w, POOL, "Ready"), "True Ready");
	assert_string_equal(says(&w, POOL, "ProvidersReady"), "True ProvidersReady");
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:b, s:{s:{s:[{s:s}, {s:s}]}}}}", "spec", "paused", 1, "template",
			   "spec", "providerRefs", "name", "rack", "name", "elsewhere"));
	world_run(&w, 5000);
	assert_string_equal(says(&w, POOL, "Ready"), "False PoolPaused");
	assert_string_equal(says(&w, POOL, "ProvidersReady"), "False ProviderNotFound");
	world_stop(&w);
}

static void a_provider_without_a_driver_or_a_network_says_it_aloud(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 0);
	world_apply(&w, "apiVersion: drover.dev/v1alpha1\nkind: Provider\nmetadata: {name: cloud}\n"
			"spec: {type: libvirt, libvirt: {uri: \"qemu+ssh://elsewhere/system\"}}\n");
	world_apply(&w,
		    "apiVersion: drover.dev/v1alpha1\nkind: NodePool\nmetadata: {name: clouds}\n"
		    "spec:\n  virtualClusterSelector: {}\n  template:\n    spec:\n"
		    "      providerRefs: [{name: cloud}]\n"
		    "      images:\n      - {kubernetesVersion: \"1.36\", url: \"https://x/y\", "
		    "format: raw, digest: \"sha256:"
		    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}\n");
	world_run(&w, 60000);
	assert_string_equal(says(&w, "providers.drover.dev/cloud", "Isolating"),
			    "False NoNetworkDriver");
	assert_string_equal(says(&w, "providers.drover.dev/cloud", "Ready"), "False NotAllowed");
	assert_string_equal(says(&w, "nodepools.drover.dev/clouds", "Ready"), "False NotAllowed");
	world_stop(&w);
}

static void nothing_is_written_while_nothing_changes(void **state)
{
	struct sim_world w;
	char *pool, *rack, *text;

	(void)state;
	start(&w, 1);
	world_run(&w, 60000);
	pool = version_of(&w, POOL);
	rack = version_of(&w, RACK);
	world_run(&w, 20 * 60000);
	text = version_of(&w, POOL);
	assert_string_equal(pool, text);
	free(text);
	text = version_of(&w, RACK);
	assert_string_equal(rack, text);
	free(text);
	free(pool);
	free(rack);
	world_stop(&w);
}

/* Two modules write conditions of the same list: each preserves the conditions of the other. */
static void the_verdict_of_a_bad_spec_stands_beside_the_summary(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 1);
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:i}}", "spec", "weight", -1));
	world_run(&w, 5000);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 5000);
	assert_string_equal(status_of(&w, POOL, "nodes"), "1");
	assert_string_equal(says(&w, POOL, "Valid"), "False ValidationFailed");
	assert_string_equal(says(&w, POOL, "Ready"), "True Ready");
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_provider_counts_its_machines_by_state_and_forgets_the_state_they_left),
		cmocka_unit_test(a_pool_counts_its_nodes_and_what_they_have),
		cmocka_unit_test(a_tenant_is_told_what_its_nodes_have_and_when_it_answered_last),
		cmocka_unit_test(what_is_ready_says_so_and_what_is_not_says_why),
		cmocka_unit_test(a_provider_without_a_driver_or_a_network_says_it_aloud),
		cmocka_unit_test(nothing_is_written_while_nothing_changes),
		cmocka_unit_test(the_verdict_of_a_bad_spec_stands_beside_the_summary),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
