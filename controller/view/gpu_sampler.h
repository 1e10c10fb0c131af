#ifndef CONTROLLER_VIEW_GPU_SAMPLER_H
#define CONTROLLER_VIEW_GPU_SAMPLER_H

#include "controller/core/context.h"
#include "controller/view/gpu_history.h"

/*
 * gpu_sampler: adds a sample of all Machines to the history of GPUs every 5 minutes while this
 * replica leads, and has the history stored (gpu_history_store.h).
 *
 * Samples are taken at multiples of 5 minutes of wall time, and once when this replica begins to
 * lead. No sample is taken while the wall clock differs from the API server's (core/host_clock.h).
 * After the clock was set back, no sample is taken until it passes the newest sample again.
 * Tests: tests/unit/controller/view/test_gpu_sampler.c
 */
struct gpu_sampler;
struct gpu_sampler *gpu_sampler_new(struct context *c);
void gpu_sampler_free(struct gpu_sampler *s);
DEFINE_OWN(gpu_sampler)
/* Returns the history, which s owns. */
struct gpu_history *gpu_sampler_history(struct gpu_sampler *s);
/* Starts to take samples. Call when this replica begins to lead. Sampling ends when this replica no
 * longer leads. */
void gpu_sampler_lead(struct gpu_sampler *s);
/* Ends sampling and stores the samples, then calls done(arg) once, within 3 s, perhaps before this
 * function returns. Call before the Lease is released. */
void gpu_sampler_stop(struct gpu_sampler *s, void (*done)(void *arg), void *arg);

#endif
