#ifndef PLANNER_PLAN_H
#define PLANNER_PLAN_H

#include "base/arena.h"
#include "planner/world.h"

/*
 * plan: who gets which machine, and why not.
 *
 * plan_make() is a pure, deterministic function of the world and of now: same
 * objects, same plan, in whatever order they were put.  What it gives lives in
 * the arena; names in it are the world's, so read it before the world changes.
 *
 * Demand: pods marked unschedulable, all tenants in one queue: priority (tenant's, then pod's),
 * then the tenant with the smaller share of GPUs for its weight, used and held, what this plan gives it counted, then age,
 * then key.
 * Pods for which a claim was made, and that fit it still, keep their seats on it as long as it is on its way; so
 * what was planned once is not bought again because names or ages sort otherwise.
 * Supply for each other one: free room on its tenant's nodes, room on claims on their way, room on claims
 * that this plan opened, then a new claim on a free machine: pools by weight (higher first, then
 * those with an owned machine before those that would rent, then name), the instance type that costs least for each of those it serves who wait and are alike (GPUs first), of equals
 * that of the pool's first provider, warm before cold, fewer failures first.  Several pods share a claim when they fit
 * together.
 *
 * The pods of a gang are one entry, where the first of them stands: all that it needs of them get places, or none
 * (planner/gangs.h).
 *
 * Preferences choose among the room that is there, as kube-scheduler scores it (the sum of the
 * weights that hold; a PreferNoSchedule taint last), and where there is none, among new machines
 * before pools and types do.  They never cost a machine that is not needed without them.
 */
enum plan_reason_code {
	PLAN_NO_POOL, /* no pool selects the tenant */
	PLAN_POOL_PAUSED,
	PLAN_POOL_LIMIT, /* LimitExceeded */
	PLAN_NO_IMAGE,	 /* NoImageForVersion */
	PLAN_NOT_TAKEN,	 /* NodesNotTaken: the tenant takes no machines of the pool as its Nodes */
	PLAN_REQUIREMENTS,  /* no instance type fits selector and affinity */
	PLAN_TAINT,	    /* taint not tolerated */
	PLAN_RUNTIME_CLASS, /* the pool's images have no such handler */
	PLAN_PROOF, /* NetworkProofWeak: where its machines are cannot be proved as the tenant demands */
	PLAN_TOO_BIG,		 /* no instance type has the resources */
	PLAN_NO_MACHINE,	 /* NoCapacity: types fit, all machines are taken */
	PLAN_ERASE_BELOW_POLICY, /* EraseBelowPolicy */
	PLAN_QUOTA,		 /* QuotaExceeded: the tenant's */
	PLAN_TENANT,		 /* paused, unreachable */
	PLAN_UNSUPPORTED,	 /* a constraint that cannot be judged */
	PLAN_TOPOLOGY,		 /* spread and (anti)affinity to other pods leave no place */
	PLAN_OVER_BUDGET,	 /* its tenant's pods take more work than one tenant has */
	PLAN_VOLUME,		 /* VolumeNotReady: no node will do until its volumes are others */
	PLAN_DEVICE, /* DeviceNotReady: no node will do until its resource claims are others */
	PLAN_GANG, /* GangNotWhole: there are places for some of its gang; why not for more follows */
	PLAN_GANG_SHORT, /* GangIncomplete: fewer of its pods are there than the gang has at least */
	PLAN_GANG_UNKNOWN, /* GangUnknown: nobody says how many they are */
	PLAN_GANG_OVER, /* GangHoldOver: machines are not held for it any more; what it lacks follows */
	PLAN_HELD, /* HeldForGang: of the machines that fit some are free, and held for a gang before it */
	PLAN_BY_POLICY, /* BurstPolicyDecides: what would do is bought, and not by a plan */
	PLAN_STOPPED,	/* LineStopped: claims there fail alike (world_put_stops()) */
	PLAN_BACK_OFF,	/* BackingOff: the tenant's claims of the pool failed in a row */
	PLAN_PROVIDER,	/* ProviderNotReady: no machine of the Provider can be driven */
	PLAN_NO_OFFER,	/* NoOffer: the cloud has none of the type now */
	PLAN_REASONS
};
extern const char
	*const plan_reason_names[]; /* NoPool, PoolPaused, LimitExceeded, NoImageForVersion, ... */

struct plan_reason {
	const char *pool; /* "" when it is not about one pool */
	enum plan_reason_code code;
	const char *text; /* "pool h100: 12 machines fit, all taken (11 serving, 1 quarantined)" */
};

enum plan_outcome { PLAN_ON_NODE, PLAN_ON_CLAIM, PLAN_ON_NEW, PLAN_NOTHING };
struct plan_pod {
	const char *tenant, *ns, *name, *uid;
	bool check; /* world_pod.check */
	enum plan_outcome outcome;
	const char *target; /* node or claim name; NULL otherwise */
	size_t new_claim;   /* PLAN_ON_NEW: index into plan.claims */
	size_t gang;	    /* placed as one of it, from 1; 0: alone */
	size_t place; /* in the queue, from 1; 0: no machine would do, so it is in no one's way */
	struct plan_reason *reasons; /* PLAN_NOTHING: nearest miss first */
	size_t nreasons;
	struct plan_expected { /* PLAN_NOTHING: the machine that is to be its (timeline.h) */
		const char *machine, *provider, *instance_type; /* NULL: none is known of */
		int64_t p50, p90; /* Unix ms at which that machine is expected to be free */
	} expected;
};

struct plan_claim {
	const char *tenant, *pool, *provider, *machine, *instance_type, *version;
	struct selector requirements; /* the pool's, and In instance type */
	struct resources requests;    /* of the pods placed on it */
	struct labels labels;	      /* the node's: pool's and type's */
	const char **pods;	      /* UIDs */
	size_t npods;
	size_t gang;	      /* opened for it: with all others of it, or not at all; 0: for none */
	const char *gang_key; /* world_pod.gang.key of that gang's pods; NULL: for none */
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
	const char *claim, *machine, *tenant, *pool; /* whose it is */
	const char *to, *ns, *name; /* the first pod that it is for, of that tenant */
	bool borrowed; /* it is of the cohort of who has it; else of a higher priority */
};

struct plan {
	struct plan_pod *pods; /* in queue order */
	size_t npods;
	struct plan_claim *claims;
	size_t nclaims;
	struct plan_hold *holds;
	size_t nholds;
	size_t ngangs;		 /* that this plan placed */
	struct plan_take *takes; /* all of one pod's, or of one gang's, or none of them */
	size_t ntakes;
	/* Unix ms at which the seats on a Node that just joined are given up; 0: none are kept (room.h). */
	int64_t settles;
	bool waits_for_more; /* somebody would get one later, though nothing changes: when it has waited longer */
};

struct plan *plan_make(struct world *w, int64_t now_ms, struct arena *a);

/*
 * The same in slices: the world may neither change nor be planned with by anybody else from plan_begin() to plan_end().
 *
 * Work is counted in units of some 10 to 50 ns: comparisons of pods with nodes, types, machines and each other.  It
 * depends on the world alone, so a plan is the same in whatever slices.  One tenant has PLAN_WORK units in a
 * plan; its pods that are left then get PLAN_OVER_BUDGET, and nobody else waits longer for it.
 */
#define PLAN_WORK ((uint64_t)10000000)
#define PLAN_SLICE ((uint64_t)200000) /* for one turn of a loop: some 2 to 5 ms */
#define PLAN_MS ((uint64_t)20000)     /* what a processor does in 1 ms, counted low */
struct plan_run;
struct plan_run *plan_begin(struct world *w, int64_t now_ms, struct arena *a);
/* About so many units.  The plan, once it is ready; NULL: not yet. */
struct plan *plan_step(struct plan_run *r, uint64_t units);
uint64_t plan_work(const struct plan_run *r); /* units so far */
/* Also of one that is not ready.  The plan stays as long as its arena and the world. */
void plan_end(struct plan_run *r);

/*
 * The free machines that a pool may claim as things stand, whoever's pods come: of its providers and types,
 * offered, wiped enough for it, named by no claim.  In the order in which a plan takes them.  Whether the pool is paused is
 * not asked.  As pure as plan_make(); names are the world's.
 */
struct plan_stock {
	const struct world_machine **v;
	size_t n;
	size_t room; /* how many of them its limits admit beside its claims */
};
struct plan_stock plan_stock(struct world *w, const char *pool, struct arena *a);

#endif
