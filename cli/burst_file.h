#ifndef CLI_BURST_FILE_H
#define CLI_BURST_FILE_H

#include "cli/simulate/scenario.h"
#include "planner/burst/burst.h"

/*
 * burst_file: reads the input of `drover burst plan` from files: BurstPolicy objects and one
 * BurstState. A BurstState (drover.dev/v1alpha1) exists only in files, not in the API. It contains
 * the time, the waiting work, the offers of clouds, failures and earlier launches. Unknown members
 * are errors.
 * Tests: tests/unit/cli/test_burst.c
 */

/* Reads the documents of n parsed files into *out, which is allocated in the arena. *out refers to
 * time zones in `zones`. -1: *e names the file and the line. */
int burst_file_read(const struct scenario_file *files, size_t n, struct zones *zones,
		    struct burst_input *out, struct arena *a, struct err *e)
	__attribute__((warn_unused_result));

#endif
