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
 * world: what the planner knows.  Long-lived; it changes only by world_put_*
 * and world_del_*, which copy what they are given.  No I/O, no clock, no globals:
 * production, `drover simulate`, the benchmark and the tests use the same.
 *
 * What the world caches never changes a result: plan_make() of a world that was
 * built delta by delta equals that of one built anew from the same objects.
 * Keys: tenants, pools, providers, machines and claims by name; pods by
 * "TENANT/NAMESPACE/NAME"; nodes by "TENANT/NAME".  Gangs have none: they are what their pods say.
 */
struct world;

struct world *world_new(void);
void world_free(struct world *w);
DEFINE_OWN(world)

/* In the order of enum fabric_proof (providers/fabric.h). */
enum world_proof { WORLD_PROOF_NONE, WORLD_PROOF_WEAK, WORLD_PROOF_STRONG };

struct world_tenant {
	const char *name;
	/* what pools select by */
	struct labels labels;
	/* of all its machines together */
	struct resources quota;
	/* Of one cohort: what others of it do not use of their quotas may be borrowed
	 * (planner/quota.h). */
	/* NULL: of none */
	const char *cohort;
	/* beyond its quota, at most; what is not named has no limit */
	struct resources borrowing;
	/* of its quota, at most; likewise */
	struct resources lending;
	int64_t weight, priority;
	/* thousandths of a GPU that it held on average: usage_average() */
	int64_t used_milli;
	/* its API server's "1.36"; NULL: unknown, nothing is planned for it */
	const char *version;
	/* paused, not reachable, not permitted: no new claims */
	bool paused;
	/* TenantPaused, TenantUnreachable ... */
	const char *paused_reason;
	/* why it takes no machines as its Nodes; NULL: it takes them */
	const char *no_nodes;
	/* they become Nodes of the host cluster */
	bool on_host;
	/* a plan buys for it only what a permit is for */
	bool owned_only;
	/* The least proof of where a machine's ports are that it demands, and whether addresses are
	 * named that answer its machines alone, so that packets can show it. */
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
	/* allocatable, predicted */
	struct resources capacity;
	struct labels labels;
	/* from one tenant to the next: drained, wiped, booted; 0: not known */
	int64_t way_ms;
};
struct world_provider {
	const char *name;
	/* its machines are bought when they are claimed */
	bool elastic;
	bool paused;
	const char *paused_reason;
	/* The best proof of where its machines are that its network can ever show, and whether
	 * addresses are named by which packets of theirs can show it, too, as far as its own
	 * segments go. */
	enum world_proof proof;
	bool probed;
	struct {
		struct world_instance_type *v;
		size_t n;
	} types;
};

/* Whose machines of a pool may be taken back for others (planner/reclaim.h). */
enum world_reclaim { WORLD_RECLAIM_NEVER, WORLD_RECLAIM_BORROWED, WORLD_RECLAIM_LOWER_PRIORITY };

struct world_pool {
	const char *name;
	int64_t weight;
	/* spec.virtualClusterSelector */
	struct selector tenants;
	/* in order */
	const char **providers;
	size_t nproviders;
	struct selector requirements;
	struct labels labels;
	/* startup taints are not among them */
	struct world_taints taints;
	/* "nodes" among them */
	struct resources limits;
	/* Kubernetes minors for which there is an image: "1.36" */
	const char **versions;
	size_t nversions;
	/* whose handlers its images have */
	const char **runtime_classes;
	/* 0: all of them */
	size_t nruntime_classes;
	/* may its machines join no virtual cluster itself; may they join the host cluster */
	bool not_private, host;
	/* enum wipe_level, compared with the machine's last record */
	int minimum_level_flash, minimum_level_hdd;
	int minimum_trust;
	/* bits of enum statement_part, in the machine's last record */
	unsigned must_cover;
	enum world_reclaim reclaim;
	/* of elastic Providers it has only machines with a permit */
	bool permits_only;
	bool paused;
	/* PoolPaused, StopTheLine ... */
	const char *paused_reason;
	/* Nodes whose pods have room elsewhere are given back, too (consolidate.h) */
	bool underused;
};

/* A machine that could serve. Only state free and clean is offered; the others count for limits and
 * reasons. */
struct world_machine {
	const char *name, *provider, *instance_type;
	/* that its node will carry: rack, zone, NVLink domain */
	struct labels labels;
	/* only pods with the same have it; NULL: all may */
	const char *permit;
	/* where the machine is, as world_stop.domain names it; NULL: unknown */
	const char *domain;
	/* free, clean, nothing against it */
	bool offered;
	/* reason when not: its state or "Quarantined", "Held" ... */
	const char *not_offered;
	bool warm;
	/* not offered: on its way back from its tenant */
	bool coming;
	/* of its last wipe; -1: no such drives */
	int level_flash, level_hdd, trust;
	/* of its last wipe, beside the drives */
	unsigned covered;
	/* in a row */
	unsigned failures;
	/* not offered: when it is expected to be (Unix ms); 0: not known */
	int64_t free_p50_ms, free_p90_ms;
	/* not offered: it serves or is on its way, and will be free some day without anybody's
	 * doing */
	bool returns;
};

/* Every claim that has not ended; all count against limits and quota. Not ready: supply on its way.
 * Ready: its room is that of the node which names it, or its own until that node is seen. */
struct world_claim {
	/* machine NULL: none yet */
	const char *name, *tenant, *pool, *machine;
	const char *instance_type, *provider;
	/* what its node will carry */
	struct labels labels;
	struct world_taints taints;
	/* allocatable, predicted */
	struct resources capacity;
	bool ready;
	/* Unix ms since when it is ready; 0: not known */
	int64_t ready_ms;
	/* no supply any more, but counts while it holds its machine */
	bool failed;
	bool leaving;
	/* what runs on it saves its work when it is asked to */
	bool saves;
	/* Unix ms: the older claim is filled first */
	int64_t created_ms;
	/* UIDs of the pods that it was made for: they are seated first */
	const char **pods;
	size_t npods;
};

/* Key of a label that the planner adds to each node: the node's name, which requirements on the
 * field metadata.name of a Node judge. A claim on its way has the label too, because its Node gets
 * the claim's name; a free machine lacks it. No label of Kubernetes has such a key. */
#define WORLD_NODE_NAME ":metadata.name"
struct world_node {
	/* claim NULL: not drover's */
	const char *tenant, *name, *claim;
	struct labels labels;
	struct world_taints taints;
	struct resources allocatable;
	bool ready, unschedulable;
};

/* Operators of tolerations. GT tolerates taints whose value is greater than the toleration's, LT
 * those whose value is less. NONE, an operator that no kube-scheduler knows, tolerates nothing. */
enum world_tolerates {
	WORLD_TOLERATES_EQUAL,
	WORLD_TOLERATES_EXISTS,
	WORLD_TOLERATES_GT,
	WORLD_TOLERATES_LT,
	WORLD_TOLERATES_NONE
};
struct world_toleration {
	/* key, effect: NULL or "" means all */
	const char *key, *value, *effect;
	enum world_tolerates op;
};
struct world_preference {
	int64_t weight;
	struct selector term;
};
/* Where a pod may be for the sake of others: required topology spread (DoNotSchedule) and required
 * pod affinity and anti-affinity. The pods that count are its tenant's, pending ones that the plan
 * places among them: those that are bound must be put with their labels and their own
 * anti-affinity. */
#define WORLD_HOSTNAME "kubernetes.io/hostname"
enum world_topology_kind { WORLD_SPREAD, WORLD_TOGETHER, WORLD_APART };
struct world_topology {
	enum world_topology_kind kind;
	/* topologyKey; kubernetes.io/hostname: each node for itself */
	const char *key;
	/* WORLD_SPREAD; 1 or more */
	int64_t max_skew;
	/* WORLD_SPREAD: where there are fewer, one without any pods is taken to be there */
	int64_t min_domains;
	struct {
		/* WORLD_SPREAD: nodes count that the pod's nodeSelector and affinity do not admit
		 * (nodeAffinityPolicy Ignore); those do not whose taints it does not tolerate
		 * (nodeTaintsPolicy Honor) */
		bool ignore_affinity, honor_taints;
	} nodes;
	/* of whose pods; no requirement: all */
	struct selector pods;
	/* none: the pod's own */
	const char **namespaces;
	size_t nnamespaces;
	/* in every namespace, whatever they are */
	bool everywhere;
};
/* Where a volume of a pod is, or may be made: on nodes that one of the terms matches (required node
 * affinity of a PersistentVolume; allowedTopologies of a StorageClass). node: the one node that it
 * is on, where it can be nowhere else, and name is how a reason calls it; else both NULL, so that
 * pods whose volumes differ in their names alone are alike. */
struct world_volume {
	const char *name, *node;
	struct selector *v;
	size_t n;
};
/* Why a pod that is bound may not be moved. */
enum world_keep {
	/* it may */
	WORLD_KEEP_NOT,
	/* an annotation of it says so */
	WORLD_KEEP_ASKED,
	/* no controller would make it anew */
	WORLD_KEEP_ALONE,
	/* what it keeps on its node's disks would be lost */
	WORLD_KEEP_LOCAL,
	/* where its volumes could follow it is not judged */
	WORLD_KEEP_VOLUMES,
	/* where it may be hangs on where other pods are */
	WORLD_KEEP_OTHERS,
	/* what it asks of a node is not known */
	WORLD_KEEP_UNKNOWN,
	WORLD_KEEPS
};
struct world_pod {
	const char *tenant, *ns, *name, *uid;
	/* bound to; NULL: pending */
	const char *node;
	/* The node that kube-scheduler has chosen for a pending pod (status.nominatedNodeName);
	 * NULL: none. preempts: the pod may evict others (preemptionPolicy). A pod that is no
	 * demand counts as bound to that node. */
	const char *nominated;
	bool preempts;
	/* of a DaemonSet, or static: never demand, and never a reason to keep a node */
	bool daemon;
	/* has a deletionTimestamp */
	bool terminating;
	/* PodScheduled=False, reason Unschedulable: demand */
	bool unschedulable;
	/* Unix ms when it became so; of one that has a node: when it got it; 0: not known */
	int64_t since;
	/* it saves its work when it is asked to */
	bool saves;
	/* it succeeded: it is no demand, and has no node; a gang that has such a pod has begun */
	bool done;
	int64_t priority;
	/* of one that is bound */
	enum world_keep keep;
	/* Unix ms; 0: for good */
	int64_t keep_until;
	/* controller.kubernetes.io/pod-deletion-cost */
	int64_t deletion_cost;
	/* Of the whole pod: init containers and overhead counted; "pods": 1 is added. A host port
	 * is one of them, as ":TCP/8080": each node has one of each, whatever host address is asked
	 * for with it. So is whatever else a node has one of, under a name that begins with a
	 * colon. So are the volumes that a CSI driver has to attach, as "@ebs.csi.aws.com": a node
	 * has as many as its allocatable says under that name, any number where it says nothing,
	 * and a new one as many as the least of the tenant's nodes from claims. */
	struct resources requests;
	/* NULL: none */
	const char *runtime_class;
	/* of machines that have one, those with this are for it; NULL: none is */
	const char *permit;
	struct labels node_selector;
	/* required node affinity: one of the terms; n 0: none */
	struct {
		struct selector *v;
		size_t n;
	} affinity;
	/* must hold, too: what was learnt of it (claims/refused.h); none: nothing */
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
	/* all of them must hold */
	struct {
		struct world_topology *v;
		size_t n;
	} topology;
	/* the node has to suit all of them */
	struct {
		struct world_volume *v;
		size_t n;
	} volumes;
	/* why no node will do for its volumes until they are others: its reason; NULL: they do */
	const char *volume_wait;
	/* All of it or none (planner/gangs.h). key: the same text in all its pods; NULL: of none.
	 * min: so many of them at least; where they differ, the most that one of them says. */
	struct {
		const char *key;
		int64_t min;
	} gang;
	/* What its resource claims ask of a node, but for how many GPUs, which are in requests;
	 * none: nothing. */
	struct selector devices;
	/* why no node will do until its claims are others: its reason; NULL: they do */
	const char *device_wait;
	/* why the size of its gang is not known; NULL: it is */
	const char *gang_wait;
	/* The pod stands for a check whether there is room.  It comes after all other demand, so
	 * it keeps no machine from a pod that waits, and nothing is held for its gang. */
	bool check;
	/* a constraint that this planner cannot judge: the pod gets that as its reason */
	const char *unsupported;
};

/* False, of those that say it: nothing is another than before, so a plan would be the same, but for
 * when pods that get nothing are expected to, and for the order among tenants: that a machine is
 * expected at another time, or that what a tenant has used has changed, is kept and makes no new
 * plan. */
bool world_put_tenant(struct world *w, const struct world_tenant *t);
/* used_milli of one that is there */
void world_put_used(struct world *w, const char *tenant, int64_t milli);
void world_put_provider(struct world *w, const struct world_provider *p);
void world_put_pool(struct world *w, const struct world_pool *p);
bool world_put_machine(struct world *w, const struct world_machine *m);
bool world_put_claim(struct world *w, const struct world_claim *c);
bool world_put_node(struct world *w, const struct world_node *n);
bool world_put_pod(struct world *w, const struct world_pod *p);
/* and its pods and nodes */
void world_del_tenant(struct world *w, const char *name);
void world_del_provider(struct world *w, const char *name);
void world_del_pool(struct world *w, const char *name);
bool world_del_machine(struct world *w, const char *name);
bool world_del_claim(struct world *w, const char *name);
bool world_del_node(struct world *w, const char *tenant, const char *name);
bool world_del_pod(struct world *w, const char *tenant, const char *ns, const char *name);

/* Who waits long rises: so many points of a pod's priority for each hour, and so many at most, but
 * never between others: only to a priority that somebody has who waits, too, and whose tenant has
 * the same (planner/queue.h). None at first. */
struct world_aging {
	int64_t points, most;
};
void world_put_aging(struct world *w, const struct world_aging *g);
/* clamps: a pod's priority counts among tenants only up to its tenant's priority (planner/queue.h).
 * Initially false. */
void world_put_clamp(struct world *w, bool clamps);

/* A part of the supply from which nothing can be had now, so that other pools serve instead.
 * NULL in a member stands for all. */
enum world_stop_why {
	/* claims fail alike (LineStopped) */
	WORLD_STOP_LINE,
	/* the tenant's claims of the pool failed in a row (BackingOff) */
	WORLD_STOP_BACK_OFF,
	/* the Provider is not Ready (ProviderNotReady) */
	WORLD_STOP_PROVIDER,
	/* the cloud has none of the type now (NoOffer), but for a permit */
	WORLD_STOP_OFFER
};
struct world_stop {
	enum world_stop_why why;
	/* The tenant for which it is stopped; with others all tenants but this one. */
	const char *tenant;
	bool others;
	const char *pool;
	/* Kubernetes minor of the image, as in world_pool.versions */
	const char *version;
	const char *provider, *instance_type, *domain;
	/* why, and when something may be had again */
	const char *text;
};
/* Replaces all stops. */
void world_put_stops(struct world *w, const struct world_stop *v, size_t n);

/* Keys of labels by whose values a gang is kept together, the narrowest first: NVLink domain, rack,
 * leaf, spine. None at first. */
#define WORLD_LEVELS 8
/* n <= WORLD_LEVELS */
void world_put_levels(struct world *w, const char *const *keys, size_t n);

/* Sets how long machines are held for gangs that are not whole (planner/holds.h), ms.  0, the
 * initial value, means that no machine is held. */
void world_put_hold(struct world *w, int64_t ms);
/* Bounds the holds of one tenant's gangs, Unix ms.  Before rests nothing is held for them; 0 means
 * that the tenant may hold now.  What is held is held until ends; 0 means for the time of
 * world_put_hold(), from the plan on. */
void world_put_tenant_hold(struct world *w, const char *tenant, int64_t rests, int64_t ends);
/* Keeps a machine from being held for any gang until that time, Unix ms; 0 removes the bound. */
void world_put_machine_rest(struct world *w, const char *machine, int64_t until);

#endif
