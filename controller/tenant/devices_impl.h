#ifndef CONTROLLER_TENANT_DEVICES_IMPL_H
#define CONTROLLER_TENANT_DEVICES_IMPL_H

#include "controller/tenant/device_slices.h"
#include "controller/tenant/devices.h"
#include "controller/tenant/retold.h"

/*
 * devices_impl: what devices.c reads and device_pods.c counts.  For these two alone.
 * Tests: tests/unit/controller/tenant/test_devices.c
 */
enum devices_kind {
	DEVICES_CLAIMS,
	DEVICES_TEMPLATES,
	DEVICES_CLASSES,
	DEVICES_SLICES,
	DEVICES_KINDS
};

struct devices_reading {
	struct devices *d;
	enum devices_kind kind;
	/* NULL: not begun */
	struct kube_cache *cache;
	/* absent: not served */
	bool denied, absent;
	/* "": none */
	char error[160];
};

struct devices {
	struct tenant *t;
	struct devices_hooks hooks;
	struct devices_reading of[DEVICES_KINDS];
	/* devices_text_of() a claim or template -> "NAMESPACE/POD" of pods that have it */
	struct index *users;
	/* "NAMESPACE/POD": those with claims */
	struct map *pods;
	struct retold *retold;
	struct device_slices *slices;
	/* DeviceClasses that stand for nvidia.com/gpu */
	size_t mapped;
	/* the kinds are to be read */
	bool wanted;
	/* pods that ask for nvidia.com/gpu without a claim are to be told, too */
	bool plain;
	struct loop_timer all_timer;
};

const char *devices_text_of(enum devices_kind kind, const char *ns, const char *name,
			    struct arena *a);
/* Why nothing is known of claims; NULL: they are read.  *soon: they will be. */
const char *devices_unread(const struct devices *d, bool *soon, struct arena *a);
const void *devices_look_up(const struct devices *d, enum devices_kind kind, const char *ns,
			    const char *name);
/* It waits, and asks for GPUs as an extended resource. */
bool devices_asks_plainly(const struct world_pod *p);

#endif
