#ifndef PLANNER_SUPPLY_SUPPLY_H
#define PLANNER_SUPPLY_SUPPLY_H

#include "planner/topology.h"

/*
 * supply: the free machines of all pools, and the rules on who may use them: limits, quotas, image
 * versions, minimum wipe levels. Allocated in the arena of one plan.
 *
 * A pool's supply is a list of offers (struct supply_type_offer), cheapest first; each offer is one
 * instance type of one Provider. An offer is divided into options: machines whose nodes would have
 * the same labels. So constraints are checked per option, not per machine.
 */
struct supply;
struct supply_pool;
struct supply_type_offer;

/* The machine chosen for a pod, and the pool, type, version and labels of the claim to be opened on
 * it. */
struct supply_choice {
	const struct world_pool *pool;
	const struct world_instance_type *type;
	const struct world_machine *machine;
	const char *version;
	/* Labels that the node will have. */
	const struct labels *labels;
	/* Where the machine was found; NULL after supply_second(). */
	struct supply_pool *from;
	const struct supply_type_offer *offer;
};

struct supply *supply_new(struct planning *p);
/* Adds the claim's capacity to the holdings of its tenant and pool, and marks its machine as taken.
 * Call for each claim of the world before calling the functions below. */
void supply_charge(struct supply *s, struct world_claimed *held);

/* Prepares the search for a cell (a set of interchangeable pods): determines which pools and offers
 * suit and, if a topology constraint needs them, the domains with free machines. Call before
 * topology_begin(). */
void supply_ask(struct supply *s, struct plan_cell *c);
/* Computes the domains with free machines again if machines were taken since the last computation.
 * False: nothing was computed, because a new search cannot have a different result. */
bool supply_ask_again(struct supply *s, struct plan_cell *c);
/* Takes the best free machine for a pod of the cell and describes it in *out. False: no machine was
 * found. Then *reasons has one reason per pool, or a single reason that is not about a pool; the
 * pool in which least is missing comes first. */
bool supply_take(struct supply *s, struct plan_cell *c, struct supply_choice *out,
		 struct plan_reason **reasons, size_t *nreasons);
/* True if no machine is left for pods of the class, because none is left for pods that differ only
 * in requesting no more of anything. */
bool supply_none_left(const struct plan_class *c);

/*
 * The following functions are for gangs (planner/gang/try.c), which choose their machines by
 * location. They form a transaction. supply_try() begins the transaction; supply_undo() ends it and
 * gives back the machines that supply_take_this() took in it; supply_commit() ends it and keeps
 * these machines. During a transaction call only the functions from here to supply_explain_try().
 */

struct supply_option;
/* Begins a transaction. takes true: supply_take_this() marks machines as taken. takes false
 * (look-ahead): supply_take_this() only counts machines against quota and limits. */
void supply_try(struct supply *s, bool takes);
void supply_undo(struct supply *s);
void supply_commit(struct supply *s);
/* True if the tenant's quota and the pool's limits admit one more machine of the offer. */
bool supply_allowed(const struct plan_class *c, const struct supply_pool *pool,
		    const struct supply_type_offer *l);
void supply_take_this(struct supply *s, struct plan_class *c, struct supply_pool *pool,
		      const struct supply_type_offer *l, const struct supply_option *o,
		      struct world_stock *m, struct supply_choice *out);
/* Reserves machine m, free or not, for gang *of, and adds the machine to the holdings of tenant t.
 * Marks a free machine as taken. */
void supply_hold(struct supply *s, struct plan_tenant *t, struct supply_pool *pool,
		 const struct supply_type_offer *l, struct world_stock *m,
		 const struct world_gang *of);
/* Writes to *reasons why the cell gets no machine in the present state of the transaction. Does not
 * change the reasons stored in the cell's class. */
void supply_explain_try(struct supply *s, const struct plan_cell *c, struct plan_reason **reasons,
			size_t *nreasons);

/* The three following functions are in stock.c. */
/* Writes the result of plan_stock() for the named pool to *out. Marks the listed machines as
 * taken. */
void supply_list(struct planning *p, const char *pool, struct plan_stock *out);

/* Finds the best free machine of the claim's pool and type that quota and limits admit for the
 * claim's tenant in addition to its present machines. Does not take the machine. Machines of
 * elastic Providers (clouds) are not considered. False: no such machine. */
bool supply_second(struct planning *p, const struct world_claim *c, struct supply_choice *out);
/* Pods that have to fit on one machine; sum: the sum of their requests, sorted by name. */
struct supply_together {
	const struct world_pod *const *v;
	size_t n;
	const struct resources *sum;
};
/* Finds a free machine on which the pods, of the claim's tenant, fit together beside the pods of
 * DaemonSets, in any pool that makes claims for this tenant; pools with the highest weight come
 * first. Otherwise like supply_second(). */
bool supply_owned(struct planning *p, const struct world_claim *c, const struct supply_together *of,
		  struct supply_choice *out);

struct labels supply_labels_of_claim(struct supply *s, const struct world_claim *c);

/* Machines of one instance type of one Provider with equal labels, permit and failure domain. The
 * functions for groups, offers and options are in pools.c. */
struct supply_group {
	/* All machines of the group, best first (supply_by_worth()). */
	struct world_stock **v;
	size_t n;
	/* Machines of the group with a known free time (timeline.c); NULL: not computed yet. */
	struct timeline_coming *coming;
	/* Machines of the group that are free or will be free, sorted by free time
	 * (supply_time_of()); of equal times, the best machine comes first. NULL: not computed
	 * yet. */
	struct world_stock **ahead;
	size_t nahead;
	/* Index into v: no machine before it is free or being given back, except those that
	 * reclaim.c has assigned. */
	size_t assigned;
};
/* Option: the machines of one offer with equal labels, permit and failure domain. */
struct supply_option {
	struct labels labels;
	const char *permit, *domain;
	/* By topology key: number of the domain of the option's nodes. NULL: no pod has topology
	 * constraints. */
	const int *domains;
	/* The option's machines; NULL: none. */
	struct supply_group *group;
	/* Index into group->v. All machines before it are taken, not offered, or wiped less
	 * thoroughly than the pool requires. */
	size_t next;
	/* The option's best free machine at the time when the option was last placed in
	 * supply_type_offer.heap. If that machine was taken meanwhile, the present best machine is
	 * worse. */
	const struct world_machine *head;
};
/* An offer: one instance type of one Provider in one pool. */
struct supply_type_offer {
	const struct world_provider *provider;
	const struct world_instance_type *type;
	/* Position of the offer's Provider in the pool's list of Providers. */
	size_t order;
	/* Cost of one machine of the type, computed by supply_cost() from its capacity; gpus: its
	 * number of GPUs. */
	int64_t cost, gpus;
	/* Capacity of the type, one amount per column (requested resource, planning.h). */
	const int64_t *row;
	/* The offer's options are pool->options[first] to pool->options[first + noptions - 1]. */
	size_t first, noptions;
	/* Binary heap of the options that have a free machine; the option with the best machine
	 * comes first. */
	struct supply_option **heap;
	size_t nheap;
};
struct supply_pool {
	const struct world_pool *it;
	/* Number of the pool in this plan, from 0. */
	size_t number;
	struct tally tally;
	/* Offers of the pool, sorted by cost; NULL: not computed yet. */
	struct supply_type_offer *offers;
	size_t noffers;
	/* Table of the offers' capacities, to search by requests (capacity_table.h). Offers without
	 * free machines are closed in the table. NULL: not computed yet. */
	struct capacity_table *capacity_table;
	struct supply_option *options;
	size_t noptions;
	bool soft;
	/* True if the pool chooses types so that few machines are needed (world_pool.expander); set
	 * together with offers. */
	bool least_nodes;
};
/* Two bit sets: which options and which offers of a pool suit a fit (pods that differ only in their
 * requests). */
struct suits {
	/* options: options that suit. offers: offers with at least one such option. */
	uint64_t *options, *offers;
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
	/* DaemonSet overheads by offer (overhead.c); NULL: that of each offer is
	 * plan_fit.overhead. */
	struct fit_overhead {
		/* Overhead of a machine of the offer. */
		const struct overhead *of;
		/* Result of overhead_row(). */
		const int64_t *row;
	} * overheads;
	/* True if the last search found free machines that topology constraints exclude. */
	bool blocked;
	/* Options that would suit but are excluded by a stop (stops.h); all members NULL if no stop
	 * excluded an option. */
	struct suits stopped;
	/* The stop that excluded an option most recently; NULL: no stop excluded one. */
	const struct world_stop *stop;
	/* Why options do not suit: the reason code of the option that comes nearest to suiting. */
	enum plan_reason_code code;
	/* If code is PLAN_REQUIREMENTS: the most recently checked option whose labels do not suit;
	 * missed_type: its instance type. */
	const struct supply_option *missed;
	const struct world_instance_type *missed_type;
	/* If code is PLAN_PROOF: the most recently checked Provider that cannot give the required
	 * proof of port location. */
	const struct world_provider *unproved;
	/* True if all options of the pool are excluded by the pool's own requirements. */
	bool missed_own;
	const char *text;
};
/* Returns pool number i, in the order of weight and name; NULL: there are no more. */
struct supply_pool *supply_pool_at(const struct supply *s, size_t i);
/* Returns the pool of this name; NULL: the world has none. */
struct supply_pool *supply_pool_named(const struct supply *s, const char *name);
/* True if the pool makes claims for the tenant, whatever the tenant's labels. */
bool supply_open_to(const struct world_pool *p, const struct world_tenant *t);
/* True if a machine of the offer is large enough for one pod of the class and the tenant's
 * DaemonSets. */
bool supply_fits(const struct plan_class *c, const struct supply_type_offer *l);
void supply_type_offers(struct planning *p, struct supply_pool *pool);
void supply_narrow(struct planning *p, const struct plan_fit *f, struct fit_pool *fp);
/* Returns the best machine of the option that is free and wiped thoroughly enough, and sets o->next
 * to its index; NULL: no such machine. */
struct world_stock *supply_free_machine(const struct planning *p, const struct supply_pool *pool,
					struct supply_option *o);
/* Returns the offer's option whose best free machine is the best of all; NULL: the offer has no
 * free machine left. */
struct supply_option *supply_best(const struct planning *p, const struct supply_pool *pool,
				  struct supply_type_offer *l);
static inline bool supply_has(const uint64_t *bits, size_t at)
{
	return bits[at / 64] >> at % 64 & 1;
}
struct labels supply_node_labels(struct arena *a, const struct labels *type, const char *type_name,
				 const struct labels *machine, const struct labels *pool,
				 const char *pool_name);
/* SUPPLY_SOMETIME, SUPPLY_NEVER: results of supply_time_of() for a machine that will be free at an
 * unknown time, and for one that will not become free without an operator. */
#define SUPPLY_SOMETIME (INT64_MAX - 1)
#define SUPPLY_NEVER INT64_MAX
/* Returns the time at which the machine is free: 0 if it is free now, otherwise Unix ms (median,
 * p50), SUPPLY_SOMETIME or SUPPLY_NEVER. */
int64_t supply_time_of(const struct planning *p, const struct world_machine *m);
/* True if a queue entry of this plan has already got the machine, or is expected to get it when it
 * becomes free. */
bool supply_is_assigned(const struct planning *p, const struct world_stock *m);
/* Returns supply_time_of() for the machine. But if supply_is_assigned() is true, a known time (or
 * 0) is replaced by SUPPLY_SOMETIME, because it is unknown when the machine is free again. */
int64_t supply_free_at(const struct planning *p, const struct world_stock *m);
/* True if the machine is free at time `until` (Unix ms) or before. until 0: true if the machine is
 * free now. */
static inline bool supply_is_there(const struct planning *p, const struct world_stock *m,
				   int64_t until)
{
	return until ? supply_free_at(p, m) <= until : m->m.offered && m->used != p->w->plan;
}
/* Computes g->ahead (machines that are or will be free), unless it is computed already. */
void supply_forecast(struct planning *p, struct supply_group *g);
int supply_by_worth(const struct world_machine *a, const struct world_machine *b);
bool supply_wiped_enough(const struct world_machine *m, const struct world_pool *p);

/* The following declarations are for choose.c. They compute how many waiting pods a new
 * machine would serve, and at what cost. */
/* Waiting pods that could share a new machine with a given pod. n: number of these other pods. */
struct supply_rest {
	size_t n;
	/* Requests of the given pod, including the DaemonSet overhead of its fit. */
	const struct ask *asks;
	size_t nasks;
	const struct plan_fit *fit;
	/* Sum of the requests of the n other pods, by index of asks. */
	int64_t *sum;
};
/* Counts the other pods that are like the pods of the cell (planning.h: party). */
struct supply_rest supply_rest_of(struct planning *p, const struct plan_cell *c);
/* Counts all waiting pods of the same fit, whatever topology constraints they have, but not those
 * expected on machines of earlier pods. Each of the machines that the cell's own pods need anyway
 * gets an equal part of the others, and at least one pod of each party for which room will be
 * reserved (reserve.h). */
struct supply_rest supply_crowd_of(struct planning *p, const struct plan_cell *c);
/* Writes to `out` the requests of the given pod plus those of k - 1 other pods of average size.
 * Returns them as struct asks. */
struct asks supply_asks_for(const struct supply_rest *r, size_t k, struct ask *out);
/* Returns how many pods a machine of the offer serves: the given pod and as many others as fit. */
size_t supply_serves(const struct supply_rest *r, const struct supply_type_offer *l);
/* True if the cost per pod is lower for k pods on a machine of offer a than for m pods on one of
 * offer b. */
bool supply_is_cheaper(const struct supply_type_offer *a, size_t k,
		       const struct supply_type_offer *b, size_t m);
/* True if a machine of offer a that serves k pods is better than one of offer b that serves m pods,
 * by the pool's expander. */
bool supply_is_better(const struct supply_pool *pool, const struct supply_type_offer *a, size_t k,
		      const struct supply_type_offer *b, size_t m);
/* Machines that waiting pods need in all: their GPUs, their number and their cost. */
struct supply_total {
	__int128 gpus, cost;
	size_t machines;
};
/* Returns the total for n pods if each machine is of offer l and serves k pods. The last pods,
 * fewer than k, get a machine of offer `last` instead; NULL: of offer l. */
struct supply_total supply_total_of(const struct supply_type_offer *l, size_t k, size_t n,
				    const struct supply_type_offer *last);
/* True if total a has fewer GPUs than b; of equal ones, fewer machines, then a lower cost. */
bool supply_is_less(const struct supply_total *a, const struct supply_total *b);
int64_t supply_cost(const struct resources *capacity);
int64_t supply_gpus(const struct resources *capacity);

/* The following functions are in explain.c: they explain why a class gets no machine. */
/* Returns the newest image version of the pool that suits an API server of version `server`; NULL:
 * none. */
const char *supply_version(const struct world_pool *p, const char *server);
void supply_explain(struct planning *p, struct plan_class *c);
/* Returns the reasons that supply_explain() wrote, but with PLAN_TOPOLOGY for each pool in which
 * topology constraints exclude free machines. *n: number of reasons. */
struct plan_reason *supply_explain_blocked(struct planning *p, const struct plan_cell *cell,
					   size_t *n);

#endif
