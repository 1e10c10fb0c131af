/*
 * Reads the input as the partition table of an image. Asserts that the table which is then written
 * can be read back, whatever the image contains. Checksums are corrected first, because they
 * protect against accidents, not against attackers.
 */
#include <stdlib.h>
#include <string.h>
#include "wipe/gpt.h"

#define DRIVE (64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t crc(const uint8_t *p, size_t n)
{
	uint32_t c = ~0u;

	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (0xedb88320u & -((c ^ p[i] >> k) & 1));
	return ~c;
}

static void seal(uint8_t *h, const uint8_t *head, uint32_t block)
{
	uint32_t at, sum;

	memcpy(&at, h + 72, 4);
	if (at < GPT_HEAD / block - 64) {
		sum = crc(head + (size_t)at * block, GPT_ENTRIES * GPT_ENTRY);
		memcpy(h + 88, &sum, 4);
	}
	memset(h + 16, 0, 4);
	sum = crc(h, 92);
	memcpy(h + 16, &sum, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t guid[16] = {1};
	static uint8_t head[GPT_HEAD], tail[GPT_HEAD];
	struct gpt g;
	struct err e;
	int64_t at, bytes;

	if (size < 92)
		return 0;
	for (uint32_t block = 512; block <= 4096; block *= 8) {
		memset(head, 0, sizeof(head));
		memcpy(head + block, data, 92);
		memcpy(head + 2 * block, data + 92, size - 92 < 65536 ? size - 92 : 65536);
		seal(head + block, head, block);
		if (gpt_read(&g, head, block, DRIVE, &e) < 0 ||
		    gpt_append(&g, "cidata", guid, 4 << 20, &e) < 0)
			continue;
		if (!gpt_find(&g, "cidata", &at, &bytes) || at < 0 || at + bytes > DRIVE)
			abort();
		gpt_write(&g, head, tail);
		if (gpt_read(&g, head, block, DRIVE, &e) < 0)
			abort();
	}
	return 0;
}
