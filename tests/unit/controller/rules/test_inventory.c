#include "tests/unit/testing.h"

#include "controller/rules/inventory.h"

#define UUID "4c4c4544-0042-3510-8052-b4c04f4e3732"

static void drives_that_are_too_many_or_others_are_named(void **state)
{
	struct provider_object_instance_type type = {.name = "h100"};
	struct provider_object p = {.spec.instance_types = {&type, 1}};
	struct object_drive wanted = {.wwn = "eui.1", .bytes = 1000};
	struct machine_identity who = {.system_uuid = UUID, .serial_number = "S1"};
	struct machine m = {
		.spec = {.instance_type = "h100", .identity = &who, .drives = {&wanted, 1}}};
	struct proto_drive found[2] = {{.wwn = "eui.1", .bytes = 1000},
				       {.wwn = "eui.2", .bytes = 1000}};
	struct proto_inventory inv = {.dmi = {.system_uuid = UUID, .serial = "S1"},
				      .drives = {found, 1}};
	struct err e;

	(void)state;
	assert_ok(inventory_fits(&m, &p, &inv, &e), &e);
	inv.drives.n = 2;
	assert_int_equal(inventory_fits(&m, &p, &inv, &e), -1);
	assert_string_equal(e.text, "spec.drives names 1, the agent found 2");
	inv.drives.n = 1;
	found[0].bytes = 2000;
	assert_int_equal(inventory_fits(&m, &p, &inv, &e), -1);
	assert_string_equal(e.text, "spec.drives: eui.1 of 1000 bytes is missing");
	m.spec.instance_type = "h200";
	assert_int_equal(inventory_fits(&m, &p, &inv, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drives_that_are_too_many_or_others_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
