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
	struct kube_cache *cache; /* NULL: not begun */
	bool denied, absent;	  /* absent: not served */
	char error[160];	  /* "": none */
};

struct devices {
	struct tenant *t;
	struct devices_hooks hooks;
	struct devices_reading of[DEVICES_KINDS];
	struct index *
		users; /* devices_text_of() a claim or template -> "NAMESPACE/POD" of pods that have it */
	struct map *pods; /* "NAMESPACE/POD": those with claims */
	struct retold *retold;
	struct device_slices *slices;
	size_t mapped; /* DeviceClasses that stand for nvidia.com/gpu */
	bool wanted;   /* the kinds are to be read */
	bool plain;    /* pods that ask for nvidia.com/gpu without a claim are to be told, too */
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
