#include "wipe/frames.h"

#define MAGIC 0xfd2fb528u
/* First of the magic numbers of skippable frames; the last is 0x184d2a5f. */
#define SKIPPABLE 0x184d2a50u
#define CHECKSUM_BYTES 4

enum { RAW_BLOCK, RLE_BLOCK, COMPRESSED_BLOCK, RESERVED_BLOCK };

static const size_t field_bytes[] = {
	[FRAMES_MAGIC] = 4,
	[FRAMES_SKIP_SIZE] = 4,
	[FRAMES_DESCRIPTOR] = 1,
	[FRAMES_BLOCK] = 3,
};

static uint32_t number(const struct frames *f)
{
	uint32_t v = 0;

	for (size_t i = f->nheld; i-- > 0;)
		v = v << 8 | f->held[i];
	return v;
}

/* Returns the number of header bytes that follow the descriptor byte: window, dictionary and
 * content size. */
static size_t header_rest(unsigned descriptor)
{
	static const uint8_t dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
	bool single = descriptor >> 5 & 1;
	unsigned size = descriptor >> 6;

	return !single + dictionary[descriptor & 3] + (size ? content[size] : single);
}

static void end_block(struct frames *f, uint32_t header)
{
	uint32_t size = header >> 3;
	unsigned type = header >> 1 & 3;

	f->last = header & 1;
	f->lost = type == RESERVED_BLOCK || size > FRAMES_BLOCK_MAX;
	f->unpacked += type == COMPRESSED_BLOCK ? FRAMES_BLOCK_MAX : size;
	f->pass = type == RLE_BLOCK ? 1 : size;
	if (f->last && f->checksum)
		f->pass += CHECKSUM_BYTES;
}

/* Interprets the field that is now complete, and selects the next part. */
static void end_field(struct frames *f)
{
	uint32_t v = number(f);

	f->nheld = 0;
	switch (f->part) {
	case FRAMES_MAGIC:
		f->last = false;
		f->lost = v != MAGIC && (v & ~0xfu) != SKIPPABLE;
		f->part = v == MAGIC ? FRAMES_DESCRIPTOR : FRAMES_SKIP_SIZE;
		break;
	case FRAMES_SKIP_SIZE:
		f->pass = v;
		f->last = true;
		break;
	case FRAMES_DESCRIPTOR:
		f->checksum = v >> 2 & 1;
		f->pass = header_rest(v);
		f->part = FRAMES_BLOCK;
		break;
	case FRAMES_BLOCK:
		end_block(f, v);
		break;
	}
}

enum frames_state frames_walk(struct frames *f, const uint8_t *p, size_t n, size_t *used)
{
	size_t at = 0;

	while (!f->lost && at < n) {
		if (f->pass) {
			size_t step = f->pass < n - at ? (size_t)f->pass : n - at;

			f->pass -= step;
			at += step;
		} else {
			f->held[f->nheld++] = p[at++];
			if (f->nheld == field_bytes[f->part])
				end_field(f);
		}
		if (f->last && !f->pass && !f->nheld && !f->lost) {
			f->part = FRAMES_MAGIC;
			f->last = false;
			*used = at;
			return FRAMES_BOUNDARY;
		}
	}
	*used = f->lost ? n : at;
	if (f->lost)
		return FRAMES_LOST;
	return f->part == FRAMES_MAGIC && !f->nheld ? FRAMES_BOUNDARY : FRAMES_INSIDE;
}
