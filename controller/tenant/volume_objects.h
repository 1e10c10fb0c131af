#ifndef CONTROLLER_TENANT_VOLUME_OBJECTS_H
#define CONTROLLER_TENANT_VOLUME_OBJECTS_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/scan.h"
#include "base/err.h"
#include "planner/world.h"

/*
 * volume_objects: typed projections, for kube/cache, of a tenant's PersistentVolumeClaims,
 * PersistentVolumes, StorageClasses and CSINodes: what decides on which Node a pod may be. Also
 * evaluates one claim of a pod.
 *
 * Sources: core/v1 PersistentVolumeClaim and PersistentVolume, storage.k8s.io/v1 StorageClass and
 * CSINode; the rules are kube-scheduler's VolumeBinding, VolumeRestrictions and NodeVolumeLimits.
 *
 * All of it is untrusted text of a tenant. Up to VOLUME_TERMS_BYTES of an object's terms or drivers
 * are read. An object that is longer or cannot be read is "unreadable": pods that use it wait, and
 * this is the reason.
 * Tests: tests/unit/controller/tenant/test_volume_objects.c
 */
#define VOLUME_TERMS_BYTES ((size_t)16 << 10) /* as counted by scan_weight() */

struct volume_claim {
	/* spec.volumeName; NULL: none */
	const char *volume;
	/* NULL: none */
	const char *class_name;
	/* Node for which the volume is being provisioned; NULL: none */
	const char *selected_node;
	/* UID of its controller; NULL: none */
	const char *owner;
	bool bound, lost, deleting;
	/* ReadWriteOncePod */
	bool one_pod;
};

struct volume_terms {
	struct selector *v;
	size_t n;
	/* approximate size in bytes */
	size_t weight;
	/* no terms: every Node matches */
	bool any;
	bool unreadable;
};

struct volume {
	/* spec.claimRef; NULL: none */
	const char *claim_ns, *claim_name;
	/* CSI driver; NULL: not CSI, so no limit applies */
	const char *driver;
	struct volume_terms terms;
	/* the one Node that all terms name; NULL: no or several Nodes */
	const char *node;
};

struct volume_class {
	/* volumeBindingMode WaitForFirstConsumer */
	bool waits;
	const char *provisioner;
	struct volume_terms terms;
};

struct volume_limits {
	/* attachment limits, named "@DRIVER" */
	struct resources counts;
};

extern const struct scan_want volume_want_claim[], volume_want_volume[], volume_want_class[],
	volume_want_limits[];
/* Projections for kube_cache_spec; arg is not used. */
void *volume_project_claim(const json_t *o, struct arena *a, void *arg, struct err *e);
void *volume_project_volume(const json_t *o, struct arena *a, void *arg, struct err *e);
void *volume_project_class(const json_t *o, struct arena *a, void *arg, struct err *e);
void *volume_project_limits(const json_t *o, struct arena *a, void *arg, struct err *e);

/* A claim that a pod uses, with the objects that it refers to. */
struct volume_use {
	const char *ns, *name;
	/* pod's ephemeral volume for which the claim is created; NULL: an independent claim */
	const char *ephemeral;
	const char *pod_uid;
	/* NULL: does not exist */
	const struct volume_claim *claim;
	/* volume claim->volume; NULL: none */
	const struct volume *volume;
	/* class claim->class_name; NULL: none */
	const struct volume_class *class_;
};
struct volume_answer {
	/* terms on the Node; n 0 with anywhere set: no restriction */
	struct world_volume place;
	bool anywhere;
	/* size of the terms in bytes */
	size_t weight;
	/* CSI driver that attaches the volume; NULL: no limit applies */
	const char *driver;
};
/* Returns NULL with *out set to what the claim requires of a Node, else why the pod waits; the text
 * names the claim. */
const char *volume_judge(const struct volume_use *u, struct volume_answer *out, struct arena *a);

#endif
