/* Claims of warm machines. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/str.h"
#include "tests/world/warming.h"

static void a_warm_machine_is_claimed_without_a_boot_and_another_is_warmed(void **state)
{
	struct server *b, *warm;
	struct sim_world w;
	int64_t cold_ms, warm_ms;
	unsigned boots;

	(void)state;
	world_start(&w, 802, 1);
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	cold_ms = warming_to_imaging(&w, &b);
	world_stop(&w);

	world_start(&w, 802, 3);
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	/* Without a preference for the warm machine, the first machine by name would be claimed. So
	 * the warm one must not be that machine. */
	world_patch_machine(&w.servers[0], json_pack("{s:s}", "managementPolicy", "Observe"));
	warming_want(&w, "gpus", 1);
	warming_wait(&w, 1, 900);
	world_patch_machine(&w.servers[0], json_pack("{s:s}", "managementPolicy", "Manage"));
	world_run(&w, 5000);
	warm = warming_one(&w);
	assert_true(warm != &w.servers[0]);
	boots = warm->boots;
	warm_ms = warming_to_imaging(&w, &b);
	assert_ptr_equal(b, warm);
	assert_int_equal(b->boots, boots);
	assert_string_equal(world_at(b, "status.warmFor.name"), "");
	assert_non_null(strstr(w.log, "machine was claimed warm"));
	print_message("from pod to imaging: %lld ms cold, %lld ms warm\n", (long long)cold_ms,
		      (long long)warm_ms);
	assert_true(warm_ms * 2 < cold_ms);
	warming_wait(&w, 1, 300);
	assert_true(warming_one(&w) != b);
	world_wait_running(&w, &w.tenants[0], "train", 300);
	world_run(&w, 30000);
	world_check_serving(&w, &w.tenants[0], "train");
	world_stop(&w);
}

/* The agent of the warm machine dies just before the claim. */
static void a_claim_of_a_machine_whose_agent_is_dead_boots_it_as_usual(void **state)
{
	struct sim_world w;
	struct server *b;

	(void)state;
	world_start(&w, 808, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	warming_kill_agent(&w.servers[0]);
	(void)warming_to_imaging(&w, &b);
	assert_int_equal(b->boots, 3);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	assert_non_null(strstr(w.log, "warm machine is booted for its claim"));
	world_wait_running(&w, &w.tenants[0], "train", 300);
	world_stop(&w);
}

static void a_claim_takes_a_machine_that_is_still_coming_up(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 809, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	world_wait(&w, warming_boots, b, 900, "it comes up");
	(void)warming_to_imaging(&w, &b);
	assert_int_equal(b->boots, 2);
	world_wait_running(&w, &w.tenants[0], "train", 300);
	world_stop(&w);
}

/* A claim is withdrawn before anything was written for it. The machine stays warm, and the next
 * claim gets it as if the first had not existed. */
static void a_claim_that_is_withdrawn_leaves_a_machine_warm(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0], *again;

	(void)state;
	world_start(&w, 810, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "claimed", 60);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 60);
	assert_true(warming_is_warm(b));
	world_run(&w, 3600000);
	assert_true(warming_is_warm(b));
	assert_string_equal(b->claim, "");
	assert_int_equal(b->boots, 2); /* wipe, warm */
	assert_int_equal(b->tenancy, 1);
	assert_true(json_true_at(b->object, "status", "clean"));
	(void)warming_to_imaging(&w, &again);
	assert_ptr_equal(again, b);
	assert_int_equal(b->boots, 2);
	world_wait_running(&w, &w.tenants[0], "train", 300);
	world_run(&w, 30000);
	world_check_serving(&w, &w.tenants[0], "train");
	world_stop(&w);
}

static bool checked(void *arg)
{
	struct server *b = arg;

	return str_eq(b->state, "claimed") &&
	       str_eq(world_at(b, "status.operation.step"), "order check");
}

/* A claim is withdrawn after the agent has read the drives for it. These results must not count for
 * the next claim. */
static void drives_changed_between_two_claims_of_a_warm_machine_are_seen(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 830, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	world_pod(&w, &w.tenants[0], "train");
	world_wait(&w, checked, b, 60, "it is looked at");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 60);
	assert_true(warming_is_warm(b));
	world_run(&w, 60000);
	str_copy(b->drives[1].wwn, sizeof(b->drives[1].wwn), "eui.new");
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "DriveMissing", 300);
	assert_int_equal(b->tenancy, 1);
	world_stop(&w);
}

/* The leader dies at different moments of the withdrawal of a claim. The next leader has to
 * continue from there. */
static void a_leader_that_dies_when_a_warm_claim_is_withdrawn_is_followed(void **state)
{
	(void)state;
	for (unsigned ms = 0; ms < 400; ms += 40) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 831, 1);
		warming_want(&w, "gpus", 1);
		world_replica(&w);
		warming_wait(&w, 1, 900);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_state(b, "claimed", 60);
		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(b);
		world_run(&w, ms);
		world_kill(&w.replicas[0]);
		world_replica(&w);
		world_wait_state(b, "free", 120);
		world_run(&w, 60000);
		assert_true(warming_is_warm(b));
		assert_int_equal(b->boots, 2);
		world_stop(&w);
	}
}

/* The machine goes off during the withdrawal, for example because it lost power: drover notices in
 * state free, as usual. */
static void one_that_went_off_under_a_claim_that_is_withdrawn_is_found_off(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 832, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "claimed", 60);
	server_power(b, false);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 300);
	warming_wait_off(&w, 1, 900);
	warming_wait(&w, 1, 3600);
	world_stop(&w);
}

/* The machine is warm for another pool, but still the best choice. */
static void a_claim_of_another_pool_takes_a_warm_machine_too(void **state)
{
	OWN(arena) a = arena_new();
	struct sim_world w;
	struct server *b, *warm;

	(void)state;
	world_start(&w, 821, 3);
	world_apply(
		&w,
		arena_printf(
			a,
			"apiVersion: drover.dev/v1alpha1\nkind: NodePool\nmetadata: {name: idle}\n"
			"spec:\n  virtualClusterSelector: {matchLabels: {nobody: here}}\n"
			"  warm: {nodes: 1}\n"
			"  template:\n    spec:\n      providerRefs: [{name: rack}]\n"
			"      images:\n      - {kubernetesVersion: \"1.36\", url: \"" WORLD_IMAGES
			"/node.raw\", format: raw, digest: \"%s\"}\n"
			"  wipe: {minimumLevel: {flash: Clear, hdd: Clear}}\n",
			w.image_digest));
	world_replica(&w);
	warming_wait(&w, 1, 900);
	world_wait_all(&w, "free", 900);
	warm = warming_one(&w);
	assert_string_equal(world_at(warm, "status.warmFor.name"), "idle");
	(void)warming_to_imaging(&w, &b);
	assert_ptr_equal(b, warm);
	warming_wait(&w, 1, 300);
	assert_true(warming_one(&w) != b);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_warm_machine_is_claimed_without_a_boot_and_another_is_warmed),
		cmocka_unit_test(a_claim_of_a_machine_whose_agent_is_dead_boots_it_as_usual),
		cmocka_unit_test(a_claim_takes_a_machine_that_is_still_coming_up),
		cmocka_unit_test(a_claim_that_is_withdrawn_leaves_a_machine_warm),
		cmocka_unit_test(drives_changed_between_two_claims_of_a_warm_machine_are_seen),
		cmocka_unit_test(a_leader_that_dies_when_a_warm_claim_is_withdrawn_is_followed),
		cmocka_unit_test(one_that_went_off_under_a_claim_that_is_withdrawn_is_found_off),
		cmocka_unit_test(a_claim_of_another_pool_takes_a_warm_machine_too),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
