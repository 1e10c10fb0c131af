/* What goes wrong between power and the agent's last order. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/bootagent.h"
#include "tests/world/world.h"
#include "wipe/proto.h"

#define RESET "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"

static void a_medium_that_nobody_can_fetch_ends_at_the_deadline(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 41, 1);
	earth_media(&w, false);
	earth_replica(&w);
	earth_wait_state(b, "quarantined", 3600);
	assert_string_equal(earth_at(b, "status.quarantine.reason"), "AgentSilent");
	assert_string_equal(earth_at(b, "status.quarantine.exit"), "auto");
	earth_media(&w, true);
	earth_wait_state(b, "free", 3600); /* by itself */
	earth_stop(&w);
}

static void a_machine_that_boots_its_old_disk_is_never_offered(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 42, 1);
	box_put_old_system(b);
	b->boots_disk = true;
	earth_replica(&w);
	earth_wait_reason(b, "AgentSilent", 3600);
	earth_pod(&w, &w.tenants[0], "train");
	earth_run(&w, 3600 * 1000);
	assert_false(box_is_blank(b));
	assert_string_equal(b->claim, "");
	b->boots_disk = false;
	earth_wait_running(&w, &w.tenants[0], "train", 12 * 3600);
	earth_stop(&w);
}

/* The medium was taken out by hand after the machine went on with it. */
static void an_ejected_medium_stops_drover_from_switching(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	unsigned resets;

	(void)state;
	earth_start(&w, 43, 1);
	box_put_old_system(b);
	b->boots_disk = true;
	earth_replica(&w);
	earth_wait_state(b, "dirty", 60);
	earth_run(&w, 30000);
	assert_true(b->bmc.on);
	free(b->bmc.image);
	b->bmc.image = NULL;
	resets = fake_bmc_count(&b->bmc, RESET);
	earth_wait_reason(b, "PowerStateUnexpected", 60);
	earth_run(&w, 600 * 1000);
	assert_int_equal(fake_bmc_count(&b->bmc, RESET), resets);
	earth_stop(&w);
}

static void an_agent_that_reboots_begins_again(void **state)
{
	static const char *const orders[] = {"inspect", "wipe", "verify", "stamp"};

	(void)state;
	for (unsigned i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct earth w;
		struct box *b = &w.boxes[0];

		earth_start(&w, 50 + i, 1);
		b->reboots_at = orders[i];
		earth_replica(&w);
		earth_wait_state(b, "free", 3600);
		assert_null(b->reboots_at);
		assert_true(earth_has_failure(b, "AgentSilent") || i > 2);
		earth_stop(&w);
	}
}

/* The override was for one boot: what comes up again may be the agent or the disk. */
static bool lost_its_agent(void *arg)
{
	return earth_has_failure(arg, "AgentRebooted") || earth_has_failure(arg, "AgentSilent");
}

static void an_agent_that_reboots_while_it_writes_fails_the_claim(void **state)
{
	static const char *const orders[] = {"check", "unstamp", "image", "config"};

	(void)state;
	for (unsigned i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct earth w;
		struct box *b = &w.boxes[0];

		earth_start(&w, 60 + i, 1);
		b->reboots_at = orders[i];
		earth_replica(&w);
		earth_pod(&w, &w.tenants[0], "train");
		earth_wait(&w, lost_its_agent, b, 1200, "the agent is missed");
		earth_wait_running(&w, &w.tenants[0], "train", 3600);
		earth_stop(&w);
	}
}

static void a_silent_agent_is_given_three_boots(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 44, 1);
	b->mute = true;
	earth_replica(&w);
	earth_wait_state(b, "quarantined", 3600);
	assert_string_equal(earth_at(b, "status.quarantine.reason"), "AgentSilent");
	assert_true(b->boots >= 3);
	b->mute = false;
	earth_wait_state(b, "free", 3600);
	earth_stop(&w);
}

/* Somebody read the boot block off the medium and calls with a key of his own. */
static void a_second_caller_quarantines_the_machine(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct bootagent *intruder;

	(void)state;
	earth_start(&w, 45, 1);
	earth_replica(&w);
	earth_wait_state(b, "wiping", 300);
	intruder = bootagent_new(b, b->block, PROTO_BOOT_BLOCK);
	earth_wait_state(b, "quarantined", 300);
	bootagent_free(intruder);
	assert_string_equal(earth_at(b, "status.quarantine.reason"), "SecondCaller");
	assert_string_equal(earth_at(b, "status.quarantine.exit"), "operator");
	earth_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "quarantined");
	earth_stop(&w);
}

static void a_failed_wipe_is_recorded_and_never_offered(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	OWN_JSON record = NULL;

	(void)state;
	earth_start(&w, 46, 1);
	box_put_old_system(b);
	b->wipe_fails = true;
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_state(b, "quarantined", 600);
	assert_string_equal(earth_at(b, "status.quarantine.exit"), "operator");
	record = plane_get(&w.host, "wiperecords.drover.dev/gpu-1-1-1");
	assert_string_equal(json_str_at(record, "spec", "verdict"), "Fail");
	earth_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "quarantined");
	b->wipe_fails = false; /* a new drive; a person says so */
	earth_patch_machine(b,
			    json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "03"));
	earth_wait_running(&w, &w.tenants[0], "train", 1800);
	earth_stop(&w);
}

/* Somebody put another drive in while the machine was free: its stamp is not there. */
static void a_drive_without_the_stamp_is_wiped_before_it_serves(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 48, 1);
	earth_replica(&w);
	earth_wait_state(b, "free", 600);
	str_copy(b->drives[1].data, BOX_DRIVE_BYTES, "OLD-SYSTEM of somebody unknown");
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_reason(b, "EraseUnverified", 600);
	earth_wait_running(&w, &w.tenants[0], "train", 1800); /* the oracle sees to the drives */
	earth_stop(&w);
}

/* What an old leader ordered is refused by an agent that has heard the new one. */
static void an_order_with_a_stale_fence_is_not_obeyed(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	long long fence;

	(void)state;
	earth_start(&w, 47, 1);
	earth_replica(&w);
	earth_wait_state(b, "wiping", 300);
	earth_run(&w, 1000);
	fence = bootagent_seen(b->agent).fence;
	earth_kill(&w.replicas[0]);
	earth_replica(&w);
	earth_wait_state(b, "verifying", 300);
	earth_run(&w, 1000);
	assert_non_null(b->agent);
	assert_true(bootagent_seen(b->agent).fence > fence);
	assert_int_equal(bootagent_seen(b->agent).fence, b->seen_fence);
	earth_wait_state(b, "free", 300);
	assert_int_equal(b->boots, 1); /* the same agent went on */
	earth_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_medium_that_nobody_can_fetch_ends_at_the_deadline),
		cmocka_unit_test(a_machine_that_boots_its_old_disk_is_never_offered),
		cmocka_unit_test(an_ejected_medium_stops_drover_from_switching),
		cmocka_unit_test(an_agent_that_reboots_begins_again),
		cmocka_unit_test(an_agent_that_reboots_while_it_writes_fails_the_claim),
		cmocka_unit_test(a_silent_agent_is_given_three_boots),
		cmocka_unit_test(a_second_caller_quarantines_the_machine),
		cmocka_unit_test(a_failed_wipe_is_recorded_and_never_offered),
		cmocka_unit_test(a_drive_without_the_stamp_is_wiped_before_it_serves),
		cmocka_unit_test(an_order_with_a_stale_fence_is_not_obeyed),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
