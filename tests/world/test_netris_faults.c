#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/netris.h"

/*
 * What is wrong in a Netris controller, or in what is written about it: named in the Machine with the next step, nothing
 * detached that should not be, and over when it is mended.
 */
#define PUT_CLUSTER "PUT /api/v2/server-cluster"

struct wrong {
	const char *what, *on;
	int64_t value;
	const char *says;
};

static const char *said;

static bool is_said(void *arg)
{
	return strstr(world_at(arg, "status.operation.lastError.message"), said) != NULL;
}

static void wait_said(struct server *b, const char *text, int64_t limit_s)
{
	said = text;
	world_wait(b->world, is_said, b, limit_s, text);
}

static void patch_netris(struct sim_world *w, const char *member, const char *value)
{
	world_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:{s:s}}}}", "spec", "network", "netris", member, value));
}

/* Moves of a machine that was free before: it stays where it was, off, and says why. */
static void what_goes_wrong_is_named_and_ends(void **state)
{
	static const struct wrong rows[] = {
		{"Garbage", "GET /api/v2/server-cluster", 0, "answers no JSON"},
		{"NoShared", NULL, 0, "does not say which servers are shared"},
		{"Status", PUT_CLUSTER, 403, "403"},
		{"Ignored", PUT_CLUSTER, 0, "does not show it"},
		{"NotSuccess", PUT_CLUSTER, 0, "Netris PUT"},
	};

	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 230, 1);
	world_netris_start(&n, &w, 20, false);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		sim_netris_well(n.sim);
		sim_netris_fault(n.sim, rows[i].what, rows[i].on, NULL, rows[i].value, 0);
		print_message("    %s\n", rows[i].what);
		if (!i)
			world_pod(&w, &w.tenants[0], "train");
		wait_said(b, rows[i].says, 1800);
		assert_string_equal(b->segment, "provisioning");
		assert_int_equal(b->doing, SERVER_OFF);
	}
	sim_netris_well(n.sim);
	world_wait_running(&w, &w.tenants[0], "train", 4 * 3600);
	world_netris_stop(&n);
}

/* The other machines go on. */
static void a_machine_that_the_inventory_does_not_have_waits_alone(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 240, 2);
	w.nboxes = 1; /* of whom Netris knows */
	world_netris_start(&n, &w, 20, false);
	w.nboxes = 2;
	world_replica(&w);
	wait_said(&w.servers[1], "no server called gpu-2 at site hall", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "train"), &w.servers[0]);
	assert_string_equal(sim_netris_where(n.sim, "gpu-1"), "drover-team-a");
	wait_said(&w.servers[1], "no server called gpu-2 at site hall", 60);
	world_netris_stop(&n);
}

static void a_template_that_is_mistyped_is_named(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 241, 1);
	world_netris_start(&n, &w, 20, false);
	patch_netris(&w, "template", "gpu-tennant");
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	wait_said(b, "gpu-tennant", 1800);
	assert_string_equal(b->segment, "provisioning");
	assert_int_equal(b->doing, SERVER_OFF);
	patch_netris(&w, "template", "gpu-tenant");
	world_wait_running(&w, &w.tenants[0], "train", 4 * 3600);
	world_netris_stop(&n);
}

/* It is in the cluster, and no port of it followed: it is not switched on. */
static void a_template_with_other_nics_keeps_the_machine_off(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 242, 1);
	world_netris_start(&n, &w, 20, false);
	patch_netris(&w, "template", "other-nics");
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	wait_said(b, "has none of its ports", 1800);
	world_run(&w, 10000);
	assert_int_equal(b->doing, SERVER_OFF);
	assert_string_not_equal(b->state, "serving");
	assert_string_equal(b->segment, "");
	world_netris_stop(&n);
}

/* Before each change, and before what is read after it. */
static void a_session_that_ends_in_the_middle_harms_nothing(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 243, 1);
	world_netris_start(&n, &w, 20, false);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	sim_netris_fault(n.sim, "Expire", "POST /api/v2/", NULL, 0, 2);
	sim_netris_fault(n.sim, "Expire", PUT_CLUSTER, NULL, 0, 4);
	sim_netris_fault(n.sim, "Expire", "GET /api/v2/server-cluster/", NULL, 0, 4);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 3600);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	assert_true(sim_netris_logins(n.sim) > 4);
	world_netris_stop(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_wrong_is_named_and_ends),
		cmocka_unit_test(a_machine_that_the_inventory_does_not_have_waits_alone),
		cmocka_unit_test(a_template_that_is_mistyped_is_named),
		cmocka_unit_test(a_template_with_other_nics_keeps_the_machine_off),
		cmocka_unit_test(a_session_that_ends_in_the_middle_harms_nothing),
	};

	mem_init();
	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
