#ifndef CONTROLLER_TENANT_VOLUME_OBJECTS_H
#define CONTROLLER_TENANT_VOLUME_OBJECTS_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/scan.h"
#include "base/err.h"
#include "planner/world.h"

/*
 * volume_objects: of a tenant's PersistentVolumeClaims, PersistentVolumes, StorageClasses and CSINodes what decides on
 * which Node a pod may be, typed, as kube/cache wants them; and what one claim of a pod means by them.
 *
 * Sources: core/v1 PersistentVolumeClaim and PersistentVolume, storage.k8s.io/v1 StorageClass and CSINode; the rules are
 * kube-scheduler's VolumeBinding, VolumeRestrictions and NodeVolumeLimits.
 *
 * All of it is a tenant's text.  Of one object's terms, or drivers, VOLUME_TERMS_BYTES are read; what has more, or cannot
 * be read, is "unreadable" and keeps its pods waiting with that as the reason.
 * Tests: tests/unit/controller/tenant/test_volume_objects.c
 */
#define VOLUME_TERMS_BYTES ((size_t)16 << 10) /* as scan_weight() counts */

struct volume_claim {
	const char *volume;	   /* spec.volumeName; NULL: none */
	const char *class_name;	   /* NULL: none */
	const char *selected_node; /* the Node that it is being made for; NULL: none */
	const char *owner;	   /* UID of its controller; NULL: none */
	bool bound, lost, deleting;
	bool one_pod; /* ReadWriteOncePod */
};

struct volume_terms {
	struct selector *v;
	size_t n;
	size_t weight; /* bytes, about */
	bool any;      /* there are none: every Node will do */
	bool unreadable;
};

struct volume {
	const char *claim_ns, *claim_name; /* spec.claimRef; NULL: none */
	const char *driver;		   /* CSI; NULL: another kind, which no limit counts */
	struct volume_terms terms;
	const char *node; /* the one Node that all terms name; NULL: they name none, or several */
};

struct volume_class {
	bool waits; /* volumeBindingMode WaitForFirstConsumer */
	const char *provisioner;
	struct volume_terms terms;
};

struct volume_limits {
	struct resources counts; /* "@DRIVER" */
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
	const char *ephemeral; /* the pod's volume that it is made for; NULL: it was there before */
	const char *pod_uid;
	/* What is there under these names; NULL: nothing. */
	const struct volume_claim *claim;
	const struct volume *volume;	   /* by claim->volume */
	const struct volume_class *class_; /* by claim->class_name */
};
struct volume_answer {
	struct world_volume place; /* n 0 with anywhere: no restriction */
	bool anywhere;
	size_t weight;	    /* of the place's terms */
	const char *driver; /* that has to attach it; NULL: none that counts */
};
/* NULL: *out is what it asks of a Node; else why the pod waits, which names the claim. */
const char *volume_judge(const struct volume_use *u, struct volume_answer *out, struct arena *a);

#endif
