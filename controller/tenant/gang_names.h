#ifndef CONTROLLER_TENANT_GANG_NAMES_H
#define CONTROLLER_TENANT_GANG_NAMES_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/labels.h"
#include "base/data/scan.h"
#include "base/err.h"

/*
 * gang_names: determines the gang of a pod, and the size of the gang from its PodGroup or Workload.
 *
 * The first of these that a pod has counts:
 *
 *   annotation drover.dev/gang-size
 *       size of the gang that drover.dev/gang names; without that, of the pod's JobSet, else of
 *       its controller
 *   spec.schedulingGroup.podGroupName
 *       PodGroup of scheduling.k8s.io (Kubernetes 1.36)
 *   spec.workloadRef
 *       a pod group of the Workload, for each replica key (Kubernetes 1.35)
 *   label scheduling.x-k8s.io/pod-group
 *       PodGroup of the coscheduling plugin
 *   annotation scheduling.k8s.io/group-name, scheduling.volcano.sh/group-name
 *       PodGroup of Volcano
 *   annotation pod-group-name
 *       PodGroup of KAI
 *   label leaderworkerset.sigs.k8s.io/name
 *       a group of a LeaderWorkerSet, of the size in its annotation
 *
 * A pod with a gang size of 1 has no gang. All of it is untrusted text of a tenant: a pod whose
 * gang cannot be read waits, and this is the reason.
 * Tests: tests/unit/controller/tenant/test_pod_groups.c
 */
#define GANG_SIZE_MAX 4096

enum gang_kind {
	GANG_KUBERNETES,
	GANG_COSCHEDULING,
	GANG_VOLCANO,
	GANG_KAI,
	/* a pod group of a Workload */
	GANG_WORKLOAD,
	/* number of kinds whose size an object specifies; GANG_SAID: the pod itself specifies the
	 * size */
	GANG_KINDS,
	GANG_SAID = GANG_KINDS
};
struct gang_name {
	enum gang_kind kind;
	/* identifies the gang: equal in all its pods, different in all others */
	const char *key;
	/* name of the PodGroup or Workload */
	const char *name;
	/* GANG_WORKLOAD: name of the pod group in the Workload; else NULL */
	const char *part;
	/* GANG_SAID: size of the gang */
	int64_t size;
	/* why the size is not known; NULL: it is known */
	const char *wait;
};
/* Returns the gang of a pod, projected as tenant_want_pod; NULL: none. */
struct gang_name *gang_name_of(const json_t *o, struct arena *a);

/* a pod group of a Workload */
struct gang_part {
	const char *name;
	/* 0: not specified */
	int64_t size;
};
/* a PodGroup or Workload */
struct gang_group {
	/* 0: not specified */
	int64_t size;
	struct gang_part *parts;
	size_t nparts;
};
/* limit of one Workload's list, as counted by scan_weight(); a longer list is not read */
#define GANG_PARTS_BYTES ((size_t)16 << 10)
extern const struct scan_want gang_want_group[];
/* Projection of all these kinds for kube_cache_spec; arg is not used. */
void *gang_project_group(const json_t *o, struct arena *a, void *arg, struct err *e);
/* Gets the size of the gang from its object o. plural: name of the object's kind, for messages.
 * Returns NULL, or why the size is not known. */
const char *gang_size_in(const struct gang_group *o, const struct gang_name *n, const char *plural,
			 int64_t *size, struct arena *a);

#endif
