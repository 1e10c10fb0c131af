#ifndef PLANNER_USAGE_H
#define PLANNER_USAGE_H

#include <stdint.h>

/*
 * usage: GPU seconds that a tenant has had, the older, the less: after each half-life they count
 * half.
 *
 * Whoever holds g GPUs for ever comes to g * half-life / ln 2 of them; so usage_average() says how
 * many GPUs it held, averaged with these weights, and compares with what it holds now. Integers
 * alone: equal histories give equal sums anywhere. One step over a time in which it held the same
 * equals many small ones, but for rounding.
 * Tests: tests/unit/planner/test_usage.c
 */
#define USAGE_HALF_LIFE_MS ((int64_t)168 * 3600 * 1000) /* where nobody says another */

/* What has become of it after so long, in which the tenant held so many thousandths of a GPU. */
int64_t usage_after(int64_t gpu_seconds, int64_t held_milli, int64_t ms, int64_t half_life_ms);
/* Thousandths of a GPU. */
int64_t usage_average(int64_t gpu_seconds, int64_t half_life_ms);

#endif
