#ifndef CONTROLLER_TENANT_VOLUME_OBJECTS_H
#define CONTROLLER_TENANT_VOLUME_OBJECTS_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/scan.h"
#include "base/err.h"
#include "planner/world.h"

/*
 * volume_objects: of a tenant's PersistentVolumeClaims, PersistentVolumes, StorageClasses and
 * CSINodes what decides on which Node a pod may be, typed, as kube/cache wants them; and what one
 * claim of a pod means by them.
 *
 * Sources: core/v1 PersistentVolumeClaim and PersistentVolume, storage.k8s.io/v1 StorageClass and
 * CSINode; the rules are kube-scheduler's VolumeBinding, VolumeRestrictions and NodeVolumeLimits.
 *
 * All of it is a tenant's text. Of one object's terms, or drivers, VOLUME_TERMS_BYTES are read;
 * what has more, or cannot be read, is "unreadable" and keeps its pods waiting with that as the
 * reason.
 * Tests: tests/unit/controller/tenant/test_volume_objects.c
 */
#define VOLUME_TERMS_BYTES ((size_t)16 << 10) /* as scan_weight() counts */

struct volume_claim {
	/* spec.volumeName; NULL: none */
	const char *volume;
	/* NULL: none */
	const char *class_name;
	/* the Node that it is being made for; NULL: none */
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
	/* bytes, about */
	size_t weight;
	/* there are none: every Node will do */
	bool any;
	bool unreadable;
};

struct volume {
	/* spec.claimRef; NULL: none */
	const char *claim_ns, *claim_name;
	/* CSI; NULL: another kind, which no limit counts */
	const char *driver;
	struct volume_terms terms;
	/* the one Node that all terms name; NULL: they name none, or several */
	const char *node;
};

struct volume_class {
	/* volumeBindingMode WaitForFirstConsumer */
	bool waits;
	const char *provisioner;
	struct volume_terms terms;
};

struct volume_limits {
	/* "@DRIVER" */
	struct resources counts;
};

extern const struct scan_want volume_want_claim[], volume_want_volume[], volume_want_class[],
	volume_want_limits[];
/* The arg is not used. */
void *volume_project_claim(const json_t *o, struct arena *a, void *arg, struct err *e);
void *volume_project_volume(const json_t *o, struct arena *a, void *arg, struct err *e);
void *volume_project_class(const json_t *o, struct arena *a, void *arg, struct err *e);
void *volume_project_limits(const json_t *o, struct arena *a, void *arg, struct err *e);

/* A claim that a pod names. */
struct volume_use {
	const char *ns, *name;
	/* the pod's volume that it is made for; NULL: it was there before */
	const char *ephemeral;
	const char *pod_uid;
	/* What is there under these names; NULL: nothing. */
	const struct volume_claim *claim;
	/* by claim->volume */
	const struct volume *volume;
	/* by claim->class_name */
	const struct volume_class *class_;
};
struct volume_answer {
	/* n 0 with anywhere: no restriction */
	struct world_volume place;
	bool anywhere;
	/* of the place's terms */
	size_t weight;
	/* that has to attach it; NULL: none that counts */
	const char *driver;
};
/* NULL: *out is what it asks of a Node; else why the pod waits, which names the claim. */
const char *volume_judge(const struct volume_use *u, struct volume_answer *out, struct arena *a);

#endif
