#ifndef WIPE_FRAMES_H
#define WIPE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * frames: finds where the frames of a zstd stream end, and an upper bound of the unpacked size of
 * each, without unpacking, so that whole frames can be unpacked in parallel. The parser follows
 * magic numbers, frame headers and block sizes (RFC 8878, 3.1.1 and 3.1.2), in pieces of any
 * length.
 *
 * The parser validates nothing else: the decoder may still refuse a stream that passes here. After
 * unknown data the state stays FRAMES_LOST: only the decoder can interpret the rest of the stream.
 */
enum frames_state {
	/* The position is inside a frame or its header. */
	FRAMES_INSIDE,
	/* The position is just behind a frame, or at the beginning of the stream. */
	FRAMES_BOUNDARY,
	FRAMES_LOST,
};

/* Largest unpacked size of a block (RFC 8878, 3.1.1.2.4). */
#define FRAMES_BLOCK_MAX (128u << 10)

/* Parser state; {0} is the beginning of a stream. */
struct frames {
	enum frames_part {
		FRAMES_MAGIC,
		FRAMES_SKIP_SIZE,
		FRAMES_DESCRIPTOR,
		FRAMES_BLOCK,
	} part;
	/* held: bytes received of the current, still incomplete field. nheld: their number. */
	uint8_t held[4];
	size_t nheld;
	/* Number of following bytes to skip. */
	uint64_t pass;
	bool checksum, last, lost;
	/* Upper bound of the unpacked size of all data processed so far, in bytes. */
	uint64_t unpacked;
};

/* Processes the next n bytes at p and returns the state after them. *used: number of processed
 * bytes; less than n only at the end of a frame. */
enum frames_state frames_walk(struct frames *f, const uint8_t *p, size_t n, size_t *used);

#endif
