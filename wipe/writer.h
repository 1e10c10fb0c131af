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
 * The loop only passes buffers on. Hashing, unpacking and storing run in loop_work() jobs: one hash
 * job and one store job at a time, and several jobs that each unpack a whole frame (intake.h). Jobs
 * never wait for one another: a job that cannot continue returns to the loop. Memory is bounded and
 * allocated at the start (in buffers, the target's, and a zstd window of at most 128 MiB). If the
 * server is faster than the drive, the writer stops reading from the server.
 *
 * A broken connection is resumed by an HTTP Range request. The writer gives up a server that
 * delivers less than 1 MiB in 5 minutes. The digest of the bytes served decides whether the image
 * is correct. Until everything is on the drive, verified and read back, the drive has no partition
 * table (target.h), so that a partial image cannot boot. The writer also gives up a drive that
 * stalls; the error then says that the drive holds a part of the image.
 */
struct writer;
struct writer_spec {
	const struct host *host;
	/* Drive to write. Must outlive the writer; its size is checked. */
	const struct proto_drive *drive;
	/* digest: "sha256:..." of the bytes served. */
	const char *url, *digest;
	/* Index in proto_format_names. */
	int format;
	/* CA of the image server as PEM. Required for https. */
	const char *ca_pem;
};
/* Starts the writer; never fails: an error at the start is reported by done(). done() is called
 * exactly once, with e NULL or with a reason: ImageMismatch, ImageUnavailable, ImageUnfit,
 * DriveFailed or OrderInvalid. The writer may be freed in done(). */
struct writer *writer_start(struct loop_group *g, struct http *http, const struct writer_spec *s,
			    void (*done)(const char *reason, const struct err *e, void *arg),
			    void *arg);
/* Frees w at any time; resources of a running job are freed when the job has ended. done() is not
 * called afterwards. */
void writer_free(struct writer *w);
/* Sets *served to the bytes of the image received so far, and *total to its size (0: unknown), as
 * the server counts them, that is, before unpacking. */
void writer_progress(const struct writer *w, int64_t *served, int64_t *total);

#endif
