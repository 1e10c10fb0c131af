#ifndef CONTROLLER_GPU_TALLY_H
#define CONTROLLER_GPU_TALLY_H

#include "base/metrics.h"

/*
 * gpu_tally: the gauge drover_gpus: GPUs by pool, tenant and state.
 *
 * At most GPU_PAIRS pairs of pool and tenant are shown by name; the GPUs of further pairs are added
 * up under pool "other" and tenant "other", by state. So the sum over all series is always the
 * number of the fleet's GPUs.
 * Tests: tests/unit/controller/test_gpu_tally.c
 */
#define GPU_PAIRS 2500

enum gpu_state {
	GPU_ALLOCATED,
	GPU_IDLE,
	GPU_FREE,
	GPU_STARTING,
	GPU_LEAVING,
	GPU_WIPING,
	GPU_OUT_OF_ORDER,
	GPU_UNKNOWN,
	GPU_STATES,
};
extern const char *const gpu_state_names[GPU_STATES];

struct gpu_tally;
/* Declares the gauge in m. */
struct gpu_tally *gpu_tally_new(struct metrics *m);
void gpu_tally_free(struct gpu_tally *t);
/* Begins a new count. */
void gpu_tally_begin(struct gpu_tally *t);
/* Counts n GPUs. pool, tenant: NULL or "" for none. */
void gpu_tally_add(struct gpu_tally *t, const char *pool, const char *tenant, enum gpu_state s,
		   double n);
/* Replaces the series of the gauge by the present count. A pair has a series for each state that
 * has GPUs. Also with 0 GPUs, a pair with a Node has both `allocated` and `idle`, and the pair
 * without pool and tenant has all states in which GPUs are on no Node. */
void gpu_tally_show(struct gpu_tally *t);

#endif
