#ifndef CONTROLLER_TENANT_DEVICE_SLICES_H
#define CONTROLLER_TENANT_DEVICE_SLICES_H

#include "base/data/labels.h"
#include "controller/tenant/device_objects.h"
#include "kube/cache.h"

/*
 * device_slices: which whole GPUs the ResourceSlices of a cluster have, by Node and by pool.
 *
 * A pool is counted once all slices of its newest generation are there (resource.k8s.io
 * ResourcePool): until then kube-scheduler gives nobody its devices. Knows names alone; what they
 * are is in the cache of struct device_slice that each look-up is given. On the loop thread.
 * Tests: tests/unit/controller/tenant/test_devices.c
 */
struct device_slices;
struct device_slices *device_slices_new(void);
void device_slices_free(struct device_slices *s);
/* s NULL: there is no such slice any more. */
void device_slices_put(struct device_slices *all, const char *name, const struct device_slice *s);

/* Whole GPUs of the Node, and the labels that its first one gives it; cache NULL: none. */
size_t device_slices_on(const struct device_slices *all, const struct kube_cache *cache,
			const char *node, struct labels *labels);
/* How many whole GPUs a device that was allocated takes, 0 or 1: a part of one that may be given
 * whole takes it, of a pool that is not known, too; a part of one that is not, nothing. */
size_t device_slices_takes(const struct device_slices *all, const struct kube_cache *cache,
			   const struct device_result *r);

#endif
