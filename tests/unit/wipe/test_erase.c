#include "wipe/erase.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/flaky.h"
#include "tests/unit/wipe/machine.h"
#include "wipe/drives.h"

#define BYTES (8 << 20)
#define NAME "nvme0n1"

/* A drive that answers as it is told. */
static struct {
	bool format, crypto; /* what it says that it can do */
	int status;	     /* of Format; -1: errno EIO */
	bool lies;	     /* reports success and leaves everything */
	bool noise;	     /* leaves noise instead of zeros */
	bool keeps_middle;   /* leaves the middle as it was */
	unsigned formats, last_ses, last_lbaf;
	uint32_t sanicap;
	int sanitize_status;
	bool two_namespaces;	/* active ones */
	bool managed, detached; /* can manage namespaces; has one that is attached to nobody */
	bool format_all, no_broadcast; /* Format hits all; it may not name them all */
	uint32_t deaf;		       /* Identify with this CNS fails; 0: none */
	uint32_t last_nsid;	       /* of Format */
	const uint16_t (*trail)[2];    /* SPROG, SSTAT of each poll; the last one stays */
	unsigned sanitizes, last_action, polls;
} drive;
static struct machine machine;

static void fill(uint8_t byte)
{
	uint8_t *all = mem_alloc(BYTES);

	memset(all, byte, BYTES);
	for (size_t i = 0; drive.noise && i < BYTES; i++)
		all[i] = (uint8_t)(i * 2654435761u >> 13);
	if (drive.keeps_middle) {
		size_t half = BYTES / 2 - (2 << 20);

		machine_poke(&machine, NAME, all, half, 0);
		machine_poke(&machine, NAME, all, half, BYTES - (off_t)half);
	} else {
		machine_poke(&machine, NAME, all, BYTES, 0);
	}
	free(all);
}

static int admin(int fd, struct nvme_passthru_cmd *c)
{
	uint8_t *out = (uint8_t *)(uintptr_t)c->addr;

	(void)fd;
	if (c->opcode == 0x06) {
		assert_int_equal(c->data_len, 4096);
		if (drive.deaf && drive.deaf == c->cdw10)
			return 0x2002;
		if (c->cdw10 == 1) {
			assert_int_equal(c->nsid, 0);
			out[256] = (uint8_t)((drive.format ? 2 : 0) | (drive.managed ? 8 : 0));
			out[524] = (uint8_t)((drive.crypto ? 4 : 0) | (drive.format_all ? 2 : 0) |
					     (drive.no_broadcast ? 8 : 0));
			memcpy(out + 328, &drive.sanicap, 4);
		} else if (c->cdw10 == 2) {
			out[0] = 1;
			out[4] = drive.two_namespaces ? 2 : 0;
		} else if (c->cdw10 == 0x10) {
			assert_true(drive.managed);
			out[0] = 1;
			out[4] = drive.detached ? 10 : 0;
		} else {
			assert_int_equal(c->cdw10, 0);
			assert_int_equal(c->nsid, 1);
			out[26] = 0x12; /* format 2, metadata at the end of the data */
			out[29] = 0x09; /* protection type 1, first bytes */
		}
		return 0;
	}
	if (c->opcode == 0x84) {
		assert_int_equal(c->nsid, 0);
		drive.sanitizes++;
		drive.last_action = c->cdw10;
		if (!drive.sanitize_status && !drive.lies)
			fill(0);
		return drive.sanitize_status;
	}
	if (c->opcode == 0x02) {
		assert_int_equal(c->cdw10, 0x007f0081);
		assert_int_equal(c->data_len, 512);
		memcpy(out, drive.trail[drive.polls], 4);
		drive.polls += drive.trail[drive.polls][0] || drive.trail[drive.polls][1] == 2;
		return 0;
	}
	assert_int_equal(c->opcode, 0x80);
	drive.last_nsid = c->nsid;
	drive.formats++;
	drive.last_ses = c->cdw10 >> 9 & 7;
	drive.last_lbaf = c->cdw10 & 0x1ff;
	/* SES 0 erases nothing: it must never be sent. */
	assert_int_not_equal(drive.last_ses, 0);
	if (drive.status < 0) {
		errno = EIO;
		return -1;
	}
	if (!drive.status && !drive.lies)
		fill(drive.last_ses == 1 ? 0xff : 0);
	return drive.status;
}

static struct erase erase;
static struct proto_drive info;
static struct secret *nonce;

static int setup(void **state)
{
	(void)state;
	memset(&drive, 0, sizeof(drive));
	flaky_reset();
	machine_init(&machine);
	machine.host.nvme_admin = admin;
	machine_drive(&machine, NAME, "eui.0001\n", BYTES);
	nonce = secret_from_str("a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	info = (struct proto_drive){
		.path = "/dev/" NAME, .type = "NVMe", .wwn = "eui.0001", .bytes = BYTES};
	erase_init(&erase, &machine.host, &info, nonce, WIPE_FAIL, 500);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	erase_done(&erase);
	secret_free(nonce);
	machine_done(&machine);
	return 0;
}

static void a_drive_is_fail_until_something_succeeded(void **state)
{
	(void)state;
	assert_int_equal(erase.device.level, WIPE_FAIL);
	assert_string_equal(erase.device.technique, "None");
	assert_non_null(erase.device.reason);
}

static void overwritten_to_its_last_byte(const char *name, const char *type)
{
	uint8_t *all = mem_alloc(BYTES);
	static char path[32]; /* info outlives this */
	struct err e;

	str_format(path, sizeof(path), "/dev/%s", name);
	info.path = path;
	info.type = type;
	erase_done(&erase);
	erase_init(&erase, &machine.host, &info, nonce, WIPE_FAIL, 500);
	assert_int_equal(machine_residue(&machine, name), BYTES >> 20);
	assert_ok(erase_run(&erase, &e), &e);
	assert_string_equal(erase.device.type, type);
	assert_string_equal(erase.device.technique, "Overwrite");
	assert_int_equal(erase.device.level, WIPE_CLEAR);
	assert_int_equal(erase.device.canaries.planted, 64);
	assert_int_equal(erase.device.canaries.found, 0);
	machine_peek(&machine, name, all, BYTES, 0);
	assert_true(dio_all(all, BYTES, 0));
	assert_ok(erase_verify(&erase, 1000, &e), &e);
	assert_int_equal(erase.device.reads.clean, 1000 + 512);
	assert_int_equal(erase.device.level, WIPE_CLEAR);
	free(all);
}

static void a_drive_without_format_is_overwritten_to_its_last_byte(void **state)
{
	(void)state;
	overwritten_to_its_last_byte(NAME, "NVMe");
}

/* Nobody asks them for what NVMe offers. */
static void a_drive_that_is_no_nvme_is_overwritten_to_its_last_byte(void **state)
{
	static const char *const others[][2] = {
		{"sda", "SATA"}, {"sdb", "SAS"}, {"vda", "Virtio"}, {"mmcblk0", "MMC"}};

	(void)state;
	drive.format = true;
	drive.sanicap = 2;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		machine_drive(&machine, others[i][0], "eui.0001\n", BYTES);
		overwritten_to_its_last_byte(others[i][0], others[i][1]);
	}
	assert_int_equal(drive.formats + drive.sanitizes, 0);
	assert_int_equal(machine_residue(&machine, NAME), BYTES >> 20); /* nobody named it */
}

static void format_is_chosen_by_capability_and_keeps_the_format(void **state)
{
	struct err e;

	(void)state;
	drive.format = true;
	assert_ok(erase_run(&erase, &e), &e);
	assert_string_equal(erase.device.technique, "FormatUserData");
	assert_int_equal(drive.last_ses, 1);
	/* LBA format 2, extended metadata, protection type 1 in the first bytes */
	assert_int_equal(drive.last_lbaf, 0x2 | 1 << 4 | 1 << 5 | 1 << 8);
	assert_ok(erase_verify(&erase, 100, &e), &e); /* all ones are as clean as zeros */
}

static void a_cryptographic_erase_may_leave_noise(void **state)
{
	struct err e;

	(void)state;
	drive.format = drive.crypto = drive.noise = true;
	assert_ok(erase_run(&erase, &e), &e);
	assert_string_equal(erase.device.technique, "FormatCrypto");
	assert_int_equal(drive.last_ses, 2);
	assert_ok(erase_verify(&erase, 500, &e), &e);
}

static void noise_after_a_user_data_erase_is_dirty(void **state)
{
	struct err e;

	(void)state;
	drive.format = drive.noise = true;
	assert_ok(erase_run(&erase, &e), &e);
	assert_int_equal(erase_verify(&erase, 500, &e), -1);
	assert_int_equal(erase.device.level, WIPE_FAIL);
	assert_string_equal(erase.device.reason, "EraseUnverified");
	assert_true(erase.device.reads.dirty > 0);
}

static void blocks_that_survive_a_cryptographic_erase_are_found(void **state)
{
	struct err e;
	uint8_t *was = mem_alloc(BYTES);

	(void)state;
	/* The whole drive holds data, so that a block left over shows. */
	drive.noise = true;
	fill(0);
	machine_peek(&machine, NAME, was, BYTES, 0);
	drive.noise = false;
	drive.format = drive.crypto = true;
	assert_ok(erase_run(&erase, &e), &e);
	machine_poke(&machine, NAME, was + (2 << 20), 3 << 20, 2 << 20);
	assert_int_equal(erase_verify(&erase, 500, &e), -1);
	assert_string_equal(erase.device.reason, "EraseUnverified");
	free(was);
}

/* Nobody saw what was there before, so nobody can say that it changed. */
static void a_block_that_could_be_read_only_afterwards_is_not_clean(void **state)
{
	static const char old[] = "what the tenant left";
	unsigned refused = 0;
	struct err e;

	machine.host.ring = &flaky_ops;
	for (int64_t at = 300 * 4096; at < 320 * 4096; at += 4096) {
		machine.host.ring = &flaky_ops;
		drive.format = drive.crypto = true;
		flaky.bad_at = at;
		if (!erase_run(&erase, &e)) {
			flaky.bad_at = -1;
			machine_poke(&machine, NAME, old, sizeof(old), at);
			if (erase_verify(&erase, 500, &e) < 0) {
				assert_string_equal(erase.device.reason, "DriveFailed");
				assert_int_equal(erase.device.level, WIPE_FAIL);
				assert_int_equal(erase.device.reads.unreadable, 1);
				refused++;
			}
		}
		teardown(state);
		setup(state);
	}
	assert_true(refused > 0);
}

/* Names are given again: another drive may stand in the slot when it comes to verifying. */
static void another_drive_under_the_same_name_is_neither_wiped_nor_verified(void **state)
{
	struct err e;

	(void)state;
	assert_ok(erase_run(&erase, &e), &e);
	machine_file(&machine, "sys/block/" NAME "/wwid", "eui.0002\n");
	assert_int_equal(erase_verify(&erase, 100, &e), -1);
	assert_int_equal(erase.device.level, WIPE_FAIL);
	assert_non_null(strstr(e.text, "eui.0002"));

	machine_poke(&machine, NAME, "kept", 4, 1 << 20);
	erase_done(&erase);
	erase_init(&erase, &machine.host, &info, nonce, WIPE_FAIL, 500);
	assert_int_equal(erase_run(&erase, &e), -1);
	assert_int_equal(erase.device.level, WIPE_FAIL);
	machine_file(&machine, "sys/block/" NAME "/wwid", "eui.0001\n");
	char four[4];

	machine_peek(&machine, NAME, four, 4, 1 << 20);
	assert_memory_equal(four, "kept", 4);
}

static void a_refused_format_falls_to_the_next_rung(void **state)
{
	struct err e;

	(void)state;
	drive.format = drive.crypto = true;
	drive.status = 0x2002; /* Invalid Field */
	assert_ok(erase_run(&erase, &e), &e);
	assert_int_equal(drive.formats, 2);
	assert_string_equal(erase.device.technique, "Overwrite");
	assert_int_equal(machine_residue(&machine, NAME), 0);
	/* Each command's answer is kept. */
	assert_int_equal(erase.device.raw_status.n, 3);
	assert_int_equal(erase.device.raw_status.v[0], 0x2002);
	assert_int_equal(erase.device.raw_status.v[1], 0x2002);
	assert_int_equal(erase.device.raw_status.v[2], 0);
}

static void a_drive_that_lies_is_found_out_and_overwritten(void **state)
{
	struct err e;

	(void)state;
	drive.format = drive.lies = true;
	assert_ok(erase_run(&erase, &e), &e);
	assert_string_equal(erase.device.technique, "Overwrite");
	assert_int_equal(machine_residue(&machine, NAME), 0);
}

static void a_format_that_leaves_the_middle_is_found_by_canaries(void **state)
{
	struct err e;

	(void)state;
	drive.format = drive.keeps_middle = true;
	assert_ok(erase_run(&erase, &e), &e);
	assert_string_equal(erase.device.technique, "Overwrite");
}

static void a_canary_left_behind_fails_the_verification(void **state)
{
	struct err e;
	struct dio d;
	struct ring *ring = ring_new(&machine.host, RING_DEPTH, VERIFY_BLOCK, false);

	(void)state;
	assert_ok(erase_run(&erase, &e), &e);
	assert_ok(dio_open(&d, &machine.host, NAME, true, &e), &e);
	struct verify v = {.drive = &d, .nonce = nonce, .wwn = info.wwn, .ring = ring};

	assert_int_equal(verify_find(&v, NULL), 0);
	assert_int_equal(verify_plant(&v, &e), 64);
	dio_close(&d);
	ring_free(ring);
	assert_int_equal(erase_verify(&erase, 0, &e), -1);
	assert_string_equal(erase.device.reason, "EraseUnverified");
	assert_int_equal(erase.device.canaries.found, 64);
}

/* Noise is allowed after it, so that the samples alone would not see them. */
static void canaries_left_by_a_cryptographic_erase_fail_the_verification(void **state)
{
	struct err e;
	struct dio d;
	struct ring *ring = ring_new(&machine.host, RING_DEPTH, VERIFY_BLOCK, false);

	(void)state;
	drive.format = drive.crypto = drive.noise = true;
	assert_ok(erase_run(&erase, &e), &e);
	assert_ok(dio_open(&d, &machine.host, NAME, true, &e), &e);
	struct verify v = {.drive = &d, .nonce = nonce, .wwn = info.wwn, .ring = ring};

	assert_int_equal(verify_plant(&v, &e), 64);
	dio_close(&d);
	ring_free(ring);
	assert_int_equal(erase_verify(&erase, 0, &e), -1);
	assert_int_equal(erase.device.reads.dirty, 0);
	assert_string_equal(erase.device.reason, "EraseUnverified");
}

static void one_sector_of_a_canary_is_enough(void **state)
{
	struct err e;
	struct dio d;
	uint8_t zeros[3584] = {0};
	struct ring *ring = ring_new(&machine.host, RING_DEPTH, VERIFY_BLOCK, false);

	(void)state;
	assert_ok(erase_run(&erase, &e), &e);
	assert_ok(dio_open(&d, &machine.host, NAME, true, &e), &e);
	struct verify v = {.drive = &d, .nonce = nonce, .wwn = info.wwn, .ring = ring};

	assert_int_equal(verify_plant(&v, &e), 64);
	dio_close(&d);
	/* Of each block only the last sector stays. */
	for (off_t at = 0; at < BYTES; at += VERIFY_BLOCK)
		machine_poke(&machine, NAME, zeros, sizeof(zeros), at);
	assert_ok(dio_open(&d, &machine.host, NAME, false, &e), &e);
	assert_int_equal(verify_find(&v, NULL), 64);
	dio_close(&d);
	ring_free(ring);
}

/* The agent judges itself as drover and an auditor do. */
static void a_drive_whose_counts_are_short_is_not_confirmed(void **state)
{
	struct err e;

	(void)state;
	assert_ok(erase_run(&erase, &e), &e);
	erase.device.canaries.planted = 63;
	assert_int_equal(erase_verify(&erase, 0, &e), -1);
	assert_string_equal(erase.device.reason, "EraseUnverified");
	assert_int_equal(erase.device.level, WIPE_FAIL);
	assert_non_null(strstr(e.text, "of 64 canaries 63 planted"));
}

static void residue_at_the_edge_fails_the_verification(void **state)
{
	struct err e;

	(void)state;
	assert_ok(erase_run(&erase, &e), &e);
	machine_poke(&machine, NAME, "x", 1, BYTES - 1);
	assert_int_equal(erase_verify(&erase, 0, &e), -1);
	assert_int_equal(erase.device.reads.dirty, 1);
	assert_int_equal(erase.device.level, WIPE_FAIL);
}

static void a_drive_that_was_not_wiped_cannot_be_verified(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(erase_verify(&erase, 0, &e), -1);
	assert_int_equal(erase.device.level, WIPE_FAIL);
}

static void a_level_below_the_minimum_is_told_and_never_confirmed(void **state)
{
	struct err e;

	(void)state;
	erase.minimum_level = WIPE_PURGE;
	assert_int_equal(erase_run(&erase, &e), -1);
	assert_int_equal(erase.device.level, WIPE_CLEAR);
	assert_string_equal(erase.device.reason, "EraseBelowPolicy");
	assert_string_equal(erase.device.technique, "Overwrite");
	assert_int_equal(erase_verify(&erase, 10, &e), -1);
	assert_int_equal(erase.device.level, WIPE_CLEAR);
}

static void a_read_only_drive_is_a_failure_and_stays_untouched(void **state)
{
	struct err e;

	(void)state;
	info.read_only = true;
	assert_int_equal(erase_run(&erase, &e), -1);
	assert_string_equal(erase.device.reason, "ReadOnly");
	assert_int_equal(machine_residue(&machine, NAME), BYTES >> 20);
}

static void a_missing_node_never_becomes_a_file(void **state)
{
	struct err e;
	struct dio d;

	(void)state;
	info.path = "/dev/nvme9n1";
	assert_int_equal(erase_run(&erase, &e), -1);
	assert_string_equal(erase.device.reason, "DriveMissing");
	assert_int_equal(dio_open(&d, &machine.host, "nvme9n1", false, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static void a_drive_that_changed_its_size_is_not_touched(void **state)
{
	struct err e;

	(void)state;
	info.bytes = BYTES / 2;
	assert_int_equal(erase_run(&erase, &e), -1);
	assert_int_equal(machine_residue(&machine, NAME), BYTES >> 20);
}

static void without_permission_a_regular_file_is_no_drive(void **state)
{
	struct err e;

	(void)state;
	machine.host.files_are_drives = false;
	assert_int_equal(erase_run(&erase, &e), -1);
	assert_int_equal(machine_residue(&machine, NAME), BYTES >> 20);
}

static const uint16_t done_trail[][2] = {{100, 2}, {30000, 2}, {65535, 0x101}, {0, 1}};

static void sanitize_comes_first_and_earns_purge(void **state)
{
	struct err e;

	(void)state;
	drive.sanicap = 7;
	drive.format = drive.crypto = drive.noise = true;
	drive.trail = done_trail;
	assert_ok(erase_run(&erase, &e), &e);
	assert_string_equal(erase.device.technique, "SanitizeCryptoErase");
	assert_int_equal(erase.device.level, WIPE_PURGE);
	assert_int_equal(erase.device.raw_status.n, 1);
	assert_int_equal(erase.device.raw_status.v[0], 0);
	assert_int_equal(drive.last_action, 4);
	assert_int_equal(drive.polls, 3); /* accepted is not done */
	assert_int_equal(drive.formats, 0);
	assert_ok(erase_verify(&erase, 100, &e), &e);
	assert_int_equal(erase.device.level, WIPE_PURGE);
}

static void sanitize_overwrite_asks_for_one_pass(void **state)
{
	struct err e;

	(void)state;
	drive.sanicap = 4;
	drive.trail = done_trail;
	assert_ok(erase_run(&erase, &e), &e);
	assert_string_equal(erase.device.technique, "SanitizeOverwrite");
	assert_int_equal(drive.last_action, 0x13);
}

static void a_refused_sanitize_falls_to_the_next_rung(void **state)
{
	struct err e;

	(void)state;
	drive.sanicap = 3;
	drive.sanitize_status = 0x2001;
	assert_ok(erase_run(&erase, &e), &e);
	assert_int_equal(drive.sanitizes, 2);
	assert_string_equal(erase.device.technique, "Overwrite");
	assert_int_equal(erase.device.level, WIPE_CLEAR);
}

static void a_sanitize_that_began_and_failed_is_replaced_by_nothing(void **state)
{
	static const uint16_t failed[][2] = {{100, 2}, {200, 3}, {0, 1}};
	static const uint16_t back[][2] = {{30000, 2}, {100, 2}, {0, 1}};
	static const uint16_t unknown[][2] = {{100, 2}, {200, 5}, {0, 1}};
	/* Each ends well for one who does not look. */
	static const uint16_t(*const trails[])[2] = {failed, back, unknown};
	struct err e;

	for (size_t i = 0; i < 3; i++) {
		teardown(state);
		setup(state);
		drive.sanicap = 7;
		drive.format = true;
		drive.trail = trails[i];
		assert_int_equal(erase_run(&erase, &e), -1);
		assert_int_equal(erase.device.level, WIPE_FAIL);
		assert_string_equal(erase.device.technique, "SanitizeCryptoErase");
		assert_int_equal(drive.sanitizes, 1);
		assert_int_equal(drive.formats, 0);
	}
}

static void a_sanitize_that_left_everything_is_a_failure(void **state)
{
	struct err e;

	(void)state;
	drive.sanicap = 2;
	drive.lies = true;
	drive.trail = done_trail;
	assert_int_equal(erase_run(&erase, &e), -1);
	assert_string_equal(erase.device.reason, "EraseUnverified");
}

static void second_namespace(void)
{
	drive.two_namespaces = true;
	machine_drive(&machine, "nvme0n2", "eui.0002\n", BYTES);
	machine_file(&machine, "sys/block/nvme0n2/nsid", "2\n");
}

static void sanitize_is_not_used_where_it_would_hit_another_namespace(void **state)
{
	struct err e;

	(void)state;
	drive.sanicap = 7;
	second_namespace();
	assert_ok(erase_run(&erase, &e), &e);
	assert_int_equal(drive.sanitizes, 0);
	assert_string_equal(erase.device.technique, "Overwrite");
}

static void format_names_one_namespace_or_all_as_the_drive_says(void **state)
{
	struct err e;

	drive.format = true;
	assert_ok(erase_run(&erase, &e), &e);
	assert_int_equal(drive.last_nsid, 1);
	for (int i = 0; i < 2; i++) {
		teardown(state);
		setup(state);
		drive.format = drive.format_all = true;
		drive.no_broadcast = i;
		assert_ok(erase_run(&erase, &e), &e);
		assert_true(drive.last_nsid == (i ? 1 : 0xffffffff));
	}
}

static void format_is_not_used_where_it_would_hit_another_namespace(void **state)
{
	struct err e;

	(void)state;
	drive.format = drive.crypto = drive.format_all = true;
	second_namespace();
	assert_ok(erase_run(&erase, &e), &e);
	assert_int_equal(drive.formats, 0);
	assert_string_equal(erase.device.technique, "Overwrite");
	/* Where it does not, each namespace has a Format of its own. */
	teardown(state);
	setup(state);
	drive.format = true;
	second_namespace();
	assert_ok(erase_run(&erase, &e), &e);
	assert_string_equal(erase.device.technique, "FormatUserData");
	assert_int_equal(drive.last_nsid, 1);
}

static void assert_namespace_hidden(void)
{
	struct err e;

	assert_int_equal(erase_run(&erase, &e), -1);
	assert_int_equal(erase.device.level, WIPE_FAIL);
	assert_string_equal(erase.device.reason, "NamespaceHidden");
	assert_non_null(strstr(e.text, "/dev/" NAME));
	assert_int_equal(drive.formats, 0);
}

static void a_namespace_without_a_block_device_fails_the_drive(void **state)
{
	(void)state;
	drive.format = drive.two_namespaces = true;
	/* Another controller's does not stand for it. */
	machine_drive(&machine, "nvme1n1", "eui.0003\n", BYTES);
	machine_file(&machine, "sys/block/nvme1n1/nsid", "2\n");
	assert_namespace_hidden();
}

static void a_namespace_that_is_attached_to_nobody_fails_the_drive(void **state)
{
	(void)state;
	drive.format = drive.managed = drive.detached = true;
	assert_namespace_hidden();
}

static void sanitize_reaches_a_namespace_that_nobody_sees(void **state)
{
	struct err e;

	(void)state;
	drive.managed = drive.detached = true;
	drive.sanicap = 2;
	drive.trail = done_trail;
	assert_ok(erase_run(&erase, &e), &e);
	assert_string_equal(erase.device.technique, "SanitizeBlockErase");
	assert_int_equal(erase.device.level, WIPE_PURGE);
}

static void a_drive_that_does_not_say_what_it_holds_fails(void **state)
{
	static const uint32_t deaf[] = {1, 2, 0x10};
	struct err e;

	for (size_t i = 0; i < 3; i++) {
		teardown(state);
		setup(state);
		drive.managed = drive.format = true;
		drive.deaf = deaf[i];
		assert_int_equal(erase_run(&erase, &e), -1);
		assert_int_equal(erase.device.level, WIPE_FAIL);
		assert_string_equal(erase.device.reason, "DriveFailed");
		assert_int_equal(drive.formats, 0);
	}
}

/* --- drives with faults ---------------------------------------------------------------------- */

static void a_place_that_cannot_be_written_fails_the_drive_and_is_named(void **state)
{
	struct err e;

	(void)state;
	machine.host.ring = &flaky_ops;
	flaky.bad_at = (5 << 20) + 4096 * 3;
	assert_int_equal(erase_run(&erase, &e), -1);
	assert_int_equal(erase.device.level, WIPE_FAIL);
	assert_string_equal(erase.device.reason, "DriveFailed");
	assert_int_equal(erase.device.raw_status.n, 1);
	assert_int_equal(erase.device.raw_status.v[0], EIO);
	assert_non_null(strstr(e.text, "/dev/" NAME));
	assert_non_null(strstr(e.text, "write at 5242880"));
}

static void a_short_write_is_finished(void **state)
{
	uint8_t *all = mem_alloc(BYTES);
	struct err e;

	(void)state;
	machine.host.ring = &flaky_ops;
	flaky.half_at = BYTES - 1 - 4096;
	assert_ok(erase_run(&erase, &e), &e);
	machine_peek(&machine, NAME, all, BYTES, 0);
	assert_true(dio_all(all, BYTES, 0));
	free(all);
}

static void a_drive_that_was_pulled_out_is_missing(void **state)
{
	char node[128];
	struct err e;

	(void)state;
	machine.host.ring = &flaky_ops;
	flaky.bad_at = 6 << 20;
	flaky.error = ENODEV;
	snprintf(node, sizeof(node), "%s/" NAME, machine.dev);
	/* With the first write that fails the node goes as well. */
	flaky.unlink = node;
	assert_int_equal(erase_run(&erase, &e), -1);
	assert_string_equal(erase.device.reason, "DriveMissing");
	assert_int_equal(erase.device.level, WIPE_FAIL);
	assert_int_equal(erase_verify(&erase, 100, &e), -1);
	assert_string_equal(erase.device.reason, "DriveMissing");
}

static void a_drive_that_stands_still_fails(void **state)
{
	struct err e;

	(void)state;
	machine.host.ring = &flaky_ops;
	machine.host.stall_ms = 20;
	flaky.hang_at = 3 << 20;
	assert_int_equal(erase_run(&erase, &e), -1);
	assert_string_equal(erase.device.reason, "DriveFailed");
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_non_null(strstr(e.text, "/dev/" NAME));
	assert_non_null(strstr(e.text, "write at 3145728"));
}

static void what_cannot_be_read_is_never_clean(void **state)
{
	struct err e;

	for (int i = 0; i < 2; i++) {
		teardown(state);
		setup(state);
		assert_ok(erase_run(&erase, &e), &e);
		machine.host.ring = &flaky_ops;
		machine.host.stall_ms = 20;
		flaky.bad_at = i ? -1 : BYTES - 4096 * 9;
		flaky.hang_at = i ? BYTES - 4096 * 9 : -1;
		assert_int_equal(erase_verify(&erase, 100, &e), -1);
		assert_int_equal(erase.device.level, WIPE_FAIL);
		assert_string_equal(erase.device.reason, "DriveFailed");
		/* Every block counts, as one or the other. */
		assert_int_equal(erase.device.reads.clean + erase.device.reads.unreadable,
				 100 + 512);
		assert_int_equal(erase.device.reads.unreadable, i ? 101 : 1);
		assert_non_null(strstr(e.text, "read at 8351744"));
	}
}

static void verification_keeps_many_reads_in_flight(void **state)
{
	struct err e;

	(void)state;
	assert_ok(erase_run(&erase, &e), &e);
	machine.host.ring = &flaky_ops;
	assert_ok(erase_verify(&erase, 1000, &e), &e);
	assert_int_equal(flaky.most_at_once, RING_DEPTH);
	assert_int_equal(flaky.pieces, 64 + 512 + 1000);
	assert_int_equal(atomic_load(&erase.progress.done_bytes),
			 atomic_load(&erase.progress.total_bytes));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_drive_is_fail_until_something_succeeded),
		T(a_drive_without_format_is_overwritten_to_its_last_byte),
		T(a_drive_that_is_no_nvme_is_overwritten_to_its_last_byte),
		T(format_is_chosen_by_capability_and_keeps_the_format),
		T(a_cryptographic_erase_may_leave_noise),
		T(noise_after_a_user_data_erase_is_dirty),
		T(blocks_that_survive_a_cryptographic_erase_are_found),
		T(a_block_that_could_be_read_only_afterwards_is_not_clean),
		T(another_drive_under_the_same_name_is_neither_wiped_nor_verified),
		T(a_refused_format_falls_to_the_next_rung),
		T(a_drive_that_lies_is_found_out_and_overwritten),
		T(a_format_that_leaves_the_middle_is_found_by_canaries),
		T(a_canary_left_behind_fails_the_verification),
		T(canaries_left_by_a_cryptographic_erase_fail_the_verification),
		T(one_sector_of_a_canary_is_enough),
		T(a_drive_whose_counts_are_short_is_not_confirmed),
		T(residue_at_the_edge_fails_the_verification),
		T(a_drive_that_was_not_wiped_cannot_be_verified),
		T(a_level_below_the_minimum_is_told_and_never_confirmed),
		T(a_read_only_drive_is_a_failure_and_stays_untouched),
		T(a_missing_node_never_becomes_a_file),
		T(a_drive_that_changed_its_size_is_not_touched),
		T(without_permission_a_regular_file_is_no_drive),
		T(sanitize_comes_first_and_earns_purge),
		T(sanitize_overwrite_asks_for_one_pass),
		T(a_refused_sanitize_falls_to_the_next_rung),
		T(a_sanitize_that_began_and_failed_is_replaced_by_nothing),
		T(a_sanitize_that_left_everything_is_a_failure),
		T(sanitize_is_not_used_where_it_would_hit_another_namespace),
		T(format_names_one_namespace_or_all_as_the_drive_says),
		T(format_is_not_used_where_it_would_hit_another_namespace),
		T(a_namespace_without_a_block_device_fails_the_drive),
		T(a_namespace_that_is_attached_to_nobody_fails_the_drive),
		T(sanitize_reaches_a_namespace_that_nobody_sees),
		T(a_drive_that_does_not_say_what_it_holds_fails),
		T(a_place_that_cannot_be_written_fails_the_drive_and_is_named),
		T(a_short_write_is_finished),
		T(a_drive_that_was_pulled_out_is_missing),
		T(a_drive_that_stands_still_fails),
		T(what_cannot_be_read_is_never_clean),
		T(verification_keeps_many_reads_in_flight),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
