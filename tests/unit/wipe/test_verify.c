/* Tests what canaries depend on. test_erase_verify.c tests what canaries and samples find. */
#include "wipe/verify.h"

#include <stdlib.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/machine.h"

#define BYTES (8 << 20)
#define NAME "nvme0n1"

/* A drive or its owner could fake predictable canaries, so pattern and positions depend on order
 * and drive. */
static void canaries_and_their_places_are_of_one_order_and_one_drive(void **state)
{
	OWN(secret) now = secret_from_str("a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	OWN(secret) later = secret_from_str("b1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	struct machine machine;
	struct ring *ring;
	struct err e;
	struct dio d;

	(void)state;
	machine_init(&machine);
	machine_drive(&machine, NAME, "eui.0001\n", BYTES);
	ring = ring_new(&machine.host, RING_DEPTH, VERIFY_BLOCK, false);
	assert_ok(dio_open(&d, &machine.host, NAME, true, &e), &e);
	struct verify v = {.drive = &d, .nonce = now, .wwn = "eui.0001", .ring = ring};
	struct verify others[] = {v, v};

	others[0].nonce = later;
	others[1].wwn = "eui.0002";
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(verify_plant(&v, &e), 64);
		assert_int_equal(verify_find(&others[i], NULL), 0);
		assert_int_equal(verify_find(&v, NULL), 64);
		/* Except for the first and the last block, the canaries of another order or drive
		 * are at other positions. */
		assert_int_equal(verify_plant(&others[i], &e), 64);
		assert_in_range(verify_find(&v, NULL), 32, 62);
	}
	dio_close(&d);
	ring_free(ring);
	machine_done(&machine);
}

/* Moves the whole content of the drive towards its end by `by` bytes. */
static void move_all(struct machine *m, size_t by)
{
	uint8_t *all = mem_calloc(BYTES, 1);

	machine_peek(m, NAME, all + by, BYTES - by, 0);
	machine_poke(m, NAME, all, BYTES, 0);
	free(all);
}

/* All data still exists, but at other positions. */
static void data_that_was_moved_is_not_erased(void **state)
{
	static const size_t by[] = {100, 512, 4096, 8 * 4096, 100 * 4096 + 7};
	OWN(secret) nonce = secret_from_str("a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	uint8_t(*prints)[16] = mem_calloc(EVIDENCE_EDGE_READS + 500, sizeof(*prints));
	uint8_t *all = mem_alloc(BYTES);

	(void)state;
	/* First an empty drive, on which only canaries show the move. Then a drive full of
	 * compressed data, which looks like noise: it is moved by whole blocks, because a block is
	 * recognised by its fingerprint. */
	for (size_t i = 0; i < 2 * sizeof(by) / sizeof(*by); i++) {
		bool full = i % 2 && by[i / 2] % VERIFY_BLOCK == 0;
		struct verify_counts n;
		struct machine machine;
		struct ring *ring;
		struct err e;
		struct dio d;

		machine_init(&machine);
		machine_drive(&machine, NAME, "eui.0001\n", BYTES);
		memset(all, 0, BYTES);
		for (size_t k = 0; full && k < BYTES; k += CRYPTO_SHA256)
			crypto_sha256(&k, sizeof(k), all + k);
		machine_poke(&machine, NAME, all, BYTES, 0);
		ring = ring_new(&machine.host, RING_DEPTH, VERIFY_BLOCK, false);
		assert_ok(dio_open(&d, &machine.host, NAME, true, &e), &e);
		struct verify v = {.drive = &d, .nonce = nonce, .wwn = "eui.0001", .ring = ring};

		assert_int_equal(verify_plant(&v, &e), 64);
		verify_fingerprint(&v, 500, prints);
		move_all(&machine, by[i / 2]);
		verify_sample(&v, VERIFY_CHANGED, 500, (const uint8_t(*)[16])prints,
			      EVIDENCE_EDGE_READS + 500, &n);
		/* If data moves by less than a block, the position of each canary still contains a
		 * part of the canary. */
		if (by[i / 2] < VERIFY_BLOCK)
			assert_int_equal(verify_find(&v, NULL), 64);
		assert_int_equal(n.unreadable, 0);
		assert_true(n.dirty >= (full ? 200 : 1));
		dio_close(&d);
		ring_free(ring);
		machine_done(&machine);
	}
	free(all);
	free(prints);
}

static void one_sector_of_a_canary_amid_noise_is_found_at_any_offset(void **state)
{
	OWN(secret) nonce = secret_from_str("a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	uint8_t(*prints)[16] = mem_calloc(EVIDENCE_EDGE_READS, sizeof(*prints));
	uint8_t *all = mem_alloc(BYTES), sector[512];
	struct verify_counts n;
	struct machine machine;
	struct ring *ring;
	struct err e;
	struct dio d;

	(void)state;
	machine_init(&machine);
	machine_drive(&machine, NAME, "eui.0001\n", BYTES);
	ring = ring_new(&machine.host, RING_DEPTH, VERIFY_BLOCK, false);
	assert_ok(dio_open(&d, &machine.host, NAME, true, &e), &e);
	struct verify v = {.drive = &d, .nonce = nonce, .wwn = "eui.0001", .ring = ring};

	assert_int_equal(verify_plant(&v, &e), 64);
	verify_fingerprint(&v, 0, prints);
	machine_peek(&machine, NAME, sector, sizeof(sector), 0);
	for (size_t k = 0; k < BYTES; k += CRYPTO_SHA256)
		crypto_sha256(&k, sizeof(k), all + k);
	machine_poke(&machine, NAME, all, BYTES, 0);
	for (int found = 0; found < 2; found++) {
		verify_sample(&v, VERIFY_CHANGED, 0, (const uint8_t(*)[16])prints,
			      EVIDENCE_EDGE_READS, &n);
		assert_int_equal(n.dirty, found);
		machine_poke(&machine, NAME, sector, sizeof(sector), 10 * 4096 + 101);
	}
	dio_close(&d);
	ring_free(ring);
	machine_done(&machine);
	free(all);
	free(prints);
}

/* A later boot knows only the nonce of the wipe, not the canaries' earlier content. */
static void what_a_drive_forgot_is_seen_again(void **state)
{
	OWN(secret) nonce = secret_from_str("a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	uint8_t *all = mem_calloc(BYTES, 1), *noise = mem_alloc(BYTES), block[VERIFY_BLOCK];
	struct verify_counts n;
	struct machine machine;
	struct ring *ring;
	struct err e;
	struct dio d;

	(void)state;
	machine_init(&machine);
	machine_drive(&machine, NAME, "eui.0001\n", BYTES);
	ring = ring_new(&machine.host, RING_DEPTH, VERIFY_BLOCK, false);
	assert_ok(dio_open(&d, &machine.host, NAME, true, &e), &e);
	struct verify v = {.drive = &d, .nonce = nonce, .wwn = "eui.0001", .ring = ring};

	for (size_t k = 0; k < BYTES; k += CRYPTO_SHA256)
		crypto_sha256(&k, sizeof(k), noise + k);
	memset(block, 's', sizeof(block)); /* The first block contains the clean stamp. */
	for (int i = 0; i < 2; i++) {
		machine_poke(&machine, NAME, i ? noise : all, BYTES, 0);
		machine_poke(&machine, NAME, block, sizeof(block), 0);
		verify_again(&v, i ? VERIFY_NOISE : VERIFY_CONSTANT, &n);
		assert_int_equal(n.clean, EVIDENCE_AGAIN_READS);
		assert_int_equal(n.dirty + n.unreadable, 0);
		verify_again(&v, VERIFY_CONSTANT, &n);
		assert_int_equal(n.clean, i ? 0 : EVIDENCE_AGAIN_READS);
	}
	/* The canaries were written first and the zeros last; the drive lost the zeros. */
	assert_int_equal(verify_plant(&v, &e), 64);
	for (int i = 0; i < 2; i++) {
		verify_again(&v, i ? VERIFY_CONSTANT : VERIFY_NOISE, &n);
		assert_true(n.dirty >= 62);
		machine_poke(&machine, NAME, all, BYTES, 0);
		assert_int_equal(verify_plant(&v, &e), 64);
	}
	/* The drive lost only the zeros at its end, as if they were still in its cache. */
	machine_poke(&machine, NAME, all, BYTES, 0);
	machine_poke(&machine, NAME, "tenant", 6, BYTES - 4096 * 3);
	verify_again(&v, VERIFY_CONSTANT, &n);
	assert_true(n.dirty >= 1);
	dio_close(&d);
	ring_free(ring);
	machine_done(&machine);
	free(noise);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_that_was_moved_is_not_erased),
		cmocka_unit_test(one_sector_of_a_canary_amid_noise_is_found_at_any_offset),
		cmocka_unit_test(what_a_drive_forgot_is_seen_again),
		cmocka_unit_test(canaries_and_their_places_are_of_one_order_and_one_drive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
