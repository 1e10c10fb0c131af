/* The server in a tenant's kubeconfig must be the tenant's API server, and must not lead drover
 * into the BMC network. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/world.h"

static const char *accepted(struct sim_world *w, const char *member)
{
	static char text[512];
	OWN_JSON o = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");
	json_t *x;
	size_t i;

	text[0] = '\0';
	json_array_foreach (json_at(o, "status", "conditions"), i, x)
		if (str_eq(json_str_at(x, "type"), "KubeconfigAccepted"))
			str_copy(text, sizeof(text), str_or(json_str_at(x, member), ""));
	return text;
}

static void point(struct sim_world *w, const char *server)
{
	char *conf = cluster_kubeconfig(&w->tenants[0], server, w->ca_pem);

	world_secret(w, "vc-team-a", "vc-team-a", "config", conf, NULL, NULL);
	free(conf);
	world_run(w, 120000);
}

static void a_kubeconfig_that_leads_to_a_bmc_or_to_drover_is_refused(void **state)
{
	static const char *const to[][2] = {
		{"https://10.0.8.1:6443", "the BMC of machine gpu-1"},
		{"https://10.0.8.1", "the BMC of machine gpu-1"},
		{WORLD_AGENT, "spec.agent.endpoint of provider rack"},
	};
	struct sim_world w;
	unsigned asked;

	(void)state;
	world_start(&w, 960, 1);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	assert_string_equal(accepted(&w, "status"), "True");
	for (size_t i = 0; i < sizeof(to) / sizeof(*to); i++) {
		asked = w.servers[0].bmc.requests;
		point(&w, to[i][0]);
		assert_string_equal(accepted(&w, "status"), "False");
		assert_non_null(strstr(accepted(&w, "message"), "cluster.server: "));
		assert_non_null(strstr(accepted(&w, "message"), to[i][1]));
		assert_true(w.servers[0].bmc.requests - asked < 20); /* drover only observes it */
	}
	point(&w, w.tenants[0].origin);
	assert_string_equal(accepted(&w, "status"), "True");
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_stop(&w);
}

/* A reserved address is allowed if an administrator sets it in spec.server. */
static void an_administrator_may_mean_such_an_address(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 961, 1);
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/virtualclusters/team-a",
		 json_pack("{s:{s:s}}", "spec", "server", "https://10.0.8.1:6443"));
	world_replica(&w);
	world_run(&w, 120000);
	assert_string_equal(accepted(&w, "status"), "True");
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kubeconfig_that_leads_to_a_bmc_or_to_drover_is_refused),
		cmocka_unit_test(an_administrator_may_mean_such_an_address),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
