#ifndef WIPE_INTAKE_H
#define WIPE_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wipe/frames.h"

/*
 * intake: divides an image, as it arrives from the network, into chunks.
 *
 * A zstd stream of several frames (from pzstd, or `cat a.zst b.zst`) is divided at frame ends. The
 * resulting chunks are `whole`: each can be unpacked without the others. Other data (a stream with
 * a frame that unpacks to more than INTAKE_UNPACKED bytes, or a raw image) is divided wherever a
 * chunk is full; the chunks then pass through one decoder in order.
 *
 * Chunks are filled in turn. The user of a closed chunk returns the chunk with intake_give_back().
 * The intake does not write to a closed chunk before that, so other threads may read it. Only one
 * thread may use the rest of the struct. Memory is bounded; only the used part of a chunk is
 * touched.
 */
#define INTAKE_MAX 12		    /* Largest number of chunks. */
#define INTAKE_UNPACKED (16u << 20) /* pzstd -12 creates frames of 16 MiB, pzstd -3 of 8 MiB. */
/* Capacity of a chunk in bytes, enough for a frame of INTAKE_UNPACKED incompressible bytes with its
 * headers, and a skippable frame before it. */
#define INTAKE_CHUNK (INTAKE_UNPACKED + (128u << 10))
#define INTAKE_PART (1u << 20)	/* Capacity of a chunk that is not whole. */
#define INTAKE_SMALL (1u << 20) /* Frames that unpack to fewer bytes share a chunk. */
#define INTAKE_PIECE (256u << 10)

struct chunk {
	uint8_t *data;
	size_t len;
	bool closed;
	/* True: the chunk consists of complete frames that together unpack to at most
	 * INTAKE_UNPACKED bytes. */
	bool whole;
};

struct intake {
	struct chunk v[INTAKE_MAX];
	unsigned n, fill;
	bool zstd;
	struct frames frames;
	/* Upper bound of the unpacked size of the current chunk, without its incomplete last
	 * frame. */
	uint64_t unpacked_before;
	/* True: the current frame is too large, or follows data that frames.h does not
	 * recognise. */
	bool large;
	/* Data received while no chunk was free. nrest: its size in bytes. rest_at: number of bytes
	 * of it that were put into chunks since. */
	uint8_t *rest;
	size_t nrest, rest_at;
};

void intake_init(struct intake *t, unsigned chunks, bool zstd);
void intake_done(struct intake *t);

/* True if intake_add() would accept another piece of data now. */
bool intake_hungry(const struct intake *t);
int intake_add(struct intake *t, const void *data, size_t len);
/* Marks the chunk as empty and fills it with received data that waits for a free chunk, if any. */
void intake_give_back(struct intake *t, unsigned chunk);
/* Call after the last intake_add(), and again after each intake_give_back(): closes the last chunk
 * unless received data still waits for a free chunk. */
void intake_end(struct intake *t);

#endif
