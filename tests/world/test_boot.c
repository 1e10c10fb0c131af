/* Faults between power-on and the agent's last order. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/annotations.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/bootagent.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"
#include "wipe/proto.h"

#define RESET "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"

static void a_medium_that_nobody_can_fetch_ends_at_the_deadline(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 41, 1);
	world_media(&w, false);
	world_replica(&w);
	world_wait_reason(b, "AgentSilent", 1000);
	assert_string_equal(b->state, "dirty");
	world_wait_state(b, "quarantined", 3600);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "AgentSilent");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "auto");
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), "in 3 boots"));
	assert_int_equal(b->boots, 3);
	world_media(&w, true);
	world_wait_state(b, "free", 3600); /* no operator is needed */
	world_settle(&w);
	world_stop(&w);
}

/* No replica led while the BMC fetched the medium, so the disk booted instead. Drover retries
 * without waiting for the state's deadline. */
static void a_boot_without_a_call_is_tried_again(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 45, 1);
	server_put_old_system(b);
	world_media(&w, false);
	world_replica(&w);
	world_wait_state(b, "dirty", 300);
	world_run(&w, 60 * 1000);
	assert_int_equal(b->boots, 1);
	world_media(&w, true);
	world_wait_reason(b, "AgentSilent", 700);
	leaving_wait_event(&w, &w.host, "AgentSilent",
			   "within 10 minutes of boot 1; drover boots the "
			   "machine again");
	world_wait_state(b, "free", 900);
	assert_int_equal(b->boots, 2);
	assert_false(world_has_failure(b, "AgentSilent")); /* the machine is not at fault */
	/* The same fault while the machine is claimed for a tenant. */
	world_media(&w, false);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "claimed", 300);
	world_run(&w, 60 * 1000);
	world_media(&w, true);
	world_wait_state(b, "serving", 1200);
	assert_int_equal(json_int_at(b->object, "status", "tenancy"), 2);
	world_settle(&w);
	world_stop(&w);
}

/* Twelve minutes are longer than the time limit of the first boot, and shorter than that of the
 * second. */
static void firmware_that_needs_twelve_minutes_is_waited_for(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 46, 1);
	b->firmware_ms = 12 * 60 * 1000;
	world_replica(&w);
	world_wait_state(b, "free", 2400);
	assert_int_equal(b->boots, 2);
	world_settle(&w);
	world_stop(&w);
}

static void a_machine_that_boots_its_old_disk_is_never_offered(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 42, 1);
	server_put_old_system(b);
	b->boots_disk = true;
	world_replica(&w);
	world_wait_reason(b, "AgentSilent", 3600);
	world_pod(&w, &w.tenants[0], "train");
	world_run(&w, 3600 * 1000);
	assert_false(server_is_blank(b));
	assert_string_equal(b->claim, "");
	b->boots_disk = false;
	world_wait_running(&w, &w.tenants[0], "train", 12 * 3600);
	world_settle(&w);
	world_stop(&w);
}

/* An operator ejected the medium after the machine had booted from the disk instead: drover cannot
 * tell what runs, so it does not switch power. */
static void an_ejected_medium_stops_drover_from_switching(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned resets;

	(void)state;
	world_start(&w, 43, 1);
	server_put_old_system(b);
	b->boots_disk = true;
	world_replica(&w);
	world_wait_state(b, "dirty", 60);
	world_run(&w, 30000);
	assert_true(b->bmc.on);
	free(b->bmc.image);
	b->bmc.image = NULL;
	resets = fake_bmc_count(&b->bmc, RESET);
	world_wait_reason(b, "PowerStateUnexpected", 60);
	world_run(&w, 600 * 1000);
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	world_settle(&w);
	world_stop(&w);
}

static void an_agent_that_reboots_begins_again(void **state)
{
	static const char *const orders[] = {"inspect", "wipe", "verify", "stamp"};

	(void)state;
	for (unsigned i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 50 + i, 1);
		b->reboots_at = orders[i];
		world_replica(&w);
		world_wait_state(b, "free", 3600);
		assert_null(b->reboots_at);
		assert_true(world_has_failure(b, "AgentSilent") || i > 2);
		world_settle(&w);
		world_stop(&w);
	}
}

/* True if drover recorded that the machine lost its agent, with either of two reasons. The boot
 * override was for one boot only, so the reboot may start the disk (AgentSilent) instead of the
 * agent (AgentRebooted). */
static bool lost_its_agent(void *arg)
{
	return world_has_failure(arg, "AgentRebooted") || world_has_failure(arg, "AgentSilent");
}

static void an_agent_that_reboots_while_it_writes_fails_the_claim(void **state)
{
	static const char *const orders[] = {"check", "unstamp", "image", "config"};

	(void)state;
	for (unsigned i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 60 + i, 1);
		b->reboots_at = orders[i];
		world_replica(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait(&w, lost_its_agent, b, 1200, "the agent is missed");
		world_wait_running(&w, &w.tenants[0], "train", 3600);
		world_settle(&w);
		world_stop(&w);
	}
}

static void a_silent_agent_is_given_three_boots(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 44, 1);
	b->mute = true;
	world_replica(&w);
	world_wait_state(b, "quarantined", 3600);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "AgentSilent");
	assert_true(b->boots >= 3);
	b->mute = false;
	world_wait_state(b, "free", 3600);
	world_settle(&w);
	world_stop(&w);
}

static void assert_refused_by_name(struct server *b)
{
	world_wait_reason(b, "AgentVersionMismatch", 300);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "version test, speaks protocol 2"));
}

static void request_retry(struct sim_world *w, struct server *b)
{
	char path[128];

	str_format(path, sizeof(path), "/apis/drover.dev/v1alpha1/machines/%s", b->name);
	world_do(w, &w->host, "PATCH", path,
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", REQUEST_RETRY, "1"));
}

/* The agent of another version is refused. A retry boots the machine at once, with the boot image
 * that drover has by then; without a retry, drover does so by itself. */
static void an_agent_of_another_version_gets_no_order(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 56, 1);
	b->other_protocol = true;
	world_replica(&w);
	assert_refused_by_name(b);
	assert_string_equal(b->state, "dirty");
	b->other_protocol = false;
	world_run(&w, 120 * 1000); /* The agent that runs stays what it is. */
	assert_refused_by_name(b);
	assert_int_equal(b->boots, 1);
	request_retry(&w, b);
	world_wait_state(b, "free", 400);
	assert_int_equal(b->boots, 2);
	world_settle(&w);
	world_stop(&w);
}

/* The machine was switched off and on after the retry: that boot is the one that was requested. */
static void a_retry_causes_no_boot_if_the_machine_boots_before(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 58, 1);
	b->other_protocol = true;
	world_replica(&w);
	assert_refused_by_name(b);
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Observe"));
	request_retry(&w, b);
	world_wait_reason(b, "Observed", 300);
	server_power(b, false);
	world_run(&w, 120 * 1000);
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Manage"));
	world_run(&w, 300 * 1000);
	assert_int_equal(b->boots, 2);
	world_stop(&w);
}

static void a_boot_image_that_was_corrected_is_found_without_a_retry(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 57, 1);
	b->other_protocol = true;
	world_replica(&w);
	assert_refused_by_name(b);
	b->other_protocol = false;
	world_run(&w, 9 * 60 * 1000 + 30 * 1000);
	leaving_wait_event(&w, &w.host, "AgentVersionMismatch", "drover boots the machine again");
	world_wait_state(b, "free", 900);
	assert_int_equal(b->boots, 2);
	/* The wrong image for the whole time of the state: the quarantine names it. */
	b->other_protocol = true;
	world_patch_machine(b,
			    json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "01"));
	world_wait_state(b, "quarantined", 7200);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "AgentVersionMismatch");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "auto");
	b->other_protocol = false;
	world_wait_state(b, "free", 7200);
	world_settle(&w);
	world_stop(&w);
}

/* An intruder read the boot block from the medium and calls with another key. */
static void a_second_caller_quarantines_the_machine(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct bootagent *intruder;

	(void)state;
	world_start(&w, 45, 1);
	world_replica(&w);
	world_wait_state(b, "wiping", 300);
	intruder = bootagent_new(b, b->block, PROTO_BOOT_BLOCK);
	world_wait_state(b, "quarantined", 300);
	bootagent_free(intruder);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "SecondCaller");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	world_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "quarantined");
	world_settle(&w);
	world_stop(&w);
}

static void a_failed_wipe_is_recorded_and_never_offered(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	OWN_JSON record = NULL;

	(void)state;
	world_start(&w, 46, 1);
	server_put_old_system(b);
	b->wipe_fails = true;
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "quarantined", 600);
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	record = cluster_get(&w.host, "wiperecords.drover.dev/gpu-1-1-1");
	assert_string_equal(json_str_at(record, "spec", "verdict"), "Fail");
	world_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "quarantined");
	b->wipe_fails = false; /* an operator replaced the drive and approves the wipe */
	world_patch_machine(b,
			    json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "03"));
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_settle(&w);
	world_stop(&w);
}

/* Another drive was inserted while the machine was free: the drive has no clean stamp. */
static void a_drive_without_the_stamp_is_wiped_before_it_serves(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 48, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	str_copy(b->drives[1].data, SERVER_DRIVE_BYTES, "OLD-SYSTEM of somebody unknown");
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "EraseUnverified", 600);
	leaving_wait_event(&w, &w.host, "EraseUnverified", " lost the clean stamp that wipe ");
	world_wait_running(&w, &w.tenants[0], "train", 1800); /* the invariants check the drives */
	world_settle(&w);
	world_stop(&w);
}

/* An agent that has obeyed the new leader refuses orders of the old one. */
static void an_order_with_a_stale_fence_is_not_obeyed(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	long long fence;

	(void)state;
	world_start(&w, 47, 1);
	world_replica(&w);
	world_wait_state(b, "wiping", 300);
	world_run(&w, 1000);
	fence = bootagent_seen(b->agent).fence;
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_wait_state(b, "verifying", 300);
	world_run(&w, 1000);
	assert_non_null(b->agent);
	assert_true(bootagent_seen(b->agent).fence > fence);
	assert_int_equal(bootagent_seen(b->agent).fence, b->seen_fence);
	world_wait_state(b, "free", 300);
	assert_int_equal(b->boots, 1); /* the same agent continued */
	world_settle(&w);
	world_stop(&w);
}

static void set_override(struct server *b, const char *target, const char *enabled)
{
	free(b->bmc.boot_target);
	free(b->bmc.boot_enabled);
	b->bmc.boot_target = mem_strdup(target);
	b->bmc.boot_enabled = mem_strdup(enabled);
}

/* The BMC boots the agent's medium at each start, so the new agent shows that the machine rebooted
 * while it was wiped. */
static void an_agent_that_comes_back_shows_the_reboot(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 55, 1);
	b->reboots_at = "verify";
	world_replica(&w);
	world_wait_state(b, "wiping", 900);
	set_override(b, "Cd", "Continuous");
	world_wait_reason(b, "AgentRebooted", 1800);
	assert_false(world_has_failure(b, "AgentSilent"));
	world_wait_state(b, "free", 3600);
	world_settle(&w);
	world_stop(&w);
}

static void a_power_cut_in_a_wipe_is_seen_before_the_agent_counts_as_silent(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 56, 1);
	world_replica(&w);
	world_wait_state(b, "wiping", 900);
	server_power(b, false);
	world_wait_state(b, "dirty", 60);
	assert_true(world_has_failure(b, "AgentSilent"));
	leaving_wait_event(&w, &w.host, "AgentSilent",
			   "the machine went off while the agent was running");
	world_wait_state(b, "free", 3600);
	world_settle(&w);
	world_stop(&w);
}

/* A boot override set by another tool, such as Ironic or MAAS, before drover starts. */
static void what_another_left_to_boot_is_replaced(void **state)
{
	static const char *const targets[] = {"Pxe", "UefiHttp", "BiosSetup"};
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		print_message("%s\n", targets[i]);
		world_start(&w, 771, 1);
		set_override(b, targets[i], "Continuous");
		world_replica(&w);
		world_wait_state(b, "free", 900);
		assert_int_equal(b->boots, 1);
		assert_string_equal(b->bmc.boot_enabled, "Disabled");
		world_settle(&w);
		world_stop(&w);
	}
}

struct step {
	struct server *b;
	const char *state;
	/* Power requests sent while the other tool's override was set. */
	unsigned foreign;
};

static bool powers_on(void *arg)
{
	const struct step *s = arg;

	return str_eq(s->b->state, s->state) &&
	       str_eq(world_at(s->b, "status.operation.step"), "power-on");
}

static bool notes_foreign_boots(struct httpd_req *q, unsigned n, void *arg)
{
	struct step *s = arg;

	(void)n;
	s->foreign += str_eq(httpd_method(q), "POST") && str_ends(httpd_path(q), ".Reset") &&
		      str_eq(s->b->bmc.boot_target, "Pxe");
	return false;
}

/* The other tool sets its override between drover's observation and the power-on. drover does not
 * power on with that override, and the next observation finds it. */
static void what_another_sets_before_power_on_is_not_booted(void **state)
{
	static const char *const states[] = {"dirty", "booting"};
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct step s = {.b = b};

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		s.state = states[i];
		world_start(&w, 772, 1);
		b->bmc.tamper = notes_foreign_boots;
		b->bmc.tamper_arg = &s;
		world_replica(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait(&w, powers_on, &s, 900, "power-on");
		set_override(b, "Pxe", "Once");
		if (i) /* only the disk may boot in state booting */
			world_wait_reason(b, "BootOverrideNotCleared", 60);
		world_wait_running(&w, &w.tenants[0], "train", 3600);
		assert_int_equal(s.foreign, 0);
		world_settle(&w);
		world_stop(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_another_left_to_boot_is_replaced),
		cmocka_unit_test(what_another_sets_before_power_on_is_not_booted),
		cmocka_unit_test(a_medium_that_nobody_can_fetch_ends_at_the_deadline),
		cmocka_unit_test(a_boot_without_a_call_is_tried_again),
		cmocka_unit_test(firmware_that_needs_twelve_minutes_is_waited_for),
		cmocka_unit_test(a_machine_that_boots_its_old_disk_is_never_offered),
		cmocka_unit_test(an_ejected_medium_stops_drover_from_switching),
		cmocka_unit_test(an_agent_that_reboots_begins_again),
		cmocka_unit_test(an_agent_that_comes_back_shows_the_reboot),
		cmocka_unit_test(a_power_cut_in_a_wipe_is_seen_before_the_agent_counts_as_silent),
		cmocka_unit_test(an_agent_that_reboots_while_it_writes_fails_the_claim),
		cmocka_unit_test(a_silent_agent_is_given_three_boots),
		cmocka_unit_test(an_agent_of_another_version_gets_no_order),
		cmocka_unit_test(a_retry_causes_no_boot_if_the_machine_boots_before),
		cmocka_unit_test(a_boot_image_that_was_corrected_is_found_without_a_retry),
		cmocka_unit_test(a_second_caller_quarantines_the_machine),
		cmocka_unit_test(a_failed_wipe_is_recorded_and_never_offered),
		cmocka_unit_test(a_drive_without_the_stamp_is_wiped_before_it_serves),
		cmocka_unit_test(an_order_with_a_stale_fence_is_not_obeyed),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
