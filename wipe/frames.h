#ifndef WIPE_FRAMES_H
#define WIPE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * frames: where the frames of a zstd stream end, and how much each can unpack to, without
 * unpacking: so that whole frames can be unpacked side by side.  It follows magic numbers, frame
 * headers and block sizes (RFC 8878, 3.1.1 and 3.1.2), in pieces of any length.
 *
 * It judges nothing: what it lets pass may still be refused by the decoder.  What it does not
 * understand is FRAMES_LOST, for ever: from there on only the decoder can say what it is.
 */
enum frames_state {
	/* of a frame, or of its header */
	FRAMES_INSIDE,
	/* just behind a frame; also at the beginning */
	FRAMES_BOUNDARY,
	FRAMES_LOST,
};

/* What a block unpacks to at most (RFC 8878, 3.1.1.2.4). */
#define FRAMES_BLOCK_MAX (128u << 10)

/* {0}: the beginning */
struct frames {
	enum frames_part {
		FRAMES_MAGIC,
		FRAMES_SKIP_SIZE,
		FRAMES_DESCRIPTOR,
		FRAMES_BLOCK,
	} part;
	/* of a field that is not complete */
	uint8_t held[4];
	size_t nheld;
	/* bytes of no interest that come next */
	uint64_t pass;
	bool checksum, last, lost;
	/* most that what passed so far unpacks to */
	uint64_t unpacked;
};

/* The next n bytes; *used of them, fewer than n only at a frame's end. */
enum frames_state frames_walk(struct frames *f, const uint8_t *p, size_t n, size_t *used);

#endif
