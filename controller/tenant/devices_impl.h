#ifndef CONTROLLER_TENANT_DEVICES_IMPL_H
#define CONTROLLER_TENANT_DEVICES_IMPL_H

#include "controller/tenant/device_slices.h"
#include "controller/tenant/devices.h"
#include "controller/tenant/read_result.h"
#include "controller/tenant/replan_queue.h"

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
	/* cache of this kind; NULL: reading has not started */
	struct kube_cache *cache;
	struct read_result read;
};

struct devices {
	struct tenant *t;
	struct devices_hooks hooks;
	struct devices_reading of[DEVICES_KINDS];
	/* key of a claim or template (devices_text_of()) -> "NAMESPACE/POD" of each pod that uses
	 * it */
	struct index *users;
	/* set of "NAMESPACE/POD" of the pods with claims */
	struct map *pods;
	struct replan_queue *replan_queue;
	struct device_slices *slices;
	/* number of DeviceClasses that map the extended resource nvidia.com/gpu */
	size_t mapped;
	/* True: the objects of all kinds are to be read */
	bool wanted;
	/* True: the next pass of pods to the planner also includes pods that request nvidia.com/gpu
	 * without a claim */
	bool plain;
	struct loop_timer all_timer;
};

const char *devices_text_of(enum devices_kind kind, const char *ns, const char *name,
			    struct arena *a);
/* Returns why the claims of pods cannot be evaluated. NULL: the objects of all kinds are read, or,
 * with *soon set to true, are being read for the first time. */
const char *devices_unread(const struct devices *d, bool *soon, struct arena *a);
const void *devices_look_up(const struct devices *d, enum devices_kind kind, const char *ns,
			    const char *name);
/* True if the pod has no Node yet and requests GPUs as an extended resource. */
bool devices_asks_plainly(const struct world_pod *p);

#endif
