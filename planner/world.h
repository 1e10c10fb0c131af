#ifndef PLANNER_WORLD_H
#define PLANNER_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/data/labels.h"
#include "base/own.h"
#include "base/data/quantity.h"
#include "base/data/selector.h"

/*
 * world: the planner's long-lived snapshot of pods, nodes, claims, machines and their
 * configuration.
 *
 * It changes only by world_put_*() and world_del_*(), which copy their arguments. No I/O, no clock,
 * no globals: production, `drover simulate`, the benchmark and the tests use the same code.
 *
 * Data that the world caches never changes a result: plan_make() of a world that was built delta by
 * delta equals plan_make() of a world built anew from the same objects. Keys: tenants, pools,
 * providers, machines and claims by name; pods by "TENANT/NAMESPACE/NAME"; nodes by "TENANT/NAME".
 * Gangs are not objects: they are derived from the pods that name them.
 */
struct world;

struct world *world_new(void);
void world_free(struct world *w);
DEFINE_OWN(world)

/* How well the location of a machine's switch ports can be proved. In the order of enum
 * fabric_proof (providers/fabric.h). */
enum world_proof { WORLD_PROOF_NONE, WORLD_PROOF_WEAK, WORLD_PROOF_STRONG };

struct world_tenant {
	const char *name;
	/* Labels that world_pool.tenants selects by. */
	struct labels labels;
	/* Quota of all machines of the tenant together; resources that are not named have no
	 * limit. */
	struct resources quota;
	/* Tenants of one cohort may borrow the quota that other tenants of the cohort do not use
	 * (planner/quota.h). */
	/* NULL: no cohort. */
	const char *cohort;
	/* Most that the tenant may have beyond its quota; resources that are not named have no
	 * limit. */
	struct resources borrowing;
	/* Most of its quota that the tenant lends to others; resources that are not named have no
	 * limit. */
	struct resources lending;
	int64_t weight, priority;
	/* GPUs held in the past, as a decaying average in thousandths of a GPU: usage_average(). */
	int64_t used_milli;
	/* Kubernetes version of its API server, "1.36"; NULL: unknown, and no machine is planned
	 * for the tenant. */
	const char *version;
	/* True: no new claims, because the tenant is paused, unreachable or not permitted. */
	bool paused;
	/* Text for operators: "TenantPaused", "TenantUnreachable" ... */
	const char *paused_reason;
	/* Why the tenant accepts no machines as its Nodes; NULL: it accepts them. */
	const char *no_nodes;
	/* True if its machines become Nodes of the host cluster. */
	bool on_host;
	/* True if a plan may take cloud instances for the tenant only with a permit (burst.h). */
	bool owned_only;
	/* proof: least proof of a machine's port location that the tenant requires. probed: the
	 * tenant names addresses that answer only its own machines, so that test packets can prove
	 * the location. */
	enum world_proof proof;
	bool probed;
};

struct world_taint {
	const char *key, *value, *effect;
};
struct world_taints {
	struct world_taint *v;
	size_t n;
};

struct world_instance_type {
	const char *name;
	/* Predicted allocatable resources of a node of this type. */
	struct resources capacity;
	struct labels labels;
	/* Duration of a move from one tenant to the next (drain, wipe, boot), in ms; 0: not
	 * known. */
	int64_t way_ms;
};
struct world_provider {
	const char *name;
	/* True if its machines are cloud instances, launched when they are claimed. */
	bool elastic;
	bool paused;
	const char *paused_reason;
	/* proof: best proof of a machine's port location that the Provider's network can give.
	 * probed: addresses are configured for test packets in the Provider's own segments. */
	enum world_proof proof;
	bool probed;
	struct {
		struct world_instance_type *v;
		size_t n;
	} types;
};

/* Machines of a pool that may be taken back for other tenants (planner/reclaim.h). */
enum world_reclaim { WORLD_RECLAIM_NEVER, WORLD_RECLAIM_BORROWED, WORLD_RECLAIM_LOWER_PRIORITY };

struct world_pool {
	const char *name;
	int64_t weight;
	/* spec.virtualClusterSelector */
	struct selector tenants;
	/* In order of preference. */
	const char **providers;
	size_t nproviders;
	struct selector requirements;
	struct labels labels;
	/* Taints of its nodes, without startup taints. */
	struct world_taints taints;
	/* Limits of all machines of the pool together; "nodes" counts machines. */
	struct resources limits;
	/* Kubernetes minor versions for which the pool has an image: "1.36". */
	const char **versions;
	size_t nversions;
	/* RuntimeClasses for which its images have a handler. */
	const char **runtime_classes;
	/* 0: any RuntimeClass. */
	size_t nruntime_classes;
	/* not_private: its machines may not join a virtual cluster itself. host: they may join the
	 * host cluster. */
	bool not_private, host;
	/* Least wipe that a machine must have had: enum wipe_level, compared with its last wipe
	 * record. */
	int minimum_level_flash, minimum_level_hdd;
	int minimum_trust;
	/* Bits of enum statement_part that the machine's last wipe record must contain. */
	unsigned must_cover;
	enum world_reclaim reclaim;
	/* True if the pool uses machines of elastic Providers only with a permit. */
	bool permits_only;
	bool paused;
	/* Text for operators: "PoolPaused", "StopTheLine" ... */
	const char *paused_reason;
	/* True if Nodes are also given back whose pods have room on other Nodes (consolidate.h). */
	bool underused;
};

/* A machine that could serve a tenant. Only machines that are free and clean are offered; the
 * others count for limits and reasons. */
struct world_machine {
	const char *name, *provider, *instance_type;
	/* Labels that the machine adds to its node: rack, zone, NVLink domain. */
	struct labels labels;
	/* Only pods with the same permit may use the machine; NULL: all pods. */
	const char *permit;
	/* Failure domain, as in world_stop.domain; NULL: unknown. */
	const char *domain;
	/* True if the machine is free, clean and may be claimed. */
	bool offered;
	/* If not offered: its state or a word for operators, "Quarantined", "Held" ... */
	const char *not_offered;
	bool warm;
	/* If not offered: the machine is on its way back from its tenant. */
	bool coming;
	/* Result of its last wipe; level -1: no drives of that kind. */
	int level_flash, level_hdd, trust;
	/* Bits of enum statement_part in its last wipe record. */
	unsigned covered;
	/* Failures in a row. */
	unsigned failures;
	/* If not offered: when the machine is expected to be free, Unix ms; 0: not known. */
	int64_t free_p50_ms, free_p90_ms;
	/* If not offered: the machine serves or is in transition, and will become free without an
	 * operator. */
	bool returns;
};

/* A claim that has not ended. All claims count against limits and quota. A claim that is not ready
 * is supply in progress. The room of a ready claim is that of the node that names it, or its own
 * until that node is in the world. */
struct world_claim {
	/* machine NULL: none bound yet. */
	const char *name, *tenant, *pool, *machine;
	const char *instance_type, *provider;
	/* Labels that its node will have. */
	struct labels labels;
	struct world_taints taints;
	/* Predicted allocatable resources. */
	struct resources capacity;
	bool ready;
	/* Unix ms since when the claim is ready; 0: not known. */
	int64_t ready_ms;
	/* True: no longer supply, but counts as long as it has its machine. */
	bool failed;
	bool leaving;
	/* True if all pods on it save their work when they are asked to end. */
	bool saves;
	/* Unix ms. Older claims are filled first. */
	int64_t created_ms;
	/* UIDs of the pods for which the claim was made; these pods are placed on it first. */
	const char **pods;
	size_t npods;
};

/* Key of a label that the planner adds to each node: the node's name, for requirements on the Node
 * field metadata.name. A claim in progress has the label, too, because its Node will have the
 * claim's name; a free machine lacks it. No Kubernetes label can have such a key. */
#define WORLD_NODE_NAME ":metadata.name"
struct world_node {
	/* claim NULL: a Node that drover did not provision. */
	const char *tenant, *name, *claim;
	struct labels labels;
	struct world_taints taints;
	struct resources allocatable;
	bool ready, unschedulable;
};

/* Operators of tolerations. GT tolerates taints whose value is greater than the toleration's, LT
 * those whose value is less. NONE stands for an operator that kube-scheduler does not know; it
 * tolerates nothing. */
enum world_tolerates {
	WORLD_TOLERATES_EQUAL,
	WORLD_TOLERATES_EXISTS,
	WORLD_TOLERATES_GT,
	WORLD_TOLERATES_LT,
	WORLD_TOLERATES_NONE
};
struct world_toleration {
	/* key, effect: NULL or "" matches any. */
	const char *key, *value, *effect;
	enum world_tolerates op;
};
struct world_preference {
	int64_t weight;
	struct selector term;
};
#define WORLD_HOSTNAME "kubernetes.io/hostname"
enum world_topology_kind { WORLD_SPREAD, WORLD_TOGETHER, WORLD_APART };
/* A constraint on a pod's location relative to other pods: required topology spread
 * (DoNotSchedule), required pod affinity or anti-affinity. Pods of the same tenant count, including
 * pending pods that the plan has placed; so bound pods must be put with their labels and their own
 * anti-affinity. */
struct world_topology {
	enum world_topology_kind kind;
	/* topologyKey; kubernetes.io/hostname makes each node a domain of its own. */
	const char *key;
	/* WORLD_SPREAD; 1 or more */
	int64_t max_skew;
	/* WORLD_SPREAD: if fewer domains exist, the constraint is evaluated as if one more domain
	 * without pods existed. */
	int64_t min_domains;
	struct {
		/* WORLD_SPREAD: ignore_affinity counts also nodes that the pod's nodeSelector and
		 * affinity do not admit (nodeAffinityPolicy Ignore). honor_taints excludes nodes
		 * whose taints the pod does not tolerate (nodeTaintsPolicy Honor). */
		bool ignore_affinity, honor_taints;
	} nodes;
	/* Selects the pods that count; no requirement: all pods. */
	struct selector pods;
	/* Namespaces of the pods that count; none: the pod's own. */
	const char **namespaces;
	size_t nnamespaces;
	/* True: pods in every namespace count, whatever namespaces contains. */
	bool everywhere;
};
/* Where a volume of a pod is, or may be provisioned: on nodes that one of the terms matches
 * (required node affinity of a PersistentVolume, allowedTopologies of a StorageClass). If the
 * volume can only be on one node, node is that node and name is the volume's name for reasons.
 * Otherwise both are NULL, so that pods whose volumes differ only in their names are alike. */
struct world_volume {
	const char *name, *node;
	struct selector *v;
	size_t n;
};
/* Why a bound pod may not be moved to another node. */
enum world_keep {
	/* The pod may be moved. */
	WORLD_KEEP_NOT,
	/* An annotation of the pod forbids it. */
	WORLD_KEEP_ASKED,
	/* No controller would create the pod again. */
	WORLD_KEEP_ALONE,
	/* Data on its node's disks would be lost. */
	WORLD_KEEP_LOCAL,
	/* The planner cannot judge where the pod's volumes could follow it. */
	WORLD_KEEP_VOLUMES,
	/* Its allowed location depends on where other pods are. */
	WORLD_KEEP_OTHERS,
	/* Its constraints are not known. */
	WORLD_KEEP_UNKNOWN,
	WORLD_KEEPS
};
struct world_pod {
	const char *tenant, *ns, *name, *uid;
	/* Node to which the pod is bound; NULL: pending. */
	const char *node;
	/* nominated: node that kube-scheduler has chosen for a pending pod
	 * (status.nominatedNodeName); NULL: none. preempts: the pod may evict others
	 * (preemptionPolicy). A pending pod that is not demand counts as bound to its nominated
	 * node. */
	const char *nominated;
	bool preempts;
	/* True for a pod of a DaemonSet and for a static pod: never demand, and no reason to keep a
	 * node. */
	bool daemon;
	/* True if the pod has a deletionTimestamp. */
	bool terminating;
	/* Condition PodScheduled is False with reason Unschedulable: the pod is demand. */
	bool unschedulable;
	/* Unix ms at which the pod became unschedulable, or was bound if it has a node; 0: not
	 * known. */
	int64_t since;
	/* True if the pod saves its work when it is asked to end. */
	bool saves;
	/* True if the pod succeeded: it is not demand and has no node. A gang with such a pod has
	 * begun. */
	bool done;
	int64_t priority;
	/* Why a bound pod may not be moved. */
	enum world_keep keep;
	/* Unix ms until which keep applies; 0: no end. */
	int64_t keep_until;
	/* Value of controller.kubernetes.io/pod-deletion-cost. */
	int64_t deletion_cost;
	/* Requests of the whole pod, with init containers and overhead; "pods": 1 is added by the
	 * planner.
	 *
	 * Each node has exactly one of every resource whose name begins with a colon. A host port
	 * is such a resource, ":TCP/8080", for any host address. Volumes that a CSI driver must
	 * attach are a resource named like "@ebs.csi.aws.com": a node has as many as its
	 * allocatable contains under that name, or any number if it contains none; a new node has
	 * the least that any node of the tenant's claims has. */
	struct resources requests;
	/* NULL: none */
	const char *runtime_class;
	/* A machine with a permit is only for pods with the same permit; NULL: the pod may use no
	 * such machine. */
	const char *permit;
	struct labels node_selector;
	/* Required node affinity: one of the terms must match; n 0: no requirement. */
	struct {
		struct selector *v;
		size_t n;
	} affinity;
	/* Must match, too: nodes excluded because kube-scheduler did not bind the pod to such a
	 * node (claims/refused.h). */
	struct selector also;
	struct {
		struct world_preference *v;
		size_t n;
	} preferences;
	struct {
		struct world_toleration *v;
		size_t n;
	} tolerations;
	struct labels labels;
	/* All of them must be met. */
	struct {
		struct world_topology *v;
		size_t n;
	} topology;
	/* The node must suit all of them. */
	struct {
		struct world_volume *v;
		size_t n;
	} volumes;
	/* Reason why no node suits the pod until its volumes change; NULL: they are fine. */
	const char *volume_wait;
	/* Gang of the pod: all pods that it needs are placed, or none (planner/gangs.h). key: the
	 * same in all its pods; NULL: no gang. min: size of the gang; if the pods differ, the
	 * largest counts. */
	struct {
		const char *key;
		int64_t min;
	} gang;
	/* Requirements of the pod's resource claims on a node; the number of GPUs is in requests.
	 * None: no requirement. */
	struct selector devices;
	/* Reason why no node suits the pod until its resource claims change; NULL: they are
	 * fine. */
	const char *device_wait;
	/* Reason why the size of its gang is not known; NULL: it is known. */
	const char *gang_wait;
	/* True for a pod that only checks whether there is room. It comes after all other demand,
	 * so it takes no machine from a waiting pod, and nothing is reserved for its gang. */
	bool check;
	/* A constraint that this planner cannot evaluate; the pod gets PLAN_UNSUPPORTED. NULL:
	 * none. */
	const char *unsupported;
};

/* The put functions that return bool return false if nothing relevant to a plan changed. A new plan
 * could then differ only in expected times and in the order among tenants: a machine's expected
 * free time and a tenant's past use are stored, but do not call for a new plan. */
bool world_put_tenant(struct world *w, const struct world_tenant *t);
/* Sets used_milli of a tenant; ignores unknown tenants. */
void world_put_used(struct world *w, const char *tenant, int64_t milli);
void world_put_provider(struct world *w, const struct world_provider *p);
void world_put_pool(struct world *w, const struct world_pool *p);
bool world_put_machine(struct world *w, const struct world_machine *m);
bool world_put_claim(struct world *w, const struct world_claim *c);
bool world_put_node(struct world *w, const struct world_node *n);
bool world_put_pod(struct world *w, const struct world_pod *p);
/* Deletes the tenant with its pods and nodes. */
void world_del_tenant(struct world *w, const char *name);
void world_del_provider(struct world *w, const char *name);
void world_del_pool(struct world *w, const char *name);
bool world_del_machine(struct world *w, const char *name);
bool world_del_claim(struct world *w, const char *name);
bool world_del_node(struct world *w, const char *tenant, const char *name);
bool world_del_pod(struct world *w, const char *tenant, const char *ns, const char *name);

/* Aging: a waiting pod's priority rises by `points` for each hour, by `most` at most. It rises only
 * to the priority of another waiting pod whose tenant has the same priority (planner/queue.h).
 * Initially none. */
struct world_aging {
	int64_t points, most;
};
void world_put_aging(struct world *w, const struct world_aging *g);
/* clamps: a pod's priority counts among tenants only up to its tenant's priority (planner/queue.h).
 * Initially false. */
void world_put_clamp(struct world *w, bool clamps);

enum world_stop_why {
	/* Claims fail for one common cause (LineStopped). */
	WORLD_STOP_LINE,
	/* The tenant's last claims of the pool failed (BackingOff). */
	WORLD_STOP_BACK_OFF,
	/* The Provider is not Ready (ProviderNotReady). */
	WORLD_STOP_PROVIDER,
	/* The cloud has no instance of the type now (NoOffer); does not apply to machines with a
	 * permit. */
	WORLD_STOP_OFFER
};
/* A part of the supply from which no machine can be had now; plans use other pools instead. A NULL
 * member matches everything. */
struct world_stop {
	enum world_stop_why why;
	/* The tenant to which the stop applies; with others, all tenants except this one. */
	const char *tenant;
	bool others;
	const char *pool;
	/* Kubernetes minor version of the image, as in world_pool.versions. */
	const char *version;
	const char *provider, *instance_type, *domain;
	/* Text for operators: the cause, and when supply may return. */
	const char *text;
};
/* Replaces all stops. */
void world_put_stops(struct world *w, const struct world_stop *v, size_t n);

/* Number of levels at most. */
#define WORLD_LEVELS 8
/* Sets the label keys of topology levels within which a gang is kept together, narrowest first:
 * NVLink domain, rack, leaf, spine. Initially none. n must not exceed WORLD_LEVELS. */
void world_put_levels(struct world *w, const char *const *keys, size_t n);

/* Sets for how long machines are reserved for gangs that are not whole (planner/holds.h), in ms. 0,
 * the initial value, means that no machine is reserved. */
void world_put_hold(struct world *w, int64_t ms);
/* Bounds the reservations of one tenant's gangs, Unix ms. rests: nothing is reserved before that
 * time; 0 means that the tenant may reserve now. ends: reservations last until that time; 0 means
 * until world_put_hold()'s duration after the plan. */
void world_put_tenant_hold(struct world *w, const char *tenant, int64_t rests, int64_t ends);
/* Prevents the machine from being reserved for any gang until that time, Unix ms; 0 removes the
 * bound. */
void world_put_machine_rest(struct world *w, const char *machine, int64_t until);

#endif
