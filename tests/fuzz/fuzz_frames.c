/*
 * Finds the ends of zstd frames in the input. Asserts that they are the same for pieces of any
 * length, and the same as zstd's own unless zstd refuses the frame.
 */
#include <assert.h>
#include <stdlib.h>
#include <zstd.h>
#include "wipe/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_end(const uint8_t *p, size_t n, size_t frame)
{
	size_t rc = ZSTD_findFrameCompressedSize(p, n);

	assert(ZSTD_isError(rc) || rc == frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frames f = {0}, g = {0};
	size_t at = 0, step = size ? data[0] % 17 + 1 : 1;

	if (!size)
		return 0;
	data++;
	size--;
	while (at < size) {
		size_t used, slow = 0;
		enum frames_state s = frames_walk(&f, data + at, size - at, &used), t = FRAMES_LOST;

		assert(used && used <= size - at);
		assert(s != FRAMES_LOST || used == size - at);
		while (slow < used) {
			size_t n = used - slow < step ? used - slow : step, took;

			t = frames_walk(&g, data + at + slow, n, &took);
			assert(took == n || t == FRAMES_BOUNDARY);
			slow += took;
			assert(t != FRAMES_BOUNDARY || slow == used);
		}
		assert(s == t && f.unpacked == g.unpacked);
		if (s == FRAMES_BOUNDARY)
			check_end(data + at, size - at, used);
		at += used;
	}
	return 0;
}
