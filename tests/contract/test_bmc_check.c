/* Tests the checks of `drover bmc probe` against a fake BMC. test_dialects.c tests each make of
 * BMC. */
#include "tests/unit/testing.h"

#include <string.h>
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/bmc_check.h"
#include "tests/contract/slow_bmc.h"
#include "tests/unit/redfish/bmc_rig.h"

#define PIN "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static struct {
	json_t *told;
	unsigned wrong, answers;
} got;

static void on_done(const json_t *told, unsigned wrong, void *arg)
{
	(void)arg;
	got.told = json_deep_copy(told);
	got.wrong = wrong;
	got.answers++;
}

static bool is_done(void *arg)
{
	(void)arg;
	return got.answers > 0;
}

static int setup(void **state)
{
	memset(&got, 0, sizeof(got));
	return bmc_setup(state);
}

static int teardown(void **state)
{
	json_decref(got.told);
	return bmc_teardown(state);
}

static struct bmc_check *begin(struct bmc_rig *f, const char *pin)
{
	struct bmc_check_spec s = {.group = f->group,
				   .http = f->http,
				   .address = f->spec.system_url,
				   .user = "drover",
				   .pin_sha256 = pin,
				   .learn_pin = !pin,
				   .done = on_done};
	struct bmc_check *c;
	struct err e;

	s.password = f->password;
	c = bmc_check_new(&s, &e);
	assert_non_null(c);
	assert_int_equal(got.answers, 0);
	return c;
}

/* Waits for the end of the check. Asserts that the check changed nothing and closed its session,
 * whatever its findings are. */
static void end(struct bmc_rig *f, struct bmc_check *c)
{
	loop_sim_run_cond(f->loop, is_done, NULL, loop_now(f->loop) + 3600 * 1000);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 60000);
	assert_int_equal(got.answers, 1);
	bmc_check_free(c);
	assert_int_equal(fake_bmc_sessions(&f->bmc), 0);
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH"), 0);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"), 0);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Managers"), 0);
}

static void check(struct bmc_rig *f)
{
	end(f, begin(f, NULL));
}

/* Returns the first finding about `what` as "result: says"; NULL: there is none. */
static const char *of(const char *what)
{
	static char text[700];
	json_t *v;
	size_t i;

	json_array_foreach (json_at(got.told, "findings"), i, v) {
		if (!str_eq(json_str_at(v, "of"), what))
			continue;
		str_format(text, sizeof(text), "%s: %s", json_str_at(v, "result"),
			   json_str_at(v, "says"));
		return text;
	}
	return NULL;
}

static bool has(const char *what, const char *start)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_at(got.told, "findings"), i, v)
		if (str_eq(json_str_at(v, "of"), what) && str_starts(json_str_at(v, "says"), start))
			return true;
	return false;
}

static const char *known(const char *member)
{
	return json_str_at(got.told, "bmc", member);
}

static const struct fake_drive drives[] = {{.serial = "S1", .bytes = 960000000000},
					   {.serial = "S2", .bytes = 960000000000}};

static void a_bmc_that_lacks_nothing_is_told_whole(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.vendor = "Supermicro";
	f->bmc.model = "SYS-821GE-TNHR";
	f->bmc.drives = drives;
	f->bmc.ndrives = 2;
	check(f);
	assert_int_equal(got.wrong, 0);
	assert_string_equal(known("vendor"), "Supermicro");
	assert_string_equal(known("firmwareVersion"), "7.10.30");
	assert_string_equal(known("serialNumber"), "CN7792154A0014");
	assert_string_equal(known("system"), "/redfish/v1/Systems/1");
	assert_string_equal(known("media"), "HTTP");
	assert_string_equal(known("login"), "Session");
	assert_int_equal(json_array_size(json_at(got.told, "bmc", "quirks")), 3);
	assert_string_equal(of("quirk"), "note: Q18-supermicro: boot mode with every override");
	assert_string_equal(of("power"), "ok: on, and off by ForceOff");
	assert_string_equal(of("boot of the agent"), "ok: from a virtual CD, or by UEFI HTTP boot");
	assert_string_equal(of("drives"), "ok: 2 listed, 1920 GB in all");
	assert_true(str_starts(of("latency"), "ok: "));
	assert_true(json_int_at(got.told, "bmc", "calls") > 8);
	assert_null(of("session"));
}

static void what_is_missing_says_what_that_means(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.no_media = f->bmc.no_http_boot = f->bmc.no_force_off = f->bmc.basic_only = true;
	check(f);
	assert_int_equal(got.wrong, 1);
	assert_true(str_starts(of("boot of the agent"), "wrong: neither from a virtual CD nor"));
	assert_string_equal(of("virtual media"),
			    "note: the BMC has no virtual media slot for a CD");
	assert_true(str_starts(of("power"), "note: ForceOff is not supported"));
	assert_true(str_starts(of("login"), "note: Basic"));
	assert_string_equal(of("drives"), "note: the BMC lists none");
	assert_string_equal(known("login"), "Basic");
}

static void http_boot_alone_is_a_way(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.no_media = true;
	check(f);
	assert_int_equal(got.wrong, 0);
	assert_true(str_starts(of("boot of the agent"), "ok: by UEFI HTTP boot only"));
}

static void a_slot_that_takes_tls_and_checks_is_told(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.lists_https = 1;
	f->bmc.verifies = 1;
	check(f);
	assert_int_equal(got.wrong, 0);
	assert_string_equal(known("media"), "HTTPS");
	assert_non_null(strstr(of("virtual media"), "httpsMediaURL"));
	assert_true(has("virtual media", "the slot checks the certificate"));
}

/* The check must not enable remote media, because that would change the BMC. */
static void slots_that_have_to_be_enabled_are_told_and_left(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.managers_media = f->bmc.media_off = true;
	check(f);
	assert_int_equal(got.wrong, 0);
	assert_string_equal(known("media"), "Disabled");
	assert_true(str_starts(of("virtual media"), "note: the BMC offers slots only after"));
}

static void nothing_to_tell_machines_apart_by_is_wrong(void **state)
{
	struct bmc_rig *f = *state;

	free(f->bmc.uuid);
	free(f->bmc.serial);
	f->bmc.uuid = mem_strdup("00000000-0000-0000-0000-000000000000");
	f->bmc.serial = mem_strdup("");
	check(f);
	assert_int_equal(got.wrong, 1);
	assert_true(str_starts(of("identity"), "wrong: neither UUID nor serial number"));
}

static void the_certificate_is_known_before_the_password_is_sent(void **state)
{
	struct bmc_rig *f = *state;

	http_mem_pin(f->net, ORIGIN, PIN);
	check(f);
	assert_string_equal(known("fingerprint"), "sha256:" PIN);
	assert_string_equal(of("certificate"), "note: sha256:" PIN ", trusted on first use");
	assert_string_equal(f->bmc.journal[0], "GET /redfish/v1 ");
}

static void another_certificate_gets_no_password(void **state)
{
	struct bmc_rig *f = *state;

	http_mem_pin(f->net, ORIGIN, PIN);
	end(f, begin(f, "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"));
	assert_int_equal(got.wrong, 1);
	assert_int_equal(f->bmc.logins, 0);
	assert_int_equal(f->bmc.njournal, 0);
}

static void a_wrong_password_is_tried_once(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.password = "another";
	check(f);
	assert_int_equal(f->bmc.logins, 1);
	assert_int_equal(got.wrong, 1);
	assert_true(str_starts(of("login"), "wrong: the BMC refused the login of user drover"));
}

static void its_session_ends_after_a_read_that_failed(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.garbage = true;
	check(f);
	assert_int_equal(got.wrong, 1);
	assert_true(str_starts(of("System"), "wrong: "));
	assert_int_equal(f->bmc.logins, 1);
	assert_int_equal(fake_bmc_count(&f->bmc, "DELETE"), 1);
}

static void a_session_that_cannot_be_ended_is_told(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective fails = {.bmc = &f->bmc, .start = "DELETE", .status = 503};
	struct bmc_check *c;

	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &fails;
	c = begin(f, NULL);
	loop_sim_run_cond(f->loop, is_done, NULL, loop_now(f->loop) + 3600 * 1000);
	assert_int_equal(got.answers, 1);
	assert_true(str_starts(of("session"), "note: /redfish/v1/SessionService/Sessions/"));
	/* After three attempts, the client stops trying. */
	assert_int_equal(fake_bmc_count(&f->bmc, "DELETE"), 3);
	bmc_check_free(c);
}

static void what_it_said_first_is_told_of_one_that_does_not_answer(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.unavailable = true;
	check(f);
	assert_int_equal(got.wrong, 1);
	assert_non_null(strstr(of("System"), "503"));
}

/* A tamper function: the BMC lists two Systems with a Reset action. */
static bool two_systems(struct httpd_req *q, unsigned n, void *arg)
{
	const char *path = httpd_path(q);

	(void)n;
	(void)arg;
	if (str_eq(path, "/redfish/v1/Systems"))
		httpd_reply_json(q, 200,
				 "{\"Members\":[{\"@odata.id\":\"/redfish/v1/Systems/1\"},"
				 "{\"@odata.id\":\"/redfish/v1/Systems/2\"}]}");
	else if (str_eq(path, "/redfish/v1/Systems/2"))
		httpd_reply_json(q, 200,
				 "{\"Actions\":{\"#ComputerSystem.Reset\":{\"target\":"
				 "\"/redfish/v1/Systems/2/Actions/ComputerSystem.Reset\"}}}");
	else
		return false;
	return true;
}

static void several_systems_are_listed(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tamper = two_systems;
	check(f);
	assert_int_equal(got.wrong, 1);
	assert_int_equal(json_array_size(json_at(got.told, "systems")), 2);
	assert_string_equal(json_string_value(json_array_get(json_at(got.told, "systems"), 1)),
			    "/redfish/v1/Systems/2");
	assert_true(str_starts(of("System"), "wrong: the BMC has 2 Systems"));
}

static void a_manager_in_the_address_is_no_machine(void **state)
{
	struct bmc_rig *f = *state;

	f->spec.system_url = ORIGIN "/redfish/v1/Managers/BMC";
	check(f);
	assert_int_equal(got.wrong, 1);
	assert_null(known("systemUUID"));
	assert_non_null(strstr(of("System"), "is no ComputerSystem, but #Manager."));
}

static void a_password_that_has_to_be_changed_is_of_the_login(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.must_change = 2;
	check(f);
	assert_int_equal(got.wrong, 1);
	assert_non_null(strstr(of("login"), "Accounts/3"));
}

/* Each request takes 3 s, so the search for the slot takes longer than one operation may. */
static void a_slow_one_is_told_whole_too(void **state)
{
	struct bmc_rig *f = *state;
	struct slow_bmc slow;

	f->bmc.drives = drives;
	f->bmc.ndrives = 2;
	f->bmc.floppies = 12;
	slow_bmc_init(&slow, &f->bmc, f->bmc_group, 3000);
	check(f);
	assert_int_equal(got.wrong, 0);
	assert_string_equal(of("drives"), "ok: 2 listed, 1920 GB in all");
	assert_true(str_starts(of("latency"), "note: 30"));
	assert_non_null(known("mediaSlot"));
}

static void one_that_is_stopped_ends_its_session_first(void **state)
{
	struct bmc_rig *f = *state;
	struct slow_bmc slow;
	struct bmc_check *c;

	slow_bmc_init(&slow, &f->bmc, f->bmc_group, 3000);
	c = begin(f, NULL);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 10000);
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
	bmc_check_stop(c);
	bmc_check_stop(c);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 20000);
	end(f, c);
	assert_null(of("drives"));
}

static void one_that_is_stopped_waits_for_nothing(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_check *c;

	f->bmc.unavailable = true;
	f->bmc.unavailable_s = "120";
	c = begin(f, NULL);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 5000);
	assert_int_equal(got.answers, 0);
	f->bmc.unavailable = false;
	bmc_check_stop(c);
	end(f, c);
	assert_null(of("power"));
}

#define check_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		check_test(a_bmc_that_lacks_nothing_is_told_whole),
		check_test(what_is_missing_says_what_that_means),
		check_test(http_boot_alone_is_a_way),
		check_test(a_slot_that_takes_tls_and_checks_is_told),
		check_test(slots_that_have_to_be_enabled_are_told_and_left),
		check_test(nothing_to_tell_machines_apart_by_is_wrong),
		check_test(the_certificate_is_known_before_the_password_is_sent),
		check_test(another_certificate_gets_no_password),
		check_test(a_wrong_password_is_tried_once),
		check_test(its_session_ends_after_a_read_that_failed),
		check_test(a_session_that_cannot_be_ended_is_told),
		check_test(what_it_said_first_is_told_of_one_that_does_not_answer),
		check_test(several_systems_are_listed),
		check_test(a_manager_in_the_address_is_no_machine),
		check_test(a_password_that_has_to_be_changed_is_of_the_login),
		check_test(a_slow_one_is_told_whole_too),
		check_test(one_that_is_stopped_ends_its_session_first),
		check_test(one_that_is_stopped_waits_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
