#include "tests/unit/sim/bmc/bench.h"

/*
 * Tests the faults of the rack: how they are read, and each fault of the BMC and of the switch as a
 * client sees it. test_machine.c and test_agent.c test faults of the machine and its agent.
 */

/* --- reading ---------------------------------------------------------------------------------- */

static int read_text(const char *yaml, struct arena *a, struct sim_faults *out, struct err *e)
{
	return sim_faults_read(yaml, strlen(yaml), a, out, e);
}

static void rows_are_read_with_their_defaults(void **state)
{
	OWN(arena) a = arena_new();
	struct sim_faults f = {0};
	struct err e;

	(void)state;
	assert_ok(read_text("faults:\n"
			    "- {machine: gpu-3, when: wipe, what: PullDrive, count: 1}\n"
			    "- {machine: \"*\", what: BmcStatus, value: 503, probability: 0.5}\n",
			    a, &f, &e),
		  &e);
	assert_int_equal(f.n, 2);
	assert_string_equal(f.v[0].machine, "gpu-3");
	assert_string_equal(f.v[0].when, "wipe");
	assert_string_equal(f.v[0].what, "PullDrive");
	assert_int_equal(f.v[0].count, 1);
	assert_true(f.v[0].probability >= 1);
	assert_null(f.v[1].when);
	assert_int_equal(f.v[1].value, 503);
	assert_int_equal(f.v[1].count, 0);
	assert_true(f.v[1].probability > 0.4 && f.v[1].probability < 0.6);
	assert_ok(read_text("faults: []", a, &f, &e), &e);
	assert_int_equal(f.n, 0);
}

static void errors_name_the_row_and_what_is_allowed(void **state)
{
	static const struct {
		const char *yaml, *says;
	} cases[] = {
		{"x: 1", "want one member, faults"},
		{"faults: 3", "want one member, faults"},
		{"faults: [3]", "faults[0]: want an object"},
		{"faults: [{what: BmcHang}]", "faults[0]: want at least machine and what"},
		{"faults: [{machine: a, what: BmcHang}, {machine: a, what: Fire}]",
		 "faults[1].what: \"Fire\" is not one of PowerLie"},
		{"faults: [{machine: a, what: BmcHang, when: noon}]",
		 "faults[0].when: \"noon\" is not one of POST Agent"},
		{"faults: [{machine: a, what: BmcHang, how: x}]", "faults[0].how: want machine"},
		{"faults: [{machine: a, what: BmcHang, count: 0}]", "faults[0].count: want 1 to"},
		{"faults: [{machine: a, what: BmcHang, value: 3}]",
		 "faults[0].value: BmcHang has no value"},
		{"faults: [{machine: a, what: BmcStatus, value: 200}]",
		 "faults[0].value: BmcStatus needs 400 to 599"},
		{"faults: [{machine: a, what: RetryAfter}]",
		 "faults[0].value: RetryAfter needs 1 to 3600"},
		{"faults: [{machine: a, what: BmcHang, probability: 2}]",
		 "faults[0].probability: want 0 to 1"},
		{"faults: [{machine: a, what: BmcHang, probability: x}]",
		 "faults[0].probability: want 0 to 1"},
		{"faults: [{machine: [], what: BmcHang}]", "faults[0].machine: want text"},
		{"faults:\n- {", "line"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWN(arena) a = arena_new();
		struct sim_faults f = {0};
		struct err e;

		if (read_text(cases[i].yaml, a, &f, &e) == 0)
			fail_msg("%s: read", cases[i].yaml);
		if (!strstr(e.text, cases[i].says))
			fail_msg("%s: %s", cases[i].yaml, e.text);
	}
}

/* --- applying --------------------------------------------------------------------------------- */

static void a_row_strikes_its_machine_in_its_phase_and_not_too_often(void **state)
{
	struct bench b;
	int64_t value = 0;
	struct sim_machine *other;

	(void)state;
	begin(&b, "faults:\n"
		  "- {machine: gpu-1, when: POST, what: Reboot, count: 2}\n"
		  "- {machine: \"*\", what: RetryAfter, value: 7, count: 1}\n");
	other = sim_rack_machine(b.rack, 2);
	assert_false(sim_machine_fault(b.m, "Agent", "Reboot", NULL));
	assert_false(sim_machine_fault(other, "POST", "Reboot", NULL));
	assert_false(sim_machine_fault(b.m, "POST", "BootsDisk", NULL));
	assert_true(sim_machine_fault(b.m, "POST", "Reboot", NULL));
	assert_true(sim_machine_fault(b.m, "POST", "Reboot", NULL));
	assert_false(sim_machine_fault(b.m, "POST", "Reboot", NULL));
	assert_true(sim_machine_fault(other, "wipe", "RetryAfter", &value));
	assert_int_equal(value, 7);
	assert_false(sim_machine_fault(other, "wipe", "RetryAfter", &value));
	end(&b);
}

static void a_probability_is_kept(void **state)
{
	struct bench b;
	int struck = 0;

	(void)state;
	begin(&b, "faults: [{machine: gpu-1, what: Reboot, probability: 0.25}, "
		  "{machine: gpu-1, what: PullDrive, probability: 0}]");
	for (int i = 0; i < 4000; i++) {
		struck += sim_machine_fault(b.m, "POST", "Reboot", NULL);
		assert_false(sim_machine_fault(b.m, "POST", "PullDrive", NULL));
	}
	assert_true(struck > 800 && struck < 1200);
	end(&b);
}

/* --- each fault ------------------------------------------------------------------------------- */

#define FAULT(what) "faults: [{machine: gpu-1, when: Request, what: " what "}]"
#define ONCE(what) "faults: [{machine: gpu-1, when: Request, count: 1, what: " what "}]"
#define ON "{\"ResetType\":\"On\"}"

static void power_may_lie_and_be_slow(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, ONCE("PowerLie"));
	log_in(&b);
	assert_int_equal(call(&b, "POST", RESET, ON, NULL), 204);
	pass(&b, 60000);
	assert_false(b.m->on);
	assert_int_equal(call(&b, "POST", RESET, ON, NULL), 204);
	pass(&b, 5000);
	assert_true(b.m->on);
	end(&b);

	begin(&b, FAULT("PowerSlow, value: 20"));
	log_in(&b);
	assert_int_equal(call(&b, "POST", RESET, ON, NULL), 204);
	pass(&b, 19000);
	assert_false(b.m->on);
	pass(&b, 5000);
	assert_true(b.m->on);
	end(&b);
}

static void a_bmc_may_refuse_hang_and_talk_nonsense(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, ONCE("BmcStatus, value: 502"));
	assert_int_equal(get(&b, "/redfish/v1/"), 502);
	assert_string_equal(message(&b, 0), "GeneralError");
	assert_int_equal(get(&b, "/redfish/v1/"), 200);
	end(&b);

	begin(&b, ONCE("RetryAfter, value: 9"));
	assert_int_equal(get(&b, "/redfish/v1/"), 503);
	assert_string_equal(b.retry_after, "9");
	assert_int_equal(get(&b, "/redfish/v1/"), 200);
	end(&b);

	begin(&b, ONCE("BmcGarbage"));
	assert_int_equal(get(&b, "/redfish/v1/"), 200);
	assert_null(b.json);
	assert_int_equal(get(&b, "/redfish/v1/"), 200);
	assert_non_null(b.json);
	end(&b);

	begin(&b, ONCE("BmcHang"));
	assert_int_equal(get(&b, "/redfish/v1/"), 0);
	assert_int_equal(b.err.kind, ERR_TIMEOUT);
	assert_int_equal(get(&b, "/redfish/v1/"), 200);
	end(&b);
}

static void sessions_may_be_full(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, ONCE("SessionsFull"));
	assert_int_equal(call(&b, "POST", SESSIONS,
			      "{\"UserName\":\"admin\",\"Password\":\"correct horse\"}", NULL),
			 503);
	assert_string_equal(message(&b, 0), "SessionLimitExceeded");
	log_in(&b);
	end(&b);
}

static void a_password_may_have_to_be_changed(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, "faults: [{machine: gpu-1, what: PasswordChange}]");
	log_in(&b);
	assert_int_equal(get(&b, "/redfish/v1/Systems/1"), 403);
	assert_string_equal(message(&b, 0), "PasswordChangeRequired");
	assert_int_equal(get(&b, "/redfish/v1/AccountService/Accounts/1"), 200);
	end(&b);
}

static void a_login_may_have_moved(void **state)
{
	static const char login[] = "{\"UserName\":\"admin\",\"Password\":\"correct horse\"}";
	struct bench b;

	(void)state;
	begin(&b, "faults: [{machine: gpu-1, what: LoginMoved, value: 307}]");
	assert_int_equal(call(&b, "POST", SESSIONS, login, NULL), 307);
	assert_int_equal(call(&b, "POST", SESSIONS "?moved=1", login, NULL), 201);
	end(&b);
}

static void every_action_may_become_a_task_and_fail(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, FAULT("Async"));
	log_in(&b);
	assert_int_equal(call(&b, "POST", INSERT, "{\"Image\":\"" IMAGE "\"}", NULL), 202);
	pass(&b, 2000);
	assert_int_equal(get(&b, b.location), 204);
	assert_string_equal(b.m->image, IMAGE);
	end(&b);

	begin(&b, "faults: [{machine: gpu-1, what: Async}, {machine: gpu-1, what: TaskFails}]");
	log_in(&b);
	assert_int_equal(call(&b, "POST", RESET, ON, NULL), 202);
	pass(&b, 5000);
	assert_false(b.m->on);
	assert_int_equal(get(&b, b.location), 500);
	get(&b, "/redfish/v1/TaskService/Tasks/1");
	assert_string_equal(json_str_at(b.json, "TaskState"), "Exception");
	assert_string_equal(json_str_at(b.json, "TaskStatus"), "Critical");
	end(&b);
}

static void etags_may_lie_and_be_required(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, FAULT("EtagAlways412"));
	log_in(&b);
	assert_int_equal(call(&b, "PATCH", SYSTEM, "{\"AssetTag\":\"a\"}", "If-Match: *"), 412);
	assert_int_equal(call(&b, "PATCH", SYSTEM, "{\"AssetTag\":\"a\"}", NULL), 200);
	end(&b);

	begin(&b, FAULT("EtagRequired"));
	log_in(&b);
	assert_int_equal(call(&b, "PATCH", SYSTEM, "{\"AssetTag\":\"a\"}", NULL), 428);
	assert_string_equal(message(&b, 0), "PreconditionRequired");
	assert_int_equal(call(&b, "PATCH", SYSTEM, "{\"AssetTag\":\"a\"}", "If-Match: *"), 200);
	end(&b);
}

static void a_medium_may_vanish_and_a_machine_be_another(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, ONCE("MediaVanishes"));
	log_in(&b);
	assert_int_equal(call(&b, "POST", INSERT, "{\"Image\":\"" IMAGE "\"}", NULL), 204);
	assert_non_null(b.m->image);
	pass(&b, 2000);
	assert_null(b.m->image);
	assert_int_equal(call(&b, "POST", INSERT, "{\"Image\":\"" IMAGE "\"}", NULL), 204);
	pass(&b, 2000);
	assert_non_null(b.m->image);
	end(&b);

	begin(&b, ONCE("WrongUUID"));
	log_in(&b);
	get(&b, SYSTEM);
	assert_true(json_str_at(b.json, "UUID") != NULL);
	assert_string_not_equal(json_str_at(b.json, "UUID"), b.m->uuid);
	get(&b, SYSTEM);
	assert_string_equal(json_str_at(b.json, "UUID"), b.m->uuid);
	end(&b);

	begin(&b, ONCE("SwappedUUID"));
	log_in(&b);
	get(&b, SYSTEM);
	assert_string_equal(b.m->uuid, "4c4c4544-0035-3410-8050-0000c04f3101");
	assert_string_equal(json_str_at(b.json, "UUID"), "44454c4c-3500-1034-8050-0000c04f3101");
	end(&b);
}

static void a_switch_may_say_done_and_do_nothing(void **state)
{
	char path[64];
	struct bench b;

	(void)state;
	begin(&b, ONCE("PortLie"));
	str_format(path, sizeof(path), "/sim/ports/%s", b.m->mac);
	assert_int_equal(call(&b, "PUT", path, "{\"segment\":\"quarantine\"}", NULL), 200);
	assert_string_equal(json_str_at(b.json, "segment"), "quarantine");
	get(&b, path);
	assert_string_equal(json_str_at(b.json, "segment"), "");
	assert_int_equal(call(&b, "PUT", path, "{\"segment\":\"quarantine\"}", NULL), 200);
	get(&b, path);
	assert_string_equal(json_str_at(b.json, "segment"), "quarantine");
	end(&b);
}

/* --- in a running rack ------------------------------------------------------------------------ */

#define FAULTS "/sim/faults"

static void faults_come_and_go_while_it_runs(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, ONCE("BmcGarbage"));
	get(&b, FAULTS);
	assert_int_equal(json_array_size(json_object_get(b.json, "faults")), 1);
	assert_string_equal(
		json_str_at(json_array_get(json_object_get(b.json, "faults"), 0), "what"),
		"BmcGarbage");
	/* Faults that are used up are no longer listed. Faults without a count remain. */
	get(&b, "/redfish/v1/");
	assert_int_equal(
		call(&b, "POST", FAULTS,
		     "{\"faults\": [{\"machine\": \"gpu-1\", \"what\": \"BmcStatus\", \"value\": "
		     "503}]}",
		     NULL),
		200);
	assert_int_equal(json_array_size(json_object_get(b.json, "faults")), 1);
	assert_int_equal(get(&b, "/redfish/v1/"), 503);
	assert_int_equal(get(&b, "/redfish/v1/"), 503);
	assert_int_equal(call(&b, "DELETE", FAULTS "/gpu-1", NULL, NULL), 200);
	assert_int_equal(get(&b, "/redfish/v1/"), 200);
	assert_int_equal(
		call(&b, "POST", FAULTS,
		     "{\"faults\": [{\"machine\": \"*\", \"what\": \"BmcStatus\", \"value\": 500, "
		     "\"count\": 9}]}",
		     NULL),
		200);
	assert_int_equal(call(&b, "DELETE", FAULTS "/gpu-1", NULL, NULL), 200);
	assert_int_equal(get(&b, "/redfish/v1/"), 500);
	get(&b, FAULTS);
	assert_int_equal(json_int_at(json_array_get(json_object_get(b.json, "faults"), 0), "left"),
			 8);
	assert_int_equal(call(&b, "DELETE", FAULTS, NULL, NULL), 200);
	assert_int_equal(get(&b, "/redfish/v1/"), 200);
	end(&b);
}

static void a_fault_that_cannot_be_is_refused_and_none_of_its_rows_taken(void **state)
{
	static const struct {
		const char *body, *says;
		int status;
	} cases[] = {
		{"{\"faults\": [{\"machine\": \"gpu-99\", \"what\": \"BmcHang\"}]}",
		 "gpu-99: no such machine", 404},
		{"{\"faults\": [{\"machine\": \"gpu-1\", \"what\": \"BmcHang\"}, {\"machine\": "
		 "\"*\", \"what\": \"Fire\"}]}",
		 "Fire", 400},
		{"{", "line", 400},
		{"", "want one member", 400},
	};
	struct bench b;

	(void)state;
	begin(&b, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = call(&b, "POST", FAULTS, cases[i].body, NULL);

		if (status != cases[i].status)
			fail_msg("%s: %d", cases[i].body, status);
	}
	assert_int_equal(call(&b, "DELETE", FAULTS "/gpu-99", NULL, NULL), 404);
	get(&b, FAULTS);
	assert_int_equal(json_array_size(json_object_get(b.json, "faults")), 0);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read_with_their_defaults),
		cmocka_unit_test(errors_name_the_row_and_what_is_allowed),
		cmocka_unit_test(a_row_strikes_its_machine_in_its_phase_and_not_too_often),
		cmocka_unit_test(a_probability_is_kept),
		cmocka_unit_test(power_may_lie_and_be_slow),
		cmocka_unit_test(a_bmc_may_refuse_hang_and_talk_nonsense),
		cmocka_unit_test(sessions_may_be_full),
		cmocka_unit_test(a_password_may_have_to_be_changed),
		cmocka_unit_test(a_login_may_have_moved),
		cmocka_unit_test(every_action_may_become_a_task_and_fail),
		cmocka_unit_test(etags_may_lie_and_be_required),
		cmocka_unit_test(a_medium_may_vanish_and_a_machine_be_another),
		cmocka_unit_test(a_switch_may_say_done_and_do_nothing),
		cmocka_unit_test(faults_come_and_go_while_it_runs),
		cmocka_unit_test(a_fault_that_cannot_be_is_refused_and_none_of_its_rows_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
