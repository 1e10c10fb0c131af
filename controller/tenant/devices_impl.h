#ifndef CONTROLLER_TENANT_DEVICES_IMPL_H
#define CONTROLLER_TENANT_DEVICES_IMPL_H

#include "controller/tenant/device_slices.h"
#include "controller/tenant/devices.h"
#include "controller/tenant/retold.h"

/*
 * devices_impl: state shared by devices.c, which reads the objects, and device_pods.c, which
 * evaluates them. Not included by other files.
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
	/* NULL: not started */
	struct kube_cache *cache;
	/* absent: the API server does not serve the kind */
	bool denied, absent;
	/* last error; "": none */
	char error[160];
};

struct devices {
	struct tenant *t;
	struct devices_hooks hooks;
	struct devices_reading of[DEVICES_KINDS];
	/* devices_text_of() a claim or template -> "NAMESPACE/POD" of the pods that use it */
	struct index *users;
	/* set of "NAMESPACE/POD": pods with claims */
	struct map *pods;
	struct retold *retold;
	struct device_slices *slices;
	/* number of DeviceClasses that map nvidia.com/gpu */
	size_t mapped;
	/* the kinds are to be read */
	bool wanted;
	/* pods that request nvidia.com/gpu without a claim must also be passed to the planner
	 * again */
	bool plain;
	struct loop_timer all_timer;
};

const char *devices_text_of(enum devices_kind kind, const char *ns, const char *name,
			    struct arena *a);
/* Returns why claims are not known; NULL: they are known, or will be soon (*soon). */
const char *devices_unread(const struct devices *d, bool *soon, struct arena *a);
const void *devices_look_up(const struct devices *d, enum devices_kind kind, const char *ns,
			    const char *name);
/* True if the pod is pending and requests GPUs as an extended resource. */
bool devices_asks_plainly(const struct world_pod *p);

#endif
