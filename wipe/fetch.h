#ifndef WIPE_FETCH_H
#define WIPE_FETCH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/http/http.h"
#include "base/loop/loop.h"

/*
 * fetch: one large file over HTTP, in pieces that the caller asks for.
 *
 * A broken connection is resumed by Range where it broke; a server that breaks off eight times
 * in a row and brings nothing between, that resumes elsewhere, or that brings less than 1 MiB in
 * 5 minutes while it is waited for, is given up.  What the bytes are worth is the caller's to say:
 * a digest.
 *
 * On the loop's thread.
 * Tests: tests/unit/wipe/test_writer.c
 */
struct fetch;
struct fetch_spec {
	/* http:// or, with a CA, https:// */
	const char *url, *ca_pem;
	/* bytes of a piece at most: see http.h */
	size_t piece;
	/* The next bytes; -1 with *e set ends it. */
	int (*on_data)(const char *data, size_t len, void *arg, struct err *e);
	/* It was broken off and could go on: fetch_more() when there is room. */
	void (*on_due)(void *arg);
	/* Once, at the end: e NULL, or reason ImageUnavailable, or ImageMismatch when more comes
	 * than the server said. */
	void (*on_end)(const char *reason, const struct err *e, void *arg);
	void *arg;
};
/* NULL: the URL is unfit, or https without a CA.  Nothing is sent before fetch_more(). */
struct fetch *fetch_new(struct loop_group *g, struct http *http, const struct fetch_spec *s,
			struct err *e);
/* nothing is called any more; NULL is fine */
void fetch_free(struct fetch *f);

/* There is room for one piece; again and again as long as there is. */
void fetch_more(struct fetch *f);
/* From time to time.  waits: the caller would take more, so that a slow server is to blame.
 * May end it. */
void fetch_watch(struct fetch *f, bool waits);
/* Bytes so far and in all (0: unknown). */
void fetch_progress(const struct fetch *f, int64_t *got, int64_t *total);

#endif
