#ifndef CLI_BURST_PRINT_H
#define CLI_BURST_PRINT_H

#include "base/data/json.h"
#include "planner/burst/burst.h"

/*
 * burst_print: prints the decisions of `drover burst plan` on standard output. aside: waiting work
 * without a decision, rows {tenant, work, reason, message}; NULL: not known.
 * Tests: tests/unit/cli/burst/test_burst.c
 */
void burst_print_json(const struct burst *b, json_t *aside, struct arena *a);
void burst_print_table(const struct burst *b, const json_t *aside, struct arena *a);

#endif
