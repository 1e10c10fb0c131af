/* Warm machines: kept on for the next claim. Their number, faults, and machines that must not be
 * warmed. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/bootagent.h"
#include "tests/world/invariants.h"
#include "tests/world/warming.h"

/* Returns the reason of the pool's condition WarmReady; "": no such condition. */
static const char *warm_reason(struct sim_world *w)
{
	static char reason[64];
	OWN_JSON pool = cluster_get(&w->host, "nodepools.drover.dev/gpus");
	json_t *c;
	size_t i;

	reason[0] = '\0';
	json_array_foreach (json_at(pool, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "WarmReady"))
			str_copy(reason, sizeof(reason), json_str_at(c, "reason"));
	return reason;
}

static bool pool_is_warm(void *arg)
{
	return str_eq(warm_reason(arg), "Warm");
}

static void as_many_as_the_pool_wants_are_on_with_their_agents(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 801, 3);
	warming_want(&w, "gpus", 2);
	world_replica(&w);
	warming_wait(&w, 2, 900);
	world_run(&w, 3600000);
	assert_int_equal(warming_count(&w), 2);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(w.servers[i].boots, warming_is_warm(&w.servers[i]) ? 2 : 1);
	assert_true(invariants_secrets_kept(&w));
	assert_true(invariants_nothing_leaks(&w));
	world_stop(&w);
}

/* The percentage of the pool's machines is rounded up. The absolute count applies if it is
 * higher. */
static void a_pool_that_grows_keeps_its_part_warm(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 802, 5);
	world_do(&w, &w.host, "PATCH", WARMING_POOLS "/gpus",
		 json_pack("{s:{s:{s:i}}}", "spec", "warm", "percent", 50));
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	assert_int_equal(warming_count(&w), 0);
	world_pod(&w, &w.tenants[0], "one");
	world_wait_running(&w, &w.tenants[0], "one", 900);
	warming_wait(&w, 1, 900);
	world_pod(&w, &w.tenants[0], "two");
	world_wait_running(&w, &w.tenants[0], "two", 900);
	warming_wait(&w, 1, 900);
	world_pod(&w, &w.tenants[0], "three");
	world_wait_running(&w, &w.tenants[0], "three", 900);
	warming_wait(&w, 2, 900);
	assert_true(pool_is_warm(&w));
	warming_want(&w, "gpus", 1);
	world_run(&w, 600000);
	assert_int_equal(warming_count(&w), 2);
	world_do(&w, &w.host, "PATCH", WARMING_POOLS "/gpus",
		 json_pack("{s:{s:{s:n}}}", "spec", "warm", "percent"));
	warming_wait_off(&w, 1, 300);
	assert_int_equal(warming_count(&w), 1);
	world_stop(&w);
}

static void what_is_over_is_switched_off(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 803, 3);
	warming_want(&w, "gpus", 3);
	world_replica(&w);
	warming_wait(&w, 3, 900);
	warming_want(&w, "gpus", 1);
	warming_wait_off(&w, 2, 300);
	world_run(&w, 600000);
	assert_int_equal(warming_count(&w), 1);
	assert_true(invariants_nothing_leaks(&w));
	warming_want(&w, "gpus", 2);
	warming_wait(&w, 2, 300);
	warming_want(&w, "gpus", 0);
	warming_wait_off(&w, 3, 300);
	assert_true(invariants_nothing_leaks(&w));
	world_stop(&w);
}

static void nothing_stays_warm_for_a_pool_that_is_deleted(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 804, 2);
	warming_want(&w, "gpus", 2);
	world_replica(&w);
	warming_wait(&w, 2, 900);
	world_do(&w, &w.host, "DELETE", WARMING_POOLS "/gpus", NULL);
	warming_wait_off(&w, 2, 300);
	world_run(&w, 60000);
	assert_true(invariants_nothing_leaks(&w));
	world_stop(&w);
}

static void an_agent_that_dies_is_booted_again_and_the_third_time_left_off(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t since;

	(void)state;
	world_start(&w, 805, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	for (unsigned boots = 2; boots < 4; boots++) {
		assert_int_equal(b->boots, boots);
		warming_kill_agent(b);
		world_run(&w, 290000);
		assert_int_equal(b->boots, boots); /* silent for less than 5 min */
		warming_wait(&w, 1, 400);
		assert_int_equal(b->boots, boots + 1);
	}
	warming_kill_agent(b);
	warming_wait_off(&w, 1, 600);
	since = loop_now(w.loop);
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "NotWarm");
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	warming_wait(&w, 1, 3600);
	assert_true(loop_now(w.loop) - since >= 30 * 60000);
	assert_int_equal(b->boots, 5);
	world_stop(&w);
}

static void a_machine_that_reboots_while_warm_is_booted_with_a_new_secret(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char *block;

	(void)state;
	world_start(&w, 806, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	block = mem_strdup(b->block);
	b->bmc.boot_enabled = (free(b->bmc.boot_enabled), mem_strdup("Continuous"));
	b->bmc.boot_target = (free(b->bmc.boot_target), mem_strdup("Cd"));
	server_power(b, false);
	server_power(b, true);
	world_run(&w, 60000);
	warming_wait(&w, 1, 600);
	assert_int_equal(b->boots, 4); /* wipe, warm, reboot on its own, warm */
	assert_false(str_eq(block, b->block));
	free(block);
	world_stop(&w);
}

static void what_somebody_switches_off_is_not_switched_on_at_once(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 807, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	server_power(b, false);
	world_run(&w, 25 * 60000);
	assert_int_equal(b->doing, SERVER_OFF);
	assert_int_equal(b->boots, 2);
	assert_string_equal(b->state, "free");
	warming_wait(&w, 1, 1800);
	world_stop(&w);
}

static void a_machine_that_is_warm_can_be_wiped_retired_and_taken_out_of_use(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 811, 3);
	warming_want(&w, "gpus", 3);
	world_replica(&w);
	warming_wait(&w, 3, 900);
	world_patch_machine(&w.servers[0], json_pack("{s:{s:s, s:s}}", "approval", "action", "Wipe",
						     "id", "01JC"));
	world_patch_machine(&w.servers[1], json_pack("{s:s}", "managementPolicy", "Retire"));
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/gpu-3",
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "drover.dev/quarantine",
			   "a noise"));
	world_wait_state(&w.servers[0], "stopping", 60);
	world_wait_state(&w.servers[1], "retired", 60);
	world_wait_state(&w.servers[2], "quarantined", 60);
	assert_int_equal(w.servers[1].doing, SERVER_OFF);
	world_run(&w, 600000);
	assert_int_equal(w.servers[2].doing, SERVER_OFF);
	assert_null(w.servers[1].bmc.image);
	assert_null(w.servers[2].bmc.image);
	assert_string_equal(w.servers[0].state, "free");
	assert_true(warming_is_warm(&w.servers[0]));
	world_stop(&w);
}

static void what_is_only_observed_is_left_as_it_is(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 812, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Observe"));
	warming_want(&w, "gpus", 0);
	world_run(&w, 3600000);
	assert_int_equal(b->doing, SERVER_AGENT);
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Manage"));
	warming_wait_off(&w, 1, 300);
	world_stop(&w);
}

static void pause_provider(struct sim_world *w, bool paused)
{
	world_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:b}}", "spec", "paused", paused));
}

static void nothing_is_switched_while_the_provider_is_paused(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 822, 1);
	world_replica(&w);
	world_wait_state(b, "free", 900);
	pause_provider(&w, true);
	warming_want(&w, "gpus", 1);
	world_run(&w, 600000);
	assert_int_equal(b->boots, 1);
	pause_provider(&w, false);
	warming_wait(&w, 1, 300);
	pause_provider(&w, true);
	warming_want(&w, "gpus", 0);
	world_run(&w, 600000);
	assert_true(warming_is_warm(b));
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 3600000);
	assert_true(warming_is_warm(b)); /* the next leader answers the machine's agent, too */
	pause_provider(&w, false);
	warming_wait_off(&w, 1, 300);
	assert_int_equal(b->boots, 2);
	world_stop(&w);
}

static bool one_boots(void *arg)
{
	struct sim_world *w = arg;

	return warming_boots(&w->servers[0]) || warming_boots(&w->servers[1]);
}

/* An operator ejects the medium while the machine powers on to become warm. drover then does not
 * know what runs on the machine. */
static void one_that_is_on_for_no_known_reason_is_left_and_another_is_warmed(void **state)
{
	struct sim_world w;
	struct server *b, *other;

	(void)state;
	world_start(&w, 824, 2);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	world_wait(&w, one_boots, &w, 900, "one comes up");
	b = &w.servers[warming_boots(&w.servers[0]) ? 0 : 1];
	other = &w.servers[b == &w.servers[0]];
	free(b->bmc.image);
	b->bmc.image = NULL;
	world_wait_reason(b, "PowerStateUnexpected", 900);
	warming_wait(&w, 1, 900);
	assert_true(warming_is_warm(other));
	world_run(&w, 600000);
	assert_int_equal(b->doing, SERVER_NOTHING);
	server_power(b, false);
	warming_wait_off(&w, 1, 600);
	assert_true(warming_is_warm(other));
	world_stop(&w);
}

/* Status restored from a backup of a time when the machine was warm; now it serves a tenant that is
 * not recorded. */
static void a_restored_record_of_a_warm_machine_moves_and_switches_off_nothing(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	for (int claimed = 0; claimed < 2; claimed++) {
		world_start(&w, 828 + (unsigned)claimed, 1);
		warming_want(&w, "gpus", 1);
		world_replica(&w);
		warming_wait(&w, 1, 900);
		world_kill(&w.replicas[0]);
		server_power(b, false);
		world_run(&w, 5000);
		free(b->bmc.image);
		b->bmc.image = NULL;
		w.restored = true;
		str_copy(b->segment, sizeof(b->segment), "tenant/team-b");
		server_power(b, true);
		if (claimed)
			world_pod(&w, &w.tenants[0], "train");
		world_replica(&w);
		world_wait_reason(b, "PowerStateUnexpected", 1200);
		world_run(&w, 4 * 3600 * 1000);
		assert_int_equal(b->doing, SERVER_NOTHING);
		assert_string_equal(b->segment, "tenant/team-b");
		/* An operator has to decide; the machine can be taken out of use. */
		world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Observe"));
		world_stop(&w);
	}
}

/* The BMC of another machine now answers at the address of a warm machine. */
static void what_is_another_machine_is_not_switched_off(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 823, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	free(b->bmc.uuid);
	b->bmc.uuid = mem_strdup("4c4c4544-0035-3410-8050-c6c04f314799");
	world_run(&w, 150000);
	warming_want(&w, "gpus", 0);
	world_wait_reason(b, "IdentityMismatch", 300);
	world_run(&w, 600000);
	assert_int_equal(b->doing, SERVER_AGENT);
	free(b->bmc.uuid);
	b->bmc.uuid = mem_strdup(b->uuid);
	warming_wait_off(&w, 1, 300);
	world_stop(&w);
}

static void a_second_caller_with_its_secret_takes_it_out_of_use(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct bootagent *second;

	(void)state;
	world_start(&w, 818, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	second = bootagent_new(b, b->block, strlen(b->block));
	assert_non_null(second);
	world_wait_state(b, "quarantined", 60);
	bootagent_free(second);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "SecondCaller");
	assert_false(json_true_at(b->object, "status", "clean"));
	world_run(&w, 300000);
	assert_int_equal(b->doing, SERVER_OFF);
	assert_null(b->bmc.image);
	world_stop(&w);
}

/* A warm machine's agent dies now and then. Failures that are long ago do not count against the
 * machine. */
static void an_agent_that_dies_now_and_then_is_always_booted_again(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 819, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	for (int i = 0; i < 5; i++) {
		warming_wait(&w, 1, 900);
		world_run(&w, 2 * 3600 * 1000);
		assert_true(warming_is_warm(b));
		warming_kill_agent(b);
		world_run(&w, 1000);
	}
	warming_wait(&w, 1, 900);
	assert_int_equal(b->boots, 7);
	assert_null(strstr(w.log, "cannot be kept warm"));
	world_stop(&w);
}

struct power_ons {
	struct sim_world *w;
	bool on[WORLD_BOXES];
	int64_t last, least;
	unsigned n;
};

static bool all_are_warm(void *arg)
{
	struct power_ons *s = arg;
	int64_t now = loop_now(s->w->loop);

	for (unsigned i = 0; i < s->w->nboxes; i++) {
		bool on = s->w->servers[i].bmc.on;

		if (on && !s->on[i]) {
			if (s->n && (!s->least || now - s->last < s->least))
				s->least = now - s->last;
			s->last = now;
			s->n++;
		}
		s->on[i] = on;
	}
	return warming_count(s->w) == s->w->nboxes;
}

static void warm_machines_wait_their_turn_to_be_switched_on(void **state)
{
	struct sim_world w;
	struct power_ons s = {.w = &w};

	(void)state;
	world_start(&w, 820, 3);
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:i}}}", "spec", "limits", "powerOnPerMinute", 1));
	warming_want(&w, "gpus", 3);
	world_wait(&w, all_are_warm, &s, 900, "three are warm");
	assert_int_equal(s.n, 3);
	assert_true(s.least >= 59000);
	world_stop(&w);
}

static void a_pool_keeps_no_more_warm_than_its_limits_leave_room_for(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 815, 3);
	world_do(&w, &w.host, "PATCH", WARMING_POOLS "/gpus",
		 json_pack("{s:{s:{s:s}, s:{s:i}}}", "spec", "limits", "nodes", "1", "warm",
			   "nodes", 3));
	world_replica(&w);
	warming_wait(&w, 1, 900);
	world_wait_all(&w, "free", 300);
	world_run(&w, 600000);
	assert_int_equal(warming_count(&w), 1);
	assert_string_equal(warm_reason(&w), "LimitExceeded");
	world_stop(&w);
}

static void the_pool_says_how_many_are_warm_and_why_not_more(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 816, 2);
	warming_want(&w, "gpus", 2);
	world_replica(&w);
	warming_wait(&w, 2, 900);
	world_wait(&w, pool_is_warm, &w, 60, "WarmReady");
	warming_want(&w, "gpus", 4);
	world_run(&w, 30000);
	assert_string_equal(warm_reason(&w), "NoCapacity");
	world_do(&w, &w.host, "PATCH", WARMING_POOLS "/gpus",
		 json_pack("{s:{s:b}}", "spec", "paused", 1));
	world_run(&w, 600000);
	/* a paused pool keeps the warm machines that it has */
	assert_int_equal(warming_count(&w), 2);
	assert_string_equal(warm_reason(&w), "PoolPaused");
	warming_want(&w, "gpus", 0);
	warming_wait_off(&w, 2, 300);
	world_run(&w, 30000);
	assert_string_equal(warm_reason(&w), "");
	world_stop(&w);
}

/* One machine is in another rack: it must be one of the two warm machines. */
static void warm_machines_are_spread_over_racks(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 817, 4);
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:{s:s, s:i}}}}", "spec", "limits", "perDomain", "key",
			   "topology.drover.dev/rack", "concurrent", 4));
	for (unsigned i = 0; i < 4; i++) {
		char path[160];

		str_format(path, sizeof(path), "/apis/" OBJECT_API_VERSION "/machines/%s",
			   w.servers[i].name);
		world_do(&w, &w.host, "PATCH", path,
			 json_pack("{s:{s:{s:s}}}", "metadata", "labels",
				   "topology.drover.dev/rack", i < 3 ? "r1" : "r2"));
	}
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	warming_want(&w, "gpus", 2);
	warming_wait(&w, 2, 900);
	assert_true(warming_is_warm(&w.servers[3]));
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_the_pool_wants_are_on_with_their_agents),
		cmocka_unit_test(a_pool_that_grows_keeps_its_part_warm),
		cmocka_unit_test(what_is_over_is_switched_off),
		cmocka_unit_test(nothing_stays_warm_for_a_pool_that_is_deleted),
		cmocka_unit_test(an_agent_that_dies_is_booted_again_and_the_third_time_left_off),
		cmocka_unit_test(a_machine_that_reboots_while_warm_is_booted_with_a_new_secret),
		cmocka_unit_test(what_somebody_switches_off_is_not_switched_on_at_once),
		cmocka_unit_test(a_machine_that_is_warm_can_be_wiped_retired_and_taken_out_of_use),
		cmocka_unit_test(what_is_only_observed_is_left_as_it_is),
		cmocka_unit_test(nothing_is_switched_while_the_provider_is_paused),
		cmocka_unit_test(one_that_is_on_for_no_known_reason_is_left_and_another_is_warmed),
		cmocka_unit_test(
			a_restored_record_of_a_warm_machine_moves_and_switches_off_nothing),
		cmocka_unit_test(what_is_another_machine_is_not_switched_off),
		cmocka_unit_test(a_pool_keeps_no_more_warm_than_its_limits_leave_room_for),
		cmocka_unit_test(the_pool_says_how_many_are_warm_and_why_not_more),
		cmocka_unit_test(warm_machines_are_spread_over_racks),
		cmocka_unit_test(a_second_caller_with_its_secret_takes_it_out_of_use),
		cmocka_unit_test(an_agent_that_dies_now_and_then_is_always_booted_again),
		cmocka_unit_test(warm_machines_wait_their_turn_to_be_switched_on),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
