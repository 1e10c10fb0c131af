#include "tests/unit/testing.h"

#include "base/str.h"
#include "controller/rules/listed.h"

static struct proto_drive seen[4] = {
	{.serial = "S6C1NA0TA01511", .wwn = "eui.0025389a210108da", .model = "CM6", .bytes = 1000},
	{.serial = "ZC1A0BCD0000C9350XYZ",
	 .wwn = "naa.5000c500a1b2c3d4",
	 .model = "SAMSUNG MZ7L3960",
	 .bytes = 2000},
	{.serial = "0123", .wwn = "naa.600605b00", .model = "PERC H755", .bytes = 960},
};
static const struct proto_inventory inv = {.drives = {seen, 3}};

/* Returns the IDs of listed drives that the agent's inventory does not account for, such as "S9
 * S8". */
static const char *missing(struct listed_drive *v, size_t n, struct arena *a)
{
	struct listed_unseen *out = arena_calloc(a, n, sizeof(*out));
	size_t found = listed_unseen(v, n, &inv, a, out);
	const char *text = "";

	for (size_t i = 0; i < found; i++)
		text = arena_printf(a, "%s%s%s", text, i ? " " : "", out[i].id);
	return text;
}

static void a_drive_is_known_by_its_serial_or_its_name_however_written(void **state)
{
	OWN(arena) a = arena_new();
	struct listed_drive v[] = {
		{.serial = "s6c1na0ta01511"},
		/* SCSI truncates the serial number; the beginning is enough. */
		{.serial = "ZC1A0BCD"},
		{.serial = "UNKNOWN1", .durable = "0025389A210108DA"},
		{.serial = "UNKNOWN2", .durable = "wwn-0x5000C500A1B2C3D4"},
		{.durable = "EUI.0025389A210108DA"},
	};

	(void)state;
	assert_string_equal(missing(v, 5, a), "");
}

static void what_nobody_saw_is_named_once(void **state)
{
	OWN(arena) a = arena_new();
	struct listed_drive v[] = {
		{.serial = "S6C1NA0TA01511"},
		{.serial = "S6C1NA0TA01512", .slot = "bay 2"},
		/* The same drive, listed again because of its second path. */
		{.serial = "S6C1NA0TA01512", .slot = "bay 2"},
		{.serial = "0123456"}, /* too short to be a truncated serial number */
		{.durable = "0025389A210108DB"},
	};

	(void)state;
	assert_string_equal(missing(v, 5, a), "S6C1NA0TA01512 0123456 0025389A210108DB");
}

static void parts_of_a_volume_that_was_seen_are_accounted_for(void **state)
{
	OWN(arena) a = arena_new();
	struct listed_drive v[] = {
		{.serial = "M2-AAAAA", .volume = "OS", .volume_durable = "600605B00"},
		{.serial = "M2-BBBBB", .volume = "OS", .volume_bytes = 960},
		{.serial = "HDD-CCCC", .volume = "DATA", .volume_bytes = 4000},
		{.serial = "SPARE-DD", .slot = "bay 9"},
		/* Size 1000 is also the size of a listed drive, so it does not identify the volume
		 * DATA2. */
		{.serial = "S6C1NA0TA01511"},
		{.serial = "HDD-EEEE", .volume = "DATA2", .volume_bytes = 1000},
	};
	struct listed_unseen u = {.id = "HDD-CCCC", .drive = &v[2]};

	(void)state;
	assert_string_equal(missing(v, 6, a), "HDD-CCCC SPARE-DD HDD-EEEE");
	assert_string_equal(listed_text(&u, a), "HDD-CCCC (part of virtual disk DATA)");
	v[2].slot = "bay 3";
	assert_string_equal(listed_text(&u, a), "HDD-CCCC (bay 3, part of virtual disk DATA)");
}

/* The BMC reports no serial numbers of these drives, so they are counted by model. A model that the
 * agent did not see does not count: it may be spelled differently, or be the BMC's own virtual
 * medium. */
static void without_serials_drives_of_a_model_are_counted(void **state)
{
	OWN(arena) a = arena_new();
	struct listed_drive v[] = {
		{.model = "CM6"}, {.model = "Virtual HDisk Device"},
		{.model = "CM6"}, {.model = "SAMSUNG MZ7L3960HCJR"},
		{.model = NULL},
	};

	(void)state;
	assert_string_equal(missing(v, 5, a), "CM6#2");
	assert_string_equal(missing(v, 2, a), "");
}

static void a_person_accounts_for_them_by_name(void **state)
{
	const char *ids[] = {"S9", "CM6#2"};
	struct machine m = {.spec.unseen_drives = {ids, 2}};

	(void)state;
	assert_true(listed_accounted(&m, "CM6#2"));
	assert_false(listed_accounted(&m, "CM6#3"));
	assert_false(listed_accounted(&m, "S"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drive_is_known_by_its_serial_or_its_name_however_written),
		cmocka_unit_test(what_nobody_saw_is_named_once),
		cmocka_unit_test(parts_of_a_volume_that_was_seen_are_accounted_for),
		cmocka_unit_test(without_serials_drives_of_a_model_are_counted),
		cmocka_unit_test(a_person_accounts_for_them_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
