/* Tests the result of an erase: what was done, the level, and the reason of a failure.
 * test_erase_nvme.c tests the NVMe commands. */
#include "wipe/erase.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/erasing.h"
#include "tests/unit/wipe/flaky.h"

static void a_drive_is_fail_until_something_succeeded(void **state)
{
	(void)state;
	assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
	assert_string_equal(erasing.erase.device.technique, "None");
	assert_non_null(erasing.erase.device.reason);
}

static void overwritten_to_its_last_byte(const char *name, const char *type)
{
	uint8_t *all = mem_alloc(ERASING_BYTES);
	static char path[32]; /* Static, because erasing.info keeps the pointer. */
	struct err e;

	str_format(path, sizeof(path), "/dev/%s", name);
	erasing.info.path = path;
	erasing.info.type = type;
	erase_done(&erasing.erase);
	erase_init(&erasing.erase, &erasing.machine.host, &erasing.info, erasing.nonce, WIPE_FAIL,
		   500);
	assert_int_equal(machine_residue(&erasing.machine, name), ERASING_BYTES >> 20);
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_string_equal(erasing.erase.device.type, type);
	assert_string_equal(erasing.erase.device.technique, "Overwrite");
	assert_int_equal(erasing.erase.device.level, WIPE_CLEAR);
	assert_int_equal(erasing.erase.device.canaries.planted, 64);
	assert_int_equal(erasing.erase.device.canaries.found, 0);
	machine_peek(&erasing.machine, name, all, ERASING_BYTES, 0);
	assert_true(dio_all(all, ERASING_BYTES, 0));
	assert_ok(erase_verify(&erasing.erase, 1000, &e), &e);
	assert_int_equal(erasing.erase.device.reads.clean, 1000 + 512);
	assert_int_equal(erasing.erase.device.level, WIPE_CLEAR);
	free(all);
}

static void a_drive_without_format_is_overwritten_to_its_last_byte(void **state)
{
	(void)state;
	overwritten_to_its_last_byte(ERASING_NAME, "NVMe");
}

/* Drives of other types get no NVMe commands. */
static void a_drive_that_is_no_nvme_is_overwritten_to_its_last_byte(void **state)
{
	static const char *const others[][2] = {
		{"sda", "SATA"}, {"sdb", "SAS"}, {"vda", "Virtio"}, {"mmcblk0", "MMC"}};

	(void)state;
	erasing.drive.format = true;
	erasing.drive.sanicap = 2;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		machine_drive(&erasing.machine, others[i][0], "eui.0001\n", ERASING_BYTES);
		overwritten_to_its_last_byte(others[i][0], others[i][1]);
	}
	assert_int_equal(erasing.drive.formats + erasing.drive.sanitizes, 0);
	assert_int_equal(machine_residue(&erasing.machine, ERASING_NAME),
			 ERASING_BYTES >> 20); /* The drive ERASING_NAME was not to be wiped. */
}

/* Device names are reused: at verification, another drive may have the name. */
static void another_drive_under_the_same_name_is_neither_wiped_nor_verified(void **state)
{
	struct err e;

	(void)state;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	machine_file(&erasing.machine, "sys/block/" ERASING_NAME "/wwid", "eui.0002\n");
	assert_int_equal(erase_verify(&erasing.erase, 100, &e), -1);
	assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
	assert_non_null(strstr(e.text, "eui.0002"));

	machine_poke(&erasing.machine, ERASING_NAME, "kept", 4, 1 << 20);
	erase_done(&erasing.erase);
	erase_init(&erasing.erase, &erasing.machine.host, &erasing.info, erasing.nonce, WIPE_FAIL,
		   500);
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
	machine_file(&erasing.machine, "sys/block/" ERASING_NAME "/wwid", "eui.0001\n");
	char four[4];

	machine_peek(&erasing.machine, ERASING_NAME, four, 4, 1 << 20);
	assert_memory_equal(four, "kept", 4);
}

static void a_level_below_the_minimum_is_told_and_never_confirmed(void **state)
{
	struct err e;

	(void)state;
	erasing.erase.minimum_level = WIPE_PURGE;
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_int_equal(erasing.erase.device.level, WIPE_CLEAR);
	assert_string_equal(erasing.erase.device.reason, "EraseBelowPolicy");
	assert_string_equal(erasing.erase.device.technique, "Overwrite");
	assert_int_equal(erase_verify(&erasing.erase, 10, &e), -1);
	assert_int_equal(erasing.erase.device.level, WIPE_CLEAR);
}

static void a_read_only_drive_is_a_failure_and_stays_untouched(void **state)
{
	struct err e;

	(void)state;
	erasing.info.read_only = true;
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "ReadOnly");
	assert_int_equal(machine_residue(&erasing.machine, ERASING_NAME), ERASING_BYTES >> 20);
}

static void a_missing_node_never_becomes_a_file(void **state)
{
	struct err e;
	struct dio d;

	(void)state;
	erasing.info.path = "/dev/nvme9n1";
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "DriveMissing");
	assert_int_equal(dio_open(&d, &erasing.machine.host, "nvme9n1", false, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static void a_drive_that_changed_its_size_is_not_touched(void **state)
{
	struct err e;

	(void)state;
	erasing.info.bytes = ERASING_BYTES / 2;
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_int_equal(machine_residue(&erasing.machine, ERASING_NAME), ERASING_BYTES >> 20);
}

static void without_permission_a_regular_file_is_no_drive(void **state)
{
	struct err e;

	(void)state;
	erasing.machine.host.files_are_drives = false;
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_int_equal(machine_residue(&erasing.machine, ERASING_NAME), ERASING_BYTES >> 20);
}

/* --- drives with faults ---------------------------------------------------------------------- */

static void a_place_that_cannot_be_written_fails_the_drive_and_is_named(void **state)
{
	struct err e;

	(void)state;
	erasing.machine.host.ring = &flaky_ops;
	flaky.bad_at = (5 << 20) + 4096 * 3;
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
	assert_string_equal(erasing.erase.device.reason, "DriveFailed");
	assert_int_equal(erasing.erase.device.raw_status.n, 1);
	assert_int_equal(erasing.erase.device.raw_status.v[0], EIO);
	assert_non_null(strstr(e.text, "/dev/" ERASING_NAME));
	assert_non_null(strstr(e.text, "write at 5242880"));
}

static void a_short_write_is_finished(void **state)
{
	uint8_t *all = mem_alloc(ERASING_BYTES);
	struct err e;

	(void)state;
	erasing.machine.host.ring = &flaky_ops;
	flaky.half_at = ERASING_BYTES - 1 - 4096;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	machine_peek(&erasing.machine, ERASING_NAME, all, ERASING_BYTES, 0);
	assert_true(dio_all(all, ERASING_BYTES, 0));
	free(all);
}

static void a_drive_that_was_pulled_out_is_missing(void **state)
{
	char node[128];
	struct err e;

	(void)state;
	erasing.machine.host.ring = &flaky_ops;
	flaky.bad_at = 6 << 20;
	flaky.error = ENODEV;
	snprintf(node, sizeof(node), "%s/" ERASING_NAME, erasing.machine.dev);
	/* Removes the device node at the first write that fails. */
	flaky.unlink = node;
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "DriveMissing");
	assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
	assert_int_equal(erase_verify(&erasing.erase, 100, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "DriveMissing");
}

static void a_drive_that_stands_still_fails(void **state)
{
	struct err e;

	(void)state;
	erasing.machine.host.ring = &flaky_ops;
	erasing.machine.host.stall_ms = MACHINE_STALL_MS;
	flaky.hang_at = 3 << 20;
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "DriveFailed");
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_non_null(strstr(e.text, "/dev/" ERASING_NAME));
	assert_non_null(strstr(e.text, "write at 3145728"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, erasing_setup, erasing_teardown)
	const struct CMUnitTest tests[] = {
		T(a_drive_is_fail_until_something_succeeded),
		T(a_drive_without_format_is_overwritten_to_its_last_byte),
		T(a_drive_that_is_no_nvme_is_overwritten_to_its_last_byte),
		T(another_drive_under_the_same_name_is_neither_wiped_nor_verified),
		T(a_level_below_the_minimum_is_told_and_never_confirmed),
		T(a_read_only_drive_is_a_failure_and_stays_untouched),
		T(a_missing_node_never_becomes_a_file),
		T(a_drive_that_changed_its_size_is_not_touched),
		T(without_permission_a_regular_file_is_no_drive),
		T(a_place_that_cannot_be_written_fails_the_drive_and_is_named),
		T(a_short_write_is_finished),
		T(a_drive_that_was_pulled_out_is_missing),
		T(a_drive_that_stands_still_fails),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
