/*
 * Decodes the input as stored GPU history: as it is, and as the content of a valid zstd frame,
 * because mutated frames are hardly ever valid. Asserts that an accepted day survives encoding.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "base/mem.h"
#include "controller/view/gpu_history_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(struct gpu_history *h, int64_t day)
{
	OWN(gpu_history) other = gpu_history_new();
	size_t len, other_len;
	char *text = gpu_history_encode(h, day, &len), *again;
	int64_t other_day;
	struct err e;
	int rc = gpu_history_decode(other, text, len, INT32_MAX, &other_day, &e);

	assert(rc == 0 && other_day == day);
	again = gpu_history_encode(other, day, &other_len);
	assert(len == other_len && memcmp(text, again, len) == 0);
	free(again);
	free(text);
}

static void decode(const char *data, size_t size)
{
	OWN(gpu_history) h = gpu_history_new();
	int64_t day;
	struct err e;

	if (gpu_history_decode(h, data, size, INT32_MAX, &day, &e) == 0)
		check_again(h, day);
	else
		assert(gpu_history_newest(h) == -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t bound = ZSTD_compressBound(size);
	char *packed = mem_alloc(5 + bound);
	size_t n;

	decode((const char *)data, size);
	memcpy(packed, "DRVH\001", 5);
	n = ZSTD_compress(packed + 5, bound, data, size, 1);
	assert(!ZSTD_isError(n));
	decode(packed, 5 + n);
	free(packed);
	return 0;
}
