/* Machines that BCM installs: from free to serving and back, and faults of the head node in
 * between. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/managed.h"

static void start(struct sim_world *w, struct managed *m, uint64_t seed, unsigned servers)
{
	world_start(w, seed, servers);
	managed_start(m, w);
	world_replica(w);
	world_wait_all(w, "free", 900);
}

static void stop(struct sim_world *w, struct managed *m)
{
	if (w->log)
		assert_null(strstr(w->log, "bmc-password-of-bcm"));
	managed_end(m);
	world_stop(w);
}

static void a_bcm_machine_serves_and_comes_back_as_it_was(void **state)
{
	struct sim_world w;
	struct managed m;
	struct server *b;

	(void)state;
	start(&w, &m, 900, 1);
	b = &w.servers[0];
	assert_true(managed_is_back(&m, b));
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 2400);
	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "train"), b);
	assert_true(str_starts(b->drives[0].data, SERVER_IMAGE " by BCM: kubernetes-1.36"));
	assert_string_equal(world_at(b, "status.install.phase"), "Configuring");
	assert_string_equal(world_at(b, "status.install.category"), "kubernetes");
	assert_string_equal(b->segment, "tenant/team-a");
	/* The head node has no route to a tenant's machine, so it reports the node as DOWN. */
	assert_string_equal(sim_head_state(b->node), "DOWN");
	assert_non_null(strstr(sim_head_device(b->node), "\"drover\":"));
	world_run(&w, 600000);
	assert_string_equal(b->state, "serving");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 900);
	assert_string_equal(world_at(b, "status.bmc.redfishVersion"), "1.11.0");
	assert_string_equal(world_at(b, "status.bmc.login"), "Session");
	assert_true(server_is_blank(b));
	assert_true(managed_is_back(&m, b));
	assert_string_equal(world_at(b, "status.install.phase"), "");
	/* A pod of the other tenant gets the same machine. What drover knew of the first install
	 * must not count for the second. */
	managed_fault(&m, "{\"what\":\"Slow\",\"value\":3000}");
	world_pod(&w, &w.tenants[1], "again");
	world_wait_running(&w, &w.tenants[1], "again", 2400);
	/* Three writes: the node was reserved, returned and reserved again. No claim failed in
	 * between. */
	assert_int_equal(sim_head_count(m.head, "cmdevice.updateDevice"), 3);
	stop(&w, &m);
}

struct fault_case {
	const char *fault, *reason, *says;
	/* True: the claim fails, and a later claim serves the pod. */
	bool fails;
};

/* Each fault is named in status while it lasts; once it ends, the pod runs. */
static void what_goes_wrong_at_bcm_is_named_and_ends(void **state)
{
	static const struct fault_case rows[] = {
		{"{\"what\":\"Denied\",\"call\":\"cmdevice.updateDevice\"}", "ManagerRefused",
		 "cmdevice.updateDevice", false},
		{"{\"what\":\"Denied\",\"call\":\"cmdevice.powerOperation\"}", "ManagerRefused",
		 "cmdevice.powerOperation", false},
		{"{\"what\":\"ErrorMessage\",\"call\":\"cmdevice.updateDevice\",\"text\":\"boom\"}",
		 "ManagerRefused", "boom", false},
		{"{\"what\":\"Null\",\"call\":\"cmdevice.updateDevice\"}", "ManagerRefused", "null",
		 false},
		{"{\"what\":\"Status\",\"value\":503}", "ManagerUnreachable", "503", false},
		{"{\"what\":\"Overwrite\"}", "ManagerConflict", "another writer changed it", false},
		{"{\"what\":\"InstallFails\",\"text\":\"no disk was found\",\"count\":1}",
		 "InstallFailed", "no disk was found", true},
		{"{\"what\":\"InstallHangs\",\"count\":1}", "InstallStalled", "installer started",
		 true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sim_world w;
		struct managed m;
		struct server *b;

		start(&w, &m, 910 + i, 1);
		b = &w.servers[0];
		managed_fault(&m, rows[i].fault);
		world_pod(&w, &w.tenants[0], "train");
		print_message("    %s\n", rows[i].fault);
		world_wait_reason(b, rows[i].reason, 3600);
		if (!rows[i].fails)
			assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
					       rows[i].says));
		/* If the claim does not fail, the machine waits in its state. */
		if (!rows[i].fails)
			assert_true(str_eq(b->state, "claimed") || str_eq(b->state, "imaging"));
		sim_head_well(m.head);
		world_wait_running(&w, &w.tenants[0], "train", 14400);
		stop(&w, &m);
	}
}

/* Lost replies, slow answers and a restarted head node do not change the result. */
static void lost_replies_and_slow_answers_are_lived_with(void **state)
{
	static const char *const faults[] = {
		"{\"what\":\"LostReply\",\"count\":12}",
		"{\"what\":\"LostReply\",\"call\":\"cmdevice.updateDevice\",\"count\":2}",
		"{\"what\":\"LostReply\",\"call\":\"cmdevice.powerOperation\",\"count\":4}",
		"{\"what\":\"Slow\",\"value\":3000}",
		"{\"what\":\"Moved\"}",
		"{\"what\":\"NoCall\",\"call\":\"cmstatus.getStatusForDevices\"}",
		"{\"what\":\"Expire\",\"call\":\"cmdevice.updateDevice\",\"count\":1}",
		"{\"what\":\"Expire\",\"count\":12}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		struct sim_world w;
		struct managed m;
		struct server *b;

		start(&w, &m, 930 + i, 1);
		b = &w.servers[0];
		managed_fault(&m, faults[i]);
		world_pod(&w, &w.tenants[0], "train");
		print_message("    %s\n", faults[i]);
		world_wait_running(&w, &w.tenants[0], "train", 3600);
		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(b);
		world_wait_state(b, "free", 1800);
		assert_null(strstr(sim_head_device(b->node), "\"drover\":"));
		stop(&w, &m);
	}
}

static bool is_installing(void *arg)
{
	return str_starts(world_at(arg, "status.install.text"), "INSTALLING");
}

static void a_restart_in_the_middle_of_an_install_is_waited_out(void **state)
{
	struct sim_world w;
	struct managed m;
	struct server *b;

	(void)state;
	start(&w, &m, 940, 1);
	b = &w.servers[0];
	world_pod(&w, &w.tenants[0], "train");
	world_wait(&w, is_installing, b, 1800, "an install");
	sim_head_restart(m.head, 120000);
	world_wait_reason(b, "ManagerUnreachable", 120);
	assert_string_equal(b->state, "imaging");
	world_wait_running(&w, &w.tenants[0], "train", 2400);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	stop(&w, &m);
}

static bool is_booting_to_install(void *arg)
{
	const struct server *b = arg;

	return b->bmc.on && str_eq(world_at(b, "status.install.phase"), "Installing");
}

static bool is_restarting(void *arg)
{
	return str_eq(world_at(arg, "status.install.phase"), "Restarting");
}

/* A boot during which the head node was down would wait forever, so drover repeats it. */
static void a_boot_that_met_no_head_node_is_repeated_once(void **state)
{
	(void)state;
	for (int dies = 0; dies < 2; dies++) {
		struct sim_world w;
		struct managed m;
		struct server *b;
		unsigned before;

		start(&w, &m, 985 + (unsigned)dies, 1);
		b = &w.servers[0];
		world_pod(&w, &w.tenants[0], "train");
		world_wait(&w, is_booting_to_install, b, 1800, "a boot");
		before = sim_head_count(m.head, "cmdevice.powerOperation");
		sim_head_restart(m.head, 120000);
		world_wait_reason(b, "ManagerUnreachable", 120);
		world_wait(&w, is_restarting, b, 900, "a restart");
		assert_string_equal(sim_head_state(b->node), "DOWN");
		if (dies) { /* the next leader continues the restart */
			world_kill(&w.replicas[0]);
			world_replica(&w);
		} else {
			world_wait_reason(b, "InstallNotBegun", 60);
		}
		world_wait_running(&w, &w.tenants[0], "train", 2400);
		assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
		/* Power operations: off and on for the restart; off after the install, on for the
		 * agent, on for the tenant. */
		assert_int_equal(sim_head_count(m.head, "cmdevice.powerOperation"), before + 2 + 3);
		stop(&w, &m);
	}
}

static void a_second_boot_in_vain_is_no_third_one(void **state)
{
	struct sim_world w;
	struct managed m;
	struct server *b;
	unsigned before;

	(void)state;
	start(&w, &m, 987, 1);
	b = &w.servers[0];
	world_pod(&w, &w.tenants[0], "train");
	for (int i = 0; i < 2; i++) {
		world_wait(&w, is_booting_to_install, b, 1800, "a boot");
		before = sim_head_count(m.head, "cmdevice.powerOperation");
		sim_head_restart(m.head, 120000);
		world_wait_reason(b, "ManagerUnreachable", 120);
		if (!i)
			world_wait(&w, is_restarting, b, 900, "a restart");
	}
	world_wait_reason(b, "InstallStalled", 1800);
	assert_int_equal(sim_head_count(m.head, "cmdevice.powerOperation"), before);
	stop(&w, &m);
}

/* A self-test of many minutes does not count as a failed boot, if the head node was reachable. */
static void a_slow_boot_is_left_alone(void **state)
{
	struct sim_world w;
	struct managed m;
	struct server *b;

	(void)state;
	start(&w, &m, 988, 1);
	b = &w.servers[0];
	world_pod(&w, &w.tenants[0], "train");
	world_wait(&w, is_booting_to_install, b, 1800, "a boot");
	sim_head_powered(b->node, false); /* the head node does not notice this boot */
	world_run(&w, 570000);
	assert_string_equal(world_at(b, "status.install.phase"), "Installing");
	assert_string_equal(world_at(b, "status.install.restartTime"), "");
	stop(&w, &m);
}

/* No record of the head node's outage exists: it was too short to be reported as an error, or no
 * leader was running when it ended. Drover must notice the failed boot nevertheless. */
static void a_boot_in_vain_that_nobody_saw_is_repeated_once(void **state)
{
	(void)state;
	for (int dies = 0; dies < 2; dies++) {
		struct sim_world w;
		struct managed m;
		struct server *b;
		unsigned before;

		start(&w, &m, 991 + (unsigned)dies, 1);
		b = &w.servers[0];
		world_pod(&w, &w.tenants[0], "train");
		world_wait(&w, is_booting_to_install, b, 1800, "a boot");
		before = sim_head_count(m.head, "cmdevice.powerOperation");
		sim_head_restart(m.head, dies ? 120000 : 20000);
		if (dies) {
			world_wait_reason(b, "ManagerUnreachable", 120);
			world_kill(&w.replicas[0]);
			world_run(&w, 130000);
			world_replica(&w);
		}
		world_wait(&w, is_restarting, b, 900, "a restart");
		assert_string_equal(world_at(b, "status.install.backTime"), "");
		world_wait_running(&w, &w.tenants[0], "train", 2400);
		assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
		assert_int_equal(sim_head_count(m.head, "cmdevice.powerOperation"), before + 2 + 3);
		stop(&w, &m);
	}
}

static void an_operators_hold_in_bcm_is_a_hold(void **state)
{
	struct sim_world w;
	struct managed m;
	struct server *b;

	(void)state;
	start(&w, &m, 945, 1);
	b = &w.servers[0];
	sim_head_close(b->node, true);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "InstallHeld", 1800);
	sim_head_close(b->node, false);
	world_wait_running(&w, &w.tenants[0], "train", 2400);
	stop(&w, &m);
}

/* The leader dies in each of ten worlds, each time after a different number of effects. The next
 * leader continues, and BCM gets its node back in the end. */
static void a_new_leader_goes_on_where_the_last_one_died(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		struct sim_world w;
		struct managed m;
		struct server *b;

		start(&w, &m, 950 + i, 1);
		b = &w.servers[0];
		w.by_effect = true;
		w.kill_at = w.effects + 12 + 5 * i;
		world_pod(&w, &w.tenants[0], "train");
		world_wait_running(&w, &w.tenants[0], "train", 7200);
		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(b);
		world_wait_state(b, "free", 1800);
		assert_true(managed_is_back(&m, b));
		stop(&w, &m);
	}
}

static void a_claim_withdrawn_during_the_install_gives_the_node_back(void **state)
{
	struct sim_world w;
	struct managed m;
	struct server *b;

	(void)state;
	start(&w, &m, 970, 1);
	b = &w.servers[0];
	world_pod(&w, &w.tenants[0], "train");
	world_wait(&w, is_installing, b, 1800, "an install");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 1800);
	assert_true(server_is_blank(b));
	assert_true(managed_is_back(&m, b));
	stop(&w, &m);
}

/* A machine that is wiped and proved clean waits until BCM takes its node back; it is not free
 * before. */
static void a_node_that_bcm_does_not_take_back_is_not_free(void **state)
{
	struct sim_world w;
	struct managed m;
	struct server *b;

	(void)state;
	start(&w, &m, 972, 1);
	b = &w.servers[0];
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 2400);
	managed_fault(&m, "{\"what\":\"Denied\",\"call\":\"cmdevice.updateDevice\"}");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_reason(b, "ManagerRefused", 1800);
	assert_string_equal(b->state, "verifying");
	world_wait_state(b, "quarantined", 7200);
	assert_string_equal(world_at(b, "status.quarantine.exit"), "auto");
	sim_head_well(m.head);
	world_wait_state(b, "free", 7200);
	assert_true(managed_is_back(&m, b));
	stop(&w, &m);
}

/* A Machine names another machine's node by mistake: drover switches and installs nothing on that
 * node. */
static void a_mistyped_node_reaches_no_other_machine(void **state)
{
	struct sim_world w;
	struct managed m;

	(void)state;
	start(&w, &m, 975, 2);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 2400);
	for (unsigned i = 0; i < 2; i++) {
		struct server *b = &w.servers[i], *other = &w.servers[1 - i];

		if (!str_eq(b->state, "free"))
			continue;
		world_patch_machine(b, json_pack("{s:s}", "node", i ? "n1" : "n2"));
		world_pod(&w, &w.tenants[1], "more");
		world_wait_reason(b, "ManagerRefused", 2400);
		assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
				       "correct spec.node"));
		assert_string_equal(other->state, "serving");
		assert_true(other->bmc.on);
	}
	stop(&w, &m);
}

static void an_image_without_a_category_is_no_image_for_bcm(void **state)
{
	struct sim_world w;
	struct managed m;

	(void)state;
	start(&w, &m, 980, 1);
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:{s:{s:[{s:s, s:s, s:s}]}}}}", "spec", "template", "spec",
			   "images", "kubernetesVersion", "1.36", "url", WORLD_IMAGES "/node.raw",
			   "digest", w.image_digest));
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(&w.servers[0], "ConfigInvalid", 1800);
	assert_true(managed_is_back(&m, &w.servers[0]));
	stop(&w, &m);
}

/* A user who may write Providers must not be able to choose where the head node's credentials are
 * sent. */
static void the_secret_says_where_its_login_may_go(void **state)
{
	static const char provider[] = "/apis/drover.dev/v1alpha1/providers/bcm-1";
	struct sim_world w;
	struct managed m;

	(void)state;
	world_start(&w, 929, 1);
	managed_start(&m, &w);
	world_do(&w, &w.host, "PATCH", provider,
		 json_pack("{s:{s:{s:s}}}", "spec", "bcm", "endpoint", "https://elsewhere:8081"));
	world_replica(&w);
	world_wait_reason(&w.servers[0], "ProviderNotReady", 300);
	assert_non_null(strstr(w.log, "the login may not be sent there"));
	world_do(&w, &w.host, "PATCH", provider,
		 json_pack("{s:{s:{s:s}}}", "spec", "bcm", "endpoint", MANAGED_HEAD));
	world_wait_all(&w, "free", 900);
	stop(&w, &m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bcm_machine_serves_and_comes_back_as_it_was),
		cmocka_unit_test(what_goes_wrong_at_bcm_is_named_and_ends),
		cmocka_unit_test(lost_replies_and_slow_answers_are_lived_with),
		cmocka_unit_test(a_restart_in_the_middle_of_an_install_is_waited_out),
		cmocka_unit_test(a_boot_that_met_no_head_node_is_repeated_once),
		cmocka_unit_test(a_second_boot_in_vain_is_no_third_one),
		cmocka_unit_test(a_slow_boot_is_left_alone),
		cmocka_unit_test(a_boot_in_vain_that_nobody_saw_is_repeated_once),
		cmocka_unit_test(an_operators_hold_in_bcm_is_a_hold),
		cmocka_unit_test(a_new_leader_goes_on_where_the_last_one_died),
		cmocka_unit_test(a_claim_withdrawn_during_the_install_gives_the_node_back),
		cmocka_unit_test(a_node_that_bcm_does_not_take_back_is_not_free),
		cmocka_unit_test(a_mistyped_node_reaches_no_other_machine),
		cmocka_unit_test(an_image_without_a_category_is_no_image_for_bcm),
		cmocka_unit_test(the_secret_says_where_its_login_may_go),
	};

	mem_init();
	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
