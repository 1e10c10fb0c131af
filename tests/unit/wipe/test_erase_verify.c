/* Tests that data which remains after an erase is found: by canaries (patterns written before), by
 * samples, and at the edges of the drive. */
#include "wipe/erase.h"

#include <stdlib.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/erasing.h"
#include "tests/unit/wipe/flaky.h"

static void a_cryptographic_erase_may_leave_noise(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.format = erasing.drive.crypto = erasing.drive.noise = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_string_equal(erasing.erase.device.technique, "FormatCrypto");
	assert_int_equal(erasing.drive.last_ses, 2);
	assert_ok(erase_verify(&erasing.erase, 500, &e), &e);
}

static void noise_after_a_user_data_erase_is_dirty_and_overwritten(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.format = erasing.drive.noise = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_true(erasing.drive.formats > 0);
	assert_string_equal(erasing.erase.device.technique, "Overwrite");
	assert_ok(erase_verify(&erasing.erase, 500, &e), &e);
	assert_int_equal(erasing.erase.device.reads.dirty, 0);
}

static void what_is_neither_noise_nor_constant_is_dirty(void **state)
{
	static const char *const left[] = {"text of a tenant, ", "\x01\x02\x03\x04"};
	uint8_t *all = mem_alloc(ERASING_BYTES);
	struct err e;

	for (size_t i = 0; i < 3; i++) {
		erasing_teardown(state);
		erasing_setup(state);
		erasing.drive.format = erasing.drive.crypto = true;
		assert_ok(erasing_run(&erasing.erase, &e), &e);
		for (size_t k = 0; k < ERASING_BYTES; k++)
			all[k] = i < 2 ? (uint8_t)left[i][k % strlen(left[i])] : (uint8_t)k;
		machine_poke(&erasing.machine, ERASING_NAME, all, ERASING_BYTES - (4 << 20),
			     2 << 20);
		assert_int_equal(erase_verify(&erasing.erase, 500, &e), -1);
		assert_string_equal(erasing.erase.device.reason, "EraseUnverified");
		assert_true(erasing.erase.device.reads.dirty > 0);
	}
	free(all);
}

/* The block could not be read before the erase, so its earlier content is unknown. */
static void an_edge_that_could_be_read_only_afterwards_is_not_clean(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.format = erasing.drive.crypto = erasing.drive.noise = true;
	erasing.machine.host.ring = &flaky_ops;
	flaky.bad_at = 7 * 4096;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	flaky.bad_at = -1;
	assert_int_equal(erase_verify(&erasing.erase, 0, &e), -1);
	assert_int_equal(erasing.erase.device.reads.unreadable, 1);
	assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
}

/* Only the first and the last block of the drive have a canary. The other blocks at the edges are
 * recognised by fingerprints. */
static void edges_that_survive_a_cryptographic_erase_are_found(void **state)
{
	uint8_t *was = mem_alloc(ERASING_BYTES);
	struct err e;

	for (int end = 0; end < 2; end++) {
		int64_t at = end ? ERASING_BYTES - VERIFY_EDGE : VERIFY_BLOCK;

		erasing_teardown(state);
		erasing_setup(state);
		erasing.drive.noise = true;
		erasing_fill(0);
		machine_peek(&erasing.machine, ERASING_NAME, was, ERASING_BYTES, 0);
		erasing.drive.format = erasing.drive.crypto = true;
		assert_ok(erasing_run(&erasing.erase, &e), &e);
		machine_poke(&erasing.machine, ERASING_NAME, was + at, VERIFY_EDGE - VERIFY_BLOCK,
			     at);
		assert_int_equal(erase_verify(&erasing.erase, 0, &e), -1);
		assert_string_equal(erasing.erase.device.reason, "EraseUnverified");
		assert_in_range(erasing.erase.device.reads.dirty, 240, 255);
	}
	free(was);
}

static void blocks_that_survive_a_cryptographic_erase_are_found(void **state)
{
	struct err e;
	uint8_t *was = mem_alloc(ERASING_BYTES);

	(void)state;
	/* Fills the whole drive with data, because a block of zeros that remains would not be
	 * noticed. */
	erasing.drive.noise = true;
	erasing_fill(0);
	machine_peek(&erasing.machine, ERASING_NAME, was, ERASING_BYTES, 0);
	erasing.drive.noise = false;
	erasing.drive.format = erasing.drive.crypto = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	machine_poke(&erasing.machine, ERASING_NAME, was + (2 << 20), 3 << 20, 2 << 20);
	assert_int_equal(erase_verify(&erasing.erase, 500, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "EraseUnverified");
	free(was);
}

/* The block could not be read before the erase, so a change cannot be proved. */
static void a_block_that_could_be_read_only_afterwards_is_not_clean(void **state)
{
	static const char old[] = "what the tenant left";
	unsigned refused = 0;
	struct err e;

	erasing.machine.host.ring = &flaky_ops;
	for (int64_t at = 300 * 4096; at < 320 * 4096; at += 4096) {
		erasing.machine.host.ring = &flaky_ops;
		erasing.drive.format = erasing.drive.crypto = true;
		flaky.bad_at = at;
		if (!erasing_run(&erasing.erase, &e)) {
			flaky.bad_at = -1;
			machine_poke(&erasing.machine, ERASING_NAME, old, sizeof(old), at);
			if (erase_verify(&erasing.erase, 500, &e) < 0) {
				assert_string_equal(erasing.erase.device.reason, "DriveFailed");
				assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
				assert_int_equal(erasing.erase.device.reads.unreadable, 1);
				refused++;
			}
		}
		erasing_teardown(state);
		erasing_setup(state);
	}
	assert_true(refused > 0);
}

static void a_format_that_leaves_the_middle_is_found_by_canaries(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.format = erasing.drive.keeps_middle = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_string_equal(erasing.erase.device.technique, "Overwrite");
}

/* The remaining data is neither on a canary nor at the edges, which are read completely. */
static void what_samples_alone_find_is_overwritten(void **state)
{
	static const bool crypto[] = {false, true};

	for (size_t i = 0; i < sizeof(crypto) / sizeof(*crypto); i++) {
		struct err e;

		machine_poke(&erasing.machine, ERASING_NAME, "tenant", 6, ERASING_BYTES - 6);
		erasing.drive.format = erasing.drive.keeps_end = true;
		erasing.drive.crypto = crypto[i];
		assert_ok(erasing_run(&erasing.erase, &e), &e);
		assert_true(erasing.drive.formats > 0);
		assert_string_equal(erasing.erase.device.technique, "Overwrite");
		assert_int_equal(erasing.erase.device.level, WIPE_CLEAR);
		assert_int_equal(machine_residue(&erasing.machine, ERASING_NAME), 0);
		erasing_teardown(state);
		erasing_setup(state);
	}
}

static void a_canary_left_behind_fails_the_verification(void **state)
{
	struct err e;
	struct dio d;
	struct ring *ring = ring_new(&erasing.machine.host, RING_DEPTH, VERIFY_BLOCK, false);

	(void)state;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_ok(dio_open(&d, &erasing.machine.host, ERASING_NAME, true, &e), &e);
	struct verify v = {
		.drive = &d, .nonce = erasing.nonce, .wwn = erasing.info.wwn, .ring = ring};

	assert_int_equal(verify_find(&v, NULL), 0);
	assert_int_equal(verify_plant(&v, &e), 64);
	dio_close(&d);
	ring_free(ring);
	assert_int_equal(erase_verify(&erasing.erase, 0, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "EraseUnverified");
	assert_int_equal(erasing.erase.device.canaries.found, 64);
}

/* Noise is accepted after a cryptographic erase; a canary that remains is not noise. */
static void canaries_left_by_a_cryptographic_erase_fail_the_verification(void **state)
{
	struct err e;
	struct dio d;
	struct ring *ring = ring_new(&erasing.machine.host, RING_DEPTH, VERIFY_BLOCK, false);

	(void)state;
	erasing.drive.format = erasing.drive.crypto = erasing.drive.noise = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_ok(dio_open(&d, &erasing.machine.host, ERASING_NAME, true, &e), &e);
	struct verify v = {
		.drive = &d, .nonce = erasing.nonce, .wwn = erasing.info.wwn, .ring = ring};

	assert_int_equal(verify_plant(&v, &e), 64);
	dio_close(&d);
	ring_free(ring);
	assert_int_equal(erase_verify(&erasing.erase, 0, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "EraseUnverified");
}

static void one_sector_of_a_canary_is_enough(void **state)
{
	struct err e;
	struct dio d;
	uint8_t zeros[3584] = {0};
	struct ring *ring = ring_new(&erasing.machine.host, RING_DEPTH, VERIFY_BLOCK, false);

	(void)state;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_ok(dio_open(&d, &erasing.machine.host, ERASING_NAME, true, &e), &e);
	struct verify v = {
		.drive = &d, .nonce = erasing.nonce, .wwn = erasing.info.wwn, .ring = ring};

	assert_int_equal(verify_plant(&v, &e), 64);
	dio_close(&d);
	/* Overwrites all but the last sector of each block. */
	for (off_t at = 0; at < ERASING_BYTES; at += VERIFY_BLOCK)
		machine_poke(&erasing.machine, ERASING_NAME, zeros, sizeof(zeros), at);
	assert_ok(dio_open(&d, &erasing.machine.host, ERASING_NAME, false, &e), &e);
	assert_int_equal(verify_find(&v, NULL), 64);
	dio_close(&d);
	ring_free(ring);
}

/* The agent confirms only what drover and an auditor would accept: the number of checked blocks
 * must be complete. */
static void a_drive_whose_counts_are_short_is_not_confirmed(void **state)
{
	struct err e;

	(void)state;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	erasing.erase.device.canaries.planted = 63;
	assert_int_equal(erase_verify(&erasing.erase, 0, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "EraseUnverified");
	assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
	assert_non_null(strstr(e.text, "of 64 canaries 63 planted"));
}

static void residue_at_the_edge_fails_the_verification(void **state)
{
	struct err e;

	(void)state;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	machine_poke(&erasing.machine, ERASING_NAME, "x", 1, ERASING_BYTES - 1);
	assert_int_equal(erase_verify(&erasing.erase, 0, &e), -1);
	assert_int_equal(erasing.erase.device.reads.dirty, 1);
	assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
}

static void a_drive_that_was_not_wiped_cannot_be_verified(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(erase_verify(&erasing.erase, 0, &e), -1);
	assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
}

static void what_cannot_be_read_is_never_clean(void **state)
{
	struct err e;

	for (int i = 0; i < 2; i++) {
		erasing_teardown(state);
		erasing_setup(state);
		assert_ok(erasing_run(&erasing.erase, &e), &e);
		erasing.machine.host.ring = &flaky_ops;
		erasing.machine.host.stall_ms = MACHINE_STALL_MS;
		flaky.bad_at = i ? -1 : ERASING_BYTES - 4096 * 9;
		flaky.hang_at = i ? ERASING_BYTES - 4096 * 9 : -1;
		assert_int_equal(erase_verify(&erasing.erase, 100, &e), -1);
		assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
		assert_string_equal(erasing.erase.device.reason, "DriveFailed");
		/* Each block is counted, either as clean or as unreadable. */
		assert_int_equal(erasing.erase.device.reads.clean +
					 erasing.erase.device.reads.unreadable,
				 100 + 512);
		assert_int_equal(erasing.erase.device.reads.unreadable, i ? 101 : 1);
		assert_non_null(strstr(e.text, "read at 8351744"));
	}
}

static void verification_keeps_many_reads_in_flight(void **state)
{
	struct err e;

	(void)state;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	erasing.machine.host.ring = &flaky_ops;
	assert_ok(erase_verify(&erasing.erase, 1000, &e), &e);
	assert_int_equal(flaky.most_at_once, RING_DEPTH);
	assert_int_equal(flaky.pieces, 64 + 512 + 1000);
	assert_int_equal(atomic_load(&erasing.erase.progress.done_bytes),
			 atomic_load(&erasing.erase.progress.total_bytes));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, erasing_setup, erasing_teardown)
	const struct CMUnitTest tests[] = {
		T(a_cryptographic_erase_may_leave_noise),
		T(noise_after_a_user_data_erase_is_dirty_and_overwritten),
		T(what_is_neither_noise_nor_constant_is_dirty),
		T(edges_that_survive_a_cryptographic_erase_are_found),
		T(an_edge_that_could_be_read_only_afterwards_is_not_clean),
		T(blocks_that_survive_a_cryptographic_erase_are_found),
		T(a_block_that_could_be_read_only_afterwards_is_not_clean),
		T(a_format_that_leaves_the_middle_is_found_by_canaries),
		T(what_samples_alone_find_is_overwritten),
		T(a_canary_left_behind_fails_the_verification),
		T(canaries_left_by_a_cryptographic_erase_fail_the_verification),
		T(one_sector_of_a_canary_is_enough),
		T(a_drive_whose_counts_are_short_is_not_confirmed),
		T(residue_at_the_edge_fails_the_verification),
		T(a_drive_that_was_not_wiped_cannot_be_verified),
		T(what_cannot_be_read_is_never_clean),
		T(verification_keeps_many_reads_in_flight),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
