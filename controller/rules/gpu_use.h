#ifndef CONTROLLER_RULES_GPU_USE_H
#define CONTROLLER_RULES_GPU_USE_H

#include "base/data/quantity.h"

/*
 * gpu_use: divides the GPUs of one Node into requested, idle and failed GPUs, for metrics.
 *
 * Whole GPUs are counted by nvidia.com/gpu, also under the name nvidia.com/gpu.shared: by the
 * device plugin, or by resource claims (the planner's view of them, tenant/devices.h). A Node that
 * registers more of them than the machine has GPUs divides each GPU (MIG strategy "single", time
 * slicing): its units count in proportion. Parts of GPUs (MIG strategy "mixed",
 * nvidia.com/mig-1g.10gb) count by their compute slices, also in proportion.
 *
 * A GPU that the Node's capacity lacks is a failed one. If the device plugin dies, the kubelet
 * keeps its resources in the capacity with the number 0; a Node without any such resource never
 * had a plugin, and has no failed GPU. Each GPU of a Node that divides its GPUs has the same
 * number of units, which is not known: 49 units of 8 GPUs are at least 7 for each, so one GPU is
 * missing; 48 units are taken for 6 each, and no GPU for missing. A GPU in MIG mode (mixed) cannot
 * be told from a missing one, and is not a failed one while the Node has any compute slice. A GPU
 * that resource claims may allocate is not a failed one either.
 * Tests: tests/unit/controller/rules/test_gpu_use.c
 */
struct gpu_parts {
	/* nvidia.com/gpu and nvidia.com/gpu.shared */
	double whole;
	/* Compute slices of all nvidia.com/mig-* */
	double slices;
	/* True: one of these resources is listed, also with the number 0 */
	bool any;
};
/* Adds the GPUs and parts of GPUs that r contains to *p. */
void gpu_parts_add(struct gpu_parts *p, const struct resources *r);

/* A Node's GPUs; the sum is the number of the machine's GPUs. */
struct gpu_use {
	/* requested by pods; idle: not requested; failed: the device plugin reports them as
	 * unhealthy or misses them */
	double requested, idle, failed;
};
/* gpus: number of the machine's GPUs; capacity, allocatable: of the Node; requested: sum of its
 * pods. by_claims: resource claims may allocate GPUs of the Node, so that a GPU which the device
 * plugin misses is not a failed one. */
struct gpu_use gpu_use_of(double gpus, const struct resources *capacity,
			  const struct resources *allocatable, struct gpu_parts requested,
			  bool by_claims);

#endif
