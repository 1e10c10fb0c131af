#ifndef PLANNER_SUPPLY_H
#define PLANNER_SUPPLY_H

#include "planner/topology.h"

/*
 * supply: the free machines and who may use them: pools, limits, quotas, images, wipe floors.
 * Allocated in the arena of one plan.
 *
 * A pool's supply is a list of offers (supply_line), cheapest first; each offer is one instance
 * type of one Provider. An offer is divided into options: machines whose nodes would have the same
 * labels. So constraints are checked per option, not per machine.
 */
struct supply;

/* The machine chosen for a pod, and the pool, type, version and labels of the claim to be opened on
 * it. */
struct supply_offer {
	const struct world_pool *pool;
	const struct world_instance_type *type;
	const struct world_machine *machine;
	const char *version;
	/* Labels that the node will have. */
	const struct labels *labels;
};

struct supply *supply_new(struct planning *p);
/* Adds the claim's capacity to what its tenant and pool hold, and marks its machine as taken. Call
 * for each claim of the world before the functions below. */
void supply_charge(struct supply *s, const struct world_claim *c);

/* Prepares the search for a cell: determines which pools and offers suit and, if a topology
 * constraint needs them, the domains with free machines. Call before topology_begin(). */
void supply_ask(struct supply *s, struct plan_cell *c);
/* Determines the domains with free machines again if machines were taken since. False: nothing was
 * done, and the search cannot have a new result. */
bool supply_ask_again(struct supply *s, struct plan_cell *c);
/* Takes the best free machine for a pod of the cell and describes it in *out. False: no machine;
 * *reasons has one reason per pool, the pool in which least is missing first. */
bool supply_take(struct supply *s, struct plan_cell *c, struct supply_offer *out,
		 struct plan_reason **reasons, size_t *nreasons);

/*
 * The following functions are for gangs (planner/gang_try.c), which choose their machines by
 * location. They form a transaction: supply_try() begins it. supply_undo() gives back the machines
 * that supply_take_this() took in it; supply_keep() keeps them. Between these calls no function
 * other than those below is called.
 */

struct supply_line;
struct supply_option;
struct supply_pool;
/* Begins a transaction. takes true: supply_take_this() marks machines as taken; false (look-ahead):
 * it only counts them against quota and limits. */
void supply_try(struct supply *s, bool takes);
void supply_undo(struct supply *s);
void supply_keep(struct supply *s);
/* True if the tenant's quota and the pool's limits admit one more machine of the offer. */
bool supply_allowed(const struct plan_class *c, const struct supply_pool *pool,
		    const struct supply_line *l);
void supply_take_this(struct supply *s, struct plan_class *c, struct supply_pool *pool,
		      const struct supply_line *l, const struct supply_option *o,
		      struct world_stock *m, struct supply_offer *out);
/* Reserves machine m, free or not, for gang *of, and counts it as held by tenant t. A free machine
 * is marked as taken. */
void supply_hold(struct supply *s, struct plan_tenant *t, struct supply_pool *pool,
		 const struct supply_line *l, struct world_stock *m, const struct world_gang *of);
/* Writes to *reasons why the cell gets no machine in the present state of the transaction; does not
 * change the reasons stored in the class. */
void supply_tell_try(struct supply *s, const struct plan_cell *c, struct plan_reason **reasons,
		     size_t *nreasons);

/* Writes the result of plan_stock() for the named pool to *out. Marks the listed machines as
 * taken. */
void supply_list(struct supply *s, const char *pool, struct plan_stock *out);

/* Finds, without taking it, the best free machine of the claim's pool and type that the claim's
 * tenant may have in addition. Machines of elastic Providers are not considered. False: none. */
bool supply_second(struct supply *s, const struct world_claim *c, struct supply_offer *out);

struct labels supply_labels_of_claim(struct supply *s, const struct world_claim *c);

/* Machines of one instance type with equal labels, permit and failure domain. The functions for
 * groups, offers and options are in supply_pools.c. */
struct supply_group {
	/* All machines of the group, best first (supply_by_worth()). */
	struct world_stock **v;
	size_t n;
	/* Machines of the group with a known free time (timeline.c); NULL: not computed yet. */
	struct timeline_coming *coming;
	/* Machines of the group that are or will be free, sorted by supply_time_of(), then best
	 * first; NULL: not computed yet. */
	struct world_stock **ahead;
	size_t nahead;
};
/* Option: the machines of one offer with equal labels, permit and failure domain. */
struct supply_option {
	struct labels labels;
	const char *permit, *domain;
	/* Domain of the option's nodes by topology key; NULL: no pod has topology constraints. */
	const int *domains;
	/* The option's machines; NULL: none. */
	struct supply_group *group;
	/* Index into group->v: all machines before it are taken, not offered or below the pool's
	 * wipe floor. */
	size_t next;
	/* The option's best free machine at the time when the option was last sorted into the heap.
	 * If it was taken since, the present best machine is worse. */
	const struct world_machine *head;
};
/* An offer: one instance type of one Provider in one pool. */
struct supply_line {
	const struct world_provider *provider;
	const struct world_instance_type *type;
	/* Position of the offer's Provider in the pool's list of Providers. */
	size_t order;
	/* Result of supply_cost() for the type's capacity. */
	int64_t cost;
	/* Capacity of the type by column. */
	const int64_t *row;
	/* The offer's options are pool->options[first] to pool->options[first + noptions - 1]. */
	size_t first, noptions;
	/* Binary heap of the options with a free machine; the option with the best machine is
	 * first. */
	struct supply_option **heap;
	size_t nheap;
};
struct supply_pool {
	const struct world_pool *it;
	struct tally tally;
	/* Offers of the pool, sorted by cost; NULL: not computed yet. */
	struct supply_line *lines;
	size_t nlines;
	/* Capacities of the offers (rooms.h); an offer without free machines is closed. NULL: not
	 * computed yet. */
	struct rooms *rooms;
	struct supply_option *options;
	size_t noptions;
	bool soft;
};
/* Two bit sets: which options and which offers of a pool suit a fit (pods that differ only in their
 * requests). */
struct suits {
	/* options: options that suit. lines: offers with at least one such option. */
	uint64_t *options, *lines;
};
struct fit_pool {
	struct supply_pool *pool;
	/* Image version for the tenant, from supply_version(); NULL: the pool has none. */
	const char *version;
	struct suits suits;
	/* Options by preference score, highest first; empty if no score differs. */
	struct fit_choice {
		int64_t score;
		struct suits suits;
	} * choices;
	size_t nchoices;
	/* Number of options in suits.options. */
	size_t n;
	/* True if the last search found free machines that topology constraints exclude. */
	bool blocked;
	/* Options that would suit but are stopped (stops.h); all NULL if no stop applied. */
	struct suits stopped;
	/* The stop that excluded an option last; NULL: none. */
	const struct world_stop *stop;
	/* Why the options that do not suit are excluded: the code of the option that misses
	 * least. */
	enum plan_reason_code code;
	/* The option that missed last, if code is PLAN_REQUIREMENTS; missed_type: its type. */
	const struct supply_option *missed;
	const struct world_instance_type *missed_type;
	/* The Provider that missed last, if code is PLAN_PROOF. */
	const struct world_provider *unproved;
	/* True if the pool's own requirements exclude all its options. */
	bool missed_own;
	const char *text;
};
/* True if a machine of the offer is large enough for one pod of the class and the tenant's
 * DaemonSets. */
bool supply_fits(const struct plan_class *c, const struct supply_line *l);
void supply_lines(struct planning *p, struct supply_pool *pool);
void supply_narrow(struct planning *p, const struct plan_fit *f, struct fit_pool *fp);
/* Returns the best machine of the option that is free and wiped thoroughly enough, and advances
 * o->next to it; NULL: none. */
struct world_stock *supply_free_machine(const struct planning *p, const struct supply_pool *pool,
					struct supply_option *o);
/* Returns the option of the offer that has the best free machine; NULL: no free machine left. */
struct supply_option *supply_best(const struct planning *p, const struct supply_pool *pool,
				  struct supply_line *l);
static inline bool supply_has(const uint64_t *bits, size_t at)
{
	return bits[at / 64] >> at % 64 & 1;
}
struct labels supply_node_labels(struct arena *a, const struct labels *type, const char *type_name,
				 const struct labels *machine, const struct labels *pool,
				 const char *pool_name);
/* Results of supply_time_of(): SUPPLY_SOMETIME for a machine that will be free at an unknown time,
 * SUPPLY_NEVER for one that will not be free by itself. */
#define SUPPLY_SOMETIME (INT64_MAX - 1)
#define SUPPLY_NEVER INT64_MAX
/* Returns when the machine is free: 0 if it is free now, otherwise Unix ms (p50), SUPPLY_SOMETIME
 * or SUPPLY_NEVER. */
int64_t supply_time_of(const struct planning *p, const struct world_machine *m);
/* True if an entry of this plan has the machine already, or has been assigned it for the time when
 * it becomes free. */
bool supply_is_anothers(const struct planning *p, const struct world_stock *m);
/* Returns the time as supply_time_of() does, but SUPPLY_SOMETIME if an entry of this plan has the
 * machine already or has been assigned it. */
int64_t supply_free_at(const struct planning *p, const struct world_stock *m);
/* True if the machine is free by `until`; until 0: free now. */
static inline bool supply_is_there(const struct planning *p, const struct world_stock *m,
				   int64_t until)
{
	return until ? supply_free_at(p, m) <= until : m->m.offered && m->used != p->w->plan;
}
/* Computes g->ahead (machines that are or will be free), unless it is computed already. */
void supply_look_ahead(struct planning *p, struct supply_group *g);
int supply_by_worth(const struct world_machine *a, const struct world_machine *b);
bool supply_wiped_enough(const struct world_machine *m, const struct world_pool *p);

/* The following declarations are for supply_choose.c: how many waiting pods a new machine would
 * serve, and at what cost. */
/* Waiting pods that could share a new machine with a given pod; n: their number. */
struct supply_rest {
	size_t n;
	/* Requests of the given pod, including the DaemonSet overhead of a new node. */
	const struct ask *asks;
	size_t nasks;
	/* By index of asks: sum of the requests of the n other pods. */
	int64_t *sum;
};
struct supply_rest supply_rest_of(struct planning *p, const struct plan_cell *c);
/* Writes to `out`, and returns, the requests of the given pod plus those of k - 1 other pods of
 * average size. */
struct asks supply_asks_for(const struct supply_rest *r, size_t k, struct ask *out);
/* Returns how many pods a machine of the offer serves: the given pod and as many others as fit. */
size_t supply_serves(const struct supply_rest *r, const struct supply_line *l);
/* True if the cost per pod is lower for k pods on a machine of offer a than for m pods on one of
 * offer b. */
bool supply_is_cheaper(const struct supply_line *a, size_t k, const struct supply_line *b,
		       size_t m);
int64_t supply_cost(const struct resources *capacity);

/* The following functions are in supply_tell.c: they explain why a class gets no machine. */
/* Returns the newest image version of the pool that suits an API server of version `server`; NULL:
 * none. */
const char *supply_version(const struct world_pool *p, const char *server);
void supply_tell(struct planning *p, struct plan_class *c);
/* Returns the reasons that supply_tell() wrote, with PLAN_TOPOLOGY for each pool in which topology
 * constraints exclude free machines. *n: number of reasons. */
struct plan_reason *supply_tell_blocked(struct planning *p, const struct plan_cell *cell,
					size_t *n);

#endif
