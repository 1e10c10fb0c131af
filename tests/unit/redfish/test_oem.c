#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

#define ATTRIBUTES "/redfish/v1/Managers/BMC/Oem/Dell/DellAttributes/BMC"

static void dell(struct bmc_rig *f)
{
	f->bmc.vendor = "Dell";
	f->bmc.dell_attributes = true;
}

static void an_idrac_boots_virtual_media_by_its_attribute(void **state)
{
	struct bmc_rig *f = *state;

	dell(f);
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.first_device, "VCD-DVD");
	/* With target Cd, the physical drive would boot. */
	assert_string_equal(f->bmc.boot_target, "None");
	assert_done(bmc_read_system(f));
	assert_string_equal(f->target, "Cd");
	assert_string_equal(f->enabled, "Once");
	assert_done(bmc_boot(f, REDFISH_BOOT_NONE, NULL));
	assert_null(f->bmc.first_device);
	assert_done(bmc_read_system(f));
	assert_string_equal(f->target, "None");
}

static void an_attribute_that_the_boot_has_used_up_is_seen(void **state)
{
	struct bmc_rig *f = *state;

	dell(f);
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	f->bmc.first_device = NULL;
	assert_done(bmc_read_system(f));
	assert_string_equal(f->target, "None");
}

/* A previous leader may have set the attribute. */
static void the_attribute_is_looked_at_in_each_login_and_then_left(void **state)
{
	struct bmc_rig *f = *state;

	dell(f);
	f->bmc.first_device = "VCD-DVD";
	assert_done(bmc_read_system(f));
	assert_string_equal(f->target, "Cd");
	f->bmc.first_device = NULL;
	for (int i = 0; i < 5; i++)
		assert_done(bmc_read_system(f));
	assert_int_equal(fake_bmc_count(&f->bmc, "GET " ATTRIBUTES), 2);
	fake_bmc_expire(&f->bmc);
	assert_done(bmc_read_system(f));
	assert_int_equal(fake_bmc_count(&f->bmc, "GET " ATTRIBUTES), 3);
}

static void another_override_takes_the_attribute_away(void **state)
{
	struct bmc_rig *f = *state;

	dell(f);
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_done(bmc_boot(f, REDFISH_BOOT_HTTP, "https://10.1.0.5:8443/boot/x"));
	assert_null(f->bmc.first_device);
	assert_string_equal(f->bmc.boot_target, "UefiHttp");
}

/* Cd in the standard override means the physical drive, so drover did not set it. */
static void the_drive_in_the_box_is_not_virtual_media(void **state)
{
	struct bmc_rig *f = *state;

	dell(f);
	free(f->bmc.boot_target);
	free(f->bmc.boot_enabled);
	f->bmc.boot_target = mem_strdup("Cd");
	f->bmc.boot_enabled = mem_strdup("Once");
	assert_done(bmc_read_system(f));
	assert_string_equal(f->target, "PhysicalCd");
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_done(bmc_read_system(f));
	assert_string_equal(f->target, "Cd");
}

static void an_idrac_without_the_attribute_gets_the_override(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.vendor = "Dell";
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "Cd");
	for (int i = 0; i < 3; i++)
		assert_done(bmc_read_system(f));
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1/Managers/BMC"), 1);
}

static void an_idrac_that_refuses_the_attribute_gets_the_override(void **state)
{
	struct bmc_rig *f = *state;

	dell(f);
	f->bmc.attributes_refused = true;
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "Cd");
}

static void the_attribute_is_not_written_without_permission(void **state)
{
	struct bmc_rig *f = *state;

	dell(f);
	f->spec.may_act = bmc_may;
	f->allowed = false;
	assert_int_equal(bmc_boot(f, REDFISH_BOOT_CD, NULL), ERR_CONFLICT);
	assert_null(f->bmc.first_device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(an_idrac_boots_virtual_media_by_its_attribute),
		bmc_test(an_attribute_that_the_boot_has_used_up_is_seen),
		bmc_test(the_attribute_is_looked_at_in_each_login_and_then_left),
		bmc_test(another_override_takes_the_attribute_away),
		bmc_test(the_drive_in_the_box_is_not_virtual_media),
		bmc_test(an_idrac_without_the_attribute_gets_the_override),
		bmc_test(an_idrac_that_refuses_the_attribute_gets_the_override),
		bmc_test(the_attribute_is_not_written_without_permission),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
