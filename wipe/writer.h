#ifndef WIPE_WRITER_H
#define WIPE_WRITER_H

#include <stdint.h>
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * writer: an OS image from HTTP onto a drive.
 *
 *	server --paced--> in buffers --store job--> drive, many writes in flight (target.h)
 *	                   (loop)  \--hash job
 *
 * The loop only hands buffers on; hashing, and unpacking with writing, are loop_work() jobs, one of
 * each kind at a time, which never wait for one another: what cannot go on returns to the loop.
 * Memory is bounded and allocated at the start (in buffers, the target's, and a zstd window of
 * at most 128 MiB): a server that is faster than the drive is simply not read from.
 *
 * A broken connection is resumed by Range where it broke; a server that brings less than 1 MiB
 * in 5 minutes is given up; the digest of the bytes served judges the whole.  Until all of it is
 * on the drive, judged and read back, the drive has no partition table (target.h), so that
 * nothing half-written boots.  A drive that stands still is given up as well; the error says
 * that it holds a part.
 */
struct writer;
struct writer_spec {
	const struct host *host;
	/* outlives the writer; its size is checked */
	const struct proto_drive *drive;
	/* "sha256:..." of the bytes served */
	const char *url, *digest;
	/* enum of proto_format_names */
	int format;
	/* required for https */
	const char *ca_pem;
};
/* Never fails: what cannot begin ends in done().  done exactly once, with e NULL or reason one
 * of ImageMismatch, ImageUnavailable, ImageUnfit, DriveFailed, OrderInvalid; the writer may be
 * freed in it. */
struct writer *writer_start(struct loop_group *g, struct http *http, const struct writer_spec *s,
			    void (*done)(const char *reason, const struct err *e, void *arg),
			    void *arg);
/* At any time; what a job holds is freed when it has ended.  done is not called any more. */
void writer_free(struct writer *w);
/* Bytes of the image so far and in all (0: unknown), as the server counts them. */
void writer_progress(const struct writer *w, int64_t *served, int64_t *total);

#endif
