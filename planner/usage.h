#ifndef PLANNER_USAGE_H
#define PLANNER_USAGE_H

#include <stdint.h>

/*
 * usage: GPU seconds that a tenant has used, with exponential decay: past use counts half as much
 * after each half-life.
 *
 * For a tenant that holds g GPUs forever, the decayed sum converges to g * half-life / ln 2 GPU
 * seconds. So usage_average() divides by half-life / ln 2 and returns a weighted average number of
 * GPUs, which is comparable with the number that the tenant holds now.
 *
 * Only integers are used: equal histories give equal sums on any machine. One step over a time with
 * constant holdings equals many small steps, apart from rounding.
 * Tests: tests/unit/planner/test_usage.c
 */
#define USAGE_HALF_LIFE_MS ((int64_t)168 * 3600 * 1000) /* Default half-life. */

/* Returns the sum after `ms` more milliseconds. gpu_seconds: decayed sum before. held_milli:
 * thousandths of a GPU that the tenant held during this time. */
int64_t usage_after(int64_t gpu_seconds, int64_t held_milli, int64_t ms, int64_t half_life_ms);
/* Returns the average number of GPUs that corresponds to the decayed sum, in thousandths of a
 * GPU. */
int64_t usage_average(int64_t gpu_seconds, int64_t half_life_ms);

#endif
