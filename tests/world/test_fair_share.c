/* Fair share: the tenant with less usage comes first, whatever leaders have died; quotas, borrowing
 * and reclaim. */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "tests/world/leaving.h"
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
	world_run(&w, 900 * 1000);
	/* Usage is written only when something changes. */
	assert_int_equal(usage_of(&w, "team-a", &then), 0);
	assert_int_equal(then, began);
	world_delete_pod(&w, &w.tenants[0], "first");
	world_release(&w.servers[0]);
	world_wait_all(&w, "free", 1800);
	world_run(&w, 5000);
	used = usage_of(&w, "team-a", &then);
	assert_in_range(then - began, 900 * 1000, 3600 * 1000);
	assert_in_range(used, (then - began) / 1000 * 8 * 99 / 100,
			/* 8 for rounding: times are in seconds */
			(then - began) / 1000 * 8 + 8);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	world_pod(&w, &w.tenants[0], "older");
	world_pod(&w, &w.tenants[1], "younger");
	world_wait_running(&w, &w.tenants[1], "younger", 1800);
	assert_null(world_box_of(&w, &w.tenants[0], "older"));
	world_stop(&w);
}

static void in_cohort(struct sim_world *w, const char *tenant, const char *gpus)
{
	OWN(arena) a = arena_new();

	world_do(w, &w->host, "PATCH",
		 arena_printf(a, "/apis/drover.dev/v1alpha1/virtualclusters/%s", tenant),
		 json_pack("{s:{s:s, s:{s:s}}}", "spec", "cohort", "all", "quota", "nvidia.com/gpu",
			   gpus));
}

static bool somebody_is_reclaimed(void *arg)
{
	struct sim_world *w = arg;

	for (unsigned i = 0; i < w->nboxes; i++)
		if (str_eq(world_at(&w->servers[i], "status.leave.reason"), "Reclaimed"))
			return true;
	return false;
}

/* Starts two machines that both serve team-a, which borrows one; team-b waits within its quota. */
static void lend(struct sim_world *w, uint64_t seed)
{
	world_start(w, seed, 2);
	in_cohort(w, "team-a", "8");
	in_cohort(w, "team-b", "8");
	world_replica(w);
	world_wait_all(w, "free", 900);
	world_pod(w, &w->tenants[0], "a-1");
	world_pod(w, &w->tenants[0], "a-2");
	world_wait_running(w, &w->tenants[0], "a-1", 1800);
	world_wait_running(w, &w->tenants[0], "a-2", 1800);
	world_pod(w, &w->tenants[1], "b-1");
}

static void what_was_borrowed_goes_to_who_waits_within_its_quota(void **state)
{
	struct sim_world w;
	unsigned left = 0;

	(void)state;
	lend(&w, 842);
	world_run(&w, 2400 * 1000);
	assert_false(somebody_is_reclaimed(&w)); /* reclaim is not enabled in the pool */
	leaving_set_pool(&w, json_pack("{s:{s:s}}", "disruption", "reclaim", "Borrowed"));
	world_wait(&w, somebody_is_reclaimed, &w, 1800, "a machine that is taken back");
	leaving_wait_event(&w, &w.host, "Reclaimed", "a tenant of the cohort");
	leaving_wait_event(&w, &w.host, "Reclaimed", "for pod default/b-1");
	leaving_wait_event(&w, &w.tenants[0], "Reclaimed", "is taken back");
	assert_false(leaving_was_told(&w.tenants[0], "Reclaimed", "team-b"));
	/* The reclaimed work returns, and waits behind team-b. */
	world_pod(&w, &w.tenants[0], "a-3");
	world_wait_running(&w, &w.tenants[1], "b-1", 3600);
	assert_null(world_box_of(&w, &w.tenants[0], "a-3"));
	/* One reclaimed machine was enough. The other machine, which team-a does not borrow, still
	 * serves. */
	world_run(&w, 600 * 1000);
	for (unsigned i = 0; i < 2; i++)
		left += str_eq(world_at(&w.servers[i], "status.state"), "serving");
	assert_int_equal(left, 2);
	world_stop(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_tenant_has_used_counts_and_no_restart_forgets_it),
		cmocka_unit_test(what_was_borrowed_goes_to_who_waits_within_its_quota),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
