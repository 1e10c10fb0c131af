#ifndef CLI_BURST_FILE_H
#define CLI_BURST_FILE_H

#include "cli/simulate/scenario.h"
#include "planner/burst.h"

/*
 * burst_file: policies, and what there is, from files: BurstPolicy as in the API, and one
 * BurstState (drover.dev/v1alpha1, files alone): the time, waiting work, offers of clouds,
 * failures, launches that were made. Decoding is strict.
 * Tests: tests/unit/cli/test_burst.c
 */

/* All of it is in the arena. */
int burst_file_read(const struct scenario_file *files, size_t n, struct burst_input *out,
		    struct arena *a, struct err *e) __attribute__((warn_unused_result));

#endif
