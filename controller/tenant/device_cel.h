#ifndef CONTROLLER_TENANT_DEVICE_CEL_H
#define CONTROLLER_TENANT_DEVICE_CEL_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/data/selector.h"

/*
 * device_cel: what a CEL selector of a resource claim or DeviceClass asks of an NVIDIA GPU, as
 * requirements on the labels of its Node, so that a machine that is not there yet can be judged by
 * those of its instance type.
 *
 * Understood, with && between them, || between values of one label, and parentheses:
 *
 *   device.driver == 'gpu.nvidia.com'
 *   'gpu.nvidia.com' in device.attributes
 *   device.attributes['gpu.nvidia.com'].type == 'gpu'
 *   device.attributes['gpu.nvidia.com'].productName == 'NVIDIA H100 80GB HBM3'	label nvidia.com/gpu.product
 *   device.attributes['gpu.nvidia.com'].architecture == 'Hopper'			label nvidia.com/gpu.family
 *   device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0	label nvidia.com/gpu.memory, MiB
 *
 *   device.attributes['gpu.nvidia.com'].productName.lowerAscii().matches('^.*h100.*$')	the same label
 *
 * and !=, in ['a', 'b'], contains(), matches() of one word with or without lowerAscii(), the other
 * comparisons of compareTo, isGreaterThan and isLessThan. A product's label has dashes for spaces,
 * which no text tells apart, as GPU feature discovery writes it. What else is in an expression is
 * named, never guessed.
 *
 * Sources: KEP-4381 (device, driver, attributes, capacity); the device classes and attributes of
 * NVIDIA's DRA driver. Expressions are a tenant's text.
 * Tests: tests/unit/controller/tenant/test_device_cel.c
 */
#define DEVICE_CEL_BYTES 2048
#define DEVICE_GPU_DRIVER "gpu.nvidia.com"
#define DEVICE_CHANNEL_DRIVER "compute-domain.nvidia.com"
#define DEVICE_LABEL_PRODUCT "nvidia.com/gpu.product"
#define DEVICE_LABEL_FAMILY "nvidia.com/gpu.family"
#define DEVICE_LABEL_MEMORY "nvidia.com/gpu.memory"

enum device_kind {
	/* a whole one */
	DEVICE_GPU,
	/* the default channel of a ComputeDomain */
	DEVICE_CHANNEL
};

struct device_wish {
	/* of the labels of its Node */
	struct selector node;
	/* no device of that kind is meant */
	bool never;
	/* those of one driver are meant */
	bool pinned;
};
/* Adds to *w.  NULL, or what of the expression is not judged. */
const char *device_cel(const char *expression, enum device_kind kind, struct device_wish *w,
		       struct arena *a);

/* Label values as GPU feature discovery makes them of a GPU's attributes. */
const char *device_label_product(const char *product, struct arena *a);
const char *device_label_family(const char *architecture, struct arena *a);

#endif
