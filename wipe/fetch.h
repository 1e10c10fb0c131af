#ifndef WIPE_FETCH_H
#define WIPE_FETCH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/http/http.h"
#include "base/loop/loop.h"

/*
 * fetch: downloads one large file over HTTP, in pieces that the caller requests.
 *
 * A broken connection is resumed by an HTTP Range request. The download fails if eight connections
 * in a row break without delivering anything, if the server resumes at another position, or if it
 * delivers less than 1 MiB in 5 minutes while the caller waits for data. The caller verifies the
 * bytes by a digest.
 *
 * All functions run on the loop's thread.
 * Tests: tests/unit/wipe/test_writer.c
 */
struct fetch;
struct fetch_spec {
	/* URL of the file, http:// or https://, and the CA of the server as PEM, required for
	 * https://. */
	const char *url, *ca_pem;
	/* Largest number of bytes that on_data() gets in one piece (see http.h). */
	size_t piece;
	/* Receives the next len bytes. A return value of -1 with *e set ends the download. */
	int (*on_data)(const char *data, size_t len, void *arg, struct err *e);
	/* Called when a broken connection can be resumed. The caller must then call fetch_more() as
	 * soon as it has buffer space. */
	void (*on_due)(void *arg);
	/* Called once at the end. e NULL: the download is complete. Otherwise reason is
	 * ImageUnavailable, or ImageMismatch if more data arrived than the server announced. */
	void (*on_end)(const char *reason, const struct err *e, void *arg);
	void *arg;
};
/* Creates a download. NULL: the URL is not valid, or is https without a CA. Nothing is sent before
 * fetch_more(). */
struct fetch *fetch_new(struct loop_group *g, struct http *http, const struct fetch_spec *s,
			struct err *e);
/* Frees f and aborts its download; no callback runs afterwards. f NULL is allowed. */
void fetch_free(struct fetch *f);

/* Requests one piece. Call fetch_more() again for each further piece for which there is buffer
 * space. */
void fetch_more(struct fetch *f);
/* Checks the download's rate; call it at intervals. waits: true if the caller could accept more
 * data, so that a low rate is the server's fault. May end the download. */
void fetch_watch(struct fetch *f, bool waits);
/* Sets *got to the number of bytes received so far, and *total to the file's size (0: unknown). */
void fetch_progress(const struct fetch *f, int64_t *got, int64_t *total);

#endif
