/* Tests the conditions of a Machine in a whole simulated world. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/world.h"

static json_t *condition(const struct server *b, const char *type)
{
	json_t *x;
	size_t i;

	json_array_foreach (json_at(b->object, "status", "conditions"), i, x)
		if (str_eq(json_str_at(x, "type"), type))
			return x;
	return NULL;
}

/* Returns status and reason of a condition, such as "True Free", in a static buffer; "" if there is
 * no such condition. */
static const char *says(const struct server *b, const char *type)
{
	static char text[256];
	const json_t *c = condition(b, type);

	text[0] = '\0';
	if (c)
		str_format(text, sizeof(text), "%s %s", json_str_at(c, "status"),
			   json_str_at(c, "reason"));
	return text;
}

static void a_free_and_a_serving_machine_are_ready_and_one_between_is_not(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 31, 1);
	world_replica(&w);
	world_wait_state(b, "wiping", 900);
	assert_string_equal(says(b, "Ready"), "False Wiping");
	world_wait_state(b, "free", 900);
	assert_string_equal(says(b, "Ready"), "True Free");
	assert_string_equal(says(b, "Reachable"), "True Answered");
	assert_string_equal(says(b, "Managed"), "True Approved");
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_wait_state(b, "serving", 60);
	assert_string_equal(says(b, "Ready"), "True Serving");
	assert_non_null(json_str_at(condition(b, "Ready"), "lastTransitionTime"));
	assert_int_equal(json_int_at(condition(b, "Ready"), "observedGeneration"),
			 json_int_at(b->object, "metadata", "generation"));
	world_stop(&w);
}

/* State and condition change in the same write, so no reader sees one without the other. */
static void ready_turns_with_the_state_and_costs_no_write(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char seen[24] = "", want[64];

	(void)state;
	world_start(&w, 32, 1);
	world_replica(&w);
	world_wait_state(b, "stopping", 900);
	for (int i = 0; i < 200000 && !str_eq(b->state, "free"); i++) {
		world_run(&w, 10);
		if (str_eq(seen, b->state))
			continue;
		str_copy(seen, sizeof(seen), b->state);
		str_format(want, sizeof(want), "%s %c%s", str_eq(seen, "free") ? "True" : "False",
			   seen[0] - 'a' + 'A', seen + 1);
		assert_string_equal(says(b, "Ready"), want);
	}
	assert_string_equal(b->state, "free");
	world_stop(&w);
}

static void a_bmc_that_does_not_answer_is_told_with_the_reason(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 33, 1);
	http_mem_hang(w.net, b->origin, true);
	world_replica(&w);
	world_wait_reason(b, "BmcUnreachable", 120);
	assert_string_equal(says(b, "Reachable"), "False BmcUnreachable");
	assert_true(strlen(json_str_at(condition(b, "Reachable"), "message")) > 0);
	http_mem_hang(w.net, b->origin, false);
	world_wait_state(b, "free", 1800);
	assert_string_equal(says(b, "Reachable"), "True Answered");
	world_stop(&w);
}

/* Status 503 is an answer, so the BMC stays Reachable. drover sends the BMC nothing for some time
 * after a 503. */
static void a_bmc_that_answers_not_now_is_busy_and_within_reach(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 36, 1);
	b->bmc.unavailable = true;
	world_replica(&w);
	world_wait_reason(b, "BmcBusy", 120);
	for (int i = 0; i < 10; i++) {
		world_run(&w, 60 * 1000);
		assert_string_equal(says(b, "Reachable"), "False BmcBusy");
	}
	b->bmc.unavailable = false;
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

static void a_refused_login_stays_told_under_the_next_leader(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 34, 1);
	b->bmc.password = "changed by hand";
	world_replica(&w);
	world_wait_reason(b, "BmcAuthFailed", 60);
	world_run(&w, 5000);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 120000);
	assert_string_equal(says(b, "Reachable"), "False BmcAuthFailed");
	world_stop(&w);
}

static void a_machine_that_may_not_be_touched_says_what_is_missing(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 35, 1);
	world_patch_machine(b, json_pack("{s:s, s:n}", "managementPolicy", "Observe", "identity"));
	world_replica(&w);
	world_run(&w, 60000);
	assert_string_equal(says(b, "Managed"), "False Observed");
	assert_non_null(
		strstr(json_str_at(condition(b, "Managed"), "message"), "drover approve gpu-1"));
	world_patch_machine(b, json_pack("{s:s}", "managementPolicy", "Manage"));
	world_run(&w, 200000);
	assert_string_equal(says(b, "Managed"), "False NotApproved");
	world_patch_machine(b, json_pack("{s:{s:s}}", "identity", "systemUUID",
					 "ffffffff-0035-3410-8050-c6c04f314733"));
	world_run(&w, 200000);
	assert_string_equal(says(b, "Managed"), "False IdentityMismatch");
	assert_non_null(strstr(json_str_at(condition(b, "Managed"), "message"), b->uuid));
	world_stop(&w);
}

static void a_quarantined_machine_says_why_and_nothing_is_written_while_it_rests(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	uint64_t rev;

	(void)state;
	world_start(&w, 36, 1);
	b->wipe_fails = true;
	world_replica(&w);
	world_wait_state(b, "quarantined", 1800);
	assert_true(str_starts(says(b, "Ready"), "False "));
	assert_string_equal(json_str_at(condition(b, "Ready"), "reason"),
			    world_at(b, "status.quarantine.reason"));
	assert_string_equal(json_str_at(condition(b, "Ready"), "message"),
			    world_at(b, "status.quarantine.message"));
	world_run(&w, 1800 * 1000); /* In this time the agent is switched off, too. */
	rev = b->rev;
	world_run(&w, 3600 * 1000);
	assert_true(b->rev == rev);
	world_stop(&w);
}

static void quarantine_says_when_it_is_tried_again_unless_a_person_has_to(void **state)
{
	struct sim_world w;
	int64_t since, next;

	(void)state;
	world_start(&w, 37, 2);
	w.servers[0].mute = true;
	w.servers[1].wipe_fails = true;
	world_replica(&w);
	world_wait_state(&w.servers[0], "quarantined", 3 * 3600);
	world_wait_state(&w.servers[1], "quarantined", 3 * 3600);
	assert_string_equal(world_at(&w.servers[0], "status.quarantine.exit"), "auto");
	assert_true(str_to_time(world_at(&w.servers[0], "status.stateSince"), &since));
	assert_true(str_to_time(world_at(&w.servers[0], "status.quarantine.nextAttempt"), &next));
	assert_true(next == since + 600 * 1000);
	assert_string_equal(world_at(&w.servers[1], "status.quarantine.exit"), "operator");
	assert_string_equal(world_at(&w.servers[1], "status.quarantine.nextAttempt"), "");
	world_wait_state(&w.servers[0], "stopping", 700);
	assert_string_equal(world_at(&w.servers[0], "status.quarantine.nextAttempt"), "");
	world_stop(&w);
}

/* The condition's message says how well the agent's boot is protected from other programs in the
 * network, and what would improve the protection. */
static void what_others_could_do_with_its_boot_is_told(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	const char *message;

	(void)state;
	world_start(&w, 38, 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	assert_string_equal(says(b, "BootProtected"), "False PlainMedium");
	message = json_str_at(condition(b, "BootProtected"), "message");
	assert_non_null(strstr(message, "no spec.boot.httpsMediaURL in provider rack"));
	assert_non_null(strstr(message, "spec.agent.networks in provider rack"));
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_others_could_do_with_its_boot_is_told),
		cmocka_unit_test(a_free_and_a_serving_machine_are_ready_and_one_between_is_not),
		cmocka_unit_test(ready_turns_with_the_state_and_costs_no_write),
		cmocka_unit_test(a_bmc_that_does_not_answer_is_told_with_the_reason),
		cmocka_unit_test(a_bmc_that_answers_not_now_is_busy_and_within_reach),
		cmocka_unit_test(a_refused_login_stays_told_under_the_next_leader),
		cmocka_unit_test(a_machine_that_may_not_be_touched_says_what_is_missing),
		cmocka_unit_test(quarantine_says_when_it_is_tried_again_unless_a_person_has_to),
		cmocka_unit_test(
			a_quarantined_machine_says_why_and_nothing_is_written_while_it_rests),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
