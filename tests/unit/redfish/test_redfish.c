#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/http_mem.h"
#include "base/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "redfish/redfish.h"
#include "tests/contract/fake_bmc.h"

#define ORIGIN "https://10.0.8.17"
#define PIN_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define PIN_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define MEDIA "http://10.0.8.2:8080/media/5f1c.iso"

struct fixture {
	struct loop *loop;
	struct loop_group *bmc_group, *group;
	struct http_mem_net *net;
	struct http *http;
	struct fake_bmc bmc;
	struct redfish_spec spec;
	struct secret *password;
	struct redfish *r;
	bool allowed;

	/* the last answer */
	unsigned answers;
	struct err err;
	enum redfish_power power;
	char uuid[64], serial[64], target[64], enabled[64], image[256];
	bool inserted;
	int64_t read_at;
};

static int setup(void **state)
{
	struct fixture *f = mem_new(struct fixture);

	mem_init();
	f->loop = loop_sim_new(7, 1764000000000);
	f->bmc_group = loop_group_new(f->loop, "bmc");
	f->group = loop_group_new(f->loop, "client");
	f->net = http_mem_net_new(f->loop);
	f->http = http_new(f->group, http_mem_transport(f->net, f->group, "10.0.0.1", NULL, NULL), 64);
	fake_bmc_init(&f->bmc, f->bmc_group);
	http_mem_serve(f->net, ORIGIN, f->bmc.httpd);
	f->password = secret_from_str("correct horse");
	f->spec = (struct redfish_spec){.system_url = ORIGIN, .learn_pin = true, .user = "drover"};
	f->spec.password = f->password;
	f->allowed = true;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	redfish_free(f->r);
	secret_free(f->password);
	http_free(f->http);
	fake_bmc_done(&f->bmc);
	http_mem_net_free(f->net);
	loop_group_drop(f->group);
	loop_group_free(f->group);
	loop_group_drop(f->bmc_group);
	loop_group_free(f->bmc_group);
	loop_free(f->loop);
	free(f);
	return 0;
}

static struct redfish *client(struct fixture *f)
{
	struct err e;

	if (!f->r) {
		f->r = redfish_new(f->group, f->http, &f->spec, &e);
		if (!f->r)
			fail_msg("%s", e.text);
	}
	return f->r;
}

static void answered(struct fixture *f, const struct err *e)
{
	f->answers++;
	err_clear(&f->err);
	if (e)
		f->err = *e;
}

static void on_plain(const struct err *e, void *arg)
{
	answered(arg, e);
}

static void on_system(const struct redfish_system *s, const struct err *e, void *arg)
{
	struct fixture *f = arg;

	answered(f, e);
	assert_true((s == NULL) == (e != NULL));
	if (!s)
		return;
	f->power = s->power;
	f->read_at = s->read_at;
	str_copy(f->uuid, sizeof(f->uuid), str_or(s->system_uuid, "-"));
	str_copy(f->serial, sizeof(f->serial), str_or(s->serial, "-"));
	str_copy(f->target, sizeof(f->target), str_or(s->boot_target, "-"));
	str_copy(f->enabled, sizeof(f->enabled), str_or(s->boot_enabled, "-"));
}

static void on_media(const struct redfish_media *m, const struct err *e, void *arg)
{
	struct fixture *f = arg;

	answered(f, e);
	if (!m)
		return;
	f->inserted = m->inserted;
	str_copy(f->image, sizeof(f->image), str_or(m->image, ""));
}

static bool is_answered(void *arg)
{
	return ((struct fixture *)arg)->answers > 0;
}

static enum err_kind wait_answer(struct fixture *f)
{
	assert_true(f->answers == 0); /* never inside the call */
	loop_sim_run_cond(f->loop, is_answered, f, loop_now(f->loop) + 120000);
	assert_true(f->answers == 1);
	f->answers = 0;
	return f->err.kind;
}

static enum err_kind read_system(struct fixture *f)
{
	redfish_read_system(client(f), on_system, f);
	return wait_answer(f);
}

static enum err_kind power(struct fixture *f, bool on)
{
	redfish_power(client(f), on, on_plain, f);
	return wait_answer(f);
}

static enum err_kind boot(struct fixture *f, enum redfish_boot how, const char *uri)
{
	redfish_boot(client(f), how, uri, on_plain, f);
	return wait_answer(f);
}

static enum err_kind insert(struct fixture *f, const char *url)
{
	redfish_insert(client(f), url, on_plain, f);
	return wait_answer(f);
}

static enum err_kind eject(struct fixture *f)
{
	redfish_eject(client(f), on_plain, f);
	return wait_answer(f);
}

static enum err_kind read_media(struct fixture *f)
{
	redfish_read_media(client(f), on_media, f);
	return wait_answer(f);
}

#define assert_done(call) assert_int_equal((call), ERR_NONE)

/* --- reading -------------------------------------------------------------------------------------- */

static void a_system_is_read_with_power_identity_and_boot(void **state)
{
	struct fixture *f = *state;
	int64_t before = loop_now(f->loop);

	f->bmc.on = true;
	assert_done(read_system(f));
	assert_int_equal(f->power, REDFISH_POWER_ON);
	assert_string_equal(f->uuid, "4c4c4544-0035-3410-8050-c6c04f314733");
	assert_string_equal(f->serial, "CN7792154A0014");
	assert_string_equal(f->target, "None");
	assert_true(f->read_at >= before);
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems/1"), 1);
}

static void one_session_serves_many_reads(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 5; i++)
		assert_done(read_system(f));
	assert_int_equal(f->bmc.logins, 1);
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
	assert_string_equal(redfish_session_uri(f->r), "/redfish/v1/SessionService/Sessions/1");
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1 "), 1);
}

static void an_identity_of_zeros_is_none(void **state)
{
	struct fixture *f = *state;

	strcpy(f->bmc.uuid, "00000000-0000-0000-0000-000000000000");
	assert_done(read_system(f));
	assert_string_equal(f->uuid, "-");
}

static void a_baseboard_that_answers_503_is_not_the_host(void **state)
{
	struct fixture *f = *state;

	f->bmc.baseboard_first = f->bmc.on = true;
	assert_done(read_system(f));
	assert_int_equal(f->power, REDFISH_POWER_ON);
}

static void a_configured_system_is_used_as_it_is(void **state)
{
	struct fixture *f = *state;

	f->spec.system_url = ORIGIN "/redfish/v1/Systems/1";
	assert_done(read_system(f));
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems "), 0);
}

static void a_redirect_on_the_same_server_is_followed(void **state)
{
	struct fixture *f = *state;

	f->bmc.redirect = true;
	assert_done(read_system(f));
}

/* --- sessions ------------------------------------------------------------------------------------- */

static void without_a_session_service_basic_is_used(void **state)
{
	struct fixture *f = *state;

	f->bmc.basic_only = true;
	assert_done(read_system(f));
	assert_null(redfish_session_uri(f->r));
}

static void a_closed_root_that_wants_basic_gets_it(void **state)
{
	struct fixture *f = *state;

	f->bmc.basic_only = f->bmc.closed_root = true;
	assert_done(read_system(f));
}

static void wrong_password(struct fixture *f)
{
	struct secret *right = f->password;

	f->password = secret_from_str("wrong");
	f->spec.password = f->password;
	f->bmc.lock_after = 3;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(i % 2 ? read_system(f) : power(f, false), ERR_DENIED);
		assert_null(strstr(f->err.text, "wrong"));
	}
	assert_int_equal(f->bmc.logins, 1);
	assert_true(redfish_login_refused(f->r));
	redfish_credentials(f->r, "drover", right);
	secret_free(f->password);
	f->password = right;
	assert_false(redfish_login_refused(f->r));
	assert_done(read_system(f));
	assert_false(f->bmc.locked);
}

static void a_wrong_password_reaches_the_bmc_once(void **state)
{
	wrong_password(*state);
}

static void a_wrong_password_reaches_a_basic_bmc_once(void **state)
{
	struct fixture *f = *state;

	f->bmc.basic_only = true;
	wrong_password(f);
}

static void a_wrong_password_reaches_a_closed_bmc_once(void **state)
{
	struct fixture *f = *state;

	f->bmc.basic_only = f->bmc.closed_root = true;
	wrong_password(f);
}

static void a_refused_login_is_tried_again_when_told_to(void **state)
{
	struct fixture *f = *state;

	f->bmc.password = "another";
	assert_int_equal(read_system(f), ERR_DENIED);
	f->bmc.password = "correct horse";
	assert_int_equal(read_system(f), ERR_DENIED);
	redfish_retry_login(f->r);
	assert_done(read_system(f));
	assert_int_equal(f->bmc.logins, 2);
}

static void an_expired_session_is_renewed_once(void **state)
{
	struct fixture *f = *state;

	assert_done(read_system(f));
	fake_bmc_expire(&f->bmc);
	assert_done(power(f, true));
	assert_true(f->bmc.on);
	assert_int_equal(f->bmc.logins, 2);
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
}

static void a_password_changed_behind_our_back_is_refused_once(void **state)
{
	struct fixture *f = *state;

	assert_done(read_system(f));
	f->bmc.password = "another";
	fake_bmc_expire(&f->bmc);
	for (int i = 0; i < 3; i++)
		assert_int_equal(read_system(f), ERR_DENIED);
	assert_int_equal(f->bmc.logins, 2);
}

static void sessions_that_vanish_do_not_lead_to_basic(void **state)
{
	struct fixture *f = *state;

	assert_done(read_system(f));
	f->bmc.basic_only = true;
	for (int i = 0; i < 3; i++)
		assert_int_equal(read_system(f), ERR_PROTOCOL);
	assert_int_equal(f->bmc.logins, 1);
}

static void the_predecessors_session_is_deleted_before_anything_is_done(void **state)
{
	struct fixture *f = *state;

	f->bmc.sessions[0].id = 41;
	f->bmc.next_session = 41;
	f->spec.old_session = "/redfish/v1/SessionService/Sessions/41";
	assert_done(power(f, true));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
	assert_string_equal(f->bmc.journal[1], "POST /redfish/v1/SessionService/Sessions ");
	assert_string_equal(f->bmc.journal[2], "DELETE /redfish/v1/SessionService/Sessions/41 ");
}

static void a_session_number_used_again_is_not_deleted(void **state)
{
	struct fixture *f = *state;

	f->spec.old_session = "/redfish/v1/SessionService/Sessions/1";
	assert_done(read_system(f));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
	assert_int_equal(fake_bmc_count(&f->bmc, "DELETE"), 0);
}

static void on_bye(void *arg)
{
	answered(arg, NULL);
}

/* Answers requests whose journal line starts so with a status. */
struct selective {
	const struct fake_bmc *bmc;
	const char *start;
	int status;
};

static bool select_tamper(struct httpd_req *q, unsigned n, void *arg)
{
	const struct selective *s = arg;

	(void)n;
	if (!str_starts(s->bmc->journal[s->bmc->njournal - 1], s->start))
		return false;
	httpd_reply_json(q, s->status, "{}");
	return true;
}

static void nothing_is_done_until_the_predecessors_session_is_gone(void **state)
{
	struct fixture *f = *state;
	struct selective s = {&f->bmc, "DELETE", 503};

	f->bmc.sessions[0].id = f->bmc.next_session = 41;
	f->spec.old_session = "/redfish/v1/SessionService/Sessions/41";
	f->bmc.tamper = select_tamper;
	f->bmc.tamper_arg = &s;
	assert_int_equal(power(f, true), ERR_UNAVAILABLE);
	assert_int_equal(power(f, true), ERR_UNAVAILABLE);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"), 0);
	f->bmc.tamper = NULL;
	assert_done(power(f, true));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
}

static void a_resource_that_is_denied_costs_one_new_login_and_not_the_session(void **state)
{
	struct fixture *f = *state;
	struct selective s = {&f->bmc, "POST /redfish/v1/Systems/1/Actions", 401};

	assert_done(read_system(f));
	f->bmc.tamper = select_tamper;
	f->bmc.tamper_arg = &s;
	assert_int_equal(power(f, true), ERR_DENIED);
	assert_int_equal(f->bmc.logins, 2);
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
	assert_false(redfish_login_refused(f->r));
	s.status = 403;
	assert_int_equal(power(f, true), ERR_DENIED);
	assert_done(read_system(f));
	assert_int_equal(f->bmc.logins, 2);
}

static void logging_out_deletes_the_session(void **state)
{
	struct fixture *f = *state;

	assert_done(read_system(f));
	redfish_logout(f->r, on_bye, f);
	assert_done(wait_answer(f));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 0);
	assert_null(redfish_session_uri(f->r));
}

static void a_session_location_on_another_server_is_not_used(void **state)
{
	struct fixture *f = *state;

	f->bmc.location_elsewhere = true;
	assert_done(read_system(f));
	assert_string_equal(redfish_session_uri(f->r), "/redfish/v1/SessionService/Sessions/1");
}

static void without_free_sessions_the_error_says_so(void **state)
{
	struct fixture *f = *state;

	f->bmc.max_sessions = 1;
	f->bmc.sessions[0].id = 9;
	assert_int_equal(read_system(f), ERR_CAPACITY);
	assert_false(redfish_login_refused(f->r));
}

/* --- power ---------------------------------------------------------------------------------------- */

static void power_is_asked_for_and_read_later(void **state)
{
	struct fixture *f = *state;

	f->bmc.power_delay_ms = 7000;
	assert_done(power(f, true));
	assert_done(read_system(f));
	assert_int_equal(f->power, REDFISH_POWER_OFF);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 8000);
	assert_done(read_system(f));
	assert_int_equal(f->power, REDFISH_POWER_ON);
	assert_done(power(f, false));
	assert_string_equal(fake_bmc_last(&f->bmc, "POST /redfish/v1/Systems"),
			    "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset {\"ResetType\":\"ForceOff\"}");
}

static void a_bmc_that_lies_about_power_is_found_out_by_reading(void **state)
{
	struct fixture *f = *state;

	f->bmc.on = f->bmc.power_lie = true;
	assert_done(power(f, false));
	assert_done(read_system(f));
	assert_int_equal(f->power, REDFISH_POWER_ON);
}

static void asking_for_what_already_is_is_no_error(void **state)
{
	struct fixture *f = *state;

	f->bmc.same_state_400 = true;
	assert_done(power(f, false));
	assert_done(power(f, true));
	assert_done(power(f, true));
}

static void a_reset_refused_for_another_reason_is_an_error(void **state)
{
	struct fixture *f = *state;

	f->bmc.same_state_400 = true;
	assert_done(read_system(f));
	f->bmc.power_lie = true;
	f->bmc.on = false;
	f->bmc.no_force_off = true; /* a firmware update behind our back: ForceOff is now a bad value */
	f->bmc.on = true;
	assert_int_equal(power(f, false), ERR_INVALID);
}

static void reset_values_may_stand_in_action_info_alone(void **state)
{
	struct fixture *f = *state;

	f->bmc.action_info = f->bmc.no_force_off = f->bmc.on = true;
	assert_done(power(f, false));
	assert_non_null(strstr(fake_bmc_last(&f->bmc, "POST /redfish/v1/Systems"), "GracefulShutdown"));
}

static bool may(void *arg)
{
	return ((struct fixture *)arg)->allowed;
}

static void nothing_is_changed_without_permission(void **state)
{
	struct fixture *f = *state;

	f->spec.may_act = may;
	f->allowed = false;
	assert_int_equal(power(f, true), ERR_CONFLICT);
	assert_int_equal(boot(f, REDFISH_BOOT_CD, NULL), ERR_CONFLICT);
	assert_int_equal(insert(f, MEDIA), ERR_CONFLICT);
	assert_done(read_system(f));
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH") + fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"), 0);
	f->allowed = true;
	assert_done(power(f, true));
}

static void nothing_is_changed_on_another_machine_at_the_address(void **state)
{
	struct fixture *f = *state;

	assert_done(read_system(f));
	f->bmc.uuid[0] = '5';
	fake_bmc_expire(&f->bmc);
	assert_int_equal(power(f, true), ERR_CONFLICT);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"), 1); /* refused with 401 */
	assert_false(f->bmc.on);
	assert_done(read_system(f));
	assert_string_equal(f->uuid, "5c4c4544-0035-3410-8050-c6c04f314733");
	assert_done(power(f, true));
	f->bmc.serial[0] = 'X';
	redfish_credentials(f->r, "drover", f->password);
	assert_int_equal(power(f, false), ERR_CONFLICT);
	assert_true(f->bmc.on);
}

static void without_sessions_the_machine_is_proved_by_a_recent_look(void **state)
{
	struct fixture *f = *state;

	f->bmc.basic_only = true;
	assert_done(read_system(f));
	f->bmc.uuid[0] = '5';
	loop_sim_run_until(f->loop, loop_now(f->loop) + 31000);
	assert_int_equal(power(f, true), ERR_CONFLICT);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST"), 0);
	assert_done(read_system(f));
	assert_done(power(f, true));
}

static void an_identity_that_is_withheld_for_a_while_is_no_other_one(void **state)
{
	struct fixture *f = *state;

	assert_done(read_system(f));
	f->bmc.serial[0] = '\0';
	loop_sim_run_until(f->loop, loop_now(f->loop) + 31000);
	assert_done(power(f, true));
	f->bmc.serial[0] = 'X';
	loop_sim_run_until(f->loop, loop_now(f->loop) + 31000);
	assert_int_equal(power(f, false), ERR_CONFLICT);
}

static void a_session_that_expires_before_the_machine_was_proved_is_renewed(void **state)
{
	struct fixture *f = *state;

	assert_done(read_media(f));
	fake_bmc_expire(&f->bmc);
	assert_done(read_media(f)); /* a new login, and no look at the System since */
	fake_bmc_expire(&f->bmc);
	assert_done(power(f, true));
	assert_true(f->bmc.on);
	assert_int_equal(f->bmc.logins, 3);
}

/* --- boot ----------------------------------------------------------------------------------------- */

static void a_boot_override_is_set_once_and_cleared(void **state)
{
	struct fixture *f = *state;

	assert_done(boot(f, REDFISH_BOOT_CD, NULL));
	assert_done(read_system(f));
	assert_string_equal(f->target, "Cd");
	assert_string_equal(f->enabled, "Once");
	assert_done(boot(f, REDFISH_BOOT_NONE, NULL));
	assert_done(read_system(f));
	assert_string_equal(f->target, "None");
	assert_string_equal(f->enabled, "Disabled");
}

static void http_boot_takes_its_address_along(void **state)
{
	struct fixture *f = *state;

	assert_done(boot(f, REDFISH_BOOT_HTTP, "https://10.1.0.5:8443/boot/x"));
	assert_string_equal(f->bmc.boot_target, "UefiHttp");
	assert_string_equal(f->bmc.http_uri, "https://10.1.0.5:8443/boot/x");
}

static void overrides_go_to_the_pending_object_that_has_them(void **state)
{
	struct fixture *f = *state;

	f->bmc.pending_boot = f->bmc.etags = true;
	f->bmc.vendor = "AMI";
	assert_done(boot(f, REDFISH_BOOT_CD, NULL));
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH /redfish/v1/Systems/1/SD"), 1);
	assert_done(read_system(f));
	assert_string_equal(f->target, "Cd"); /* which the System itself does not show yet */
	assert_non_null(strstr(fake_bmc_last(&f->bmc, "PATCH"), "\"BootSourceOverrideMode\":\"UEFI\""));
}

static void a_tag_is_sent_with_a_patch(void **state)
{
	struct fixture *f = *state;

	f->bmc.etags = true;
	assert_done(boot(f, REDFISH_BOOT_CD, NULL));
	assert_done(boot(f, REDFISH_BOOT_HDD, NULL));
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH"), 2);
}

static void a_tag_that_is_not_accepted_is_left_out(void **state)
{
	struct fixture *f = *state;

	f->bmc.etags = f->bmc.etags_lie = true;
	assert_done(boot(f, REDFISH_BOOT_CD, NULL));
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH"), 2);
	assert_string_equal(f->bmc.boot_target, "Cd");
}

static void a_mode_that_is_refused_is_left_out(void **state)
{
	struct fixture *f = *state;

	f->bmc.refuse_mode = true;
	f->bmc.vendor = "Supermicro"; /* whose rule is to send it always */
	assert_done(boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "UsbCd");
}

static void without_none_the_disk_is_how_an_override_is_cleared(void **state)
{
	struct fixture *f = *state;

	f->bmc.no_none_target = true;
	assert_done(boot(f, REDFISH_BOOT_CD, NULL));
	assert_done(boot(f, REDFISH_BOOT_NONE, NULL));
	assert_string_equal(f->bmc.boot_target, "Hdd");
}

static void supermicro_boots_virtual_cds_as_usbcd_but_for_one_model(void **state)
{
	struct fixture *f = *state;

	f->bmc.vendor = "Supermicro";
	f->bmc.model = "SYS-821GE-TNHR";
	assert_done(boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "UsbCd");
	f->bmc.model = "ARS-111GL-NHR";
	assert_done(boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "Cd");
}

/* --- media ---------------------------------------------------------------------------------------- */

static void media_go_round(struct fixture *f)
{
	assert_done(read_media(f));
	assert_false(f->inserted);
	assert_done(eject(f));
	assert_done(insert(f, "http://10.0.8.2:8080/media/old.iso"));
	assert_done(insert(f, MEDIA));
	assert_done(read_media(f));
	assert_true(f->inserted);
	assert_string_equal(f->image, MEDIA);
	assert_string_equal(f->bmc.image, MEDIA);
	assert_done(eject(f));
	assert_done(read_media(f));
	assert_false(f->inserted);
	assert_null(f->bmc.image);
}

static void media_under_the_system(void **state)
{
	media_go_round(*state);
}

static void media_under_the_manager(void **state)
{
	struct fixture *f = *state;

	f->bmc.managers_media = true;
	media_go_round(f);
}

static void media_that_are_patched_in(void **state)
{
	struct fixture *f = *state;

	f->bmc.patch_media = f->bmc.etags = true;
	media_go_round(f);
}

static void media_of_lenovo(void **state)
{
	struct fixture *f = *state;

	f->bmc.patch_media = true;
	f->bmc.vendor = "Lenovo";
	media_go_round(f);
}

static void media_where_insert_takes_the_image_alone(void **state)
{
	struct fixture *f = *state;

	f->bmc.bare_media = true;
	media_go_round(f);
	assert_true(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia/Cd/Actions/VirtualMedia.Ins") == 4);
}

static void the_table_saves_supermicro_the_refused_try(void **state)
{
	struct fixture *f = *state;

	f->bmc.bare_media = true;
	f->bmc.vendor = "Supermicro";
	media_go_round(f);
	assert_true(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia/Cd/Actions/VirtualMedia.Ins") == 2);
}

static void media_where_eject_takes_no_body(void **state)
{
	struct fixture *f = *state;

	f->bmc.eject_no_body = true;
	media_go_round(f);
}

static void media_where_inserted_stays_true(void **state)
{
	struct fixture *f = *state;

	f->bmc.eject_keeps_flag = true;
	media_go_round(f);
}

static void the_same_media_are_not_inserted_twice(void **state)
{
	struct fixture *f = *state;

	assert_done(insert(f, MEDIA));
	assert_done(insert(f, MEDIA));
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia"), 1);
}

static void a_bmc_without_a_slot_says_unsupported(void **state)
{
	struct fixture *f = *state;

	f->bmc.no_media = true;
	assert_int_equal(insert(f, MEDIA), ERR_UNSUPPORTED);
	assert_int_equal(read_media(f), ERR_UNSUPPORTED);
	assert_int_equal(eject(f), ERR_UNSUPPORTED);
}

static void a_search_that_was_cut_short_is_no_verdict(void **state)
{
	struct fixture *f = *state;
	struct selective s = {&f->bmc, "GET /redfish/v1/Systems/1/VirtualMedia/Cd", 503};

	f->bmc.tamper = select_tamper;
	f->bmc.tamper_arg = &s;
	assert_int_equal(insert(f, MEDIA), ERR_UNAVAILABLE);
	f->bmc.tamper = NULL;
	assert_done(insert(f, MEDIA));
}

/* --- hostile -------------------------------------------------------------------------------------- */

static void a_hundred_megabytes_are_cut_off(void **state)
{
	struct fixture *f = *state;

	f->bmc.huge = true;
	assert_int_equal(read_system(f), ERR_PROTOCOL);
	assert_non_null(strstr(f->err.text, "more than 1048576 bytes"));
}

static void a_reply_that_is_too_deep_is_refused(void **state)
{
	struct fixture *f = *state;

	f->bmc.deep = true;
	assert_int_equal(read_system(f), ERR_PROTOCOL);
}

static void a_reply_that_is_not_json_is_refused(void **state)
{
	struct fixture *f = *state;

	f->bmc.garbage = true;
	assert_int_equal(read_system(f), ERR_PROTOCOL);
}

static void a_link_to_another_server_is_not_followed(void **state)
{
	struct fixture *f = *state;
	struct fake_bmc other;

	fake_bmc_init(&other, f->bmc_group);
	http_mem_serve(f->net, "https://10.6.6.6", other.httpd);
	f->bmc.foreign_link = true;
	assert_int_equal(read_system(f), ERR_PROTOCOL);
	assert_int_equal(other.njournal, 0);
	http_mem_serve(f->net, "https://10.6.6.6", NULL);
	fake_bmc_done(&other);
}

static void a_loop_of_next_links_ends(void **state)
{
	struct fixture *f = *state;

	f->bmc.next_loop = f->bmc.managers_media = f->bmc.no_cd = true;
	assert_int_equal(read_media(f), ERR_UNSUPPORTED);
	assert_true(f->bmc.njournal < 12);
}

static void a_bmc_that_hangs_costs_one_exchange(void **state)
{
	struct fixture *f = *state;
	int64_t from = loop_now(f->loop);

	http_mem_hang(f->net, ORIGIN, true);
	assert_int_equal(read_system(f), ERR_TIMEOUT);
	assert_true(loop_now(f->loop) - from <= 16000);
	http_mem_hang(f->net, ORIGIN, false);
	assert_done(read_system(f));
}

static void operations_behind_a_hanging_one_end_too(void **state)
{
	struct fixture *f = *state;
	int64_t from = loop_now(f->loop);

	http_mem_hang(f->net, ORIGIN, true);
	for (int i = 0; i < 8; i++)
		redfish_read_system(client(f), on_system, f);
	loop_sim_run_until(f->loop, from + REDFISH_OP_MS + 1000);
	assert_int_equal(f->answers, 8);
	assert_int_equal(f->err.kind, ERR_TIMEOUT);
}

static void operations_run_in_the_order_of_asking(void **state)
{
	struct fixture *f = *state;

	redfish_power(client(f), true, on_plain, f);
	redfish_boot(client(f), REDFISH_BOOT_CD, NULL, on_plain, f);
	redfish_power(client(f), false, on_plain, f);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 20000);
	assert_int_equal(f->answers, 3);
	assert_false(f->bmc.on);
	assert_string_equal(f->bmc.boot_target, "Cd");
}

static void a_changed_certificate_stops_everything(void **state)
{
	struct fixture *f = *state;
	unsigned before;

	http_mem_pin(f->net, ORIGIN, PIN_A);
	assert_done(read_system(f));
	assert_string_equal(redfish_learned_pin(f->r), PIN_A);
	http_mem_pin(f->net, ORIGIN, PIN_B);
	before = f->bmc.njournal;
	assert_int_equal(power(f, false), ERR_DENIED);
	assert_int_equal(f->bmc.njournal, before);
	assert_false(redfish_login_refused(f->r));
}

static void an_unavailable_bmc_is_an_error_that_may_pass(void **state)
{
	struct fixture *f = *state;

	f->bmc.unavailable = true;
	assert_int_equal(read_system(f), ERR_UNAVAILABLE);
	f->bmc.unavailable = false;
	assert_done(read_system(f));
}

static void free_in_done(const struct redfish_system *s, const struct err *e, void *arg)
{
	struct fixture *f = arg;

	(void)s;
	answered(f, e);
	redfish_free(f->r);
	f->r = NULL;
}

static void the_client_may_be_freed_in_its_own_answer(void **state)
{
	struct fixture *f = *state;

	redfish_read_system(client(f), free_in_done, f);
	redfish_power(client(f), true, on_plain, f);
	assert_done(wait_answer(f));
	loop_sim_run_until(f->loop, loop_now(f->loop) + 60000);
	assert_int_equal(f->answers, 0);
	assert_false(f->bmc.on);
}

static void freeing_ends_what_is_in_flight_without_an_answer(void **state)
{
	struct fixture *f = *state;

	redfish_read_system(client(f), on_system, f);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 3);
	redfish_free(f->r);
	f->r = NULL;
	loop_sim_run_until(f->loop, loop_now(f->loop) + 60000);
	assert_int_equal(f->answers, 0);
}

static void the_password_is_in_the_login_alone(void **state)
{
	struct fixture *f = *state;

	assert_done(read_system(f));
	assert_done(insert(f, MEDIA));
	assert_false(fake_bmc_mentions(&f->bmc, "correct horse"));
}

static void a_bad_address_is_refused_at_once(void **state)
{
	struct fixture *f = *state;
	static const char *const bad[] = {"", "10.0.8.17", "ftp://10.0.8.17", "https://", "https://a@b", "https://h/../x",
					  "https://h/x?y=1", "https://h:port"};
	struct err e;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		f->spec.system_url = bad[i];
		assert_null(redfish_new(f->group, f->http, &f->spec, &e));
		assert_int_equal(e.kind, ERR_INVALID);
	}
	f->spec.system_url = "http://10.0.8.17";
	assert_null(redfish_new(f->group, f->http, &f->spec, &e));
}

/* --- torture -------------------------------------------------------------------------------------- */

enum trouble { REFUSED, EMPTY, NONSENSE, OTHER_TYPES, DENIED, GONE, SILENT, TROUBLES };

struct torture {
	unsigned at;
	enum trouble trouble;
	bool hit;
};

static bool tamper(struct httpd_req *q, unsigned n, void *arg)
{
	static const char types[] = "{\"Members\":{},\"Actions\":[],\"Links\":7,\"Boot\":\"x\",\"PowerState\":null,"
				    "\"MediaTypes\":{\"a\":1},\"Image\":[],\"@odata.id\":{}}";
	struct torture *t = arg;

	if (n != t->at)
		return false;
	t->hit = true;
	switch (t->trouble) {
	case REFUSED:
		httpd_reply_json(q, 503, "{}");
		break;
	case EMPTY:
		httpd_reply(q, 200, NULL, NULL, 0);
		break;
	case NONSENSE:
		httpd_reply(q, 200, "application/json", "[1,2", 4);
		break;
	case OTHER_TYPES:
		httpd_reply_json(q, 200, types);
		break;
	case DENIED:
		httpd_reply_json(q, 401, "{}");
		break;
	case GONE:
		httpd_reply_json(q, 404, "{}");
		break;
	case SILENT:
	case TROUBLES:
		break;
	}
	return true;
}

static void everything(struct fixture *f)
{
	(void)read_system(f);
	(void)power(f, true);
	(void)boot(f, REDFISH_BOOT_CD, NULL);
	(void)insert(f, MEDIA);
	(void)read_media(f);
	(void)eject(f);
	(void)boot(f, REDFISH_BOOT_NONE, NULL);
	(void)power(f, false);
}

/* One request of a long scenario goes wrong, each in turn and in each way: every operation answers
 * once, no login is refused but by a 401 to it, and the next round is as if nothing had been. */
static void any_one_failure_is_survived(void **state)
{
	(void)state;
	for (enum trouble trouble = REFUSED; trouble < TROUBLES; trouble++) {
		bool hit = true;

		for (unsigned at = 0; hit; at++) {
			struct torture t = {.at = at, .trouble = trouble};
			struct fixture *f;
			void *own;

			setup(&own);
			f = own;
			f->bmc.managers_media = f->bmc.action_info = f->bmc.etags = true;
			f->bmc.tamper = tamper;
			f->bmc.tamper_arg = &t;
			everything(f);
			f->bmc.tamper = NULL;
			hit = t.hit;
			/* Long enough for a slot that was looked for in vain to be looked for again. */
			loop_sim_run_until(f->loop, loop_now(f->loop) + 900000);
			if (redfish_login_refused(f->r)) {
				assert_int_equal(trouble, DENIED);
				redfish_retry_login(f->r);
			}
			assert_done(power(f, true));
			assert_done(insert(f, MEDIA));
			assert_done(boot(f, REDFISH_BOOT_CD, NULL));
			assert_done(read_system(f));
			assert_int_equal(f->power, REDFISH_POWER_ON);
			assert_string_equal(f->target, "Cd");
			assert_done(read_media(f));
			assert_string_equal(f->image, MEDIA);
			assert_true(fake_bmc_sessions(&f->bmc) <= 2);
			teardown(&own);
		}
	}
}

#define t(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(a_system_is_read_with_power_identity_and_boot),
		t(one_session_serves_many_reads),
		t(an_identity_of_zeros_is_none),
		t(a_baseboard_that_answers_503_is_not_the_host),
		t(a_configured_system_is_used_as_it_is),
		t(a_redirect_on_the_same_server_is_followed),
		t(without_a_session_service_basic_is_used),
		t(a_closed_root_that_wants_basic_gets_it),
		t(a_wrong_password_reaches_the_bmc_once),
		t(a_wrong_password_reaches_a_basic_bmc_once),
		t(a_wrong_password_reaches_a_closed_bmc_once),
		t(a_refused_login_is_tried_again_when_told_to),
		t(an_expired_session_is_renewed_once),
		t(a_password_changed_behind_our_back_is_refused_once),
		t(sessions_that_vanish_do_not_lead_to_basic),
		t(the_predecessors_session_is_deleted_before_anything_is_done),
		t(nothing_is_done_until_the_predecessors_session_is_gone),
		t(a_resource_that_is_denied_costs_one_new_login_and_not_the_session),
		t(a_session_number_used_again_is_not_deleted),
		t(logging_out_deletes_the_session),
		t(a_session_location_on_another_server_is_not_used),
		t(without_free_sessions_the_error_says_so),
		t(power_is_asked_for_and_read_later),
		t(a_bmc_that_lies_about_power_is_found_out_by_reading),
		t(asking_for_what_already_is_is_no_error),
		t(a_reset_refused_for_another_reason_is_an_error),
		t(reset_values_may_stand_in_action_info_alone),
		t(nothing_is_changed_without_permission),
		t(nothing_is_changed_on_another_machine_at_the_address),
		t(without_sessions_the_machine_is_proved_by_a_recent_look),
		t(an_identity_that_is_withheld_for_a_while_is_no_other_one),
		t(a_session_that_expires_before_the_machine_was_proved_is_renewed),
		t(a_boot_override_is_set_once_and_cleared),
		t(http_boot_takes_its_address_along),
		t(overrides_go_to_the_pending_object_that_has_them),
		t(a_tag_is_sent_with_a_patch),
		t(a_tag_that_is_not_accepted_is_left_out),
		t(a_mode_that_is_refused_is_left_out),
		t(without_none_the_disk_is_how_an_override_is_cleared),
		t(supermicro_boots_virtual_cds_as_usbcd_but_for_one_model),
		t(media_under_the_system),
		t(media_under_the_manager),
		t(media_that_are_patched_in),
		t(media_of_lenovo),
		t(media_where_insert_takes_the_image_alone),
		t(the_table_saves_supermicro_the_refused_try),
		t(media_where_eject_takes_no_body),
		t(media_where_inserted_stays_true),
		t(the_same_media_are_not_inserted_twice),
		t(a_bmc_without_a_slot_says_unsupported),
		t(a_search_that_was_cut_short_is_no_verdict),
		t(a_hundred_megabytes_are_cut_off),
		t(a_reply_that_is_too_deep_is_refused),
		t(a_reply_that_is_not_json_is_refused),
		t(a_link_to_another_server_is_not_followed),
		t(a_loop_of_next_links_ends),
		t(a_bmc_that_hangs_costs_one_exchange),
		t(operations_behind_a_hanging_one_end_too),
		t(operations_run_in_the_order_of_asking),
		t(a_changed_certificate_stops_everything),
		t(an_unavailable_bmc_is_an_error_that_may_pass),
		t(the_client_may_be_freed_in_its_own_answer),
		t(freeing_ends_what_is_in_flight_without_an_answer),
		t(the_password_is_in_the_login_alone),
		t(a_bad_address_is_refused_at_once),
		cmocka_unit_test(any_one_failure_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
