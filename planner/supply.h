#ifndef PLANNER_SUPPLY_H
#define PLANNER_SUPPLY_H

#include "planner/topology.h"

/*
 * supply: the free machines and who may use them: pools, limits, quotas, images, wipe floors. Lives
 * in the arena of one plan.
 *
 * A pool's supply is a list of offers (supply_line): one instance type of one Provider each,
 * cheapest first. An offer is divided into options: machines whose nodes would have the same
 * labels. So constraints are checked per option, not per machine.
 */
struct supply;

/* The machine chosen for a pod, and what the claim on that machine needs. */
struct supply_offer {
	const struct world_pool *pool;
	const struct world_instance_type *type;
	const struct world_machine *machine;
	const char *version;
	/* Labels that the node will have. */
	const struct labels *labels;
};

struct supply *supply_new(struct planning *p);
/* Counts a claim against quota and limits, and takes its machine. Call for each claim of the world
 * before the functions below. */
void supply_charge(struct supply *s, const struct world_claim *c);

/* Looks up the pools for a cell, and the domains with free machines if its topology constraints
 * need them. Call before topology_begin(). */
void supply_ask(struct supply *s, struct plan_cell *c);
/* Computes the domains again if machines were taken since. False: nothing can have changed. */
bool supply_ask_again(struct supply *s, struct plan_cell *c);
/* Takes the best free machine for a pod of the cell. False: none; *reasons has one reason per pool,
 * nearest miss first. */
bool supply_take(struct supply *s, struct plan_cell *c, struct supply_offer *out,
		 struct plan_reason **reasons, size_t *nreasons);

/*
 * The following functions are for gangs (planner/gang_try.c), which choose their machines by
 * location. They form a transaction: machines taken by supply_take_this() after supply_try() are
 * given back by supply_undo() or kept by supply_keep(). No other function is called meanwhile.
 */

struct supply_line;
struct supply_option;
struct supply_pool;
/* takes: mark the machines as taken; false (look-ahead): only count them against quota and
 * limits. */
void supply_try(struct supply *s, bool takes);
void supply_undo(struct supply *s);
void supply_keep(struct supply *s);
/* True if quota and limits admit one more machine of the offer. */
bool supply_allowed(const struct plan_class *c, const struct supply_pool *pool,
		    const struct supply_line *l);
void supply_take_this(struct supply *s, struct plan_class *c, struct supply_pool *pool,
		      const struct supply_line *l, const struct supply_option *o,
		      struct world_stock *m, struct supply_offer *out);
/* Reserves the machine, free or not, for the gang; it counts as the tenant's. */
void supply_hold(struct supply *s, struct plan_tenant *t, struct supply_pool *pool,
		 const struct supply_line *l, struct world_stock *m, const struct world_gang *of);
/* Returns why the class gets no machine, in the present state of the transaction. */
void supply_tell_try(struct supply *s, const struct plan_cell *c, struct plan_reason **reasons,
		     size_t *nreasons);

/* Fills in plan_stock() of that pool; marks the listed machines as taken. */
void supply_list(struct supply *s, const char *pool, struct plan_stock *out);

/* Finds, without taking it, the best free machine of the claim's pool and type that its tenant may
 * have in addition, of no elastic Provider. False: none. */
bool supply_second(struct supply *s, const struct world_claim *c, struct supply_offer *out);

struct labels supply_labels_of_claim(struct supply *s, const struct world_claim *c);

/* supply_pools.c: machines of one type with equal labels, permit and domain. */
struct supply_group {
	/* Best first. */
	struct world_stock **v;
	size_t n;
	/* Defined in timeline.c; NULL: not computed yet. */
	struct timeline_coming *coming;
	/* Machines that are or will be free, by supply_time_of(), then best first; NULL: not
	 * computed yet. */
	struct world_stock **ahead;
	size_t nahead;
};
/* The machines of one offer with equal labels, permit and domain. */
struct supply_option {
	struct labels labels;
	const char *permit, *domain;
	/* By topology key; NULL: no pod has topology constraints. */
	const int *domains;
	/* NULL: no machine. */
	struct supply_group *group;
	/* Index into group: all machines before are taken or below the pool's wipe floor. */
	size_t next;
	/* The option's best machine when the option was last sorted into the heap. If that machine
	 * was taken since, the present best one is worse. */
	const struct world_machine *head;
};
/* An offer: one instance type of one Provider in one pool. */
struct supply_line {
	const struct world_provider *provider;
	const struct world_instance_type *type;
	/* Position of its Provider in the pool. */
	size_t order;
	/* Result of supply_cost(). */
	int64_t cost;
	/* Capacity by column. */
	const int64_t *row;
	/* Its options are pool->options[first .. first + noptions - 1]. */
	size_t first, noptions;
	/* Binary heap of the options with a free machine, the best machine first. */
	struct supply_option **heap;
	size_t nheap;
};
struct supply_pool {
	const struct world_pool *it;
	struct tally tally;
	/* Sorted by cost; NULL: not computed yet. */
	struct supply_line *lines;
	size_t nlines;
	/* Capacities of the offers; an offer without machines is closed. NULL: not computed yet. */
	struct rooms *rooms;
	struct supply_option *options;
	size_t noptions;
	bool soft;
};
/* Bit sets: which options and offers of a pool suit a fit. */
struct suits {
	/* lines: offers with at least one of these options. */
	uint64_t *options, *lines;
};
struct fit_pool {
	struct supply_pool *pool;
	/* Result of supply_version() for the tenant. */
	const char *version;
	struct suits suits;
	struct fit_choice {
		int64_t score;
		struct suits suits;
	} * choices; /* Options by preference score, highest first; none: all scores are equal. */
	size_t nchoices;
	/* Number of options that suit. */
	size_t n;
	/* True if machines are free, but topology constraints exclude them. */
	bool blocked;
	/* Options that would suit, but are stopped (stops.h); all NULL: none. */
	struct suits stopped;
	/* The last stop that applied; NULL: none. */
	const struct world_stop *stop;
	/* Why the other options do not suit: the nearest miss. */
	enum plan_reason_code code;
	/* PLAN_REQUIREMENTS: the last such option. */
	const struct supply_option *missed;
	const struct world_instance_type *missed_type;
	/* PLAN_PROOF: the last such Provider. */
	const struct world_provider *unproved;
	/* True if the pool's own requirements exclude the option. */
	bool missed_own;
	const char *text;
};
/* True if a machine of the offer has the requested resources. */
bool supply_fits(const struct plan_class *c, const struct supply_line *l);
void supply_lines(struct planning *p, struct supply_pool *pool);
void supply_narrow(struct planning *p, const struct plan_fit *f, struct fit_pool *fp);
/* Returns the option's next free machine; NULL: none. */
struct world_stock *supply_free_machine(const struct planning *p, const struct supply_pool *pool,
					struct supply_option *o);
/* Returns the option of the offer whose next machine is the best; NULL: no machine left. */
struct supply_option *supply_best(const struct planning *p, const struct supply_pool *pool,
				  struct supply_line *l);
static inline bool supply_has(const uint64_t *bits, size_t at)
{
	return bits[at / 64] >> at % 64 & 1;
}
struct labels supply_node_labels(struct arena *a, const struct labels *type, const char *type_name,
				 const struct labels *machine, const struct labels *pool,
				 const char *pool_name);
/* Result of supply_time_of() for a machine that will be free at an unknown time. */
#define SUPPLY_SOMETIME (INT64_MAX - 1)
#define SUPPLY_NEVER INT64_MAX
/* Returns when the machine is free: 0 now; otherwise Unix ms (p50), SUPPLY_SOMETIME or
 * SUPPLY_NEVER. */
int64_t supply_time_of(const struct planning *p, const struct world_machine *m);
/* True if another pod or gang of this plan has the machine, or is to get it. */
bool supply_is_anothers(const struct planning *p, const struct world_stock *m);
/* Returns the time as supply_time_of() does; SUPPLY_SOMETIME if another entry of the plan has the
 * machine or is to get it. */
int64_t supply_free_at(const struct planning *p, const struct world_stock *m);
/* True if the machine is free by `until`; 0: free now. */
static inline bool supply_is_there(const struct planning *p, const struct world_stock *m,
				   int64_t until)
{
	return until ? supply_free_at(p, m) <= until : m->m.offered && m->used != p->w->plan;
}
/* Fills g->ahead with the machines that are or will be free. */
void supply_look_ahead(struct planning *p, struct supply_group *g);
int supply_by_worth(const struct world_machine *a, const struct world_machine *b);
bool supply_wiped_enough(const struct world_machine *m, const struct world_pool *p);

/* supply_choose.c: how many waiting pods a new machine would serve, and at what cost. */
/* Waiting pods that could share a new machine with a given pod. */
struct supply_rest {
	size_t n;
	/* Requests of the pod itself, including the DaemonSet overhead. */
	const struct ask *asks;
	size_t nasks;
	/* By entry of asks: sum of the requests of the n others. */
	int64_t *sum;
};
struct supply_rest supply_rest_of(struct planning *p, const struct plan_cell *c);
/* Returns the requests of the pod and k - 1 of the others, of average size, in `out`. */
struct asks supply_asks_for(const struct supply_rest *r, size_t k, struct ask *out);
/* Returns how many of these pods a machine of the offer serves, including the pod itself. */
size_t supply_serves(const struct supply_rest *r, const struct supply_line *l);
/* True if the cost per pod is lower for k pods on a than for m pods on b. */
bool supply_is_cheaper(const struct supply_line *a, size_t k, const struct supply_line *b,
		       size_t m);
int64_t supply_cost(const struct resources *capacity);

/* supply_tell.c: why a class gets no machine. */
/* Returns the best image version of the pool for the API server's version; NULL: none. */
const char *supply_version(const struct world_pool *p, const char *server);
void supply_tell(struct planning *p, struct plan_class *c);
/* As supply_tell(), with PLAN_TOPOLOGY for pools in which topology constraints exclude free
 * machines. */
struct plan_reason *supply_tell_blocked(struct planning *p, const struct plan_cell *cell,
					size_t *n);

#endif
