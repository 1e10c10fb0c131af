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
 * A pod's gang is the first of the following that the pod has:
 *
 *   annotation drover.dev/gang-size
 *       size of the gang that drover.dev/gang names; without that annotation, the gang is the pod's
 *       JobSet, else its controller
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
 * A pod with a gang size of 1 has no gang. All this is untrusted text of a tenant: a pod whose gang
 * cannot be read waits, and its message gives this reason.
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
	/* GANG_KINDS: number of the kinds above; for these an object specifies the gang's size.
	 * GANG_SIZE_IN_POD: the pod itself specifies it. */
	GANG_KINDS,
	GANG_SIZE_IN_POD = GANG_KINDS
};
struct gang_name {
	enum gang_kind kind;
	/* identifies the gang: equal in all pods of the gang, different in all other pods */
	const char *key;
	/* name of the PodGroup or Workload */
	const char *name;
	/* GANG_WORKLOAD: name of the pod group in the Workload; else NULL */
	const char *part;
	/* GANG_SIZE_IN_POD: size of the gang; else 0 */
	int64_t size;
	/* why the pod does not specify a valid size; NULL: no such error */
	const char *wait;
};
/* Returns the gang of a pod; NULL: the pod has none. o: the pod, as read by tenant_want_pod. */
struct gang_name *gang_name_of(const json_t *o, struct arena *a);

/* A pod group of a Workload. */
struct gang_part {
	const char *name;
	/* size of the gang; 0: not specified */
	int64_t size;
};
/* A PodGroup or Workload. */
struct gang_group {
	/* PodGroup: size of the gang; 0: not specified */
	int64_t size;
	struct gang_part *parts;
	size_t nparts;
};
/* limit of the list of pod groups in one Workload, as counted by scan_weight(); a longer list is
 * not read */
#define GANG_PARTS_BYTES ((size_t)16 << 10)
extern const struct scan_want gang_want_group[];
/* Projection for kube_cache_spec of PodGroups and Workloads to struct gang_group; arg is not
 * used. */
void *gang_project_group(const json_t *o, struct arena *a, void *arg, struct err *e);
/* Sets *size to the size of the gang n that object o specifies. Returns NULL, or why the size is
 * not known. plural: name of the object's kind, for messages. */
const char *gang_size_in(const struct gang_group *o, const struct gang_name *n, const char *plural,
			 int64_t *size, struct arena *a);

#endif
