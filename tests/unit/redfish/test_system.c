#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

/* --- reading ---------------------------------------------------------------------------------- */

static void a_system_is_read_with_power_identity_and_boot(void **state)
{
	struct bmc_rig *f = *state;
	int64_t before = loop_now(f->loop);

	f->bmc.on = true;
	assert_done(bmc_read_system(f));
	assert_int_equal(f->power, REDFISH_POWER_ON);
	assert_string_equal(f->uuid, "4c4c4544-0035-3410-8050-c6c04f314733");
	assert_string_equal(f->serial, "CN7792154A0014");
	assert_string_equal(f->target, "None");
	assert_true(f->read_at >= before);
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems/1"), 1);
}

static void one_session_serves_many_reads(void **state)
{
	struct bmc_rig *f = *state;

	for (int i = 0; i < 5; i++)
		assert_done(bmc_read_system(f));
	assert_int_equal(f->bmc.logins, 1);
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
	assert_string_equal(redfish_session_uri(f->r), "/redfish/v1/SessionService/Sessions/1");
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1 "), 1);
}

static void an_identity_of_zeros_is_none(void **state)
{
	struct bmc_rig *f = *state;

	strcpy(f->bmc.uuid, "00000000-0000-0000-0000-000000000000");
	assert_done(bmc_read_system(f));
	assert_string_equal(f->uuid, "-");
}

static void a_baseboard_that_answers_503_is_not_the_host(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.baseboard_first = f->bmc.on = true;
	assert_done(bmc_read_system(f));
	assert_int_equal(f->power, REDFISH_POWER_ON);
}

static void a_configured_system_is_used_as_it_is(void **state)
{
	struct bmc_rig *f = *state;

	f->spec.system_url = ORIGIN "/redfish/v1/Systems/1";
	assert_done(bmc_read_system(f));
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems "), 0);
}

static void a_redirect_on_the_same_server_is_followed(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.redirect = true;
	assert_done(bmc_read_system(f));
}

/* --- power ------------------------------------------------------------------------------------ */

static void power_is_asked_for_and_read_later(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.power_delay_ms = 7000;
	assert_done(bmc_power(f, true));
	assert_done(bmc_read_system(f));
	assert_int_equal(f->power, REDFISH_POWER_OFF);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 8000);
	assert_done(bmc_read_system(f));
	assert_int_equal(f->power, REDFISH_POWER_ON);
	assert_done(bmc_power(f, false));
	assert_string_equal(fake_bmc_last(&f->bmc, "POST /redfish/v1/Systems"),
			    "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset {"
			    "\"ResetType\":\"ForceOff\"}");
}

static void a_bmc_that_lies_about_power_is_found_out_by_reading(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.on = f->bmc.power_lie = true;
	assert_done(bmc_power(f, false));
	assert_done(bmc_read_system(f));
	assert_int_equal(f->power, REDFISH_POWER_ON);
}

static void asking_for_what_already_is_is_no_error(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.same_state_400 = true;
	assert_done(bmc_power(f, false));
	assert_done(bmc_power(f, true));
	assert_done(bmc_power(f, true));
}

static void a_reset_refused_for_another_reason_is_an_error(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {
		.bmc = &f->bmc, .start = "POST /redfish/v1/Systems/1/Act", .status = 400};

	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	f->bmc.on = true;
	assert_int_equal(bmc_power(f, false), ERR_INVALID);
}

static void reset_values_may_stand_in_action_info_alone(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.action_info = f->bmc.no_force_off = f->bmc.on = true;
	assert_done(bmc_power(f, false));
	assert_non_null(
		strstr(fake_bmc_last(&f->bmc, "POST /redfish/v1/Systems"), "GracefulShutdown"));
}

static bool leaves_action_info(struct httpd_req *q, unsigned n, void *arg)
{
	(void)n;
	(void)arg;
	return strstr(httpd_path(q), "ActionInfo");
}

static void a_machine_is_switched_off_without_an_answer_to_how(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.action_info = f->bmc.on = true;
	f->bmc.tamper = leaves_action_info;
	assert_done(bmc_power(f, false));
	assert_false(f->bmc.on);
	/* The allowed reset types are read again, and the new ones apply. */
	f->bmc.tamper = NULL;
	f->bmc.no_force_off = f->bmc.on = true;
	assert_done(bmc_power(f, false));
}

static const char *last_reset(const struct bmc_rig *f)
{
	return strstr(fake_bmc_last(&f->bmc, "POST /redfish/v1/Systems"), "{");
}

static void a_machine_that_does_not_come_on_is_asked_in_other_ways(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.on_ignored = f->bmc.power_cycle = true;
	for (int i = 0; i < 2; i++) {
		assert_done(bmc_power(f, true));
		assert_string_equal(last_reset(f), "{\"ResetType\":\"On\"}");
		assert_done(bmc_read_system(f));
		assert_int_equal(f->power, REDFISH_POWER_OFF);
	}
	assert_done(bmc_power(f, true));
	assert_string_equal(last_reset(f), "{\"ResetType\":\"PowerCycle\"}");
	assert_done(bmc_read_system(f));
	assert_int_equal(f->power, REDFISH_POWER_ON);
	/* The next power-on begins with the plain type again. */
	f->bmc.on = false;
	assert_done(bmc_power(f, true));
	assert_string_equal(last_reset(f), "{\"ResetType\":\"On\"}");
}

static void a_refused_on_is_forced_at_once(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.on_refused = f->bmc.force_on = true;
	assert_done(bmc_power(f, true));
	assert_true(f->bmc.on);
	assert_string_equal(last_reset(f), "{\"ResetType\":\"ForceOn\"}");
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"), 2);
}

/* iDRAC10, for example, refuses power-on for a short time after power-off. */
static void a_refused_on_without_another_way_may_be_tried_again(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.on_refused = true;
	assert_int_equal(bmc_power(f, true), ERR_UNAVAILABLE);
	assert_int_equal(f->err.retry_after_ms, 10000);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"), 1);
	f->bmc.on_refused = false;
	assert_done(bmc_power(f, true));
}

static void off_is_never_asked_of_what_runs_there(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.on = f->bmc.power_lie = f->bmc.power_cycle = true;
	for (int i = 0; i < 6; i++) {
		assert_done(bmc_power(f, false));
		assert_string_equal(last_reset(f), "{\"ResetType\":\"ForceOff\"}");
	}
}

static void nothing_is_changed_without_permission(void **state)
{
	struct bmc_rig *f = *state;

	f->spec.may_act = bmc_may;
	f->allowed = false;
	assert_int_equal(bmc_power(f, true), ERR_CONFLICT);
	assert_int_equal(bmc_boot(f, REDFISH_BOOT_CD, NULL), ERR_CONFLICT);
	assert_int_equal(bmc_insert(f, MEDIA), ERR_CONFLICT);
	assert_done(bmc_read_system(f));
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH") +
				 fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"),
			 0);
	f->allowed = true;
	assert_done(bmc_power(f, true));
}

static void nothing_is_changed_on_another_machine_at_the_address(void **state)
{
	struct bmc_rig *f = *state;

	f->spec.fits = bmc_fits;
	assert_done(bmc_read_system(f));
	f->bmc.uuid[0] = '5';
	fake_bmc_expire(&f->bmc);
	assert_int_equal(bmc_power(f, true), ERR_CONFLICT);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"), 0);
	assert_false(f->bmc.on);
	assert_done(bmc_read_system(f));
	assert_string_equal(f->uuid, "5c4c4544-0035-3410-8050-c6c04f314733");
	assert_done(bmc_power(f, true));
	f->bmc.serial[0] = 'X';
	fake_bmc_expire(&f->bmc);
	assert_int_equal(bmc_power(f, false), ERR_CONFLICT);
	assert_true(f->bmc.on);
}

static void each_change_looks_at_the_machine_itself(void **state)
{
	struct bmc_rig *f = *state;

	f->spec.fits = bmc_fits;
	/* Without sessions nothing else shows that the BMC belongs to a different machine. */
	f->bmc.basic_only = true;
	assert_done(bmc_read_system(f));
	f->bmc.uuid[0] = '5';
	assert_int_equal(bmc_power(f, true), ERR_CONFLICT);
	assert_int_equal(bmc_insert(f, MEDIA), ERR_CONFLICT);
	assert_int_equal(bmc_boot(f, REDFISH_BOOT_CD, NULL), ERR_CONFLICT);
	assert_int_equal(bmc_eject(f), ERR_CONFLICT);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST") + fake_bmc_count(&f->bmc, "PATCH"), 0);
	assert_done(bmc_read_system(f));
	assert_done(bmc_power(f, true));
}

static int is_off(const struct redfish_system *s, void *arg, struct err *e)
{
	(void)arg;
	assert_string_equal(s->system_uuid, "4c4c4544-0035-3410-8050-c6c04f314733");
	assert_string_equal(s->boot_target, "None");
	return s->power == REDFISH_POWER_OFF ? 0 : err_set(e, ERR_UNAVAILABLE, 7, "it is on");
}

/* fits() gets the System that the same operation has read, even in the client's first operation. */
static void what_a_change_saw_itself_may_not_be_what_is_meant(void **state)
{
	struct bmc_rig *f = *state;

	f->spec.fits = is_off;
	f->bmc.on = true;
	assert_int_equal(bmc_insert(f, MEDIA), ERR_UNAVAILABLE);
	assert_int_equal(f->err.code, 7);
	assert_int_equal(bmc_eject(f), ERR_UNAVAILABLE);
	assert_int_equal(bmc_boot(f, REDFISH_BOOT_NONE, NULL), ERR_UNAVAILABLE);
	assert_int_equal(bmc_power(f, false), ERR_UNAVAILABLE);
	assert_done(bmc_read_system(f)); /* Reads are always allowed. */
	assert_done(bmc_read_media(f));
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems") +
				 fake_bmc_count(&f->bmc, "PATCH"),
			 0);
	f->bmc.on = false;
	assert_done(bmc_insert(f, MEDIA));
}

static void a_session_that_expires_before_the_machine_was_proved_is_renewed(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_read_media(f));
	fake_bmc_expire(&f->bmc);
	/* This operation logs in again and does not read the System. */
	assert_done(bmc_read_media(f));
	fake_bmc_expire(&f->bmc);
	assert_done(bmc_power(f, true));
	assert_true(f->bmc.on);
	assert_int_equal(f->bmc.logins, 3);
}

/* --- boot ------------------------------------------------------------------------------------- */

static void a_boot_override_is_set_once_and_cleared(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_done(bmc_read_system(f));
	assert_string_equal(f->target, "Cd");
	assert_string_equal(f->enabled, "Once");
	assert_done(bmc_boot(f, REDFISH_BOOT_NONE, NULL));
	assert_done(bmc_read_system(f));
	assert_string_equal(f->target, "None");
	assert_string_equal(f->enabled, "Disabled");
}

static void http_boot_takes_its_address_along(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_boot(f, REDFISH_BOOT_HTTP, "https://10.1.0.5:8443/boot/x"));
	assert_string_equal(f->bmc.boot_target, "UefiHttp");
	assert_string_equal(f->bmc.http_uri, "https://10.1.0.5:8443/boot/x");
	assert_done(bmc_boot(f, REDFISH_BOOT_NONE, NULL));
	assert_string_equal(f->bmc.http_uri, "");
	assert_done(bmc_boot(f, REDFISH_BOOT_NONE, NULL));
	assert_null(strstr(fake_bmc_last(&f->bmc, "PATCH"), "HttpBootUri"));
	f->bmc.no_http_boot = true;
	assert_int_equal(bmc_boot(f, REDFISH_BOOT_HTTP, "https://10.1.0.5:8443/boot/x"),
			 ERR_UNSUPPORTED);
}

static void overrides_go_to_the_pending_object_that_has_them(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.pending_boot = f->bmc.etags = true;
	f->bmc.vendor = "AMI";
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH /redfish/v1/Systems/1/SD"), 1);
	assert_done(bmc_read_system(f));
	/* The System itself does not show the override yet. */
	assert_string_equal(f->target, "Cd");
	assert_non_null(
		strstr(fake_bmc_last(&f->bmc, "PATCH"), "\"BootSourceOverrideMode\":\"UEFI\""));
}

static void a_pending_object_that_is_not_served_has_no_overrides(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "GET /redfish/v1/Systems/1/SD", 500, NULL};

	f->bmc.pending_short = true;
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	assert_done(bmc_read_system(f));
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "Cd");
	s.status = 503; /* A 503 does not show what the object contains. */
	assert_int_equal(bmc_read_system(f), ERR_UNAVAILABLE);
}

/* The overrides in the pending object may be the only ones. */
static void a_pending_object_that_had_overrides_is_waited_for(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "GET /redfish/v1/Systems/1/SD", 500, NULL};

	f->bmc.pending_boot = true;
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	assert_int_equal(bmc_read_system(f), ERR_UNAVAILABLE);
}

/* On BlueField, for example, the pending object lists fewer targets than the System. */
static void a_target_that_the_system_alone_lists_goes_there(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.pending_short = f->bmc.etags = true;
	assert_done(bmc_boot(f, REDFISH_BOOT_HTTP, "https://10.1.0.5:8443/boot/x"));
	assert_string_equal(f->bmc.boot_target, "UefiHttp");
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH /redfish/v1/Systems/1/SD"), 0);
	f->bmc.no_http_boot = true;
	assert_int_equal(bmc_boot(f, REDFISH_BOOT_HTTP, "https://10.1.0.5:8443/boot/x"),
			 ERR_UNSUPPORTED);
}

static void an_override_that_the_system_refuses_goes_to_the_pending_object(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.boot_moved = true;
	assert_done(bmc_read_system(f));
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "Cd");
	assert_done(bmc_read_system(f));
	assert_string_equal(f->target, "Cd");
}

static void an_override_that_the_pending_object_refuses_goes_to_the_system(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.boot_shy = true;
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "Cd");
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH"), 2);
}

static void a_tag_is_sent_with_a_patch(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.etags = true;
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_done(bmc_boot(f, REDFISH_BOOT_HDD, NULL));
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH"), 2);
}

static void a_mode_that_is_refused_is_left_out(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.refuse_mode = true;
	f->bmc.vendor = "Supermicro"; /* for this vendor the mode is always sent */
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "UsbCd");
}

static void without_none_the_disk_is_how_an_override_is_cleared(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.no_none_target = true;
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_done(bmc_boot(f, REDFISH_BOOT_NONE, NULL));
	assert_string_equal(f->bmc.boot_target, "Hdd");
	f->bmc.only_once = true;
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_done(bmc_boot(f, REDFISH_BOOT_NONE, NULL));
	assert_string_equal(f->bmc.boot_target, "Hdd");
}

static void supermicro_boots_virtual_cds_as_usbcd_but_for_one_model(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.vendor = "Supermicro";
	f->bmc.model = "SYS-821GE-TNHR";
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "UsbCd");
	assert_non_null(
		strstr(fake_bmc_last(&f->bmc, "PATCH"), "\"BootSourceOverrideMode\":\"UEFI\""));
	f->bmc.model = "ARS-111GL-NHR";
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "Cd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(a_system_is_read_with_power_identity_and_boot),
		bmc_test(one_session_serves_many_reads),
		bmc_test(an_identity_of_zeros_is_none),
		bmc_test(a_baseboard_that_answers_503_is_not_the_host),
		bmc_test(a_configured_system_is_used_as_it_is),
		bmc_test(a_redirect_on_the_same_server_is_followed),
		bmc_test(power_is_asked_for_and_read_later),
		bmc_test(a_bmc_that_lies_about_power_is_found_out_by_reading),
		bmc_test(asking_for_what_already_is_is_no_error),
		bmc_test(a_reset_refused_for_another_reason_is_an_error),
		bmc_test(reset_values_may_stand_in_action_info_alone),
		bmc_test(a_machine_is_switched_off_without_an_answer_to_how),
		bmc_test(a_machine_that_does_not_come_on_is_asked_in_other_ways),
		bmc_test(a_refused_on_is_forced_at_once),
		bmc_test(a_refused_on_without_another_way_may_be_tried_again),
		bmc_test(off_is_never_asked_of_what_runs_there),
		bmc_test(nothing_is_changed_without_permission),
		bmc_test(nothing_is_changed_on_another_machine_at_the_address),
		bmc_test(each_change_looks_at_the_machine_itself),
		bmc_test(what_a_change_saw_itself_may_not_be_what_is_meant),
		bmc_test(a_session_that_expires_before_the_machine_was_proved_is_renewed),
		bmc_test(a_boot_override_is_set_once_and_cleared),
		bmc_test(http_boot_takes_its_address_along),
		bmc_test(overrides_go_to_the_pending_object_that_has_them),
		bmc_test(a_pending_object_that_is_not_served_has_no_overrides),
		bmc_test(a_pending_object_that_had_overrides_is_waited_for),
		bmc_test(a_target_that_the_system_alone_lists_goes_there),
		bmc_test(an_override_that_the_system_refuses_goes_to_the_pending_object),
		bmc_test(an_override_that_the_pending_object_refuses_goes_to_the_system),
		bmc_test(a_tag_is_sent_with_a_patch),
		bmc_test(a_mode_that_is_refused_is_left_out),
		bmc_test(without_none_the_disk_is_how_an_override_is_cleared),
		bmc_test(supermicro_boots_virtual_cds_as_usbcd_but_for_one_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
