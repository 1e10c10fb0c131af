/* A virtual cluster that offers only /node/join: its machines fetch that script and run it. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/kinds.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

#define CLUSTER "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a"
#define CONFIG "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"
#define SCRIPT_BYTES 30000

/* Starts a world in which team-a serves a join script of this size. join: spec.join of the
 * VirtualCluster; NULL: not set. */
static void start(struct sim_world *w, uint64_t seed, const char *join, size_t bytes)
{
	world_start(w, seed, 1);
	world_do(w, &w->tenants[0], "DELETE", CONFIG, NULL);
	w->tenants[0].script.bytes = bytes;
	if (join)
		world_do(w, &w->host, "PATCH", CLUSTER,
			 json_pack("{s:{s:s}}", "spec", "join", join));
	leaving_set_pool(w, json_pack("{s:{s:s}}", "deadlines", "booting", "3m"));
	world_replica(w);
	world_wait_state(&w->servers[0], "free", 900);
	world_pod(w, &w->tenants[0], "train");
}

static void a_machine_joins_by_the_script_alone(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	start(&w, 640, "Auto", SCRIPT_BYTES);
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_check_serving(&w, &w.tenants[0], "train");
	assert_string_equal(b->script.console, "");
	assert_int_equal(w.tenants[0].script.served, 1);
	assert_int_equal(store_count(w.tenants[0].store, "secrets/kube-system/"), 0);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 900);
	assert_true(server_is_blank(b));
	world_settle(&w);
	world_stop(&w);
}

static void nobodys_script_is_run_unless_an_administrator_says_so(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 642, NULL, SCRIPT_BYTES);
	leaving_wait_event(&w, &w.tenants[0], "NodesNotTaken", "which spec.join does not allow");
	world_run(&w, 30000);
	assert_string_equal(w.servers[0].state, "free");
	assert_int_equal(w.tenants[0].script.served, 0);
	world_stop(&w);
}

static void a_cluster_that_does_not_serve_it_costs_no_machine(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 643, "Script", 0);
	leaving_wait_event(&w, &w.tenants[0], "NodesNotTaken",
			   "its API server does not serve /node/join");
	w.tenants[0].script.bytes = SCRIPT_BYTES;
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_settle(&w);
	world_stop(&w);
}

/* The machine prints the cause on its console, which drover does not see; drover reports the
 * missing Node. */
static void a_script_that_is_not_to_be_run_fails_the_claim_by_name(void **state)
{
	static const struct {
		size_t bytes;
		const char *ca, *console;
	} cases[] = {
		{SCRIPT_BYTES, "another CA\n", "the CA does not verify it"},
		{(1 << 20) + 1, NULL, "the script is too long"},
	};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		start(&w, 644 + i, "Script", cases[i].bytes);
		w.tenants[0].script.ca_pem = cases[i].ca;
		world_wait_reason(b, "NoNodeByScript", 3600);
		world_run(&w, 60000); /* until the machine's system has booted */
		assert_string_equal(b->script.console, cases[i].console);
		assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
				       "by the script of https://team-a:6443/node/join"));
		world_wait_state(b, "stopping", 3600);
		assert_true(world_has_failure(b, "NoNodeByScript"));
		world_stop(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_joins_by_the_script_alone),
		cmocka_unit_test(nobodys_script_is_run_unless_an_administrator_says_so),
		cmocka_unit_test(a_cluster_that_does_not_serve_it_costs_no_machine),
		cmocka_unit_test(a_script_that_is_not_to_be_run_fails_the_claim_by_name),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
