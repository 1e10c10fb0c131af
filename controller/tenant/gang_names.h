#ifndef CONTROLLER_TENANT_GANG_NAMES_H
#define CONTROLLER_TENANT_GANG_NAMES_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/labels.h"
#include "base/data/scan.h"
#include "base/err.h"

/*
 * gang_names: of which gang a pod says it is, and what a PodGroup or Workload says of its size.
 *
 * Of these the first that a pod has counts:
 *
 *   annotation drover.dev/gang-size		of drover.dev/gang; without it, of its JobSet, else of its controller
 *   spec.schedulingGroup.podGroupName	PodGroup of scheduling.k8s.io (Kubernetes 1.36)
 *   spec.workloadRef			a pod group of the Workload, for each replica key (Kubernetes 1.35)
 *   label scheduling.x-k8s.io/pod-group	PodGroup of the coscheduling plugin
 *   annotation scheduling.k8s.io/group-name, scheduling.volcano.sh/group-name	PodGroup of Volcano
 *   annotation pod-group-name		PodGroup of KAI
 *   label leaderworkerset.sigs.k8s.io/name	a group of a LeaderWorkerSet, of the size in its annotation
 *
 * A size of 1 makes no gang. All of it is a tenant's text: what cannot be read keeps the pod
 * waiting, with that as the reason.
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
	/* that an object says the size of */
	GANG_KINDS,
	GANG_SAID = GANG_KINDS
};
struct gang_name {
	enum gang_kind kind;
	/* the same in all its pods, and in no other's */
	const char *key;
	/* of the PodGroup or Workload */
	const char *name;
	/* GANG_WORKLOAD: of its pod groups; else NULL */
	const char *part;
	/* GANG_SAID */
	int64_t size;
	/* why that is not known; NULL: it is */
	const char *wait;
};
/* NULL: it says none.  o: a pod as tenant_want_pod has it. */
struct gang_name *gang_name_of(const json_t *o, struct arena *a);

/* a pod group of a Workload */
struct gang_part {
	const char *name;
	/* 0: it says none */
	int64_t size;
};
/* a PodGroup or Workload */
struct gang_group {
	/* 0: it says none */
	int64_t size;
	struct gang_part *parts;
	size_t nparts;
};
#define GANG_PARTS_BYTES                                                                           \
	((size_t)16 << 10) /* of one Workload, as scan_weight() counts; what has more has none */
extern const struct scan_want gang_want_group[];
/* Of each of these kinds; the arg is not used. */
void *gang_project_group(const json_t *o, struct arena *a, void *arg, struct err *e);
/* How many they are by the object of that kind, whose plural it is, that the gang names: NULL, or
 * why that is not said. */
const char *gang_size_in(const struct gang_group *o, const struct gang_name *n, const char *plural,
			 int64_t *size, struct arena *a);

#endif
