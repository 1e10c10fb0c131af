/* What goes wrong between the image and a Node that may be used, and tenants that go away. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/world.h"

static void a_wrong_image_fails_the_claim_and_the_next_one_serves(void **state)
{
	struct earth w;
	struct box *bad = NULL;

	(void)state;
	earth_start(&w, 71, 2);
	earth_replica(&w);
	earth_wait_all(&w, "free", 600);
	w.bad_images = 1;
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_running(&w, &w.tenants[0], "train", 1800);
	for (unsigned i = 0; i < 2; i++)
		if (earth_has_failure(&w.boxes[i], "ImageMismatch"))
			bad = &w.boxes[i];
	assert_non_null(bad);
	assert_ptr_not_equal(earth_box_of(&w, &w.tenants[0], "train"), bad);
	earth_wait_state(bad, "free", 900);
	assert_true(box_is_blank(bad));
	earth_run(&w, 10000);
	earth_check_serving(&w, &w.tenants[0], "train");
	earth_stop(&w);
}

static void a_claim_withdrawn_in_any_state_gives_the_machine_back(void **state)
{
	static const char *const states[] = {"claimed", "imaging", "attaching", "booting",
					     "joining", "gating",  "serving"};

	(void)state;
	for (unsigned i = 0; i < sizeof(states) / sizeof(*states); i++) {
		struct earth w;
		struct box *b = &w.boxes[0];
		int64_t tenancy;

		earth_start(&w, 80 + i, 1);
		earth_replica(&w);
		earth_wait_state(b, "free", 600);
		tenancy = b->tenancy;
		earth_pod(&w, &w.tenants[0], "train");
		earth_wait_state(b, states[i], 600);
		earth_delete_pod(&w, &w.tenants[0], "train");
		earth_release(b);
		earth_wait_state(b, "free", 900);
		assert_true(box_is_blank(b));
		assert_true(b->tenancy ==
			    (i ? tenancy + 1 : tenancy)); /* nothing was written while claimed */
		assert_string_equal(b->claim, "");
		earth_run(&w, 30000);
		assert_string_equal(b->state, "free");
		earth_stop(&w);
	}
}

static void a_kubelet_that_never_comes_gives_the_machine_back(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 72, 1);
	b->no_kubelet = true;
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_reason(b, "JoinTimeout", 3600);
	earth_delete_pod(&w, &w.tenants[0], "train");
	earth_wait_state(b, "free", 900);
	assert_true(box_is_blank(b));
	b->no_kubelet = false;
	earth_pod(&w, &w.tenants[1], "next");
	earth_wait_running(&w, &w.tenants[1], "next", 900);
	earth_stop(&w);
}

static void a_node_of_another_machine_is_not_trusted(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct earth w;
		struct box *b = &w.boxes[0];

		earth_start(&w, 73 + (uint64_t)k, 1);
		if (k)
			b->says_provider_id = "drover://rack/gpu-9";
		else
			b->says_uuid = "ffffffff-0035-3410-8050-c6c04f314733";
		earth_replica(&w);
		earth_pod(&w, &w.tenants[0], "train");
		earth_wait_reason(b, "NodeIdentityMismatch", 900);
		earth_delete_pod(&w, &w.tenants[0], "train");
		earth_wait_state(b, "free", 900);
		assert_true(box_is_blank(b));
		earth_stop(&w);
	}
}

static void a_tenant_that_is_away_loses_nothing(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 75, 2);
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_running(&w, &w.tenants[0], "train", 900);
	earth_wait_state(earth_box_of(&w, &w.tenants[0], "train"), "serving", 60);
	plane_away(&w.tenants[0], true);
	earth_pod(&w, &w.tenants[1], "train"); /* the other one does not notice */
	earth_wait_running(&w, &w.tenants[1], "train", 900);
	earth_run(&w, 3600 * 1000);
	earth_check_serving(&w, &w.tenants[0], "train");
	earth_check_serving(&w, &w.tenants[1], "train");
	plane_away(&w.tenants[0], false);
	earth_run(&w, 300 * 1000);
	earth_check_serving(&w, &w.tenants[0], "train");
	earth_stop(&w);
}

/* Its claim ends while nobody can ask its API: the machine leaves all the same, and the Node is owed. */
static void a_tenant_that_is_away_is_owed_its_node(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	OWN_JSON vc = NULL;

	(void)state;
	earth_start(&w, 76, 1);
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_running(&w, &w.tenants[0], "train", 900);
	earth_wait_state(b, "serving", 60);
	plane_away(&w.tenants[0], true);
	w.tenants[0].owed = true;
	earth_release(b);
	earth_wait_state(b, "free", 2 * 3600);
	assert_true(box_is_blank(b));
	vc = plane_get(&w.host, "virtualclusters.drover.dev/team-a");
	assert_int_equal(json_array_size(json_at(vc, "status", "debts")), 1);
	earth_pod(&w, &w.tenants[1], "next");
	earth_wait_running(&w, &w.tenants[1], "next", 900);
	earth_stop(&w);
}

static void a_tenant_that_is_away_while_its_machine_comes_is_waited_for(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 77, 1);
	earth_replica(&w);
	earth_wait_state(b, "free", 600);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_state(b, "imaging", 300);
	plane_away(&w.tenants[0], true);
	earth_run(&w, 120 * 1000);
	plane_away(&w.tenants[0], false);
	earth_wait_running(&w, &w.tenants[0], "train", 900);
	earth_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_image_fails_the_claim_and_the_next_one_serves),
		cmocka_unit_test(a_claim_withdrawn_in_any_state_gives_the_machine_back),
		cmocka_unit_test(a_kubelet_that_never_comes_gives_the_machine_back),
		cmocka_unit_test(a_node_of_another_machine_is_not_trusted),
		cmocka_unit_test(a_tenant_that_is_away_loses_nothing),
		cmocka_unit_test(a_tenant_that_is_away_is_owed_its_node),
		cmocka_unit_test(a_tenant_that_is_away_while_its_machine_comes_is_waited_for),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
