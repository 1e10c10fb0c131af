#ifndef CONTROLLER_TENANT_DEVICE_SLICES_H
#define CONTROLLER_TENANT_DEVICE_SLICES_H

#include "base/data/labels.h"
#include "controller/tenant/device_objects.h"
#include "kube/cache.h"

/*
 * device_slices: the whole GPUs in the ResourceSlices of a cluster, by Node and by pool (the
 * driver's set of devices, resource.k8s.io ResourcePool).
 *
 * The GPUs of a pool count once all slices of the pool's newest generation exist, because
 * kube-scheduler allocates none of its devices earlier. The module stores only names; each lookup
 * gets the cache that contains the struct device_slice objects. On the loop thread.
 * Tests: tests/unit/controller/tenant/test_devices.c
 */
struct device_slices;
struct device_slices *device_slices_new(void);
void device_slices_free(struct device_slices *s);
/* Adds slice `name`, or updates it; s NULL: removes it. */
void device_slices_put(struct device_slices *all, const char *name, const struct device_slice *s);

/* Returns the number of whole GPUs of the Node; 0 if cache is NULL. *labels: the labels that GPU
 * feature discovery writes for the first of these GPUs. */
size_t device_slices_on(const struct device_slices *all, const struct kube_cache *cache,
			const char *node, struct labels *labels);
/* Returns how many whole GPUs an allocated device occupies, 0 or 1. A part of a GPU counts as 1 if
 * the whole GPU is published, or if its pool is unknown; else as 0. */
size_t device_slices_takes(const struct device_slices *all, const struct kube_cache *cache,
			   const struct device_result *r);

#endif
