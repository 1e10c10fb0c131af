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
 * The world changes only by world_put_*() and world_del_*(), which copy their arguments. No I/O, no
 * clock, no globals: production, `drover simulate`, the benchmark and the tests use the same code.
 *
 * Cached data in the world never changes a result: plan_make() of a world that was updated step by
 * step equals plan_make() of a new world with the same objects.
 *
 * Keys: tenants, pools, providers, machines and claims by name; pods by "TENANT/NAMESPACE/NAME";
 * nodes by "TENANT/NAME". Gangs are not put into the world: they are derived from the pods that
 * name them.
 */
struct world;

struct world *world_new(void);
void world_free(struct world *w);
DEFINE_OWN(world)

/* How reliably it can be proved in which network segment a machine's switch ports are: not at all,
 * weakly or strongly. Values and order are those of enum fabric_proof (providers/fabric.h), because
 * each is cast to the other. */
enum world_proof { WORLD_PROOF_NONE, WORLD_PROOF_WEAK, WORLD_PROOF_STRONG };

struct world_tenant {
	const char *name;
	/* Labels of the tenant, which the selector world_pool.tenants matches. */
	struct labels labels;
	/* Limits of the sum over all machines of the tenant; resources that are not named have no
	 * limit. */
	struct resources quota;
	/* Name of the tenant's cohort: a group of tenants that may borrow the quota that other
	 * tenants of the group do not use (planner/supply/quota.h). NULL: the tenant is in no
	 * cohort. */
	const char *cohort;
	/* Largest amount of each resource that the tenant may have beyond its quota; resources that
	 * are not named have no limit. */
	struct resources borrowing;
	/* Largest part of the tenant's quota, by resource, that other tenants may borrow; resources
	 * that are not named have no limit. */
	struct resources lending;
	int64_t weight, priority;
	/* Decaying average of the number of GPUs held in the past, in thousandths of a GPU:
	 * usage_average(). */
	int64_t used_milli;
	/* Kubernetes version of the tenant's API server, "1.36"; NULL: unknown, and no machine is
	 * planned for the tenant. */
	const char *version;
	/* True if no new claims may be made, because the tenant is paused, unreachable or not
	 * permitted. */
	bool paused;
	/* Why `paused` is set, for operators: "TenantPaused", "TenantUnreachable" ... */
	const char *paused_reason;
	/* Why the tenant accepts no machines as its Nodes; NULL: it accepts them. */
	const char *no_nodes;
	/* True if the tenant's machines become Nodes of the host cluster. */
	bool on_host;
	/* proof: weakest proof of a machine's port location that the tenant accepts. probed: true
	 * if the tenant names addresses that answer only its own machines, so that test packets can
	 * prove the location. */
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
	int64_t move_ms;
};
struct world_provider {
	const char *name;
	/* True if the Provider's machines are cloud instances, launched when they are claimed. */
	bool elastic;
	bool paused;
	const char *paused_reason;
	/* proof: strongest proof of a machine's port location that the Provider's network can
	 * give. probed: true if addresses for test packets are configured in the Provider's own
	 * segments. */
	enum world_proof proof;
	bool probed;
	struct {
		struct world_instance_type *v;
		size_t n;
	} types;
};

/* Reclaim policy of a pool: for which waiting pods the pool's machines may be taken back from their
 * tenants (planner/reclaim.h). */
enum world_reclaim { WORLD_RECLAIM_NEVER, WORLD_RECLAIM_BORROWED, WORLD_RECLAIM_LOWER_PRIORITY };

/* How a pool chooses the instance types of new machines (supply/choose.c). AUTO: LEAST_COST if a
 * Provider of the pool is elastic (a cloud), otherwise LEAST_NODES. */
enum world_expander { WORLD_EXPANDER_AUTO, WORLD_EXPANDER_LEAST_NODES, WORLD_EXPANDER_LEAST_COST };

struct world_pool {
	const char *name;
	int64_t weight;
	enum world_expander expander;
	/* spec.virtualClusterSelector: matches the labels of the tenants that the pool serves. */
	struct selector tenants;
	/* Names of Providers, in order of preference. */
	const char **providers;
	size_t nproviders;
	struct selector requirements;
	struct labels labels;
	/* Taints of the pool's nodes, without startup taints. */
	struct world_taints taints;
	/* Limits of the sum over all machines of the pool; the name "nodes" limits the number of
	 * machines. */
	struct resources limits;
	/* Kubernetes minor versions for which the pool has an image: "1.36". */
	const char **versions;
	size_t nversions;
	/* RuntimeClasses for which the pool's images have a handler. */
	const char **runtime_classes;
	/* Length of runtime_classes; 0: the images have a handler for any RuntimeClass. */
	size_t nruntime_classes;
	/* not_private: the pool's machines may not join the tenants' own clusters. host: the pool's
	 * machines may join the host cluster. */
	bool not_private, host;
	/* Wipe levels (enum wipe_level) that the machine's last wipe must at least have reached,
	 * for flash drives and for hard disks. */
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
	/* True if a Node with pods is also given back once its pods have room on other Nodes
	 * (consolidate.h). */
	bool underused;
};

/* A machine that could serve a tenant. Plans use only machines that are free and clean (offered);
 * the others count in limits and in the text of reasons. */
struct world_machine {
	const char *name, *provider, *instance_type;
	/* Labels that the machine adds to its node: rack, zone, NVLink domain. */
	struct labels labels;
	/* Permit for which the machine was launched, see world_pod.permit: only pods with an equal
	 * permit may use the machine; NULL: any pod may use it. */
	const char *permit;
	/* Failure domain of the machine, compared with world_stop.domain; NULL: unknown. */
	const char *domain;
	/* True if the machine is free, clean and may be claimed. */
	bool offered;
	/* If not offered: the machine's state or the reason, for operators: "Quarantined", "Held"
	 * ... */
	const char *not_offered;
	bool warm;
	/* If not offered: true if the machine's tenant is giving it back. */
	bool coming;
	/* Level and trust that the machine's last wipe reached. level_flash, level_hdd -1: the
	 * machine has no drives of that kind. */
	int level_flash, level_hdd, trust;
	/* Parts that the machine's last wipe record contains, as bits of enum statement_part. */
	unsigned covered;
	/* Number of consecutive failures of the machine. */
	unsigned failures;
	/* If not offered: expected time at which the machine is free, Unix ms (median, 90th
	 * percentile); 0: not known. */
	int64_t free_p50_ms, free_p90_ms;
	/* If not offered: true if the machine serves or is in transition, so that it will become
	 * free without action of an operator. */
	bool returns;
};

/* A claim that has not ended. Every claim counts against limits and quota. A claim that is not
 * ready is supply in progress: pods may be placed on it. Once a claim is ready and its node is in
 * the world, pods are placed on the node instead. */
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
	/* failed or leaving true: no pods are placed on the claim, but it counts against limits and
	 * quota as long as it has its machine. */
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

/* Key of a label that the planner adds to each node; the label's value is the node's name. The
 * label serves requirements on the Node field metadata.name. A claim in progress has the label,
 * too, because its Node will have the claim's name; a free machine does not have it. No Kubernetes
 * label can have such a key. */
#define WORLD_NODE_NAME ":metadata.name"
struct world_node {
	/* Names of the Node's tenant, of the Node and of its claim; claim NULL: drover did not
	 * provision the Node. */
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
	/* key, effect: NULL or "" matches every key or every effect. */
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
 * (DoNotSchedule), required pod affinity or required anti-affinity. All pods of the same tenant
 * count, including pending pods that the plan has placed. So bound pods must be put into the world
 * with their labels and their own anti-affinity. */
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
		/* WORLD_SPREAD: which nodes count. ignore_affinity (nodeAffinityPolicy Ignore):
		 * nodes that the pod's nodeSelector and affinity do not admit count too.
		 * honor_taints (nodeTaintsPolicy Honor): nodes whose taints the pod does not
		 * tolerate do not count. */
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
/* Location of a pod's volume. v: n terms; the volume is on, or may be provisioned for, the nodes
 * that at least one term matches (required node affinity of a PersistentVolume, allowedTopologies
 * of a StorageClass). node: the only node on which the volume can be; name: the volume's name, for
 * reasons. Both are NULL if several nodes are possible, so that pods whose volumes differ only in
 * their names are alike. */
struct world_volume {
	const char *name, *node;
	struct selector *v;
	size_t n;
};
/* A volume that several pods of the tenant use. driver: "@DRIVER", as in world_pod.requests.
 * volume: "NAMESPACE/CLAIM". */
struct world_shared {
	const char *driver, *volume;
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
	/* The pod has a topology spread or a required pod affinity, so where it may be placed
	 * depends on other pods. */
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
	 * (status.nominatedNodeName); NULL: none. A pending pod that kube-scheduler did not mark
	 * unschedulable counts as bound to its nominated node. preempts: true if the pod may evict
	 * others (preemptionPolicy). */
	const char *nominated;
	bool preempts;
	/* True for a pod of a DaemonSet and for a static pod. No machine is ever planned for such a
	 * pod, and the pod never prevents its node from being given back. */
	bool daemon;
	/* True for a DaemonSet instead of a pod: the pod that each new node gets whose labels and
	 * taints the constraints admit (planner/supply/overhead.h). Then `daemon` must be true,
	 * node and nominated NULL. Such a pod is not placed itself. */
	bool daemon_set;
	/* True if the pod has a deletionTimestamp. */
	bool terminating;
	/* True if the condition PodScheduled is False with reason Unschedulable. Then the plan
	 * places the pod. */
	bool unschedulable;
	/* True if the pod saves its work when it is asked to end, so that little work is lost. */
	bool saves;
	/* True if the pod succeeded. The plan does not place such a pod, and the pod occupies no
	 * node. It proves that its gang has begun. */
	bool done;
	/* True if a plan may launch cloud instances for the pod only with a permit. */
	bool owned_only;
	/* True for a pod that only checks whether there is room. Such a pod is served after all
	 * waiting pods, so it takes no machine from them. No machine is reserved for its gang. */
	bool check;
	/* Why a bound pod may not be moved; WORLD_KEEP_NOT: it may be moved. */
	enum world_keep keep;
	/* Unix ms at which the pod became unschedulable, or was bound if it has a node; 0: not
	 * known. */
	int64_t since;
	int64_t priority;
	/* Unix ms until which keep applies; 0: no end. */
	int64_t keep_until;
	/* Value of controller.kubernetes.io/pod-deletion-cost. */
	int64_t deletion_cost;
	/* Requests of the whole pod, with init containers and overhead; the planner adds "pods": 1.
	 *
	 * Two kinds of names are special. A name that begins with a colon is a resource of which
	 * each node has exactly one: a host port is ":TCP/8080", for any host address. A name that
	 * begins with "@" stands for the number of volumes that a CSI driver must attach:
	 * "@ebs.csi.aws.com". A node can attach as many volumes as its allocatable contains under
	 * that name, or any number if it does not contain the name. A new node is assumed to have
	 * the smallest number that a node of the tenant's claims has. */
	struct resources requests;
	/* RuntimeClass of the pod; NULL: none. */
	const char *runtime_class;
	/* Identifier of the pod's permit (a decision of a BurstPolicy to launch cloud instances). A
	 * machine with a permit is only for pods with an equal permit. NULL: the pod may use no
	 * machine that has a permit. */
	const char *permit;
	/* Text: why no new machine may be claimed for the pod; it may still be placed on Nodes and
	 * on claims in progress. NULL: machines may be claimed. */
	const char *denied;
	struct labels node_selector;
	/* Required node affinity: the node must match one of the n terms; n 0: no requirement. */
	struct {
		struct selector *v;
		size_t n;
	} affinity;
	/* Requirements on the node besides `affinity`. They exclude nodes to which kube-scheduler
	 * refused to bind the pod (claims/refused.h). */
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
	/* Volumes, counted in `requests` under "@DRIVER", that other pods use too. Each of them is
	 * counted once on a node, however many of its pods are there. */
	struct {
		struct world_shared *v;
		size_t n;
	} shared;
	/* Text: why no node suits the pod in the present state of its volumes. NULL: the volumes do
	 * not exclude all nodes. */
	const char *volume_wait;
	/* Gang of the pod: all pods that the gang needs are placed, or none (planner/gang/gangs.h).
	 * key: equal in all pods of the gang; NULL: no gang. min: size of the gang; if its pods
	 * differ, the largest counts. */
	struct {
		const char *key;
		int64_t min;
	} gang;
	/* Requirements that the pod's resource claims have on the node; empty: none. The number of
	 * GPUs is in `requests`. */
	struct selector devices;
	/* Text: why no node suits the pod in the present state of its resource claims. NULL: the
	 * resource claims do not exclude all nodes. */
	const char *device_wait;
	/* Text: why the size of the pod's gang is not known. NULL: the size is known. */
	const char *gang_wait;
	/* Name of a constraint that the planner cannot evaluate; the pod gets PLAN_UNSUPPORTED.
	 * NULL: none. */
	const char *unsupported;
};

/* Adds or replaces an object of the world. The put functions that return bool return false if no
 * new plan is needed. No new plan is needed after a change of only a machine's expected free time
 * or a tenant's past use, because such a change affects only expected times and the order among
 * tenants; the new value is stored nevertheless. */
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
	/* Claims fail for one common cause: the circuit breaker is open (LineStopped). */
	WORLD_STOP_BREAKER,
	/* The tenant's last claims of the pool failed (BackingOff). */
	WORLD_STOP_BACK_OFF,
	/* The Provider is not Ready (ProviderNotReady). */
	WORLD_STOP_PROVIDER,
	/* The cloud has no instance of the type now (NoOffer); does not apply to machines with a
	 * permit. */
	WORLD_STOP_OFFER
};
/* A stop: a part of the supply from which no machine can be had now, so that plans use other pools.
 * A selecting member (tenant, pool, version, provider, instance_type, domain) that is NULL matches
 * everything. */
struct world_stop {
	enum world_stop_why why;
	/* tenant: name of the tenant to which the stop applies. others true: the stop applies to
	 * all tenants except this one. */
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

/* Sets for how long machines are reserved for a gang that is not whole (planner/gang/holds.h), in
 * ms. Initially 0: no machine is reserved. */
void world_put_hold(struct world *w, int64_t ms);
/* Bounds the reservations for one tenant's gangs. rests: Unix ms before which nothing is reserved;
 * 0: the tenant may reserve now. ends: Unix ms at which reservations end; 0: they last for the
 * duration that world_put_hold() set, counted from the plan. */
void world_put_tenant_hold(struct world *w, const char *tenant, int64_t rests, int64_t ends);
/* Prevents the machine from being reserved for any gang before the Unix ms `until`; 0 removes the
 * bound. */
void world_put_machine_rest(struct world *w, const char *machine, int64_t until);

#endif
