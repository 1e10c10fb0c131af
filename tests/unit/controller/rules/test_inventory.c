#include "tests/unit/testing.h"

#include "controller/rules/inventory.h"

#define UUID "4c4c4544-0042-3510-8052-b4c04f4e3732"

static void drives_that_are_too_many_or_others_are_named(void **state)
{
	struct provider_object_instance_type type = {.name = "h100"};
	struct provider_object p = {.spec.instance_types = {&type, 1}};
	struct object_drive wanted[3] = {
		{.wwn = "eui.1", .bytes = 1000, .serial_number = "N1", .slot = "slot 1"},
		{.wwn = "eui.3", .bytes = 1000, .serial_number = "N3"},
		{.wwn = "eui.4", .bytes = 1000},
	};
	struct object_drive seen = {
		.wwn = "eui.3", .bytes = 1000, .serial_number = "N3", .slot = "bay 3"};
	struct machine_inventory last = {.drives = {&seen, 1}};
	struct machine_identity who = {.system_uuid = UUID, .serial_number = "S1"};
	struct machine m = {
		.spec = {.instance_type = "h100", .identity = &who, .drives = {wanted, 1}}};
	struct proto_drive found[2] = {
		{.wwn = "eui.1", .bytes = 1000},
		{.wwn = "eui.2", .bytes = 1000, .serial = "N2", .slot = "slot 2"}};
	struct proto_inventory inv = {.dmi = {.system_uuid = UUID, .serial = "S1"},
				      .drives = {found, 1}};
	struct err e;

	(void)state;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_NONE);
	inv.drives.n = 2;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_DriveUnknown);
	assert_string_equal(e.text, "drives not in spec.drives: eui.2 (serial N2, slot 2)");
	inv.drives.n = 1;
	found[0].fault = "8192 sectors are hidden";
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_StorageHidden);
	assert_string_equal(e.text, "drive eui.1: 8192 sectors are hidden");
	found[0].fault = NULL;
	found[0].bytes = 2000;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_InventoryMismatch);
	assert_string_equal(
		e.text, "drive eui.1 (serial N1, slot 1): spec.drives has 1000 bytes, the agent "
			"found 2000");
	found[0].bytes = 1000;
	/* The text names the slot of a drive, which is known only from the last inspection. */
	m.spec.drives.n = 2;
	m.status.inventory = &last;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_DriveMissing);
	assert_string_equal(e.text, "drives missing: eui.3 (serial N3, bay 3)");
	found[0].wwn = "eui.2"; /* a replaced drive still counts as missing */
	m.spec.drives.n = 3;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_DriveMissing);
	assert_string_equal(
		e.text,
		"drives missing: eui.1 (serial N1, slot 1), eui.3 (serial N3, bay 3), eui.4; "
		"not in spec.drives: eui.2");
	found[0].wwn = "eui.1";
	m.spec.drives.n = 2;
	wanted[1] = wanted[0]; /* one drive listed twice is not two drives */
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_InventoryMismatch);
	assert_string_equal(e.text, "spec.drives lists 2 drives, the agent found 1");
	m.spec.instance_type = "h200";
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_InventoryMismatch);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

/* However many and long the names are, the first drive is named in full and the others are
 * counted. */
static void of_many_drives_the_first_are_named(void **state)
{
	struct provider_object_instance_type type = {.name = "h100"};
	struct provider_object p = {.spec.instance_types = {&type, 1}};
	struct object_drive wanted[100];
	struct machine_identity who = {.system_uuid = UUID, .serial_number = "S1"};
	struct machine m = {
		.spec = {.instance_type = "h100", .identity = &who, .drives = {wanted, 100}}};
	struct proto_inventory inv = {.dmi = {.system_uuid = UUID, .serial = "S1"}};
	char wwns[100][200], serial[200];
	struct err e;

	(void)state;
	memset(serial, 's', sizeof(serial) - 1);
	serial[sizeof(serial) - 1] = '\0';
	for (int i = 0; i < 100; i++) {
		snprintf(wwns[i], sizeof(wwns[i]), "wwn %d%150s", i, "-");
		wanted[i] = (struct object_drive){
			.wwn = wwns[i], .serial_number = serial, .slot = serial};
	}
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_DriveMissing);
	assert_non_null(strstr(e.text, "missing: wwn 0 "));
	assert_non_null(strstr(e.text, " and 99 more"));
}

static void controllers_that_went_lost_their_driver_or_hide_something_are_named(void **state)
{
	struct provider_object_instance_type type = {.name = "h100"};
	struct provider_object p = {.spec.instance_types = {&type, 1}};
	struct object_controller wanted[] = {{.id = "144d:a80a", .driven = 2},
					     {.id = "8086:201d", .dark = 1}};
	struct machine_identity who = {.system_uuid = UUID, .serial_number = "S1"};
	struct machine m = {
		.spec = {.instance_type = "h100", .identity = &who, .controllers = {wanted, 2}}};
	struct proto_controller found[] = {
		{.address = "0000:01:00.0", .id = "144d:a80a", .driver = "nvme"},
		{.address = "0000:00:0e.0", .id = "8086:201d"},
		{.address = "0000:02:00.0", .id = "144d:a80a", .driver = "nvme"},
		{.address = "0000:00:17.0", .id = "8086:a182", .driver = "ahci"},
	};
	struct proto_inventory inv = {.dmi = {.system_uuid = UUID, .serial = "S1"},
				      .controllers = {found, 4}};
	OWN(arena) a = arena_new();
	struct err e;

	(void)state;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e),
			 REASON_NONE); /* an additional controller with a driver is no misfit */
	assert_int_equal(inventory_controllers(&inv, a).n, 3);
	found[2].driver = NULL;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_InventoryMismatch);
	assert_string_equal(
		e.text,
		"spec.controllers requires 2 of PCI ID 144d:a80a with a driver, the agent found 1");
	wanted[0].driven = 1;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_InventoryMismatch);
	assert_string_equal(e.text,
			    "spec.controllers allows 0 of PCI ID 144d:a80a without a driver, the "
			    "agent found 1");
	wanted[0].dark = 1;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_NONE);
	/* A controller without a driver has an ID that no operator approved. */
	found[3].driver = NULL;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_InventoryMismatch);
	assert_string_equal(e.text,
			    "spec.controllers allows 0 of PCI ID 8086:a182 without a driver, the "
			    "agent found 1");
	inv.controllers.n = 0;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_InventoryMismatch);
	assert_string_equal(
		e.text,
		"spec.controllers requires 1 of PCI ID 144d:a80a with a driver, the agent found 0");
	inv.controllers.n = 4;
	/* spec.controllers is empty, as before the first inspection: nothing is compared. */
	m.spec.controllers.n = 0;
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_NONE);
	found[0].fault = "the controller is dead";
	assert_int_equal(inventory_misfit(&m, &p, &inv, &e), REASON_StorageHidden);
	assert_string_equal(e.text,
			    "storage controller 144d:a80a at 0000:01:00.0: the controller is dead");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			controllers_that_went_lost_their_driver_or_hide_something_are_named),
		cmocka_unit_test(drives_that_are_too_many_or_others_are_named),
		cmocka_unit_test(of_many_drives_the_first_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
