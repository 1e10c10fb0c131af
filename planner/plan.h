#ifndef PLANNER_PLAN_H
#define PLANNER_PLAN_H

#include "base/arena.h"
#include "planner/world.h"

/*
 * plan: which waiting pod gets which machine, and why the other pods get none.
 *
 * plan_make() is a pure, deterministic function of the world and of now_ms: equal worlds give equal
 * plans. The order in which objects were put into the world does not matter. The plan is allocated
 * in the arena; names in the plan belong to the world and are valid until the world changes.
 *
 * Demand: pending pods that kube-scheduler marked unschedulable. The pods of all tenants form one
 * queue (planner/queue.h). It is ordered by priority (the tenant's, then the pod's), then by the
 * tenant's share of GPUs for its weight, smallest first, then by age, then by key. A share counts
 * past use, present holdings and the machines that this plan gives the tenant. A pod for which a
 * claim was made keeps its planned placement on that claim while the claim is in progress and the
 * pod still fits. So no second machine is requested only because names or ages sort differently.
 *
 * Supply: greedy bin packing. Each other pod, in queue order, goes into the first candidate node
 * ("bin", planner/bins.h) that has room: serving Nodes of its tenant, then claims in progress, then
 * claims that this plan has opened. If no bin has room, the plan opens a claim on a free machine.
 * The machine is chosen in this order:
 * - pools by weight (highest first), then pools with an owned machine before those that would
 *   launch a cloud instance, then by name;
 * - in the pool, the instance type that the pool's expander (enum world_expander) prefers, counting
 *   all waiting pods that are alike, then the pool's first Provider. LEAST_COST: the lowest cost
 *   per pod served (GPUs weigh most). LEAST_NODES: the fewest GPUs for these pods, then the fewest
 *   machines, then the lowest cost; afterwards each claim moves to the smallest machine that its
 *   pods need (planner/supply/resize.h);
 * - of the type, warm machines before cold ones, then the machine with the fewest failures. Several
 *   pods share a claim if they fit together.
 *
 * Gangs: the pods of a gang are one queue entry, at the position of its first pod. Either all pods
 * that the gang needs are placed, or none (planner/gang/gangs.h).
 *
 * Preferences (preferred node affinity, PreferNoSchedule taints) choose among bins that have room
 * by kube-scheduler's score: the sum of the weights that match; a node with an untolerated
 * PreferNoSchedule taint comes last. If no bin has room, preferences choose among new machines,
 * before the order of pools and types applies. A preference never causes a claim that would not be
 * needed without the preference.
 */
enum plan_reason_code {
	/* NoPool: no pool selects the tenant. */
	PLAN_NO_POOL,
	PLAN_POOL_PAUSED,
	/* LimitExceeded: a limit of the pool is reached. */
	PLAN_POOL_LIMIT,
	/* NoImageForVersion: the pool has no image for the tenant's Kubernetes version. */
	PLAN_NO_IMAGE,
	/* NodesNotTaken: the tenant does not accept machines of this pool as its Nodes. */
	PLAN_NOT_TAKEN,
	/* RequirementsNotMet: no node of the pool would have the labels that the pod requires (node
	 * selector, node affinity, volumes, resource claims), or the pool's own requirements
	 * exclude all its machines. */
	PLAN_REQUIREMENTS,
	/* TaintNotTolerated: the pod does not tolerate a taint of the pool. */
	PLAN_TAINT,
	/* RuntimeClassNotCarried: the pool's images have no handler for the pod's RuntimeClass. */
	PLAN_RUNTIME_CLASS,
	/* NetworkProofWeak: the location of the machines' switch ports cannot be proved as strictly
	 * as the tenant requires. */
	PLAN_PROOF,
	/* TooBig: no instance type has enough of a resource that the pod requests. */
	PLAN_TOO_BIG,
	/* NoCapacity: instance types fit, but none of their machines is free. */
	PLAN_NO_MACHINE,
	/* EraseBelowPolicy: free machines were wiped less thoroughly than the pool requires. */
	PLAN_ERASE_BELOW_POLICY,
	/* QuotaExceeded: the tenant's quota is used up. */
	PLAN_QUOTA,
	/* TenantNotReady: the tenant is paused, unreachable, or its Kubernetes version is
	 * unknown. */
	PLAN_TENANT,
	/* ConstraintNotSupported: the pod has a constraint that the planner cannot evaluate. */
	PLAN_UNSUPPORTED,
	/* TopologyNotMet: topology spread or pod (anti-)affinity excludes all free machines. */
	PLAN_TOPOLOGY,
	/* OverBudget: the tenant has used up its PLAN_WORK work units of computing time for this
	 * plan. */
	PLAN_OVER_BUDGET,
	/* VolumeNotReady: no node suits the pod in the present state of its volumes. */
	PLAN_VOLUME,
	/* DeviceNotReady: no node suits the pod in the present state of its resource claims. */
	PLAN_DEVICE,
	/* GangNotWhole: some pods of the gang can be placed, but not all that the gang needs.
	 * Further reasons in the list explain why the next pod cannot be placed. */
	PLAN_GANG,
	/* GangIncomplete: fewer pods of the gang exist than its minimum size. */
	PLAN_GANG_SHORT,
	/* GangUnknown: the size of the gang is not known. */
	PLAN_GANG_UNKNOWN,
	/* GangHoldOver: machines are no longer reserved for the gang. Further reasons in the list
	 * explain why the gang's pods are not placed. */
	PLAN_GANG_OVER,
	/* HeldForGang: suitable machines are free, but reserved for a gang earlier in the queue. */
	PLAN_HELD,
	/* BurstPolicyDecides: only cloud instances would suit, and a BurstPolicy instead of the
	 * plan decides whether to launch them. */
	PLAN_BY_POLICY,
	/* LineStopped: claims of this kind fail for one common cause, so no new claims are made
	 * (world_put_stops()). */
	PLAN_STOPPED,
	/* BackingOff: the tenant's last claims of the pool failed, so new ones are delayed. */
	PLAN_BACK_OFF,
	/* ProviderNotReady: the Provider is not Ready, so drover cannot control its machines. */
	PLAN_PROVIDER,
	/* NoOffer: the cloud has no instance of the type now. */
	PLAN_NO_OFFER,
	/* ClaimDenied: the claim that was made for the pod was denied, and no new one is made yet
	 * (world_pod.denied). */
	PLAN_DENIED,
	PLAN_REASONS
};
/* Names of the values of enum plan_reason_code: "NoPool", "PoolPaused", "LimitExceeded" ...
 * NULL-terminated. */
extern const char *const plan_reason_names[];

struct plan_reason {
	/* Name of the pool that the reason is about; "" if the reason is not about a single
	 * pool. */
	const char *pool;
	enum plan_reason_code code;
	/* Text for operators: "pool h100: 12 machines fit, all taken (11 serving, 1
	 * quarantined)". */
	const char *text;
};

enum plan_outcome { PLAN_ON_NODE, PLAN_ON_CLAIM, PLAN_ON_NEW, PLAN_NOTHING };
struct plan_pod {
	const char *tenant, *ns, *name, *uid;
	/* world_pod.gang.key of the pod; NULL: no gang. */
	const char *gang_key;
	/* Number of pods that this gang needs (0: unknown), and of its pods that have a node. */
	size_t gang_size, gang_begun;
	/* Copy of world_pod.check: the pod only checks whether there is room. */
	bool check;
	enum plan_outcome outcome;
	/* Name of the Node or claim on which the pod is placed; NULL unless PLAN_ON_NODE or
	 * PLAN_ON_CLAIM. */
	const char *target;
	/* PLAN_ON_NEW: index into plan.claims of the claim on which the pod is placed. */
	size_t new_claim;
	/* Number of the gang with which the pod was placed, from 1; 0: not placed as part of a
	 * gang. */
	size_t gang;
	/* Position of the pod in the queue, from 1. 0: no position, because a free machine would
	 * not help: something else must change before the pod can be placed. */
	size_t place;
	/* PLAN_NOTHING: why the pod is not placed. The reason of the pool in which least is missing
	 * comes first. */
	struct plan_reason *reasons;
	size_t nreasons;
	/* PLAN_NOTHING: the machine that is expected to become free for the pod (timeline.h). */
	struct plan_expected {
		/* Names of the machine, its Provider and its type. machine NULL: no machine with a
		 * known free time will be free for the pod. */
		const char *machine, *provider, *instance_type;
		/* Expected free time of the machine, Unix ms: median and 90th percentile. */
		int64_t p50, p90;
	} expected;
};

struct plan_claim {
	const char *tenant, *pool, *provider, *machine, *instance_type, *version;
	/* The pool's requirements on its nodes. */
	struct selector requirements;
	/* Sum of the requests of the pods placed on the claim. */
	struct resources requests;
	/* Labels that the node will have: labels of the instance type, the machine and the pool. */
	struct labels labels;
	/* UIDs of the pods placed on the claim. */
	const char **pods;
	size_t npods;
	/* Number of the gang for which the claim is opened, from 1; 0: no gang. The caller must
	 * create all claims of one gang, or none. */
	size_t gang;
	/* world_pod.gang.key of the pods of that gang; NULL: no gang. */
	const char *gang_key;
};

/* Machines reserved for a gang that is not whole (holds.h). */
struct plan_hold {
	const char *tenant, *gang;
	/* Names of the free machines that stay idle for the gang; free: their number. */
	const char **machines;
	size_t free;
	/* Sum of the GPUs of the machines in `machines`, in thousandths. */
	int64_t gpus_milli;
	/* True if nothing is reserved now, because the tenant has used up the time for which it may
	 * reserve machines. */
	bool rests;
};

/* A machine to be reclaimed: taken from one tenant for a waiting pod of another tenant
 * (reclaim.h). */
struct plan_reclaim {
	/* Names of the claim that loses its machine, of that machine, and of the claim's tenant and
	 * pool. */
	const char *claim, *machine, *tenant, *pool;
	/* Tenant, namespace and name of the first pod for which the machine is taken back. */
	const char *to, *ns, *name;
	/* Why the machine may be taken back. True: the claim's tenant has borrowed quota of its
	 * cohort. False: the claim's tenant has a lower priority. */
	bool borrowed;
};

struct plan {
	/* Waiting pods in queue order. */
	struct plan_pod *pods;
	size_t npods;
	struct plan_claim *claims;
	size_t nclaims;
	struct plan_hold *holds;
	size_t nholds;
	/* Number of gangs that this plan placed. */
	size_t ngangs;
	/* Machines to be reclaimed. For each waiting pod or gang that gets any, all machines that
	 * it needs are listed. */
	struct plan_reclaim *reclaims;
	size_t nreclaims;
	/* Unix ms at which this plan is out of date: the first planned placement on a claim whose
	 * Node just joined expires then (open_bins.h), so a new plan may differ. 0: there is no
	 * such placement. */
	int64_t settles;
	/* True if a later plan of the unchanged world may reclaim a machine, because a pod will
	 * then have waited longer. */
	bool waits_for_more;
};

struct plan *plan_make(struct world *w, int64_t now_ms, struct arena *a);

/*
 * plan_begin(), plan_step() and plan_end() make the same plan as plan_make(), in slices. From
 * plan_begin() to plan_end() the world must not change, and no other plan may be made of the world.
 *
 * Work is counted in units of about 10 to 50 ns. One unit is, for example, a comparison of a pod
 * with a node, type, machine or other pod. The count depends only on the world, so the plan does
 * not depend on the size of the slices. Each tenant has PLAN_WORK units in a plan for placing its
 * pods, and before that half as many for recording their topology constraints. When they are used
 * up, the tenant's remaining pods get PLAN_OVER_BUDGET, so that other tenants need not wait longer.
 * These are the pods at the end of the queue, so a tenant that asks for more gets no less.
 */
#define PLAN_WORK ((uint64_t)10000000)
/* Work units for one turn of the event loop: about 1 to 4 ms. */
#define PLAN_SLICE ((uint64_t)150000)
/* Work units that one CPU does in 1 ms; a cautious (low) estimate. */
#define PLAN_MS ((uint64_t)20000)
struct plan_run;
struct plan_run *plan_begin(struct world *w, int64_t now_ms, struct arena *a);
/* Continues the plan for about `units` work units of computing time. Returns the plan once it is
 * complete; NULL: call again. */
struct plan *plan_step(struct plan_run *r, uint64_t units);
/* Returns the number of work units done so far. */
uint64_t plan_work(const struct plan_run *r);
/* Frees the run; also allowed before the plan is complete. The plan stays valid as long as its
 * arena exists and the world does not change. */
void plan_end(struct plan_run *r);

/*
 * Lists the free machines that a pool may claim now, for any pod. A machine is listed if it belongs
 * to one of the pool's Providers, meets the pool's requirements, is offered, is wiped thoroughly
 * enough for the pool, and is named by no claim. Machines are sorted in the order in which a plan
 * takes them. A paused pool is listed like any other. The result is a pure function of the world;
 * names belong to the world.
 */
struct plan_stock {
	const struct world_machine **v;
	size_t n;
	/* Number of the listed machines that the pool's limits admit in addition to the pool's
	 * existing claims. */
	size_t room;
};
struct plan_stock plan_stock(struct world *w, const char *pool, struct arena *a);

#endif
