/* Tests the facts that a client learns about its BMC from the replies of other operations. */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "redfish/internal.h"
#include "tests/contract/slow_bmc.h"
#include "tests/unit/redfish/bmc_rig.h"

static void nothing_is_known_before_it_was_asked(void **state)
{
	struct redfish_facts k = redfish_facts(bmc_client(*state));

	assert_null(k.system);
	assert_null(k.vendor);
	assert_null(k.firmware);
	assert_int_equal(k.slot_kind, REDFISH_SLOT_UNKNOWN);
	assert_int_equal(k.login, REDFISH_LOGIN_NONE);
	assert_int_equal(k.latency_ms, -1);
	assert_int_equal(k.calls, 0);
	assert_int_equal(k.nquirks, 0);
}

static void a_look_tells_the_make_and_the_quirks_in_force(void **state)
{
	struct bmc_rig *f = *state;
	struct redfish_facts k;

	f->bmc.vendor = "Supermicro";
	f->bmc.model = "ARS-111GL-NHR";
	assert_done(bmc_read_system(f));
	k = redfish_facts(f->r);
	assert_string_equal(k.system, "/redfish/v1/Systems/1");
	assert_string_equal(k.vendor, "Supermicro");
	assert_string_equal(k.product, "ARS-111GL-NHR");
	assert_string_equal(k.redfish_version, "1.11.0");
	assert_int_equal(k.login, REDFISH_LOGIN_SESSION);
	assert_int_equal(k.nquirks, 3);
	assert_string_equal(k.quirks[0].id, "Q18-supermicro");
	assert_string_equal(k.quirks[2].id, "Q30-ars-111gl-nhr");
	assert_string_equal(k.quirks[2].name, "virtual CD booted as Cd");
}

static void basic_is_told_from_a_session(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.basic_only = true;
	assert_done(bmc_read_system(f));
	assert_int_equal(redfish_facts(f->r).login, REDFISH_LOGIN_BASIC);
}

static enum redfish_slot_kind way(struct bmc_rig *f)
{
	(void)bmc_read_media(f);
	return redfish_facts(f->r).slot_kind;
}

static void the_way_of_media_is_that_of_the_slot(void **state)
{
	struct bmc_rig *f = *state;

	assert_int_equal(way(f), REDFISH_SLOT_HTTP);
	assert_true(str_starts(redfish_facts(f->r).slot, "/redfish/v1/Systems/1/VirtualMedia/"));
	bmc_drop_client(f);
	f->bmc.lists_https = 3;
	assert_int_equal(way(f), REDFISH_SLOT_HTTPS);
	bmc_drop_client(f);
	f->bmc.no_media = true;
	assert_int_equal(way(f), REDFISH_SLOT_NONE);
	assert_null(redfish_facts(f->r).slot);
	bmc_drop_client(f);
	f->bmc.no_media = false;
	f->bmc.managers_media = f->bmc.media_off = true;
	assert_int_equal(way(f), REDFISH_SLOT_DISABLED);
}

static void on_drives(const struct redfish_drives *d, const struct err *e, void *arg)
{
	(void)d;
	bmc_answered(arg, e);
}

/* The list of drives is read for each tenancy, so that a firmware update is noticed. */
static void the_firmware_is_read_with_each_list_of_drives(void **state)
{
	struct bmc_rig *f = *state;

	redfish_read_drives(bmc_client(f), NULL, on_drives, f);
	assert_done(bmc_wait_answer(f));
	assert_string_equal(redfish_facts(f->r).firmware, "7.10.30");
	f->bmc.firmware = "7.20.10";
	redfish_read_drives(f->r, NULL, on_drives, f);
	assert_done(bmc_wait_answer(f));
	assert_string_equal(redfish_facts(f->r).firmware, "7.20.10");
}

static void a_manager_that_fails_keeps_no_list_of_drives_back(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective fails = {
		.bmc = &f->bmc, .start = "GET /redfish/v1/Managers/BMC", .status = 503};

	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &fails;
	redfish_read_drives(bmc_client(f), NULL, on_drives, f);
	assert_done(bmc_wait_answer(f));
	assert_null(redfish_facts(f->r).firmware);
}

static void latency_and_calls_are_those_of_the_answers(void **state)
{
	struct bmc_rig *f = *state;
	struct slow_bmc slow;
	struct redfish_facts k;

	slow_bmc_init(&slow, &f->bmc, f->bmc_group, 800);
	assert_done(bmc_read_system(f));
	k = redfish_facts(f->r);
	assert_in_range(k.latency_ms, 780, 900);
	assert_int_equal(k.calls, f->bmc.requests);
	assert_int_equal(k.calls, slow.answered);
	/* A single different latency changes the average by an eighth of the difference. */
	slow.ms = 1600;
	assert_done(bmc_read_system(f));
	assert_int_equal(redfish_facts(f->r).calls, k.calls + 1);
	assert_in_range(redfish_facts(f->r).latency_ms, k.latency_ms + 80, k.latency_ms + 120);
}

struct able {
	struct bmc_rig *f;
	struct redfish_abilities a;
	char tpm[32];
};

static void on_able(const struct redfish_abilities *a, const struct err *e, void *arg)
{
	struct able *t = arg;

	bmc_answered(t->f, e);
	if (!a)
		return;
	t->a = *a;
	str_copy(t->tpm, sizeof(t->tpm), str_or(a->tpm, ""));
}

static struct able able(struct bmc_rig *f)
{
	struct able t = {.f = f};

	bmc_drop_client(f);
	redfish_read_abilities(bmc_client(f), on_able, &t);
	assert_done(bmc_wait_answer(f));
	return t;
}

static void what_a_bmc_can_do_is_what_it_lists(void **state)
{
	struct bmc_rig *f = *state;
	struct able t;

	(void)bmc_client(f);
	t = able(f);
	assert_true(t.a.on && t.a.off && t.a.forced_off && t.a.boots_cd && t.a.boots_http);
	assert_false(t.a.updates);
	assert_string_equal(t.tpm, "");
	assert_string_equal(redfish_facts(f->r).firmware, "7.10.30");
	f->bmc.no_force_off = f->bmc.action_info = true;
	f->bmc.no_http_boot = true;
	f->bmc.health = "{'TrustedModules': [{'Status': {'State': 'Absent'}},"
			" {'InterfaceType': 'TPM2_0'}]}";
	t = able(f);
	assert_true(t.a.on && t.a.off && t.a.boots_cd);
	assert_false(t.a.forced_off || t.a.boots_http);
	assert_string_equal(t.tpm, "TPM2_0");
	/* The pending object lists only the disk, the System the other targets, and the System
	 * accepts them. */
	f->bmc.no_http_boot = false;
	f->bmc.pending_short = true;
	t = able(f);
	assert_true(t.a.boots_http);
	/* The abilities were found without a change. */
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH"), 0);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(nothing_is_known_before_it_was_asked),
		bmc_test(a_look_tells_the_make_and_the_quirks_in_force),
		bmc_test(basic_is_told_from_a_session),
		bmc_test(the_way_of_media_is_that_of_the_slot),
		bmc_test(the_firmware_is_read_with_each_list_of_drives),
		bmc_test(a_manager_that_fails_keeps_no_list_of_drives_back),
		bmc_test(what_a_bmc_can_do_is_what_it_lists),
		bmc_test(latency_and_calls_are_those_of_the_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
