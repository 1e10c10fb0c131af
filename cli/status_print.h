#ifndef CLI_STATUS_PRINT_H
#define CLI_STATUS_PRINT_H

#include "base/data/json.h"
#include "cli/screen.h"

/*
 * status_print: draws the status (cli/status_read.h) for the operator. On a terminal all sections
 * fit the screen: each shows as many rows as there is space for, and the command that shows all.
 * Tests: tests/unit/cli/test_status.c
 */

/* now: wall ms, for ages. */
void status_print(const json_t *status, int64_t now, struct screen *s);

#endif
