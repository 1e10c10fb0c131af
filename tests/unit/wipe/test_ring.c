#include "wipe/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/flaky.h"
#include "tests/unit/wipe/machine.h"

#define BYTES ((4 << 20) + 12 * 512) /* Size of the drive; not a whole number of pieces */
#define PIECE (64 << 10)
#define NAME "nvme0n1"

static struct machine machine;
static struct dio drive;
static int64_t at, ended;
static unsigned failures, wrong;
static bool go_on;

static bool next(struct ring_piece *p, void *arg)
{
	if (at == BYTES)
		return false;
	p->off = at;
	p->len = BYTES - at < PIECE ? (size_t)(BYTES - at) : PIECE;
	p->tag = at / PIECE;
	if (arg)
		memset(p->buf, (int)(p->tag % 251) + 1, p->len);
	at += (int64_t)p->len;
	return true;
}

static int done(const struct ring_piece *p, struct err *e, void *arg)
{
	assert_int_equal(p->tag, p->off / PIECE);
	if (e) {
		failures++;
		return go_on ? 0 : -1;
	}
	ended += (int64_t)p->len;
	if (!arg)
		for (size_t i = 0; i < p->len; i++)
			wrong += ((uint8_t *)p->buf)[i] != p->tag % 251 + 1;
	return 0;
}

static int run(bool write, unsigned depth, struct err *e)
{
	struct ring *r = ring_new(&machine.host, depth, PIECE, false);
	struct ring_job j = {.write = write, .next = next, .done = done, .arg = write ? r : NULL};
	int rc;

	at = ended = 0;
	failures = wrong = 0;
	rc = ring_run(r, &drive, &j, e);
	ring_free(r);
	return rc;
}

static int setup(void **state)
{
	struct err e;

	(void)state;
	flaky_reset();
	go_on = false;
	machine_init(&machine);
	machine_drive(&machine, NAME, "eui.1\n", BYTES);
	assert_ok(dio_open(&drive, &machine.host, NAME, true, &e), &e);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dio_close(&drive);
	machine_done(&machine);
	return 0;
}

static void assert_written_and_read(unsigned depth)
{
	uint8_t *all = mem_alloc(BYTES);
	struct err e;

	assert_ok(run(true, depth, &e), &e);
	assert_int_equal(ended, BYTES);
	machine_peek(&machine, NAME, all, BYTES, 0);
	for (size_t i = 0; i < BYTES; i++)
		if (all[i] != i / PIECE % 251 + 1)
			fail_msg("byte %zu is %u", i, all[i]);
	free(all);
	assert_ok(run(false, depth, &e), &e);
	assert_int_equal(ended, BYTES);
	assert_int_equal(wrong, 0);
}

static void every_byte_is_written_and_read_whatever_the_depth(void **state)
{
	static const struct ring_ops *const all[] = {NULL, &ring_blocking, &flaky_ops};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		machine.host.ring = all[i];
		assert_written_and_read(1);
		assert_written_and_read(7);
		assert_written_and_read(64);
	}
	assert_int_equal(flaky.most_at_once, 64);
}

static void a_kernel_that_forbids_io_uring_gets_blocking_calls(void **state)
{
	static const int why[] = {ENOSYS, EPERM, ENOMEM};

	(void)state;
	machine.host.ring = &flaky_ops;
	for (size_t i = 0; i < 3; i++) {
		flaky.open_error = why[i];
		assert_written_and_read(8);
	}
	assert_int_equal(flaky.pieces, 0);
}

static void a_transfer_that_ends_short_goes_on_where_it_left_off(void **state)
{
	(void)state;
	machine.host.ring = &flaky_ops;
	flaky.half_at = 3 * PIECE;
	assert_written_and_read(8);
	assert_int_equal(flaky.half_at, -1);
	assert_int_equal(flaky.pieces, 2 * (BYTES / PIECE + 1) + 1);
}

static void a_transfer_that_ends_inside_a_block_is_an_error(void **state)
{
	struct err e;

	(void)state;
	machine.host.ring = &flaky_ops;
	drive.file = false;
	flaky.half_at = 3 * PIECE;
	flaky.half = 700;
	assert_int_equal(run(true, 8, &e), -1);
	assert_int_equal(e.code, EIO);
	assert_non_null(strstr(e.text, "write at 196608"));
}

static void a_piece_that_is_turned_away_is_tried_again(void **state)
{
	(void)state;
	machine.host.ring = &flaky_ops;
	flaky.again = 5;
	assert_written_and_read(4);
	assert_int_equal(flaky.pieces, 2 * (BYTES / PIECE + 1) + 5);
}

static void an_error_ends_the_run_and_names_the_place(void **state)
{
	struct err e;

	(void)state;
	machine.host.ring = &flaky_ops;
	flaky.bad_at = 5 * PIECE + 4096;
	assert_int_equal(run(true, 8, &e), -1);
	assert_int_equal(failures, 1);
	assert_int_equal(e.code, EIO);
	assert_non_null(strstr(e.text, "write at 327680"));
	assert_true(flaky.pieces < 16);
}

static void who_can_bear_an_error_gets_the_rest(void **state)
{
	struct err e;

	(void)state;
	machine.host.ring = &flaky_ops;
	assert_ok(run(true, 8, &e), &e);
	flaky.bad_at = 5 * PIECE;
	go_on = true;
	assert_ok(run(false, 8, &e), &e);
	assert_int_equal(failures, 1);
	assert_int_equal(ended, BYTES - PIECE);
	assert_int_equal(wrong, 0);
}

static void a_drive_that_stands_still_is_given_up(void **state)
{
	struct err e;

	(void)state;
	machine.host.ring = &flaky_ops;
	machine.host.stall_ms = MACHINE_STALL_MS;
	flaky.hang_at = 9 * PIECE;
	assert_int_equal(run(true, 4, &e), -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_non_null(strstr(e.text, "write at 589824"));
	/* All other pieces ended: they did not wait for the one that hangs. */
	assert_int_equal(ended, BYTES - PIECE);
}

static void nothing_is_written_beyond_the_end(void **state)
{
	struct err e;

	(void)state;
	drive.bytes = BYTES - 512;
	assert_int_equal(run(true, 4, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
}

static int count_down(const struct ring_piece *p, struct err *e, void *arg)
{
	(void)arg;
	if (p->tag)
		--*(unsigned *)(uintptr_t)p->tag;
	return e ? -1 : 0;
}

/* Sends eight pieces from the caller's own pages, then one from a buffer of the ring, which is
 * filled in two steps while the others end. */
static void stream(unsigned depth)
{
	struct ring *r = ring_new(&machine.host, depth, PIECE, false);
	struct ring_job j = {.write = true, .done = count_down};
	uint8_t *pages = dio_pages(8 * PIECE), *claimed, *got = mem_alloc(9 * PIECE);
	unsigned left = 8;
	struct err e;

	for (size_t i = 0; i < 8 * PIECE; i++)
		pages[i] = (uint8_t)(i / PIECE + i);
	/* ring_send() below releases this claimed buffer, since its pieces have their own. */
	assert_non_null(ring_claim(r, &drive, &j, &e));
	for (int64_t i = 0; i < 8; i++)
		assert_ok(ring_send(r, &drive, &j,
				    &(struct ring_piece){.buf = pages + i * PIECE,
							 .len = PIECE,
							 .off = i * PIECE,
							 .tag = (int64_t)(uintptr_t)&left},
				    &e),
			  &e);
	claimed = ring_claim(r, &drive, &j, &e);
	assert_non_null(claimed);
	memset(claimed, 7, PIECE / 2);
	assert_ok(ring_await(r, &drive, &j, &left, &e), &e);
	assert_int_equal(left, 0);
	memset(pages, 0xee, 8 * PIECE); /* All pieces have ended, so their pages may be changed. */
	assert_ptr_equal(ring_claim(r, &drive, &j, &e), claimed);
	memset(claimed + PIECE / 2, 8, PIECE / 2);
	assert_ok(
		ring_send(r, &drive, &j, &(struct ring_piece){.len = PIECE, .off = 8 * PIECE}, &e),
		&e);
	assert_ok(ring_drain(r, &drive, &j, &e), &e);
	ring_free(r);
	dio_pages_free(pages, 8 * PIECE);

	machine_peek(&machine, NAME, got, 9 * PIECE, 0);
	for (size_t i = 0; i < 8 * PIECE; i++)
		if (got[i] != (uint8_t)(i / PIECE + i))
			fail_msg("byte %zu is %u", i, got[i]);
	assert_true(dio_all(got + 8 * PIECE, PIECE / 2, 7));
	assert_true(dio_all(got + 8 * PIECE + PIECE / 2, PIECE / 2, 8));
	free(got);
}

static void a_stream_writes_what_stands_elsewhere_and_what_is_filled_meanwhile(void **state)
{
	static const struct ring_ops *const all[] = {NULL, &ring_blocking, &flaky_ops};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		machine.host.ring = all[i];
		stream(1);
		stream(3);
		stream(16);
	}
}

static void a_stream_on_a_drive_that_stands_still_is_given_up(void **state)
{
	struct ring_job j = {.write = true, .done = count_down};
	uint8_t *pages = dio_pages(PIECE);
	unsigned left = 1;
	struct ring *r;
	struct err e;

	(void)state;
	machine.host.ring = &flaky_ops;
	machine.host.stall_ms = MACHINE_STALL_MS;
	flaky.hang_at = 0;
	r = ring_new(&machine.host, 4, PIECE, false);
	assert_ok(ring_send(r, &drive, &j,
			    &(struct ring_piece){
				    .buf = pages, .len = PIECE, .tag = (int64_t)(uintptr_t)&left},
			    &e),
		  &e);
	assert_int_equal(ring_await(r, &drive, &j, &left, &e), -1);
	assert_int_equal(e.code, ETIMEDOUT);
	assert_int_equal(left, 1);
	assert_null(ring_claim(r, &drive, &j, &e));
	assert_int_equal(ring_drain(r, &drive, &j, &e), -1);
	ring_free(r);
	dio_pages_free(pages, PIECE);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(every_byte_is_written_and_read_whatever_the_depth),
		T(a_kernel_that_forbids_io_uring_gets_blocking_calls),
		T(a_transfer_that_ends_short_goes_on_where_it_left_off),
		T(a_transfer_that_ends_inside_a_block_is_an_error),
		T(a_piece_that_is_turned_away_is_tried_again),
		T(an_error_ends_the_run_and_names_the_place),
		T(who_can_bear_an_error_gets_the_rest),
		T(a_drive_that_stands_still_is_given_up),
		T(nothing_is_written_beyond_the_end),
		T(a_stream_writes_what_stands_elsewhere_and_what_is_filled_meanwhile),
		T(a_stream_on_a_drive_that_stands_still_is_given_up),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
