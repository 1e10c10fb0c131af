#include "wipe/intake.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "base/mem.h"
#include "tests/unit/testing.h"

#define MIB (1u << 20)
#define CAP (40u << 20)

static struct intake t;
static uint8_t *raw, *stream, *taken;
static size_t nstream, ntaken;
static unsigned next, whole, parts;

static void make_noise(void)
{
	for (size_t i = 0; i < CAP; i += 4) {
		uint32_t x = (uint32_t)i * 2654435761u;

		x = (x ^ x >> 15) * 2246822519u;
		x = (x ^ x >> 13) * 3266489917u;
		memcpy(raw + i, &x, 4);
	}
}

static int setup(void **state)
{
	(void)state;
	raw = mem_alloc(CAP);
	stream = mem_alloc(CAP);
	taken = mem_alloc(CAP);
	make_noise();
	nstream = ntaken = 0;
	next = whole = parts = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	intake_done(&t);
	free(raw);
	free(stream);
	free(taken);
	return 0;
}

static void add_frame(const void *data, size_t n)
{
	size_t len = ZSTD_compress(stream + nstream, CAP - nstream, data, n, 1);

	assert_false(ZSTD_isError(len));
	nstream += len;
}

/* Removes the next closed chunk and compares its bytes; false: no chunk is closed. A whole chunk
 * must unpack without the others. */
static bool take(void)
{
	struct chunk *c = &t.v[next];

	if (!c->closed)
		return false;
	if (c->whole) {
		uint8_t *out = mem_alloc(INTAKE_UNPACKED);

		assert_false(ZSTD_isError(ZSTD_decompress(out, INTAKE_UNPACKED, c->data, c->len)));
		free(out);
	}
	whole += c->whole;
	parts += !c->whole;
	memcpy(taken + ntaken, c->data, c->len);
	ntaken += c->len;
	intake_give_back(&t, next);
	next = (next + 1) % t.n;
	return true;
}

/* Passes the whole stream in pieces, and removes chunks only when nothing more fits in. The bytes
 * must come out complete and in order. */
static void pass(bool zstd, size_t piece)
{
	intake_init(&t, 3, zstd);
	for (size_t at = 0; at < nstream;) {
		size_t n = piece < nstream - at ? piece : nstream - at;

		if (intake_hungry(&t)) {
			assert_int_equal(intake_add(&t, stream + at, n), 0);
			at += n;
		} else {
			assert_true(take());
		}
	}
	do
		intake_end(&t);
	while (take());
	assert_int_equal(ntaken, nstream);
	assert_memory_equal(taken, stream, nstream);
}

static void frames_are_chunks(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		add_frame(raw + i * 4 * MIB, 4 * MIB);
	pass(true, INTAKE_PIECE);
	assert_int_equal(whole, 5);
	assert_int_equal(parts, 0);
}

static void small_frames_are_put_together(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		add_frame(raw, 100 << 10);
	pass(true, 777);
	assert_in_range(whole, 5, 13);
	assert_int_equal(parts, 0);
}

/* A piece from the network may contain thousands of frames, more than there are free chunks. */
static void many_ends_in_one_piece_wait_for_their_place(void **state)
{
	(void)state;
	memset(raw, 0, 8 * MIB);
	for (int i = 0; i < 300; i++)
		add_frame(raw, 2 * MIB);
	assert_in_range(nstream, 1, INTAKE_PIECE);
	pass(true, INTAKE_PIECE);
	assert_int_equal(whole, 300);
}

static void a_large_frame_goes_in_parts_and_what_follows_does_not(void **state)
{
	(void)state;
	add_frame(raw, 2 * MIB);
	add_frame(raw, 20 * MIB);
	add_frame(raw, 2 * MIB);
	pass(true, INTAKE_PIECE);
	assert_int_equal(whole, 2);
	assert_true(parts >= 3);
}

/* The frame's header does not contain the unpacked size, so the largest size that its blocks can
 * unpack to counts. */
static void a_small_frame_that_unpacks_to_much_goes_in_parts(void **state)
{
	(void)state;
	memset(raw, 0, CAP);
	add_frame(raw, CAP);
	assert_in_range(nstream, 1, MIB);
	pass(true, INTAKE_PIECE);
	assert_int_equal(whole, 0);
	assert_int_equal(parts, 1);
}

static void a_frame_as_large_as_can_be_is_whole(void **state)
{
	(void)state;
	add_frame(raw, INTAKE_UNPACKED);
	assert_true(nstream > INTAKE_UNPACKED);
	pass(true, INTAKE_PIECE);
	assert_int_equal(whole, 1);
	assert_int_equal(parts, 0);
}

static void what_ends_inside_a_frame_or_is_no_zstd_is_never_whole(void **state)
{
	(void)state;
	add_frame(raw, 2 * MIB);
	add_frame(raw, 2 * MIB);
	nstream -= 3;
	pass(true, 4096);
	assert_int_equal(whole, 1);
	assert_int_equal(parts, 1);
	intake_done(&t);
	next = whole = parts = 0;
	ntaken = 0;
	memcpy(stream, raw, nstream);
	pass(true, 4096);
	assert_int_equal(whole, 0);
}

static void a_raw_image_goes_in_parts(void **state)
{
	(void)state;
	memcpy(stream, raw, nstream = 5 * MIB + 77);
	pass(false, 65536);
	assert_int_equal(whole, 0);
	assert_int_equal(parts, 6);
}

static void more_than_was_asked_for_is_refused(void **state)
{
	(void)state;
	intake_init(&t, 3, false);
	assert_int_equal(intake_add(&t, raw, INTAKE_PIECE + 1), -1);
	while (intake_hungry(&t))
		assert_int_equal(intake_add(&t, raw, INTAKE_PIECE - 1), 0);
	if (t.rest_at == t.nrest)
		/* This piece is stored in t.rest, because no chunk is free. */
		assert_int_equal(intake_add(&t, raw, 100), 0);
	assert_int_equal(intake_add(&t, raw, 100), -1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(frames_are_chunks),
		T(small_frames_are_put_together),
		T(many_ends_in_one_piece_wait_for_their_place),
		T(a_large_frame_goes_in_parts_and_what_follows_does_not),
		T(a_small_frame_that_unpacks_to_much_goes_in_parts),
		T(a_frame_as_large_as_can_be_is_whole),
		T(what_ends_inside_a_frame_or_is_no_zstd_is_never_whole),
		T(a_raw_image_goes_in_parts),
		T(more_than_was_asked_for_is_refused),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
