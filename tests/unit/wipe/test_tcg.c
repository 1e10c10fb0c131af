/* Tests that a drive which its owner has locked (TCG Opal) is detected over each transport, and is
 * reported as locked, not as failed. */
#include "wipe/tcg.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/erasing.h"
#include "tests/unit/wipe/flaky.h"
#include "wipe/sat.h"
#include "wipe/scsi.h"

static uint8_t flags, page[4096];
static uint32_t length;
static bool refuses, deaf;
static int (*identify)(int fd, struct nvme_passthru_cmd *c);

/* Writes a Level 0 Discovery response with the two features TPer and Locking. */
static void discovery(uint8_t *out)
{
	static const uint8_t features[] = {0, 1, 0x10, 12, 1, 0, 0, 0, 0,    0,
					   0, 0, 0,    0,  0, 0, 0, 2, 0x10, 12};

	out[2] = (uint8_t)(length >> 8);
	out[3] = (uint8_t)length;
	memcpy(out + 48, features, sizeof(features));
	out[48 + sizeof(features)] = flags;
}

static int admin(int fd, struct nvme_passthru_cmd *c)
{
	if (c->opcode != 0x82) {
		int rc = identify(fd, c);

		if (c->opcode == 0x06 && c->cdw10 == 1)
			((uint8_t *)(uintptr_t)c->addr)[256] |= !deaf;
		return rc;
	}
	assert_false(deaf);
	assert_int_equal(c->cdw10, 0x01000100);
	assert_int_equal(c->cdw11, 512);
	if (refuses)
		return 0x2001;
	discovery((uint8_t *)(uintptr_t)c->addr);
	return 0;
}

static int ata(int fd, struct ata_command *c)
{
	(void)fd;
	assert_true(c->command == 0x5c && c->feature == 1 && c->count == 1 && c->lba == 0x100);
	c->status = refuses ? 0x51 : 0x50;
	discovery(c->data);
	return 0;
}

static int scsi(int fd, struct scsi_command *c)
{
	static const uint8_t cdb[12] = {0xa2, 1, 0, 1, 0, 0, 0, 0, 2, 0};

	(void)fd;
	assert_memory_equal(c->cdb, cdb, sizeof(cdb));
	c->status = refuses ? SCSI_CHECK : SCSI_GOOD;
	discovery(c->data);
	return 0;
}

static int setup(void **state)
{
	erasing_setup(state);
	identify = erasing.machine.host.nvme_admin;
	erasing.machine.host.nvme_admin = admin;
	erasing.machine.host.ata = ata;
	erasing.machine.host.scsi = scsi;
	flags = 0;
	length = 48 + 2 * 16 - 4;
	refuses = deaf = false;
	return 0;
}

static void a_lock_is_seen_over_each_transport(void **state)
{
	static const char *const types[] = {"NVMe", "SATA", "SAS"};
	static const struct {
		uint8_t flags;
		bool locked;
	} rows[] = {
		{0x01, false},		      /* Locking has no owner. */
		{0x03, false},		      /* Locking ranges exist, but none is locked. */
		{0x07, true},  {0x05, false}, /* Locking is not enabled. */
		{0x13, true},  /* The shadow MBR is shown instead of the drive's content. */
		{0x33, false}, /* The shadow MBR is enabled but no longer shown. */
	};

	(void)state;
	for (size_t t = 0; t < 3; t++) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
			flags = rows[i].flags;
			assert_int_equal(tcg_locked(&erasing.machine.host, 0, types[t], page),
					 rows[i].locked);
		}
		flags = 0x07;
		refuses = true;
		assert_false(tcg_locked(&erasing.machine.host, 0, types[t], page));
		refuses = false;
	}
	assert_false(tcg_locked(&erasing.machine.host, 0, "MMC", page));
	/* Features beyond the length in the header are ignored. */
	length = 48 + 16;
	assert_false(tcg_locked(&erasing.machine.host, 0, "SAS", page));
	length = 0;
	assert_false(tcg_locked(&erasing.machine.host, 0, "SAS", page));
}

static void a_drive_that_takes_no_canaries_is_asked_whether_it_is_locked(void **state)
{
	struct err e;

	for (int locked = 0; locked < 3; locked++) {
		erasing_teardown(state);
		setup(state);
		deaf = locked == 2; /* The third drive does not support Security Receive. */
		erasing.machine.host.ring = &flaky_ops;
		flaky.bad_at = 0;
		flags = locked ? 0x07 : 0x03;
		assert_int_equal(erasing_run(&erasing.erase, &e), -1);
		assert_string_equal(erasing.erase.device.reason,
				    locked == 1 ? "DriveLocked" : "DriveFailed");
	}
}

/* Zones accept only sequential writes, so canaries cannot be written at unpredictable positions. */
static void a_drive_of_zones_is_named_as_one(void **state)
{
	struct err e;

	(void)state;
	machine_file(&erasing.machine, "sys/block/" ERASING_NAME "/queue/zoned", "host-aware\n");
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	erasing_teardown(state);
	setup(state);
	machine_file(&erasing.machine, "sys/block/" ERASING_NAME "/queue/zoned", "host-managed\n");
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "DriveZoned");
	assert_int_equal(erasing.erase.device.raw_status.n, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, erasing_teardown)
	const struct CMUnitTest tests[] = {
		T(a_lock_is_seen_over_each_transport),
		T(a_drive_that_takes_no_canaries_is_asked_whether_it_is_locked),
		T(a_drive_of_zones_is_named_as_one),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
