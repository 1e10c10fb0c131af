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
 * delta equals plan_make() of a world built anew from the same objects.
 *
 * Keys: tenants, pools, providers, machines and claims by name; pods by "TENANT/NAMESPACE/NAME";
 * nodes by "TENANT/NAME". Gangs are not objects: they are derived from the pods that name them.
 */
struct world;

struct world *world_new(void);
void world_free(struct world *w);
DEFINE_OWN(world)

/* How well the location of a machine's switch ports can be proved. The values are in the order of
 * enum fabric_proof (providers/fabric.h). */
enum world_proof { WORLD_PROOF_NONE, WORLD_PROOF_WEAK, WORLD_PROOF_STRONG };

struct world_tenant {
	const char *name;
	/* Labels of the tenant that world_pool.tenants selects by. */
	struct labels labels;
	/* Limits of what all machines of the tenant together may have; resources that are not named
	 * have no limit. */
	struct resources quota;
	/* Cohort: tenants of one cohort may borrow the quota that other tenants of the cohort do
	 * not use (planner/quota.h). */
	/* Name of the cohort; NULL: none. */
	const char *cohort;
	/* Most that the tenant may have beyond its quota, by resource; resources that are not named
	 * have no limit. */
	struct resources borrowing;
	/* Most of its quota that the tenant lends to others, by resource; resources that are not
	 * named have no limit. */
	struct resources lending;
	int64_t weight, priority;
	/* GPUs held in the past, as a decaying average in thousandths of a GPU: usage_average(). */
	int64_t used_milli;
	/* Kubernetes version of the tenant's API server, "1.36"; NULL: unknown, and no machine is
	 * planned for the tenant. */
	const char *version;
	/* True if no new claims may be made, because the tenant is paused, unreachable or not
	 * permitted. */
	bool paused;
	/* Why the tenant is paused, for operators: "TenantPaused", "TenantUnreachable" ... */
	const char *paused_reason;
	/* Why the tenant accepts no machines as its Nodes; NULL: it accepts them. */
	const char *no_nodes;
	/* True if the tenant's machines become Nodes of the host cluster. */
	bool on_host;
	/* True if a plan may use cloud instances for the tenant only with a permit (a decision of a
	 * BurstPolicy, burst.h). */
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
	/* Predicted allocatable resources of a node of the type. */
	struct resources capacity;
	struct labels labels;
	/* Duration of a machine's move from one tenant to the next (drain, wipe, boot), in ms; 0:
	 * not known. */
	int64_t way_ms;
};
struct world_provider {
	const char *name;
	/* True if the Provider's machines are cloud instances, launched when they are claimed. */
	bool elastic;
	bool paused;
	const char *paused_reason;
	/* proof: best proof of a machine's port location that the Provider's network can give.
	 * probed: addresses for test packets are configured in the Provider's own segments. */
	enum world_proof proof;
	bool probed;
	struct {
		struct world_instance_type *v;
		size_t n;
	} types;
};

/* For which waiting pods the machines of a pool may be taken back from their tenants
 * (planner/reclaim.h). */
enum world_reclaim { WORLD_RECLAIM_NEVER, WORLD_RECLAIM_BORROWED, WORLD_RECLAIM_LOWER_PRIORITY };

struct world_pool {
	const char *name;
	int64_t weight;
	/* spec.virtualClusterSelector: selects the tenants that the pool serves by their labels. */
	struct selector tenants;
	/* Names of Providers, in order of preference. */
	const char **providers;
	size_t nproviders;
	struct selector requirements;
	struct labels labels;
	/* Taints of the pool's nodes, without startup taints. */
	struct world_taints taints;
	/* Limits of what all machines of the pool together may have; "nodes" counts machines. */
	struct resources limits;
	/* Kubernetes minor versions for which the pool has an image: "1.36". */
	const char **versions;
	size_t nversions;
	/* RuntimeClasses for which the pool's images have a handler. */
	const char **runtime_classes;
	/* Length of runtime_classes; 0: the images have a handler for any RuntimeClass. */
	size_t nruntime_classes;
	/* not_private: the pool's machines may not join a virtual cluster itself. host: they may
	 * join the host cluster. */
	bool not_private, host;
	/* Least wipe that a machine of the pool must have had: an enum wipe_level, compared with
	 * the machine's last wipe record. */
	int minimum_level_flash, minimum_level_hdd;
	int minimum_trust;
	/* Parts that the machine's last wipe record must contain, as bits of enum
	 * statement_part. */
	unsigned must_cover;
	enum world_reclaim reclaim;
	/* True if the pool uses machines of elastic Providers (clouds) only with a permit (a
	 * decision of a BurstPolicy). */
	bool permits_only;
	bool paused;
	/* Why the pool is paused, for operators: "PoolPaused", "StopTheLine" ... */
	const char *paused_reason;
	/* True if Nodes whose pods have room on other Nodes are also given back (consolidate.h). */
	bool underused;
};

/* A machine that could serve a tenant. Only machines that are free and clean are offered to plans;
 * the others count for limits and reasons. */
struct world_machine {
	const char *name, *provider, *instance_type;
	/* Labels that the machine adds to its node: rack, zone, NVLink domain. */
	struct labels labels;
	/* Permit of the machine, see world_pod.permit: only pods with an equal permit may use it;
	 * NULL: all pods may. */
	const char *permit;
	/* Failure domain of the machine, compared with world_stop.domain; NULL: unknown. */
	const char *domain;
	/* True if the machine is free, clean and may be claimed. */
	bool offered;
	/* If not offered: state of the machine or reason, for operators: "Quarantined", "Held"
	 * ... */
	const char *not_offered;
	bool warm;
	/* If not offered: true if the machine's tenant is giving it back. */
	bool coming;
	/* Result of the machine's last wipe; a level of -1: the machine has no drives of that
	 * kind. */
	int level_flash, level_hdd, trust;
	/* Parts that the machine's last wipe record contains, as bits of enum statement_part. */
	unsigned covered;
	/* Number of failures of the machine in a row. */
	unsigned failures;
	/* If not offered: expected time at which the machine is free, Unix ms (median, 90th
	 * percentile); 0: not known. */
	int64_t free_p50_ms, free_p90_ms;
	/* If not offered: true if the machine serves or is in transition, and will become free
	 * without an operator. */
	bool returns;
};

/* A claim that has not ended. Every claim counts against limits and quota. A claim that is not
 * ready is supply in progress: pods may be placed on it. Once a claim is ready, pods are placed on
 * its node instead, as soon as that node is in the world. */
struct world_claim {
	/* machine: name of the claim's machine; NULL: none bound yet. */
	const char *name, *tenant, *pool, *machine;
	const char *instance_type, *provider;
	/* Labels that the claim's node will have. */
	struct labels labels;
	struct world_taints taints;
	/* Predicted allocatable resources of the claim's node. */
	struct resources capacity;
	bool ready;
	/* Unix ms at which the claim became ready; 0: not known. */
	int64_t ready_ms;
	/* True: the claim is no longer supply, but counts against limits and quota as long as it
	 * has its machine. */
	bool failed;
	bool leaving;
	/* True if all pods on the claim's node save their work when they are asked to end. */
	bool saves;
	/* Time of creation, Unix ms. Pods are placed on older claims first. */
	int64_t created_ms;
	/* UIDs of the pods for which the claim was made. These pods are placed on the claim before
	 * others. */
	const char **pods;
	size_t npods;
};

/* Key of a label that the planner adds to each node, with the node's name as its value. It serves
 * requirements on the Node field metadata.name. A claim in progress has the label, too, because its
 * Node will have the claim's name; a free machine lacks it. No Kubernetes label can have such a
 * key. */
#define WORLD_NODE_NAME ":metadata.name"
struct world_node {
	/* claim: name of the Node's claim; NULL: a Node that drover did not provision. */
	const char *tenant, *name, *claim;
	struct labels labels;
	struct world_taints taints;
	struct resources allocatable;
	bool ready, unschedulable;
};

/* Operators of tolerations. GT tolerates taints whose value is greater than the toleration's value,
 * LT those whose value is less. NONE stands for an operator that kube-scheduler does not know; such
 * a toleration tolerates nothing. */
enum world_tolerates {
	WORLD_TOLERATES_EQUAL,
	WORLD_TOLERATES_EXISTS,
	WORLD_TOLERATES_GT,
	WORLD_TOLERATES_LT,
	WORLD_TOLERATES_NONE
};
struct world_toleration {
	/* key, effect: NULL or "" matches every key or effect. */
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
 * (DoNotSchedule), required pod affinity or anti-affinity. All pods of the same tenant count,
 * including pending pods that the plan has placed. So bound pods must be put with their labels and
 * their own anti-affinity. */
struct world_topology {
	enum world_topology_kind kind;
	/* topologyKey of the constraint; kubernetes.io/hostname makes each node a domain. */
	const char *key;
	/* WORLD_SPREAD: maxSkew, 1 or more. */
	int64_t max_skew;
	/* WORLD_SPREAD: minDomains. If fewer domains exist, the constraint is evaluated as if one
	 * more domain without pods existed. */
	int64_t min_domains;
	struct {
		/* WORLD_SPREAD: ignore_affinity counts also nodes that the pod's nodeSelector and
		 * affinity do not admit (nodeAffinityPolicy Ignore). honor_taints excludes nodes
		 * whose taints the pod does not tolerate (nodeTaintsPolicy Honor). */
		bool ignore_affinity, honor_taints;
	} nodes;
	/* Selector of the pods that count; without requirements it selects all pods. */
	struct selector pods;
	/* Namespaces of the pods that count; empty: only the namespace of the pod itself. */
	const char **namespaces;
	size_t nnamespaces;
	/* True: pods of all namespaces count, whatever `namespaces` contains. */
	bool everywhere;
};
/* Location of a pod's volume: the nodes that one of the terms v matches. On these nodes the volume
 * is, or may be provisioned (required node affinity of a PersistentVolume, allowedTopologies of a
 * StorageClass). node: the only node on which the volume can be; name: the volume's name, for
 * reasons. Both are NULL if there is no such single node, so that pods whose volumes differ only in
 * their names are alike. */
struct world_volume {
	const char *name, *node;
	struct selector *v;
	size_t n;
};
/* Why a bound pod may not be moved to another node. */
enum world_keep {
	/* No reason: the pod may be moved. */
	WORLD_KEEP_NOT,
	/* An annotation of the pod forbids moving it. */
	WORLD_KEEP_ASKED,
	/* No controller would create the pod again on another node. */
	WORLD_KEEP_ALONE,
	/* Data on the disks of the pod's node would be lost. */
	WORLD_KEEP_LOCAL,
	/* The planner cannot decide on which nodes the pod's volumes would be available. */
	WORLD_KEEP_VOLUMES,
	/* The pod's allowed location depends on where other pods are. */
	WORLD_KEEP_OTHERS,
	/* The pod's constraints are not known. */
	WORLD_KEEP_UNKNOWN,
	WORLD_KEEPS
};
struct world_pod {
	const char *tenant, *ns, *name, *uid;
	/* Node to which the pod is bound; NULL: pending. */
	const char *node;
	/* nominated: node that kube-scheduler has chosen for a pending pod
	 * (status.nominatedNodeName); NULL: none. A pending pod that is not demand (not marked
	 * unschedulable) counts as bound to its nominated node. preempts: the pod may evict others
	 * (preemptionPolicy). */
	const char *nominated;
	bool preempts;
	/* True for a pod of a DaemonSet and for a static pod. Such a pod is never demand, and never
	 * keeps a node from being given back. */
	bool daemon;
	/* True if the pod has a deletionTimestamp. */
	bool terminating;
	/* True if the condition PodScheduled is False with reason Unschedulable. The pod then is
	 * demand: the plan looks for a machine. */
	bool unschedulable;
	/* Unix ms at which the pod became unschedulable, or was bound if it has a node; 0: not
	 * known. */
	int64_t since;
	/* True if the pod saves its work when it is asked to end, so that little is lost. */
	bool saves;
	/* True if the pod succeeded. Such a pod is not demand and has no node, and shows that its
	 * gang has begun. */
	bool done;
	int64_t priority;
	/* Why a bound pod may not be moved; WORLD_KEEP_NOT: it may be moved. */
	enum world_keep keep;
	/* Unix ms until which keep applies; 0: no end. */
	int64_t keep_until;
	/* Value of controller.kubernetes.io/pod-deletion-cost. */
	int64_t deletion_cost;
	/* Requests of the whole pod, with init containers and overhead; "pods": 1 is added by
	 * the planner.
	 *
	 * Two kinds of names are special. A name that begins with a colon is a resource of which
	 * each node has exactly one: a host port is ":TCP/8080", for any host address. A name
	 * that begins with "@" stands for volumes that a CSI driver must attach:
	 * "@ebs.csi.aws.com". A node has as many attachments as its allocatable contains under
	 * that name, or any number if it contains none. A new node has the least that any node
	 * of the tenant's claims has. */
	struct resources requests;
	/* RuntimeClass of the pod; NULL: none. */
	const char *runtime_class;
	/* Permit of the pod. Machines with a permit are only for pods with an equal permit; NULL:
	 * the pod may use no machine with a permit. */
	const char *permit;
	struct labels node_selector;
	/* Required node affinity: the node must match one of the n terms; n 0: no requirement. */
	struct {
		struct selector *v;
		size_t n;
	} affinity;
	/* Further requirements on the node, besides `affinity`: they exclude nodes because
	 * kube-scheduler did not bind the pod to such a node (claims/refused.h). */
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
	/* Topology constraints of the pod; all must be met. */
	struct {
		struct world_topology *v;
		size_t n;
	} topology;
	/* Volumes of the pod; the node must suit all of them. */
	struct {
		struct world_volume *v;
		size_t n;
	} volumes;
	/* Why no node suits the pod until its volumes change, as text; NULL: volumes exclude no
	 * node in this way. */
	const char *volume_wait;
	/* Gang of the pod: all pods that the gang needs are placed, or none (planner/gangs.h). key:
	 * equal in all pods of the gang; NULL: no gang. min: size of the gang; if its pods differ,
	 * the largest counts. */
	struct {
		const char *key;
		int64_t min;
	} gang;
	/* Requirements of the pod's resource claims on the node; empty: none. The number of GPUs is
	 * in `requests`. */
	struct selector devices;
	/* Why no node suits the pod until its resource claims change, as text; NULL: the claims
	 * exclude no node in this way. */
	const char *device_wait;
	/* Why the size of the pod's gang is not known, as text; NULL: it is known. */
	const char *gang_wait;
	/* True for a pod that only checks whether there is room. It is served after all other
	 * demand, so it takes no machine from a waiting pod. No machine is reserved for its
	 * gang. */
	bool check;
	/* Name of a constraint that the planner cannot evaluate; the pod gets PLAN_UNSUPPORTED.
	 * NULL: none. */
	const char *unsupported;
};

/* The put functions that return bool return false if nothing changed that is a reason for a new
 * plan. They still store two values: a machine's expected free time and a tenant's past use. A new
 * plan could differ only in expected times and in the order among tenants. */
bool world_put_tenant(struct world *w, const struct world_tenant *t);
/* Sets used_milli (past use) of a tenant; ignores unknown tenants. */
void world_put_used(struct world *w, const char *tenant, int64_t milli);
void world_put_provider(struct world *w, const struct world_provider *p);
void world_put_pool(struct world *w, const struct world_pool *p);
bool world_put_machine(struct world *w, const struct world_machine *m);
bool world_put_claim(struct world *w, const struct world_claim *c);
bool world_put_node(struct world *w, const struct world_node *n);
bool world_put_pod(struct world *w, const struct world_pod *p);
/* Deletes the tenant with all its pods and nodes. */
void world_del_tenant(struct world *w, const char *name);
void world_del_provider(struct world *w, const char *name);
void world_del_pool(struct world *w, const char *name);
bool world_del_machine(struct world *w, const char *name);
bool world_del_claim(struct world *w, const char *name);
bool world_del_node(struct world *w, const char *tenant, const char *name);
bool world_del_pod(struct world *w, const char *tenant, const char *ns, const char *name);

/* Aging: the priority of a waiting pod rises by `points` for each hour of waiting, by at most
 * `most`. It rises only to the priority of another waiting pod whose tenant has the same priority
 * (planner/queue.h). Initially there is no aging. */
struct world_aging {
	int64_t points, most;
};
void world_put_aging(struct world *w, const struct world_aging *g);
/* Sets whether a pod's priority counts among tenants only up to its tenant's priority
 * (planner/queue.h). Initially false. */
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
/* A stop: a part of the supply from which no machine can be had now, so that plans use other pools.
 * A member that is NULL matches everything. */
struct world_stop {
	enum world_stop_why why;
	/* The tenant to which the stop applies. others true: the stop applies to all tenants except
	 * this one. */
	const char *tenant;
	bool others;
	const char *pool;
	/* Kubernetes minor version of the image, as in world_pool.versions. */
	const char *version;
	const char *provider, *instance_type, *domain;
	/* Text for operators: the cause, and when machines may be available again. */
	const char *text;
};
/* Replaces all stops of the world by the n stops of v. */
void world_put_stops(struct world *w, const struct world_stop *v, size_t n);

/* Largest number of topology levels. */
#define WORLD_LEVELS 8
/* Sets the label keys of topology levels within which a gang is kept together, narrowest first:
 * NVLink domain, rack, leaf, spine. Initially none. n must not exceed WORLD_LEVELS. */
void world_put_levels(struct world *w, const char *const *keys, size_t n);

/* Sets for how long machines are reserved for a gang that is not whole (planner/holds.h), in ms.
 * Initially 0: no machine is reserved. */
void world_put_hold(struct world *w, int64_t ms);
/* Bounds the reservations for one tenant's gangs. rests: Unix ms before which nothing is reserved;
 * 0: the tenant may reserve now. ends: Unix ms until which reservations last; 0: for the duration
 * that world_put_hold() set, counted from the plan. */
void world_put_tenant_hold(struct world *w, const char *tenant, int64_t rests, int64_t ends);
/* Prevents the machine from being reserved for any gang before the Unix ms `until`; 0 removes the
 * bound. */
void world_put_machine_rest(struct world *w, const char *machine, int64_t until);

#endif
