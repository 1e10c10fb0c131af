#include "wipe/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/flaky.h"
#include "tests/unit/wipe/machine.h"
#include "wipe/dio.h"
#include "wipe/gpt.h"
#include "wipe/verify.h"

#define DRIVE (24 << 20)
#define NAME "nvme0n1"

static struct machine m;
static struct proto_drive drive;
static struct target *t;
static _Atomic int64_t written;
static uint8_t *image;

static void put(uint8_t *p, size_t n, uint64_t v)
{
	for (size_t i = 0; i < n; i++, v >>= 8)
		p[i] = (uint8_t)v;
}

/* Makes an image as large as the drive: with a backup partition table, space for a further
 * partition, and noise and zeros in alternating runs of 1 MiB. */
static void make_image(void)
{
	struct gpt g = {.block = 512,
			.blocks = DRIVE / 512,
			.first_usable = 34,
			.last_usable = DRIVE / 512 - 34};

	image = dio_buffer(DRIVE);
	for (size_t i = 1 << 20; i < DRIVE; i++)
		image[i] = i >> 20 & 1 ? (uint8_t)(i * 2654435761u >> 11) : 0;
	memcpy(g.header, "EFI PART\0\0\1\0\134\0\0\0", 16);
	put(g.header + 40, 8, 34);
	put(g.header + 72, 8, 2);
	put(g.header + 80, 4, 128);
	put(g.header + 84, 4, 128);
	g.entries[0] = g.entries[16] = 1;
	put(g.entries + 32, 8, 2048);
	put(g.entries + 40, 8, (16 << 20) / 512 - 1);
	gpt_write(&g, image, image + DRIVE - gpt_tail_bytes(&g));
}

static int setup(void **state)
{
	static const uint8_t seed[32] = {7};

	(void)state;
	flaky_reset();
	machine_init(&m);
	machine_drive(&m, NAME, "eui.1\n", DRIVE);
	drive = (struct proto_drive){.path = "/dev/" NAME, .wwn = "eui.1", .bytes = DRIVE};
	make_image();
	written = 0;
	t = target_new(&m.host, &drive, seed, &written);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	target_free(t);
	machine_done(&m);
	free(image);
	return 0;
}

static bool has_table(void)
{
	uint8_t head[1024], tail[512];

	machine_peek(&m, NAME, head, sizeof(head), 0);
	machine_peek(&m, NAME, tail, sizeof(tail), DRIVE - 512);
	return !memcmp(head + 512, "EFI PART", 8) || !memcmp(tail, "EFI PART", 8);
}

static void put_image(size_t bytes)
{
	struct err e;

	assert_ok(target_open(t, &e), &e);
	for (size_t at = 0; at < bytes; at += TARGET_PIECE) {
		uint8_t *piece = target_buffer(t, &e);
		size_t n = bytes - at < TARGET_PIECE ? bytes - at : TARGET_PIECE;

		assert_non_null(piece);
		memset(piece, 0xee, TARGET_PIECE);
		memcpy(piece, image + at, n);
		assert_ok(target_put(t, n, &e), &e);
		assert_false(has_table());
	}
}

/* Power may be lost at any moment: then neither the new image nor an older one must boot. */
static void until_it_is_finished_the_drive_has_no_table(void **state)
{
	static const uint8_t digest[CRYPTO_SHA256] = {1};
	struct err e;
	struct gpt g;
	uint8_t *got = dio_buffer(DRIVE);
	int64_t at, bytes;

	(void)state;
	/* The drive has the partition tables of an older image. */
	machine_poke(&m, NAME, image, GPT_HEAD, 0);
	machine_poke(&m, NAME, image + DRIVE - GPT_HEAD, GPT_HEAD, DRIVE - GPT_HEAD);
	assert_true(has_table());
	put_image(DRIVE);
	assert_ok(target_settle(t, &e), &e);
	assert_false(has_table());
	assert_ok(target_fit(t, digest, &e), &e);
	assert_false(has_table());
	assert_ok(target_finish(t, &e), &e);
	assert_true(has_table());
	assert_true(written >= DRIVE);

	machine_peek(&m, NAME, got, DRIVE, 0);
	assert_memory_equal(got + GPT_HEAD, image + GPT_HEAD, 17 << 20);
	assert_ok(gpt_read(&g, got, 512, DRIVE, &e), &e);
	assert_true(gpt_find(&g, TARGET_CIDATA, &at, &bytes));
	free(got);
}

/* A run of zeros counts as progress, so that the watchdog does not give up the drive. */
static void zeros_that_are_written_later_are_a_sign_of_life_now(void **state)
{
	struct err e;
	uint8_t *piece;

	(void)state;
	put_image(2 << 20);
	for (int i = 0; i < 4; i++) {
		int64_t before = written;

		piece = target_buffer(t, &e);
		assert_non_null(piece);
		memset(piece, 0, TARGET_PIECE);
		assert_ok(target_put(t, TARGET_PIECE, &e), &e);
		assert_true(written > before);
	}
}

static void an_image_of_odd_length_is_filled_up_with_zeros(void **state)
{
	uint8_t got[VERIFY_BLOCK];
	size_t bytes = (19 << 20) + 700;
	struct err e;

	(void)state;
	put_image(bytes);
	assert_ok(target_settle(t, &e), &e);
	machine_peek(&m, NAME, got, sizeof(got), 19 << 20);
	assert_memory_equal(got, image + (19 << 20), 700);
	assert_true(dio_all(got + 700, sizeof(got) - 700, 0));
}

static void what_is_larger_than_the_drive_is_refused(void **state)
{
	struct err e;

	(void)state;
	put_image(DRIVE);
	assert_non_null(target_buffer(t, &e));
	assert_int_equal(target_put(t, 1, &e), -1);
	assert_int_equal(e.kind, ERR_CAPACITY);
}

/* The failure of a write is reported by a later call, and by all calls after that. */
static void a_write_that_fails_is_never_forgotten(void **state)
{
	struct err e;

	(void)state;
	m.host.ring = &flaky_ops;
	target_free(t);
	t = target_new(&m.host, &drive, (const uint8_t[32]){7}, &written);
	/* This offset is in the last but one piece that is not zeros. */
	flaky.bad_at = (19 << 20) + 5000;
	assert_ok(target_open(t, &e), &e);
	for (size_t at = 0; at < 20 << 20; at += TARGET_PIECE) {
		uint8_t *piece = target_buffer(t, &e);

		assert_non_null(piece);
		memcpy(piece, image + at, TARGET_PIECE);
		assert_ok(target_put(t, TARGET_PIECE, &e), &e);
	}
	assert_int_equal(target_settle(t, &e), -1);
	assert_int_equal(e.code, EIO);
	target_spoil(t);
	assert_false(has_table());
}

/* The drive's content is changed after the write. The samples detect the change, and no partition
 * table is written. */
static void a_drive_that_loses_what_was_written_does_not_settle(void **state)
{
	uint8_t *other = dio_buffer(16 << 20);
	struct err e;

	(void)state;
	memset(other, 0x77, 16 << 20);
	put_image(20 << 20);
	/* All writes have ended, so the change below is not overwritten. */
	assert_ok(target_settle(t, &e), &e);
	machine_poke(&m, NAME, other, 16 << 20, 2 << 20);
	assert_int_equal(target_settle(t, &e), -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	free(other);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(until_it_is_finished_the_drive_has_no_table),
		T(zeros_that_are_written_later_are_a_sign_of_life_now),
		T(an_image_of_odd_length_is_filled_up_with_zeros),
		T(what_is_larger_than_the_drive_is_refused),
		T(a_write_that_fails_is_never_forgotten),
		T(a_drive_that_loses_what_was_written_does_not_settle),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
