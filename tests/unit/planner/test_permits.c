/* test_permits: tests machines whose use is restricted to one piece of work
 * (world_machine.permit). */
#include "tests/unit/testing.h"

#include <string.h>
#include "base/arena.h"
#include "tests/unit/planner/worlds.h"

/* Returns where pod `name` is placed, of the pods "mine" (permit "p") and "other", which need half
 * of machine m1 each. first: permit of m1; second: permit of "other". */
static const char *placed(struct arena *a, const char *first, const char *second, bool elastic,
			  bool owned_only, bool permits_only, const char *name)
{
	struct world *w = worlds_new(a);
	struct world_provider metal = worlds_provider(a);
	struct world_tenant acme = worlds_tenant(a);
	struct world_pool pool = worlds_pool(a);
	struct world_machine m = worlds_machine("m1", "gpu");
	struct world_pod mine = worlds_pod(a, "mine", "nvidia.com/gpu=4"),
			 other = worlds_pod(a, "other", "nvidia.com/gpu=4");
	const char *text;

	metal.elastic = elastic;
	world_put_provider(w, &metal);
	(void)world_put_tenant(w, &acme);
	pool.permits_only = permits_only;
	world_put_pool(w, &pool);
	m.permit = first;
	(void)world_put_machine(w, &m);
	mine.permit = "p";
	mine.owned_only = other.owned_only = owned_only;
	other.permit = second;
	(void)world_put_pod(w, &mine);
	(void)world_put_pod(w, &other);
	text = worlds_pod_text(plan_make(w, 5000, a), name, a);
	world_free(w);
	return text;
}

#define IS_PLACED(text) (strncmp(text, "new", 3) == 0)

static void who_has_the_permit_has_the_machine(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_true(IS_PLACED(placed(a, "p", "p", false, false, false, "mine")));
	assert_true(IS_PLACED(placed(a, "p", "p", false, false, false, "other")));
	assert_true(IS_PLACED(placed(a, "p", NULL, false, false, false, "mine")));
	assert_false(IS_PLACED(placed(a, "p", NULL, false, false, false, "other")));
	assert_false(IS_PLACED(placed(a, "p", "q", false, false, false, "other")));
	assert_true(IS_PLACED(placed(a, NULL, NULL, false, false, false, "mine")));
	assert_true(IS_PLACED(placed(a, NULL, "q", false, false, false, "other")));
}

/* A cloud instance needs a permit if a BurstPolicy decides on the tenant's work, or if the pool
 * uses permits only. */
static void what_is_bought_needs_a_permit_where_it_is_asked_for(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	for (int owned = 0; owned < 2; owned++)
		for (int pool = 0; pool < 2; pool++) {
			assert_true(IS_PLACED(placed(a, "p", NULL, true, owned, pool, "mine")));
			assert_int_equal(
				IS_PLACED(placed(a, NULL, NULL, true, owned, pool, "mine")),
				!owned && !pool);
			assert_true(IS_PLACED(placed(a, NULL, NULL, false, owned, pool, "mine")));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_the_permit_has_the_machine),
		cmocka_unit_test(what_is_bought_needs_a_permit_where_it_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
