#ifndef WIPE_WRITER_H
#define WIPE_WRITER_H

#include <stdint.h>
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * writer: writes an OS image from HTTP to a drive.
 *
 *   server --paced--> in buffers --store job--> drive, many writes in flight (target.h)
 *                      (loop)  \--hash job
 *
 * The loop only passes buffers on; hashing, and unpacking with writing, are loop_work() jobs, one
 * of each kind at a time, which never wait for one another: a job that cannot continue returns to
 * the loop. Memory is bounded and allocated at the start (in buffers, the target's, and a zstd
 * window of at most 128 MiB): if the server is faster than the drive, the writer does not read from
 * it.
 *
 * A broken connection is resumed by Range; a server that delivers less than 1 MiB in 5 minutes is
 * given up; the digest of the bytes served decides. Until everything is on the drive, verified and
 * read back, the drive has no partition table (target.h), so that a partial image cannot boot. A
 * drive that stalls is given up as well; the error says that it holds a part.
 */
struct writer;
struct writer_spec {
	const struct host *host;
	/* Must outlive the writer; its size is checked. */
	const struct proto_drive *drive;
	/* digest: "sha256:..." of the bytes served. */
	const char *url, *digest;
	/* Index in proto_format_names. */
	int format;
	/* Required for https. */
	const char *ca_pem;
};
/* Never fails: what cannot begin ends in done(). done() is called exactly once, with e NULL or a
 * reason among ImageMismatch, ImageUnavailable, ImageUnfit, DriveFailed, OrderInvalid; the writer
 * may be freed in it. */
struct writer *writer_start(struct loop_group *g, struct http *http, const struct writer_spec *s,
			    void (*done)(const char *reason, const struct err *e, void *arg),
			    void *arg);
/* At any time; a job's resources are freed when it has ended. done() is not called afterwards. */
void writer_free(struct writer *w);
/* Bytes of the image so far and in total (0: unknown), as counted by the server. */
void writer_progress(const struct writer *w, int64_t *served, int64_t *total);

#endif
