#include "wipe/frames.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "base/mem.h"
#include "tests/unit/testing.h"

#define RAW (1 << 20)
#define CAP (4 << 20)

static uint8_t raw[RAW], stream[CAP];
static size_t nstream;

static void fill_raw(bool noise)
{
	uint32_t x = 1;

	for (size_t i = 0; i < RAW; i++) {
		x = x * 1664525 + 1013904223;
		raw[i] = noise ? (uint8_t)(x >> 24) : i % 300000 < 200000 ? 0 : (uint8_t)(i / 64);
	}
}

/* Appends a zstd frame of the first n bytes of raw to stream; returns the frame's length. */
static size_t add_frame(size_t n, int level, bool checksum, bool with_size)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	ZSTD_inBuffer in = {raw, n, 0};
	ZSTD_outBuffer out = {stream + nstream, CAP - nstream, 0};

	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, checksum);
	ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, with_size);
	if (with_size)
		ZSTD_CCtx_setPledgedSrcSize(c, n);
	assert_int_equal(ZSTD_compressStream2(c, &out, &in, ZSTD_e_end), 0);
	ZSTD_freeCCtx(c);
	nstream += out.pos;
	return out.pos;
}

static size_t add_skippable(size_t n)
{
	const uint8_t head[] = {0x5b, 0x2a, 0x4d, 0x18, (uint8_t)n, (uint8_t)(n >> 8), 0, 0};

	memcpy(stream + nstream, head, sizeof(head));
	memset(stream + nstream + 8, 0xfd, n);
	nstream += 8 + n;
	return 8 + n;
}

static int setup(void **state)
{
	(void)state;
	nstream = 0;
	fill_raw(false);
	return 0;
}

/* Walks through stream in steps of `step` bytes; asserts that frames end at these n lengths. */
static void assert_ends(size_t step, const size_t *lengths, size_t n)
{
	struct frames f = {0};
	size_t at = 0, end = 0, k = 0;

	while (at < nstream) {
		size_t len = step < nstream - at ? step : nstream - at, used;
		enum frames_state s = frames_walk(&f, stream + at, len, &used);

		assert_in_range(used, 1, len);
		assert_int_not_equal(s, FRAMES_LOST);
		assert_true(used == len || s == FRAMES_BOUNDARY);
		at += used;
		if (s == FRAMES_BOUNDARY) {
			assert_in_range(k, 0, n - 1);
			end += lengths[k++];
			assert_int_equal(at, end);
		}
	}
	assert_int_equal(k, n);
}

static void the_ends_of_all_kinds_of_frames_are_found(void **state)
{
	static const size_t steps[] = {1, 2, 3, 7, 4096, CAP};
	size_t lengths[9];

	(void)state;
	lengths[0] = add_frame(RAW, 3, false, true);
	lengths[1] = add_frame(RAW, 3, true, true);
	lengths[2] = add_frame(RAW, 1, false, false);
	lengths[3] = add_skippable(0);
	lengths[4] = add_skippable(700);
	lengths[5] = add_frame(10, 3, true, true);
	lengths[6] = add_frame(0, 3, false, true);
	fill_raw(true);
	/* Data that cannot be compressed: the frame has raw blocks. */
	lengths[7] = add_frame(RAW, 3, true, true);
	memset(raw, 0, RAW);
	lengths[8] = add_frame(RAW, 3, false, false); /* Constant data: the frame has RLE blocks. */
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		assert_ends(steps[i], lengths, 9);
}

static void what_a_frame_unpacks_to_is_never_more_than_was_said(void **state)
{
	static const size_t sizes[] = {0, 1, 1000, 128 << 10, (128 << 10) + 1, RAW - 5, RAW};

	(void)state;
	for (int noise = 0; noise < 2; noise++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			struct frames f = {0};
			size_t used;

			nstream = 0;
			fill_raw(noise);
			add_frame(sizes[i], 3, true, false);
			assert_int_equal(frames_walk(&f, stream, nstream, &used), FRAMES_BOUNDARY);
			assert_in_range(f.unpacked, sizes[i], sizes[i] + 2 * FRAMES_BLOCK_MAX);
		}
}

static void what_is_not_understood_is_lost_for_ever(void **state)
{
	uint8_t good[64];
	struct frames f = {0};
	size_t used;

	(void)state;
	add_frame(10, 3, false, true);
	memcpy(good, stream, sizeof(good));
	assert_int_equal(frames_walk(&f, (const uint8_t *)"no zstd", 7, &used), FRAMES_LOST);
	assert_int_equal(used, 7);
	assert_int_equal(frames_walk(&f, good, nstream, &used), FRAMES_LOST);
	assert_int_equal(used, nstream);
}

/* The header is magic, descriptor and window. A block of type 3, or one that is too large,
 * follows. */
static void impossible_blocks_are_lost(void **state)
{
	static const uint8_t head[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58};
	static const uint8_t blocks[2][3] = {{0x07, 0, 0}, {0x05, 0, 0x20}};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct frames f = {0};
		size_t used;

		assert_int_equal(frames_walk(&f, head, sizeof(head), &used), FRAMES_INSIDE);
		assert_int_equal(frames_walk(&f, blocks[i], 3, &used), FRAMES_LOST);
	}
}

static void the_beginning_is_a_boundary_and_half_a_magic_is_not(void **state)
{
	struct frames f = {0};
	size_t used;

	(void)state;
	assert_int_equal(frames_walk(&f, NULL, 0, &used), FRAMES_BOUNDARY);
	add_frame(10, 3, false, true);
	assert_int_equal(frames_walk(&f, stream, 2, &used), FRAMES_INSIDE);
	assert_int_equal(frames_walk(&f, NULL, 0, &used), FRAMES_INSIDE);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		T(the_ends_of_all_kinds_of_frames_are_found),
		T(what_a_frame_unpacks_to_is_never_more_than_was_said),
		T(what_is_not_understood_is_lost_for_ever),
		T(impossible_blocks_are_lost),
		T(the_beginning_is_a_boundary_and_half_a_magic_is_not),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
