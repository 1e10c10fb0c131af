/* System UUIDs in the other byte order, UUIDs that are a vendor's default, and machines with the
 * same UUID. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

#define RESET "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"
#define DEFAULT "03000200-0400-0500-0006-000700080009"
#define MACHINES "/apis/" OBJECT_API_VERSION "/machines"

static void set_text(char **slot, const char *text)
{
	free(*slot);
	*slot = mem_strdup(text);
}

/* Returns uuid in the other byte order, computed here independently of drover's code. */
static const char *turned_round(const char *uuid, char out[static 40])
{
	static const int from[] = {6, 7, 4, 5, 2, 3, 0, 1, 8, 11, 12, 9, 10, 13, 16, 17, 14, 15};

	str_copy(out, 40, uuid);
	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++)
		out[i] = uuid[from[i]];
	return out;
}

/* Starts a world in which the first BMC reports its UUID in the other byte order. */
static void start(struct sim_world *w, uint64_t seed, unsigned servers)
{
	char text[40];

	world_start(w, seed, servers);
	set_text(&w->servers[0].bmc.uuid, turned_round(w->servers[0].uuid, text));
}

static void identify(struct server *b, const char *uuid, const char *serial)
{
	world_patch_machine(b, json_pack("{s:{s:s?,s:s?}}", "identity", "systemUUID", uuid,
					 "serialNumber", serial));
}

/* Runs the cycle: from a new machine to free, to a tenant and back; the invariants compare the wipe
 * record with the machine. */
static void once_round(struct sim_world *w)
{
	struct server *b = &w->servers[0];

	world_replica(w);
	world_wait_state(b, "free", 1800);
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 1800);
	world_check_serving(w, &w->tenants[0], "train");
	world_delete_pod(w, &w->tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 1800);
	assert_true(server_is_blank(b));
	world_stop(w);
}

/* The BMC reports the UUID in the other byte order. spec.identity has the UUID as `drover approve`
 * copies it from the BMC, or as an operator copies it from dmidecode. */
static void a_bmc_in_the_other_order_lives_a_whole_life(void **state)
{
	(void)state;
	for (int as_the_bmc = 0; as_the_bmc < 2; as_the_bmc++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		start(&w, 680, 1);
		identify(b, as_the_bmc ? b->bmc.uuid : b->uuid, b->serial);
		once_round(&w);
	}
}

static void the_boot_nic_stands_in_for_the_serial_of_an_agent(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	start(&w, 681, 1);
	set_text(&b->bmc.serial, "");
	identify(b, b->bmc.uuid, NULL);
	once_round(&w);
}

static void the_other_order_alone_proves_no_bmc(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	start(&w, 682, 1);
	identify(b, b->uuid, NULL);
	server_power(b, true);
	world_replica(&w);
	world_wait_reason(b, "IdentityMismatch", 60);
	world_run(&w, 1800 * 1000);
	assert_string_equal(b->state, "known");
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), 0);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"), "byte order"));
	identify(b, b->uuid, b->serial);
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

static void the_other_order_alone_proves_no_agent(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	start(&w, 683, 1);
	set_text(&b->bmc.serial, "another plate");
	identify(b, b->bmc.uuid, "another plate");
	world_patch_machine(b, json_pack("{s:s}", "bootMACAddress", "b8:ce:f6:01:02:99"));
	server_put_old_system(b);
	world_replica(&w);
	world_wait_reason(b, "InventoryMismatch", 1800);
	world_run(&w, 3600 * 1000);
	assert_false(server_is_blank(b)); /* no drive was wiped */
	world_patch_machine(b, json_pack("{s:s,s:{s:s,s:s}}", "bootMACAddress", b->mac, "approval",
					 "action", "Wipe", "id", "01"));
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

/* spec.identity has the UUID in the BMC's byte order. A Node that reports the same text is not the
 * machine, because no kernel there reports that order. */
static void a_node_has_to_say_what_the_agent_read(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	start(&w, 684, 1);
	identify(b, b->bmc.uuid, b->serial);
	b->says_uuid = b->bmc.uuid; /* the text in spec.identity */
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "NodeIdentityMismatch", 1800);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

/* The agent reports two UUIDs. If drover accepted that, it would compare Node and wipe record with
 * the first, although the drives belong to the machine with the second. */
static void an_agent_that_tells_two_uuids_inspects_nothing(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char other[40];

	(void)state;
	world_start(&w, 691, 1);
	identify(b, b->uuid, b->serial);
	b->calls_uuid = turned_round(b->uuid, other);
	server_put_old_system(b);
	world_replica(&w);
	world_wait_reason(b, "InventoryMismatch", 1800);
	assert_string_equal(b->state, "quarantined");
	assert_false(server_is_blank(b));
	world_stop(&w);
}

static void a_new_leader_goes_on_in_the_other_order(void **state)
{
	static const char *const at[] = {"verifying", "joining"};

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		start(&w, 685, 1);
		identify(b, b->bmc.uuid, b->serial);
		b->wipe_ms = 20000;
		world_replica(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_state(b, at[i], 1800);
		world_kill(&w.replicas[0]);
		world_replica(&w);
		world_wait_running(&w, &w.tenants[0], "train", 3600);
		world_check_serving(&w, &w.tenants[0], "train");
		assert_false(world_has_failure(b, "EraseUnverified"));
		assert_false(world_has_failure(b, "NodeIdentityMismatch"));
		world_stop(&w);
	}
}

static void a_neighbours_uuid_turned_round_stops_both(void **state)
{
	struct sim_world w;
	struct server *a = &w.servers[0], *b = &w.servers[1];
	char text[40];

	(void)state;
	world_start(&w, 686, 2);
	set_text(&b->bmc.uuid, turned_round(a->uuid, text));
	identify(a, a->uuid, a->serial);
	identify(b, b->bmc.uuid, b->serial);
	world_replica(&w);
	world_wait_reason(a, "DuplicateIdentity", 60);
	world_wait_reason(b, "DuplicateIdentity", 60);
	world_run(&w, 1800 * 1000);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(w.servers[i].state, "known");
		assert_int_equal(fake_bmc_count(&w.servers[i].bmc, "POST /redfish/v1/Systems"), 0);
	}
	world_do(&w, &w.host, "DELETE", MACHINES "/gpu-2", NULL);
	world_wait_state(a, "free", 900);
	world_stop(&w);
}

/* The Machine object is new, and the tenant's Node reports the UUID as the kernel does. */
static void a_tenants_node_in_the_other_order_is_not_run_over(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned resets;

	(void)state;
	start(&w, 687, 1);
	identify(b, b->bmc.uuid, b->serial);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_wait_state(b, "serving", 60);
	w.restored = true;
	world_do(&w, &w.host, "DELETE", MACHINES "/gpu-1", NULL);
	world_do(&w, &w.host, "PATCH", MACHINES "/gpu-1",
		 json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	server_power(b, false); /* drover does not read the segment of a machine that is off */
	b->switched_off = 0;
	resets = fake_bmc_count(&b->bmc, RESET);
	world_machine(&w, b);
	identify(b, b->bmc.uuid, b->serial);
	world_wait_reason(b, "PowerStateUnexpected", 300);
	world_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "known");
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	world_stop(&w);
}

static void a_makers_default_leaves_it_to_the_serial(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 688, 1);
	str_copy(b->uuid, sizeof(b->uuid), DEFAULT);
	set_text(&b->bmc.uuid, DEFAULT);
	identify(b, DEFAULT, b->serial);
	once_round(&w);
}

static void machines_with_one_default_are_not_one_machine(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 689, 2);
	for (int i = 0; i < 2; i++) {
		struct server *b = &w.servers[i];

		str_copy(b->uuid, sizeof(b->uuid), DEFAULT);
		set_text(&b->bmc.uuid, DEFAULT);
		identify(b, NULL, b->serial);
	}
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	world_stop(&w);
}

struct looks {
	struct server *b;
	unsigned n;
};

/* Tampers with a reply: in state stopping, the first read of the System returns a different
 * serial. */
static bool change_plates(struct httpd_req *q, unsigned n, void *arg)
{
	struct looks *k = arg;
	struct server *b = k->b;

	(void)n;
	if (str_eq(httpd_method(q), "GET") && str_eq(httpd_path(q), "/redfish/v1/Systems/1") &&
	    str_eq(b->state, "stopping"))
		set_text(&b->bmc.serial, ++k->n == 1 ? "another" : b->serial);
	return false;
}

static void two_looks_that_disagree_prove_no_off_where_there_is_no_uuid(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct looks k = {b, 0};

	(void)state;
	world_start(&w, 692, 1);
	str_copy(b->uuid, sizeof(b->uuid), DEFAULT);
	set_text(&b->bmc.uuid, DEFAULT);
	identify(b, NULL, b->serial);
	b->bmc.tamper = change_plates;
	b->bmc.tamper_arg = &k;
	world_replica(&w);
	world_wait_state(b, "isolating", 600);
	assert_true(k.n >= 3); /* the read that differs, and then two reads that agree */
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

static void a_default_without_a_serial_proves_nobody(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 690, 1);
	str_copy(b->uuid, sizeof(b->uuid), DEFAULT);
	set_text(&b->bmc.uuid, DEFAULT);
	identify(b, DEFAULT, NULL);
	world_replica(&w);
	world_wait_reason(b, "IdentityMismatch", 60);
	world_run(&w, 1800 * 1000);
	assert_string_equal(b->state, "known");
	assert_int_equal(fake_bmc_count(&b->bmc, "POST /redfish/v1/Systems"), 0);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bmc_in_the_other_order_lives_a_whole_life),
		cmocka_unit_test(the_boot_nic_stands_in_for_the_serial_of_an_agent),
		cmocka_unit_test(the_other_order_alone_proves_no_bmc),
		cmocka_unit_test(the_other_order_alone_proves_no_agent),
		cmocka_unit_test(a_node_has_to_say_what_the_agent_read),
		cmocka_unit_test(an_agent_that_tells_two_uuids_inspects_nothing),
		cmocka_unit_test(a_new_leader_goes_on_in_the_other_order),
		cmocka_unit_test(a_neighbours_uuid_turned_round_stops_both),
		cmocka_unit_test(a_tenants_node_in_the_other_order_is_not_run_over),
		cmocka_unit_test(a_makers_default_leaves_it_to_the_serial),
		cmocka_unit_test(machines_with_one_default_are_not_one_machine),
		cmocka_unit_test(two_looks_that_disagree_prove_no_off_where_there_is_no_uuid),
		cmocka_unit_test(a_default_without_a_serial_proves_nobody),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
