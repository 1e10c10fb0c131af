#ifndef WIPE_INTAKE_H
#define WIPE_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wipe/frames.h"

/*
 * intake: divides an image, as it arrives from the network, into chunks.
 *
 * A zstd stream of several frames (from pzstd, or `cat a.zst b.zst`) is divided at frame ends: such
 * a chunk is `whole` and can be unpacked without the others. Data that does not consist of frames
 * of at most INTAKE_UNPACKED bytes (a stream of one large frame, or a raw image) is divided
 * wherever a chunk is full, and its chunks pass through one decoder in order.
 *
 * Chunks are filled in turn. The user of a closed chunk returns it; until then it is not written,
 * so that other threads may read it. Everything else is for one thread. Memory is bounded; of a
 * chunk's capacity only the used part is touched.
 */
#define INTAKE_MAX 12		    /* Number of chunks. */
#define INTAKE_UNPACKED (16u << 20) /* pzstd -12 creates frames of 16 MiB, pzstd -3 of 8 MiB. */
/* A frame of incompressible data with its headers, and a skippable frame before it. */
#define INTAKE_CHUNK (INTAKE_UNPACKED + (128u << 10))
#define INTAKE_PART (1u << 20)	/* Size of a chunk that is not whole. */
#define INTAKE_SMALL (1u << 20) /* Whole frames that unpack to less share a chunk. */
#define INTAKE_PIECE (256u << 10)

struct chunk {
	uint8_t *data;
	size_t len;
	bool closed;
	/* Complete frames that unpack to at most INTAKE_UNPACKED bytes together. */
	bool whole;
};

struct intake {
	struct chunk v[INTAKE_MAX];
	unsigned n, fill;
	bool zstd;
	struct frames frames;
	/* Upper bound of what the current chunk unpacks to, without its incomplete frame. */
	uint64_t unpacked_before;
	/* The current frame is too large, or follows data that frames.h does not recognise. */
	bool large;
	/* Data received while no chunk was free. */
	uint8_t *rest;
	size_t nrest, rest_at;
};

void intake_init(struct intake *t, unsigned chunks, bool zstd);
void intake_done(struct intake *t);

/* True if a piece fits. Only then call intake_add(), with at most INTAKE_PIECE bytes; -1: more. */
bool intake_hungry(const struct intake *t);
int intake_add(struct intake *t, const void *data, size_t len);
/* Returns an empty chunk; waiting data is put into it. */
void intake_give_back(struct intake *t, unsigned chunk);
/* End of data: closes the last chunk as soon as one is free. */
void intake_end(struct intake *t);

#endif
