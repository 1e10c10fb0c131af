#ifndef CLI_EXPLAIN_PRINT_H
#define CLI_EXPLAIN_PRINT_H

#include "base/buf.h"
#include "base/data/json.h"

/*
 * explain_print: writes an explanation (controller/explain/explain.h) as text for the operator.
 * Tests: tests/unit/cli/test_explain.c
 */

/* now: wall ms, for the ages in the text. */
void explain_print(const json_t *answer, int64_t now, struct buf *out);

#endif
