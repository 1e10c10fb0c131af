#ifndef PLANNER_PLAN_H
#define PLANNER_PLAN_H

#include "base/arena.h"
#include "planner/world.h"

/*
 * plan: who gets which machine, and why not.
 *
 * plan_make() is a pure, deterministic function of the world and of now: same objects, same plan,
 * in whatever order they were put. What it gives lives in the arena; names in it are the world's,
 * so read it before the world changes.
 *
 * Demand: pods marked unschedulable, all tenants in one queue: priority (tenant's, then pod's),
 * then the tenant with the smaller share of GPUs for its weight, used and held, what this plan
 * gives it counted, then age, then key. Pods for which a claim was made, and that fit it still,
 * keep their seats on it as long as it is on its way; so what was planned once is not bought again
 * because names or ages sort otherwise. Supply for each other one: free room on its tenant's nodes,
 * room on claims on their way, room on claims that this plan opened, then a new claim on a free
 * machine: pools by weight (higher first, then those with an owned machine before those that would
 * rent, then name), the instance type that costs least for each of those it serves who wait and are
 * alike (GPUs first), of equals that of the pool's first provider, warm before cold, fewer failures
 * first. Several pods share a claim when they fit together.
 *
 * The pods of a gang are one entry, where the first of them stands: all that it needs of them get
 * places, or none (planner/gangs.h).
 *
 * Preferences choose among the room that is there, as kube-scheduler scores it (the sum of the
 * weights that hold; a PreferNoSchedule taint last), and where there is none, among new machines
 * before pools and types do. They never cost a machine that is not needed without them.
 */
enum plan_reason_code {
	/* no pool selects the tenant */
	PLAN_NO_POOL,
	PLAN_POOL_PAUSED,
	/* LimitExceeded */
	PLAN_POOL_LIMIT,
	/* NoImageForVersion */
	PLAN_NO_IMAGE,
	/* NodesNotTaken: the tenant takes no machines of the pool as its Nodes */
	PLAN_NOT_TAKEN,
	/* no instance type fits selector and affinity */
	PLAN_REQUIREMENTS,
	/* taint not tolerated */
	PLAN_TAINT,
	/* the pool's images have no such handler */
	PLAN_RUNTIME_CLASS,
	/* NetworkProofWeak: where its machines are cannot be proved as the tenant demands */
	PLAN_PROOF,
	/* no instance type has the resources */
	PLAN_TOO_BIG,
	/* NoCapacity: types fit, all machines are taken */
	PLAN_NO_MACHINE,
	/* EraseBelowPolicy */
	PLAN_ERASE_BELOW_POLICY,
	/* QuotaExceeded: the tenant's */
	PLAN_QUOTA,
	/* paused, unreachable */
	PLAN_TENANT,
	/* a constraint that cannot be judged */
	PLAN_UNSUPPORTED,
	/* spread and (anti)affinity to other pods leave no place */
	PLAN_TOPOLOGY,
	/* its tenant's pods take more work than one tenant has */
	PLAN_OVER_BUDGET,
	/* VolumeNotReady: no node will do until its volumes are others */
	PLAN_VOLUME,
	/* DeviceNotReady: no node will do until its resource claims are others */
	PLAN_DEVICE,
	/* GangNotWhole: there are places for some of its gang; why not for more follows */
	PLAN_GANG,
	/* GangIncomplete: fewer of its pods are there than the gang has at least */
	PLAN_GANG_SHORT,
	/* GangUnknown: nobody says how many they are */
	PLAN_GANG_UNKNOWN,
	/* GangHoldOver: machines are not held for it any more; what it lacks follows */
	PLAN_GANG_OVER,
	/* HeldForGang: of the machines that fit some are free, and held for a gang before it */
	PLAN_HELD,
	/* BurstPolicyDecides: what would do is bought, and not by a plan */
	PLAN_BY_POLICY,
	/* LineStopped: claims there fail alike (world_put_stops()) */
	PLAN_STOPPED,
	/* BackingOff: the tenant's claims of the pool failed in a row */
	PLAN_BACK_OFF,
	/* ProviderNotReady: no machine of the Provider can be driven */
	PLAN_PROVIDER,
	/* NoOffer: the cloud has none of the type now */
	PLAN_NO_OFFER,
	PLAN_REASONS
};
/* NoPool, PoolPaused, LimitExceeded, NoImageForVersion, ... */
extern const char *const plan_reason_names[];

struct plan_reason {
	/* "" when it is not about one pool */
	const char *pool;
	enum plan_reason_code code;
	/* "pool h100: 12 machines fit, all taken (11 serving, 1 quarantined)" */
	const char *text;
};

enum plan_outcome { PLAN_ON_NODE, PLAN_ON_CLAIM, PLAN_ON_NEW, PLAN_NOTHING };
struct plan_pod {
	const char *tenant, *ns, *name, *uid;
	/* world_pod.check */
	bool check;
	enum plan_outcome outcome;
	/* node or claim name; NULL otherwise */
	const char *target;
	/* PLAN_ON_NEW: index into plan.claims */
	size_t new_claim;
	/* placed as one of it, from 1; 0: alone */
	size_t gang;
	/* in the queue, from 1; 0: no machine would do, so it is in no one's way */
	size_t place;
	/* PLAN_NOTHING: nearest miss first */
	struct plan_reason *reasons;
	size_t nreasons;
	/* PLAN_NOTHING: the machine that is to be its (timeline.h) */
	struct plan_expected {
		/* NULL: none is known of */
		const char *machine, *provider, *instance_type;
		/* Unix ms at which that machine is expected to be free */
		int64_t p50, p90;
	} expected;
};

struct plan_claim {
	const char *tenant, *pool, *provider, *machine, *instance_type, *version;
	/* the pool's, and In instance type */
	struct selector requirements;
	/* of the pods placed on it */
	struct resources requests;
	/* the node's: pool's and type's */
	struct labels labels;
	/* UIDs */
	const char **pods;
	size_t npods;
	/* opened for it: with all others of it, or not at all; 0: for none */
	size_t gang;
	/* world_pod.gang.key of that gang's pods; NULL: for none */
	const char *gang_key;
};

/* What is held for a gang that is not whole (holds.h). */
struct plan_hold {
	const char *tenant, *gang;
	/* Machines that are free and stay idle for the gang. */
	const char **machines;
	size_t free;
	/* GPUs of these machines, thousandths. */
	int64_t gpus_milli;
	/* The tenant has held machines for as long as it may, and holds none now. */
	bool rests;
};

/* A machine to be taken back for somebody who waits (reclaim.h). */
struct plan_take {
	/* whose it is */
	const char *claim, *machine, *tenant, *pool;
	/* the first pod that it is for, of that tenant */
	const char *to, *ns, *name;
	/* it is of the cohort of who has it; else of a higher priority */
	bool borrowed;
};

struct plan {
	/* in queue order */
	struct plan_pod *pods;
	size_t npods;
	struct plan_claim *claims;
	size_t nclaims;
	struct plan_hold *holds;
	size_t nholds;
	/* that this plan placed */
	size_t ngangs;
	/* all of one pod's, or of one gang's, or none of them */
	struct plan_take *takes;
	size_t ntakes;
	/* Unix ms at which the seats on a Node that just joined are given up; 0: none are kept
	 * (room.h). */
	int64_t settles;
	/* somebody would get one later, though nothing changes: when it has waited longer */
	bool waits_for_more;
};

struct plan *plan_make(struct world *w, int64_t now_ms, struct arena *a);

/*
 * The same in slices: the world may neither change nor be planned with by anybody else from
 * plan_begin() to plan_end().
 *
 * Work is counted in units of some 10 to 50 ns: comparisons of pods with nodes, types, machines and
 * each other. It depends on the world alone, so a plan is the same in whatever slices. One tenant
 * has PLAN_WORK units in a plan; its pods that are left then get PLAN_OVER_BUDGET, and nobody else
 * waits longer for it.
 */
#define PLAN_WORK ((uint64_t)10000000)
#define PLAN_SLICE ((uint64_t)200000) /* for one turn of a loop: some 2 to 5 ms */
#define PLAN_MS ((uint64_t)20000)     /* what a processor does in 1 ms, counted low */
struct plan_run;
struct plan_run *plan_begin(struct world *w, int64_t now_ms, struct arena *a);
/* About so many units.  The plan, once it is ready; NULL: not yet. */
struct plan *plan_step(struct plan_run *r, uint64_t units);
/* units so far */
uint64_t plan_work(const struct plan_run *r);
/* Also of one that is not ready.  The plan stays as long as its arena and the world. */
void plan_end(struct plan_run *r);

/*
 * The free machines that a pool may claim as things stand, whoever's pods come: of its providers
 * and types, offered, wiped enough for it, named by no claim. In the order in which a plan takes
 * them. Whether the pool is paused is not asked. As pure as plan_make(); names are the world's.
 */
struct plan_stock {
	const struct world_machine **v;
	size_t n;
	/* how many of them its limits admit beside its claims */
	size_t room;
};
struct plan_stock plan_stock(struct world *w, const char *pool, struct arena *a);

#endif
