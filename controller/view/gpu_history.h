#ifndef CONTROLLER_VIEW_GPU_HISTORY_H
#define CONTROLLER_VIEW_GPU_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/own.h"

/*
 * gpu_history: the number of GPUs over the last 7 days, by group of machine states and by tenant,
 * in steps of 5 minutes. In memory only; pure: no clock, no I/O.
 *
 * A step is a number: Unix time divided by GPU_HISTORY_STEP_MS. A step has one sample, or none: a
 * step without a sample (no replica led) is a gap, never zero. The newest sample ends the window of
 * GPU_HISTORY_STEPS steps; older samples are dropped.
 *
 * A tenant has a column from its first GPU until the window contains none of its GPUs. A tenant
 * that is deleted and created again under the same name keeps its column. If GPU_HISTORY_TENANTS
 * tenants have a column, the GPUs of any further tenant are added to the column of other tenants.
 * Tests: tests/unit/controller/view/test_gpu_history.c
 */
#define GPU_HISTORY_STEP_MS INT64_C(300000)
#define GPU_HISTORY_STEPS 2016
#define GPU_HISTORY_TENANTS 500

enum gpu_group {
	/* GPUs of machines in state serving */
	GPU_SERVING,
	/* GPUs of machines in states claimed to gating */
	GPU_MOVING,
	/* GPUs of machines in states draining to verifying */
	GPU_LEAVING,
	GPU_FREE,
	GPU_QUARANTINED,
	/* GPUs of machines in all other states */
	GPU_OTHER,
	GPU_GROUPS
};
extern const char *const gpu_group_names[GPU_GROUPS];

struct gpu_history;
/* Numbers of GPUs by step; owned by its history. */
struct gpu_column;

struct gpu_history *gpu_history_new(void);
void gpu_history_free(struct gpu_history *h);
DEFINE_OWN(gpu_history)

/* Returns the step of the newest sample; -1: no sample. */
int64_t gpu_history_newest(const struct gpu_history *h);
/* Returns a number that changes with each new sample. */
uint64_t gpu_history_version(const struct gpu_history *h);
bool gpu_history_has(const struct gpu_history *h, int64_t step);
/* Adds a sample in which all numbers are 0. False: the step has a sample, is negative, or is older
 * than the window. A step after the newest one moves the window, which frees the columns that have
 * no GPU in the new window: pointers to columns are invalid afterwards. */
bool gpu_history_open(struct gpu_history *h, int64_t step);

struct gpu_column *gpu_history_group(struct gpu_history *h, enum gpu_group g);
struct gpu_column *gpu_history_others(struct gpu_history *h);
/* Returns the tenant's column, adding it if it is missing; the column of other tenants if no column
 * can be added, or if the name is not a DNS subdomain. */
struct gpu_column *gpu_history_tenant(struct gpu_history *h, const char *name);
/* Returns the columns of tenants, sorted by name. Valid until the next change. */
struct gpu_column *const *gpu_history_tenants(const struct gpu_history *h, size_t *n);

/* Returns the tenant's name; NULL: column of a group, or of other tenants. */
const char *gpu_column_name(const struct gpu_column *x);
/* Adds n GPUs (0 or more) to the sample of a step; the sum is limited to UINT32_MAX. The step must
 * have a sample. */
void gpu_column_add(struct gpu_column *x, int64_t step, int64_t n);
/* Returns the GPUs at a step that has a sample. */
uint32_t gpu_column_at(const struct gpu_column *x, int64_t step);
/* Computes the mean of the samples in `steps` steps from `from` on, in hundredths of a GPU. False:
 * these steps have no sample. */
bool gpu_history_mean(const struct gpu_history *h, const struct gpu_column *x, int64_t from,
		      unsigned steps, int64_t *hundredths);

#endif
