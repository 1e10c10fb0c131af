#ifndef CONTROLLER_TENANT_VOLUME_OBJECTS_H
#define CONTROLLER_TENANT_VOLUME_OBJECTS_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/scan.h"
#include "base/err.h"
#include "planner/world.h"

/*
 * volume_objects: typed projections, for kube/cache, of a tenant's PersistentVolumeClaims,
 * PersistentVolumes, StorageClasses and CSINodes: the members that decide on which Node a pod may
 * be placed. Also evaluates one claim of a pod.
 *
 * Sources: core/v1 PersistentVolumeClaim and PersistentVolume, storage.k8s.io/v1 StorageClass and
 * CSINode; the rules are kube-scheduler's VolumeBinding, VolumeRestrictions and NodeVolumeLimits.
 *
 * All these objects are untrusted text of a tenant. Up to VOLUME_TERMS_BYTES of an object's terms
 * or drivers are read. An object that is longer or cannot be read is "unreadable": pods that use it
 * wait, and their message gives this reason.
 * Tests: tests/unit/controller/tenant/test_volume_objects.c
 */
#define VOLUME_TERMS_BYTES ((size_t)16 << 10) /* size as counted by scan_weight() */

struct volume_claim {
	/* name of the volume (spec.volumeName); NULL: none */
	const char *volume;
	/* name of the StorageClass; NULL: none */
	const char *class_name;
	/* Node for which the volume is being provisioned; NULL: none */
	const char *selected_node;
	/* UID of the claim's controller; NULL: none */
	const char *owner;
	bool bound, lost, deleting;
	/* True: access mode ReadWriteOncePod */
	bool one_pod;
};

struct volume_terms {
	struct selector *v;
	size_t n;
	/* approximate size of the terms in bytes */
	size_t weight;
	/* True: there are no terms, so every Node matches */
	bool any;
	bool unreadable;
};

struct volume {
	/* namespace and name of the claim to which the volume is bound (spec.claimRef); NULL:
	 * none */
	const char *claim_ns, *claim_name;
	/* name of the CSI driver; NULL: no CSI volume, so no attachment limit applies */
	const char *driver;
	struct volume_terms terms;
	/* name of the only Node that the terms allow; NULL: no Node or several Nodes */
	const char *node;
};

struct volume_class {
	/* True: volumeBindingMode is WaitForFirstConsumer */
	bool waits;
	const char *provisioner;
	struct volume_terms terms;
};

struct volume_limits {
	/* attachment limits of the Node; each resource is named "@DRIVER" */
	struct resources counts;
};

extern const struct scan_want volume_want_claim[], volume_want_volume[], volume_want_class[],
	volume_want_limits[];
/* The following are projections for kube_cache_spec; arg is not used. */
void *volume_project_claim(const json_t *o, struct arena *a, void *arg, struct err *e);
void *volume_project_volume(const json_t *o, struct arena *a, void *arg, struct err *e);
void *volume_project_class(const json_t *o, struct arena *a, void *arg, struct err *e);
void *volume_project_limits(const json_t *o, struct arena *a, void *arg, struct err *e);

/* A claim that a pod uses, with the objects that it refers to. */
struct volume_use {
	const char *ns, *name;
	/* name of the pod's ephemeral volume for which the claim is created; NULL: an independent
	 * claim */
	const char *ephemeral;
	const char *pod_uid;
	/* the PersistentVolumeClaim; NULL: it does not exist */
	const struct volume_claim *claim;
	/* the volume that claim->volume names; NULL: none */
	const struct volume *volume;
	/* the class that claim->class_name names; NULL: none */
	const struct volume_class *class_;
};
struct volume_answer {
	/* terms that the volume requires of a Node; n is 0 if `anywhere` is set */
	struct world_volume place;
	bool anywhere;
	/* size of the terms in bytes */
	size_t weight;
	/* name of the CSI driver that attaches the volume; NULL: no attachment limit applies */
	const char *driver;
};
/* Evaluates what the claim requires of a Node. Returns NULL with *out set, or why the pod must
 * wait; that text names the claim. */
const char *volume_judge(const struct volume_use *u, struct volume_answer *out, struct arena *a);

#endif
