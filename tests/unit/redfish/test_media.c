#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "tests/contract/slow_bmc.h"
#include "tests/unit/redfish/bmc_rig.h"

/* --- media ------------------------------------------------------------------------------------ */

static void media_go_round(struct bmc_rig *f)
{
	assert_done(bmc_read_media(f));
	assert_false(f->inserted);
	assert_done(bmc_eject(f));
	assert_done(bmc_insert(f, "http://10.0.8.2:8080/media/old.iso"));
	assert_done(bmc_insert(f, MEDIA));
	assert_done(bmc_read_media(f));
	assert_true(f->inserted);
	assert_string_equal(f->image, MEDIA);
	assert_string_equal(f->bmc.image, MEDIA);
	assert_done(bmc_eject(f));
	assert_done(bmc_read_media(f));
	assert_false(f->inserted);
	assert_null(f->bmc.image);
}

static void media_under_the_system(void **state)
{
	media_go_round(*state);
}

static void media_under_the_manager(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.managers_media = true;
	media_go_round(f);
}

static void media_that_are_patched_in(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.patch_media = f->bmc.etags = true;
	media_go_round(f);
}

static void media_of_lenovo(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.patch_media = true;
	f->bmc.vendor = "Lenovo";
	media_go_round(f);
}

static void media_where_insert_takes_the_image_alone(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.bare_media = true;
	media_go_round(f);
	assert_true(
		fake_bmc_count(
			&f->bmc,
			"POST /redfish/v1/Systems/1/VirtualMedia/Cd/Actions/VirtualMedia.Ins") ==
		3); /* The second insert knows the form. */
}

static void the_table_saves_supermicro_the_refused_try(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.bare_media = true;
	f->bmc.vendor = "Supermicro";
	media_go_round(f);
	assert_true(
		fake_bmc_count(
			&f->bmc,
			"POST /redfish/v1/Systems/1/VirtualMedia/Cd/Actions/VirtualMedia.Ins") ==
		2);
}

static void media_where_eject_takes_no_body(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.eject_no_body = true;
	media_go_round(f);
}

static void media_where_inserted_stays_true(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.eject_keeps_flag = true;
	media_go_round(f);
}

static void the_same_media_are_not_inserted_twice(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_insert(f, MEDIA));
	assert_done(bmc_insert(f, MEDIA));
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia"), 1);
}

static void a_bmc_without_a_slot_says_unsupported(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.no_media = true;
	assert_int_equal(bmc_insert(f, MEDIA), ERR_UNSUPPORTED);
	assert_int_equal(bmc_read_media(f), ERR_UNSUPPORTED);
	assert_int_equal(bmc_eject(f), ERR_UNSUPPORTED);
}

/* The System's links are still known from its last read. */
static void the_search_reads_no_system_that_was_just_read(void **state)
{
	struct bmc_rig *f = *state;
	unsigned reads;

	f->bmc.managers_media = true;
	assert_done(bmc_read_system(f));
	reads = fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems/1");
	assert_done(bmc_read_media(f));
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems/1"), reads);
}

static void a_search_that_was_cut_short_is_no_verdict(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "GET /redfish/v1/Systems/1/VirtualMedia/Cd", 503, NULL};

	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	assert_int_equal(bmc_insert(f, MEDIA), ERR_UNAVAILABLE);
	f->bmc.tamper = NULL;
	assert_done(bmc_insert(f, MEDIA));
}

/* Thirty slots at 3 s each exceed the time limit of an operation. */
static void a_search_goes_on_where_time_cut_it_off(void **state)
{
	struct bmc_rig *f = *state;
	struct slow_bmc slow;
	enum err_kind got = ERR_TIMEOUT;
	unsigned tries = 0;

	f->bmc.floppies = 30;
	slow_bmc_init(&slow, &f->bmc, f->bmc_group, 3000);
	while (got == ERR_TIMEOUT && tries++ < 5)
		got = bmc_read_media(f);
	assert_int_equal(got, ERR_NONE);
	assert_in_range(tries, 2, 3);
	/* Only the read that was interrupted is repeated. */
	assert_in_range(fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems/1/VirtualMedia/Floppy"),
			30, 32);
	f->bmc.tamper = NULL;
}

static void a_slot_that_is_not_served_hides_no_other(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "GET /redfish/v1/Systems/1/VirtualMedia/Floppy", 500,
				  NULL};

	f->bmc.floppies = 2;
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	assert_done(bmc_insert(f, MEDIA));
	bmc_drop_client(f);
	/* Without another slot, the unreadable one may be the right one: the client must not report
	 * that there is none. */
	f->bmc.no_cd = true;
	assert_int_equal(bmc_read_media(f), ERR_UNAVAILABLE);
	f->bmc.tamper = NULL;
	assert_int_equal(bmc_read_media(f), ERR_UNSUPPORTED);
}

static void slots_that_have_to_be_enabled_are_enabled_for_an_insert(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.media_off = f->bmc.managers_media = true;
	f->bmc.media_ms = 8000;
	assert_int_equal(bmc_read_media(f), ERR_UNSUPPORTED);
	assert_int_equal(bmc_eject(f), ERR_UNSUPPORTED);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Managers"), 0);
	assert_done(bmc_insert(f, MEDIA));
	assert_string_equal(f->bmc.image, MEDIA);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Managers/BMC/Actions/Oem"), 1);
	assert_done(bmc_read_media(f));
	assert_true(f->inserted);
}

static void slots_that_do_not_appear_are_asked_for_again_later(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.media_off = f->bmc.managers_media = true;
	f->bmc.media_ms = 60000;
	for (int i = 0; i < 4; i++) /* These failures do not pause the BMC. */
		assert_int_equal(bmc_insert(f, MEDIA), ERR_UNAVAILABLE);
	f->bmc.media_ms = 0;
	assert_done(bmc_insert(f, MEDIA));
}

static void a_slot_that_takes_no_medium_is_passed_over(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.inner_slot = true;
	assert_done(bmc_insert(f, MEDIA));
	assert_string_equal(f->bmc.image, MEDIA);
	assert_done(bmc_read_media(f));
	assert_string_equal(f->image, MEDIA);
	assert_done(bmc_eject(f));
	assert_done(bmc_insert(f, MEDIA));
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia/Inner"),
			 1);
}

static void a_slot_for_uploads_is_none_of_ours(void **state)
{
	static const char *const ids[] = {"RDOC1", "Remote4"};
	struct bmc_rig *f = *state;

	f->bmc.inner_slot = f->bmc.patch_media = true;
	f->bmc.vendor = "Lenovo";
	for (size_t i = 0; i < 2; i++) {
		f->bmc.inner_id = ids[i];
		media_go_round(f);
		bmc_drop_client(f);
	}
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia/Inner"),
			 0);
	f->bmc.vendor = "Contoso"; /* The slot names are reserved only for Lenovo. */
	assert_done(bmc_insert(f, MEDIA));
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia/Inner"),
			 1);
}

/* Gigabyte's slots, for example, report no MediaTypes. */
static void a_slot_that_says_no_types_is_taken_by_its_name(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.no_media_types = f->bmc.managers_media = f->bmc.media_off = true;
	f->bmc.enable_action = "#AMIManager.EnableRMedia";
	f->bmc.slot_id = "CD1";
	assert_done(bmc_insert(f, MEDIA));
	assert_done(bmc_eject(f));
	bmc_drop_client(f);
	f->bmc.slot_id = "Instance0";
	media_go_round(f);
	bmc_drop_client(f);
	f->bmc.slot_id = "HD1";
	assert_int_equal(bmc_read_media(f), ERR_UNSUPPORTED);
}

static void where_no_slot_takes_it_the_refusal_is_the_answer(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia/Cd", 405, NULL};

	f->bmc.inner_slot = true;
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	assert_int_equal(bmc_insert(f, MEDIA), ERR_UNSUPPORTED);
	assert_int_equal(f->err.code, 405);
	f->bmc.tamper = NULL;
	assert_done(bmc_insert(f, MEDIA));
}

static void media_that_want_a_name_get_none(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.named_media = true;
	assert_done(bmc_insert(f, MEDIA));
	assert_non_null(strstr(f->bmc.journal[f->bmc.njournal - 1],
			       "\"UserName\":\"none\",\"Password\":\"none\""));
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia"), 4);
}

static void the_table_says_which_form_a_bmc_wants(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.named_media = true;
	f->bmc.model = "DGXH100";
	assert_done(bmc_insert(f, MEDIA));
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia"), 1);
	assert_done(bmc_eject(f));
	f->bmc.model = NULL;
	f->bmc.vendor = "Nokia";
	f->bmc.named_media = false;
	bmc_drop_client(f); /* The new client reads everything again. */
	assert_done(bmc_insert(f, MEDIA));
	assert_non_null(
		strstr(f->bmc.journal[f->bmc.njournal - 1], "\"TransferProtocolType\":\"HTTP\"}"));
}

/* Each form of the body is sent once, whichever form is sent first. */
static void a_medium_that_nothing_helps_is_sent_in_every_form(void **state)
{
	static const char *const vendors[] = {"Contoso", "Supermicro", "Nokia"};
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia", 400, NULL};

	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	for (unsigned i = 0; i < 3; i++) {
		unsigned from = f->bmc.njournal;

		f->bmc.vendor = vendors[i];
		assert_int_equal(bmc_insert(f, MEDIA), ERR_INVALID);
		bmc_drop_client(f);
		assert_int_equal(fake_bmc_count(&f->bmc, s.start), 4 * (i + 1));
		for (unsigned a = from; a < f->bmc.njournal; a++)
			for (unsigned b = a + 1; b < f->bmc.njournal; b++)
				assert_false(str_starts(f->bmc.journal[a], s.start) &&
					     str_eq(f->bmc.journal[a], f->bmc.journal[b]));
	}
	f->bmc.tamper = NULL;
	f->bmc.tamper_arg = NULL;
}

/* The form accepted last is sent first; if all forms were refused, later inserts do not send all of
 * them again. */
static void the_form_that_was_taken_is_remembered(void **state)
{
	struct bmc_rig *f = *state;
	static const char insert[] =
		"POST /redfish/v1/Systems/1/VirtualMedia/Cd/Actions/VirtualMedia.Ins";

	f->bmc.named_media = true;
	assert_done(bmc_insert(f, MEDIA));
	assert_int_equal(fake_bmc_count(&f->bmc, insert), 4);
	assert_done(bmc_eject(f));
	assert_done(bmc_insert(f, MEDIA));
	assert_int_equal(fake_bmc_count(&f->bmc, insert), 5);
	assert_done(bmc_eject(f));
	f->bmc.https_only = true;
	assert_int_equal(bmc_insert(f, MEDIA), ERR_INVALID);
	assert_int_equal(fake_bmc_count(&f->bmc, insert), 9);
	for (unsigned i = 1; i < 4; i++) {
		assert_int_equal(bmc_insert(f, MEDIA), ERR_INVALID);
		assert_int_equal(fake_bmc_count(&f->bmc, insert), 9 + i);
	}
	assert_non_null(strstr(f->err.text, "ActionParameterValueFormatError"));
	f->bmc.https_only = false;
	f->bmc.named_media = false;
	f->bmc.bare_media = true; /* The BMC now accepts a different form, which is found later. */
	loop_sim_run_until(f->loop, loop_now(f->loop) + 600000);
	assert_done(bmc_insert(f, MEDIA));
}

#define TLS_MEDIA "https://10.0.8.2:8443/media/5f1c.iso"

static void a_slot_that_checks_gets_the_ca_once(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.verifies = 1;
	f->bmc.https_only = true;
	assert_done(bmc_insert(f, TLS_MEDIA));
	assert_string_equal(f->bmc.slot_ca, BMC_CA);
	assert_false(f->bmc.unverified);
	assert_done(bmc_eject(f));
	bmc_drop_client(f);
	assert_done(bmc_insert(f, TLS_MEDIA));
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/SlotCertificates"), 1);
	assert_done(bmc_read_media(f));
	assert_true(f->verifies);
}

/* The refusals of plain HTTP do not limit the forms that are tried over HTTPS: this BMC refuses the
 * first form of every body. */
static void a_bmc_that_refused_plain_media_gets_every_form_over_tls(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.https_only = true;
	f->bmc.named_media = true;
	assert_int_equal(bmc_insert(f, MEDIA), ERR_INVALID);
	assert_done(bmc_insert(f, TLS_MEDIA));
	assert_done(bmc_eject(f));
	f->bmc.verifies = 2;
	f->bmc.unverified = false;
	assert_done(bmc_insert(f, TLS_MEDIA));
}

static void a_slot_that_takes_no_ca_stops_checking(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.verifies = 2;
	assert_done(bmc_insert(f, TLS_MEDIA));
	assert_true(f->bmc.unverified);
	assert_done(bmc_read_media(f));
	assert_false(f->verifies);
	assert_done(bmc_eject(f));
	assert_done(bmc_insert(f, TLS_MEDIA));
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/SlotCertificates"), 1);
}

static void a_slot_whose_certificates_are_not_served_stops_checking(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "GET /redfish/v1/SlotCertificates", 500, NULL};

	f->bmc.verifies = 2;
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	assert_done(bmc_insert(f, TLS_MEDIA));
	assert_true(f->bmc.unverified);
}

/* For plain HTTP there is nothing to verify. */
static void plain_media_change_nothing_of_what_a_slot_checks(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.verifies = 2;
	f->bmc.unverified = false;
	assert_int_equal(bmc_insert(f, MEDIA), ERR_INVALID);
	assert_false(f->bmc.unverified);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/SlotCertificates"), 0);
}

/* The slot may list HTTPS in any of the places that the standard permits. A slot that lists nothing
 * does not count as supporting HTTPS. */
static void a_slot_that_lists_https_is_known_for_it(void **state)
{
	struct bmc_rig *f = *state;

	for (int where = 0; where <= 3; where++) {
		for (int patched = 0; patched <= (where == 1); patched++) {
			f->bmc.lists_https = where;
			f->bmc.patch_media = patched;
			assert_done(bmc_read_media(f));
			assert_int_equal(f->takes_https, where > 0);
			bmc_drop_client(f);
		}
	}
}

static void what_insert_takes_is_read_once(void **state)
{
	static const char info[] = "GET /redfish/v1/Systems/1/InsertMediaActionInfo";
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, info, 503, NULL};

	f->bmc.lists_https = 3;
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	assert_done(bmc_read_media(f)); /* The slot can be read although its ActionInfo cannot. */
	assert_false(f->takes_https);
	f->bmc.tamper = NULL;
	for (int i = 0; i < 3; i++) {
		assert_done(bmc_read_media(f));
		assert_true(f->takes_https);
	}
	assert_int_equal(fake_bmc_count(&f->bmc, info), 2);
}

/* Supermicro's BMCs, for example, list the parameter without its values. */
static void an_action_info_without_protocols_says_none(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.insert_info = true;
	for (int i = 0; i < 3; i++) {
		assert_done(bmc_read_media(f));
		assert_false(f->takes_https);
	}
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems/1/InsertMediaActionInfo"),
			 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(a_slot_that_lists_https_is_known_for_it),
		bmc_test(what_insert_takes_is_read_once),
		bmc_test(an_action_info_without_protocols_says_none),
		bmc_test(the_form_that_was_taken_is_remembered),
		bmc_test(a_slot_that_checks_gets_the_ca_once),
		bmc_test(a_bmc_that_refused_plain_media_gets_every_form_over_tls),
		bmc_test(a_slot_that_takes_no_ca_stops_checking),
		bmc_test(a_slot_whose_certificates_are_not_served_stops_checking),
		bmc_test(plain_media_change_nothing_of_what_a_slot_checks),
		bmc_test(media_under_the_system),
		bmc_test(media_under_the_manager),
		bmc_test(media_that_are_patched_in),
		bmc_test(media_of_lenovo),
		bmc_test(media_where_insert_takes_the_image_alone),
		bmc_test(the_table_saves_supermicro_the_refused_try),
		bmc_test(media_where_eject_takes_no_body),
		bmc_test(media_where_inserted_stays_true),
		bmc_test(the_same_media_are_not_inserted_twice),
		bmc_test(a_bmc_without_a_slot_says_unsupported),
		bmc_test(the_search_reads_no_system_that_was_just_read),
		bmc_test(a_search_that_was_cut_short_is_no_verdict),
		bmc_test(a_search_goes_on_where_time_cut_it_off),
		bmc_test(a_slot_that_is_not_served_hides_no_other),
		bmc_test(slots_that_have_to_be_enabled_are_enabled_for_an_insert),
		bmc_test(slots_that_do_not_appear_are_asked_for_again_later),
		bmc_test(a_slot_that_takes_no_medium_is_passed_over),
		bmc_test(a_slot_for_uploads_is_none_of_ours),
		bmc_test(a_slot_that_says_no_types_is_taken_by_its_name),
		bmc_test(where_no_slot_takes_it_the_refusal_is_the_answer),
		bmc_test(media_that_want_a_name_get_none),
		bmc_test(the_table_says_which_form_a_bmc_wants),
		bmc_test(a_medium_that_nothing_helps_is_sent_in_every_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
