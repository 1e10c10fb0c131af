#ifndef WIPE_INTAKE_H
#define WIPE_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wipe/frames.h"

/*
 * intake: the bytes of an image as the network brings them, cut into chunks.
 *
 * A zstd stream of several frames (pzstd makes such, and `cat a.zst b.zst`) is cut at their ends:
 * such a chunk is `whole` and can be unpacked without the others.  What no frame of at most
 * INTAKE_UNPACKED bytes holds together, a stream of one large frame or a raw image, is cut where
 * it is full, and its chunks go one after the other through one decoder.
 *
 * Chunks are filled in turns.  Who has had a closed one gives it back; until then nothing is
 * written to it, so that other threads may read it.  All else is for one thread.  Memory is
 * bounded; of what a chunk could hold, only what is used is ever touched.
 */
#define INTAKE_MAX 12		    /* chunks */
#define INTAKE_UNPACKED (16u << 20) /* pzstd -12 makes frames of 16 MiB, pzstd -3 of 8 */
/* A frame of incompressible data, with its headers, and a skippable one before it. */
#define INTAKE_CHUNK (INTAKE_UNPACKED + (128u << 10))
#define INTAKE_PART (1u << 20)	/* of what is not whole */
#define INTAKE_SMALL (1u << 20) /* whole frames that unpack to less are put together */
#define INTAKE_PIECE (256u << 10)

struct chunk {
	uint8_t *data;
	size_t len;
	bool closed;
	/* frames that unpack to INTAKE_UNPACKED bytes together at most */
	bool whole;
};

struct intake {
	struct chunk v[INTAKE_MAX];
	unsigned n, fill;
	bool zstd;
	struct frames frames;
	/* the chunk that is being filled */
	uint64_t unpacked_before;
	/* the frame, or what follows one that was not understood */
	bool large;
	/* what came and had no place yet */
	uint8_t *rest;
	size_t nrest, rest_at;
};

void intake_init(struct intake *t, unsigned chunks, bool zstd);
void intake_done(struct intake *t);

/* Is there room for a piece?  Only then intake_add(), of at most INTAKE_PIECE bytes; -1: more. */
bool intake_hungry(const struct intake *t);
int intake_add(struct intake *t, const void *data, size_t len);
/* The chunk is empty again; what waits for a place gets it. */
void intake_give_back(struct intake *t, unsigned chunk);
/* Nothing more is added: what has come is closed, as soon as there is a place for it. */
void intake_end(struct intake *t);

#endif
