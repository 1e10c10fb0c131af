#ifndef WIPE_FETCH_H
#define WIPE_FETCH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/http/http.h"
#include "base/loop/loop.h"

/*
 * fetch: downloads one large file over HTTP, in pieces that the caller requests.
 *
 * A broken connection is resumed by Range. The download fails if the server breaks off eight times
 * in a row without delivering anything, resumes at another position, or delivers less than 1 MiB in
 * 5 minutes while the caller waits. The caller verifies the bytes, by a digest.
 *
 * On the loop's thread.
 * Tests: tests/unit/wipe/test_writer.c
 */
struct fetch;
struct fetch_spec {
	/* http:// or, with a CA, https://. */
	const char *url, *ca_pem;
	/* Largest piece in bytes: see http.h. */
	size_t piece;
	/* The next bytes; -1 with *e set ends the download. */
	int (*on_data)(const char *data, size_t len, void *arg, struct err *e);
	/* The broken connection can be resumed: call fetch_more() when there is buffer space. */
	void (*on_due)(void *arg);
	/* Called once at the end: e NULL, or reason ImageUnavailable, or ImageMismatch if more
	 * arrives than the server announced. */
	void (*on_end)(const char *reason, const struct err *e, void *arg);
	void *arg;
};
/* NULL: the URL is not valid, or https without a CA. Nothing is sent before fetch_more(). */
struct fetch *fetch_new(struct loop_group *g, struct http *http, const struct fetch_spec *s,
			struct err *e);
/* No callback runs afterwards; NULL is allowed. */
void fetch_free(struct fetch *f);

/* Requests one piece; call it again for each further piece that there is space for. */
void fetch_more(struct fetch *f);
/* Call it at intervals. waits: the caller could accept more, so a slow server is at fault. May end
 * the download. */
void fetch_watch(struct fetch *f, bool waits);
/* Bytes so far and in total (0: unknown). */
void fetch_progress(const struct fetch *f, int64_t *got, int64_t *total);

#endif
