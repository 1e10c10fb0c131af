#ifndef CLI_BURST_DOCS_H
#define CLI_BURST_DOCS_H

#include "base/data/json.h"
#include "planner/burst/burst.h"

/*
 * burst_docs: the input of `drover burst plan` from documents: BurstPolicy objects and one
 * BurstState (controller/burst/state.h), of files or of a cluster. Unknown members are errors.
 * Tests: tests/unit/cli/burst/test_burst.c
 */
struct burst_doc {
	/* The document, which must outlive the input */
	const json_t *j;
	/* Where the document comes from, for errors: "FILE:LINE"; NULL: from the cluster */
	const char *from;
};

/* Reads n documents into *out, which is allocated in the arena. *out refers to time zones in
 * `zones`. -1: *e names the document. */
int burst_docs_read(const struct burst_doc *v, size_t n, struct zones *zones,
		    struct burst_input *out, struct arena *a, struct err *e)
	__attribute__((warn_unused_result));

#endif
