/* What the canaries depend on; what is found by them and by samples is in test_erase_verify.c. */
#include "wipe/verify.h"

#include "tests/unit/testing.h"
#include "tests/unit/wipe/machine.h"

#define BYTES (8 << 20)
#define NAME "nvme0n1"

/* What could be predicted, a drive or its owner could fake. */
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
		/* Theirs go to other places, but for the first block and the last. */
		assert_int_equal(verify_plant(&others[i], &e), 64);
		assert_in_range(verify_find(&v, NULL), 32, 62);
	}
	dio_close(&d);
	ring_free(ring);
	machine_done(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(canaries_and_their_places_are_of_one_order_and_one_drive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
