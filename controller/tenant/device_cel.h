#ifndef CONTROLLER_TENANT_DEVICE_CEL_H
#define CONTROLLER_TENANT_DEVICE_CEL_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/data/selector.h"

/*
 * device_cel: translates a CEL selector of a resource claim or DeviceClass on NVIDIA GPUs to
 * requirements on Node labels, so that it can be checked against the labels that an instance type
 * promises before the machine joins.
 *
 * Supported, with && between them, || between values of one label, and parentheses:
 *
 *   device.driver == 'gpu.nvidia.com'
 *   'gpu.nvidia.com' in device.attributes
 *   device.attributes['gpu.nvidia.com'].type == 'gpu'
 *   device.attributes['gpu.nvidia.com'].productName == 'NVIDIA H100 80GB HBM3'
 *       label nvidia.com/gpu.product
 *   device.attributes['gpu.nvidia.com'].productName.lowerAscii().matches('^.*h100.*$')
 *       label nvidia.com/gpu.product
 *   device.attributes['gpu.nvidia.com'].architecture == 'Hopper'
 *       label nvidia.com/gpu.family
 *   device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0
 *       label nvidia.com/gpu.memory, in MiB
 *
 * Also !=, in ['a', 'b'], contains(), matches() of one word with or without lowerAscii(), the other
 * comparisons of compareTo, isGreaterThan and isLessThan. GPU feature discovery writes a product's
 * label with dashes instead of spaces, so names that differ only in this are not distinguished. Any
 * other expression is reported as unsupported, never guessed.
 *
 * Sources: KEP-4381 (device, driver, attributes, capacity); the device classes and attributes of
 * NVIDIA's DRA driver. Expressions are untrusted text of a tenant.
 * Tests: tests/unit/controller/tenant/test_device_cel.c
 */
#define DEVICE_CEL_BYTES 2048
#define DEVICE_GPU_DRIVER "gpu.nvidia.com"
#define DEVICE_CHANNEL_DRIVER "compute-domain.nvidia.com"
#define DEVICE_LABEL_PRODUCT "nvidia.com/gpu.product"
#define DEVICE_LABEL_FAMILY "nvidia.com/gpu.family"
#define DEVICE_LABEL_MEMORY "nvidia.com/gpu.memory"

enum device_kind {
	/* a whole GPU */
	DEVICE_GPU,
	/* the default channel of a ComputeDomain */
	DEVICE_CHANNEL
};

struct device_wish {
	/* requirements on the labels of the Node that has the device */
	struct selector node;
	/* True: no device of this kind satisfies the expression */
	bool never;
	/* True: the expression can only match devices of this kind's driver */
	bool pinned;
};
/* Translates the expression and adds its requirements to *w. kind: the kind of device that the
 * claim requests. Returns NULL, or the first part of the expression that is not supported. */
const char *device_cel(const char *expression, enum device_kind kind, struct device_wish *w,
		       struct arena *a);

/* device_label_product() and device_label_family() return the label value that GPU feature
 * discovery writes for this attribute of a GPU, allocated in the arena. */
const char *device_label_product(const char *product, struct arena *a);
const char *device_label_family(const char *architecture, struct arena *a);

#endif
