/* Machines at rest. A machine without any record is not touched while a tenant may be using it, on
 * or off. A free machine that is found on is no longer clean. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/annotations.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/warming.h"

#define MACHINES "/apis/" OBJECT_API_VERSION "/machines"
#define PROVIDER "/apis/" OBJECT_API_VERSION "/providers/rack"
#define RESET "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"

/* Returns a machine that serves team-a. While no replica runs, it is switched off from outside, and
 * its Machine object is created anew. */
static struct server *forgotten(struct sim_world *w, uint64_t seed, char node[static 128])
{
	struct server *b = leaving_serving(w, seed);

	str_copy(node, 128, b->claim);
	w->restored = true;
	world_kill(&w->replicas[0]);
	server_power(b, false);
	b->switched_off = 0;
	world_do(w, &w->host, "PATCH", MACHINES "/gpu-1",
		 json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	world_do(w, &w->host, "DELETE", MACHINES "/gpu-1", NULL);
	world_machine(w, b);
	assert_false(server_is_blank(b));
	return b;
}

static void approve(struct server *b)
{
	world_patch_machine(b,
			    json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "01"));
}

static void assert_untouched(struct server *b, unsigned resets)
{
	assert_string_equal(b->state, "known");
	assert_string_equal(b->segment, "tenant/team-a");
	assert_false(server_is_blank(b));
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
}

static void a_tenant_that_was_away_at_the_start_keeps_its_drives(void **state)
{
	struct sim_world w;
	char node[128];
	struct server *b = forgotten(&w, 1100, node);
	unsigned resets = fake_bmc_count(&b->bmc, RESET);

	(void)state;
	str_copy(b->segment, sizeof(b->segment),
		 "quarantine"); /* only the Node shows whose it is */
	cluster_away(&w.tenants[0], true);
	world_replica(&w);
	world_wait_reason(b, "TenantUnreachable", 300);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"), "team-a"));
	world_run(&w, 3600 * 1000);
	cluster_away(&w.tenants[0], false);
	world_wait_reason(b, "PowerStateUnexpected", 300);
	world_run(&w, 3600 * 1000);
	assert_string_equal(b->segment, "quarantine");
	str_copy(b->segment, sizeof(b->segment), "tenant/team-a");
	assert_untouched(b, resets);
	world_stop(&w);
}

static void a_port_in_a_tenants_segment_keeps_the_drives_without_a_node(void **state)
{
	struct sim_world w;
	char node[128];
	struct server *b = forgotten(&w, 1101, node);
	unsigned resets = fake_bmc_count(&b->bmc, RESET);
	OWN(arena) a = arena_new();

	(void)state;
	world_do(&w, &w.tenants[0], "DELETE", arena_printf(a, "/api/v1/nodes/%s", node), NULL);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_replica(&w);
	world_wait_reason(b, "PowerStateUnexpected", 300);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"), "tenant/team-a"));
	world_run(&w, 3600 * 1000);
	assert_untouched(b, resets);
	approve(b);
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

/* The kubeconfig Secret of a tenant is deleted, so drover cannot read that tenant's Nodes. */
static void a_new_machine_waits_until_every_tenant_was_read(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 1102, 1);
	server_put_old_system(b);
	world_do(&w, &w.host, "DELETE", "/api/v1/namespaces/vc-team-b/secrets/vc-team-b", NULL);
	world_replica(&w);
	world_wait_reason(b, "TenantUnreachable", 300);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"), "team-b"));
	world_run(&w, 600 * 1000);
	assert_string_equal(b->state, "known");
	assert_false(server_is_blank(b));
	world_do(&w, &w.host, "DELETE", "/apis/" OBJECT_API_VERSION "/virtualclusters/team-b",
		 NULL);
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

static void a_person_may_say_that_it_holds_nothing(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 1103, 1);
	cluster_away(&w.tenants[1], true);
	world_replica(&w);
	world_wait_reason(b, "TenantUnreachable", 300);
	approve(b);
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

/* One tenant becomes unreachable after drover has read it. This must not delay new machines,
 * because a machine that joins that tenant from now on has a record. */
static void a_tenant_that_went_away_later_holds_nobody_up(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[1];

	(void)state;
	world_start(&w, 1104, 2);
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Observe"));
	world_replica(&w);
	world_wait_state(&w.servers[0], "free", 1800);
	cluster_away(&w.tenants[1], true);
	world_run(&w, 300 * 1000);
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Manage"));
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

/* A machine with managementPolicy Observe must stay in state known. That no act is sent to it is
 * tested elsewhere (life_ensure_unpaused()). */
static void one_that_is_only_observed_stays_known(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 1105, 1);
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Observe"));
	world_replica(&w);
	world_run(&w, 1800 * 1000);
	assert_string_equal(b->state, "known");
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), 0);
	world_stop(&w);
}

/* --- free ------------------------------------------------------------------------------------- */

static bool is_clean(const struct server *b)
{
	return json_true_at(b->object, "status", "clean");
}

/* Starts a world whose machine was free and now runs an operator's system from its drives. */
static struct server *used_by_hand(struct sim_world *w, uint64_t seed)
{
	struct server *b = &w->servers[0];

	world_start(w, seed, 1);
	world_replica(w);
	world_wait_state(b, "free", 1800);
	server_put_old_system(b);
	server_power(b, true);
	return b;
}

static void a_free_machine_that_comes_on_is_wiped_before_it_is_offered_again(void **state)
{
	struct sim_world w;
	struct server *b = used_by_hand(&w, 1110);
	unsigned resets = fake_bmc_count(&b->bmc, RESET);

	(void)state;
	world_wait_reason(b, "PowerStateUnexpected", 300);
	assert_false(is_clean(b));
	leaving_wait_event(&w, &w.host, "PowerStateUnexpected",
			   "drover no longer counts it as clean");
	world_pod(&w, &w.tenants[0], "train");
	world_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "free");
	assert_string_equal(b->claim, "");
	assert_true(b->bmc.on); /* an operator who switched the machine on is using it */
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	assert_int_equal(leaving_events(&w, "PowerStateUnexpected"), 1);
	server_power(b, false);
	b->switched_off = 0;
	world_wait_running(&w, &w.tenants[0], "train", 3600); /* the invariants check its drives */
	world_check_serving(&w, &w.tenants[0], "train");
	world_stop(&w);
}

static void what_came_on_in_a_tenants_segment_waits_for_a_person(void **state)
{
	struct sim_world w;
	struct server *b = used_by_hand(&w, 1111);

	(void)state;
	str_copy(b->segment, sizeof(b->segment), "tenant/team-b");
	world_wait_reason(b, "PowerStateUnexpected", 300);
	server_power(b, false);
	b->switched_off = 0;
	world_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "free");
	assert_false(is_clean(b));
	assert_false(server_is_blank(b));
	assert_string_equal(b->segment, "tenant/team-b");
	approve(b);
	world_wait_state(b, "stopping", 300);
	world_wait_state(b, "free", 1800);
	assert_true(is_clean(b));
	world_stop(&w);
}

/* Only the BMC of another machine, at the wrong address, reports that the power is on. */
static void another_machines_power_takes_nothing_away(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 1112, 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	free(b->bmc.uuid);
	b->bmc.uuid = mem_strdup("4c4c4544-0035-3410-8050-c6c04f314799");
	server_power(b, true);
	world_run(&w, 600 * 1000);
	assert_string_equal(b->state, "free");
	assert_true(is_clean(b));
	world_stop(&w);
}

static bool is_on(void *arg)
{
	return ((struct server *)arg)->bmc.on;
}

static void one_that_was_to_be_warm_and_is_on_without_our_medium_is_wiped(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char first[80];

	(void)state;
	world_start(&w, 1113, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	str_copy(first, sizeof(first), world_at(b, "status.lastWipe.record"));
	world_wait(&w, is_on, b, 900, "it is switched on");
	free(b->bmc.image);
	b->bmc.image = NULL;
	world_wait_reason(b, "PowerStateUnexpected", 900);
	assert_false(is_clean(b));
	server_power(b, false);
	world_wait_state(b, "wiping", 900);
	world_wait_state(b, "free", 900);
	assert_string_not_equal(world_at(b, "status.lastWipe.record"), first);
	world_stop(&w);
}

/* --- objects that machines need --------------------------------------------------------------- */

static void a_provider_stays_as_long_as_a_machine_names_it(void **state)
{
	static const char path[] = "/apis/" OBJECT_API_VERSION "/providers/rack";
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 1120, 1);
	world_replica(&w);
	world_wait_state(b, "wiping", 900);
	world_do(&w, &w.host, "DELETE", path, NULL);
	/* The Provider still exists: without it, drover could not have switched the machine off. */
	world_wait_state(b, "free", 900);
	leaving_wait_event(&w, &w.host, "ProviderInUse", "gpu-1");
	assert_true(leaving_has(&w.host, "providers.drover.dev", "rack"));
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Retire"));
	world_wait_state(b, "retired", 300);
	assert_true(leaving_has(&w.host, "providers.drover.dev", "rack"));
	world_do(&w, &w.host, "DELETE", MACHINES "/gpu-1", NULL);
	leaving_wait_gone(&w, &w.host, "providers.drover.dev/rack", 60);
	world_stop(&w);
}

/* Deletes the Provider although it has a finalizer, as an operator may do by hand. */
static void lose_provider(struct sim_world *w)
{
	world_do(w, &w->host, "DELETE", PROVIDER, NULL);
	if (leaving_has(&w->host, "providers.drover.dev", "rack"))
		world_do(w, &w->host, "PATCH", PROVIDER,
			 json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	world_run(w, 5000);
	assert_false(leaving_has(&w->host, "providers.drover.dev", "rack"));
}

static bool is_gone(void *arg)
{
	const struct server *b = arg;

	return !leaving_has(&b->world->host, "machines.drover.dev", b->name);
}

/* The machine's BMC gets no requests any more, since without its Provider nothing can send them. */
static void a_machine_retires_although_its_provider_is_gone(void **state)
{
	static const char *const from[] = {"free", "quarantined", "retired", "known"};

	(void)state;
	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		unsigned resets;

		world_start(&w, 1130 + i, 1);
		if (str_eq(from[i], "known"))
			lose_provider(&w);
		world_replica(&w);
		if (str_eq(from[i], "known"))
			world_wait_reason(b, "ProviderNotReady", 300);
		else
			world_wait_state(b, "free", 600);
		if (str_eq(from[i], "quarantined")) {
			world_do(&w, &w.host, "PATCH", MACHINES "/gpu-1",
				 json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
					   REQUEST_QUARANTINE, "a noise"));
			world_wait_state(b, "quarantined", 60);
		} else if (str_eq(from[i], "retired")) {
			world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Retire"));
			world_wait_state(b, "retired", 60);
		}
		if (!str_eq(from[i], "known"))
			lose_provider(&w);
		resets = fake_bmc_count(&b->bmc, RESET);
		if (i % 2) { /* by another leader, which never read the Provider */
			world_kill(&w.replicas[0]);
			world_replica(&w);
		}
		world_do(&w, &w.host, "DELETE", MACHINES "/gpu-1", NULL);
		world_wait(&w, is_gone, b, 300, "the Machine is gone");
		assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
		world_stop(&w);
	}
}

/* The machine runs for a tenant: only its Provider can prove that it is off and isolated. */
static void a_machine_that_serves_does_not_retire_without_its_provider(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 1140);

	(void)state;
	lose_provider(&w);
	world_do(&w, &w.host, "DELETE", MACHINES "/gpu-1", NULL);
	world_run(&w, 3600 * 1000);
	assert_false(is_gone(b));
	assert_true(*b->claim);
	assert_int_equal(b->doing, SERVER_OS);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tenant_that_was_away_at_the_start_keeps_its_drives),
		cmocka_unit_test(a_port_in_a_tenants_segment_keeps_the_drives_without_a_node),
		cmocka_unit_test(a_new_machine_waits_until_every_tenant_was_read),
		cmocka_unit_test(a_person_may_say_that_it_holds_nothing),
		cmocka_unit_test(a_tenant_that_went_away_later_holds_nobody_up),
		cmocka_unit_test(one_that_is_only_observed_stays_known),
		cmocka_unit_test(a_free_machine_that_comes_on_is_wiped_before_it_is_offered_again),
		cmocka_unit_test(what_came_on_in_a_tenants_segment_waits_for_a_person),
		cmocka_unit_test(another_machines_power_takes_nothing_away),
		cmocka_unit_test(a_provider_stays_as_long_as_a_machine_names_it),
		cmocka_unit_test(a_machine_retires_although_its_provider_is_gone),
		cmocka_unit_test(a_machine_that_serves_does_not_retire_without_its_provider),
		cmocka_unit_test(one_that_was_to_be_warm_and_is_on_without_our_medium_is_wiped),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
