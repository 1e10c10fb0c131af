/* The main job: a GPU pod in each of two tenants, on machines that were off. */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "tests/world/world.h"

static void a_pod_of_each_tenant_runs_on_a_machine_of_its_own(void **state)
{
	struct earth w;
	struct box *a, *b;

	(void)state;
	earth_start(&w, 1, 2);
	earth_replica(&w);
	earth_wait_all(&w, "free", 600);
	earth_pod(&w, &w.tenants[0], "train");
	earth_pod(&w, &w.tenants[1], "train");
	earth_wait_running(&w, &w.tenants[0], "train", 600);
	earth_wait_running(&w, &w.tenants[1], "train", 600);
	earth_run(&w, 60000);
	earth_check_serving(&w, &w.tenants[0], "train");
	earth_check_serving(&w, &w.tenants[1], "train");
	a = earth_box_of(&w, &w.tenants[0], "train");
	b = earth_box_of(&w, &w.tenants[1], "train");
	assert_ptr_not_equal(a, b);
	earth_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_of_each_tenant_runs_on_a_machine_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
