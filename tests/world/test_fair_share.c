/* Who has used less comes first, whatever leaders have died since; quotas, borrowing and what is taken back for them. */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "tests/world/world.h"

static int64_t usage_of(const struct sim_world *w, const char *tenant, int64_t *time)
{
	OWN(arena) a = arena_new();
	OWN_JSON o =
		cluster_get(&w->host, arena_printf(a, "virtualclusters.drover.dev/%s", tenant));
	const json_t *usage = json_at(o, "status", "usage");

	*time = 0;
	if (!usage)
		return -1;
	assert_true(str_to_time(json_str_at(usage, "time"), time));
	return json_integer_value(json_object_get(usage, "gpuSeconds"));
}

static void what_a_tenant_has_used_counts_and_no_restart_forgets_it(void **state)
{
	struct sim_world w;
	int64_t began, then, used;

	(void)state;
	world_start(&w, 841, 1);
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	world_pod(&w, &w.tenants[0], "first");
	world_wait_running(&w, &w.tenants[0], "first", 1800);
	assert_int_equal(usage_of(&w, "team-a", &began), 0);
	world_run(&w, 3600 * 1000);
	/* Nothing is written while nothing changes. */
	assert_int_equal(usage_of(&w, "team-a", &then), 0);
	assert_int_equal(then, began);
	world_delete_pod(&w, &w.tenants[0], "first");
	world_release(&w.servers[0]);
	world_wait_all(&w, "free", 1800);
	world_run(&w, 5000);
	used = usage_of(&w, "team-a", &then);
	assert_in_range(then - began, 3600 * 1000, 2 * 3600 * 1000);
	assert_in_range(used, (then - began) / 1000 * 8 * 99 / 100, (then - began) / 1000 * 8);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	world_pod(&w, &w.tenants[0], "older");
	world_pod(&w, &w.tenants[1], "younger");
	world_wait_running(&w, &w.tenants[1], "younger", 1800);
	assert_null(world_box_of(&w, &w.tenants[0], "older"));
	world_stop(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_tenant_has_used_counts_and_no_restart_forgets_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
