#ifndef PLANNER_SUPPLY_H
#define PLANNER_SUPPLY_H

#include "planner/topology.h"

/*
 * supply: free machines, and what they may be used for: pools, limits, quotas,
 * images, wipe floors.  Lives for one plan, in its arena.
 */
struct supply;

struct supply_offer {
	const struct world_pool *pool;
	const struct world_instance_type *type;
	const struct world_machine *machine;
	const char *version;
	/* of the node to be */
	const struct labels *labels;
};

struct supply *supply_new(struct planning *p);
/* What a claim holds is taken, and counts; of each claim of the world, before anything is asked. */
void supply_charge(struct supply *s, const struct world_claim *c);

/* In which domains the class may have a machine, where its cell asks for that; before
 * topology_begin(). */
void supply_ask(struct supply *s, struct plan_cell *c);
/* Domains in which no machine is left are so no more; false: nothing is new. */
bool supply_ask_again(struct supply *s, struct plan_cell *c);
/* The best free machine for a pod of the cell, which is taken from now on.
 * False: one reason for each pool, nearest miss first. */
bool supply_take(struct supply *s, struct plan_cell *c, struct supply_offer *out,
		 struct plan_reason **reasons, size_t *nreasons);

/*
 * For gangs (planner/gang_try.c), who choose their machines by where they stand. From supply_try()
 * on what is taken by supply_take_this() is given back by supply_undo(), or stays by supply_keep();
 * nothing else is asked for meanwhile.
 */
struct supply_line;
struct supply_option;
struct supply_pool;
/* takes: machines that it is given are gone */
void supply_try(struct supply *s, bool takes);
void supply_undo(struct supply *s);
void supply_keep(struct supply *s);
/* Quota and limits let the tenant have one more machine of the line. */
bool supply_allowed(const struct plan_class *c, const struct supply_pool *pool,
		    const struct supply_line *l);
void supply_take_this(struct supply *s, struct plan_class *c, struct supply_pool *pool,
		      const struct supply_line *l, const struct supply_option *o,
		      struct world_stock *m, struct supply_offer *out);
/* The machine is the gang's from now on, free or not, and counts as the tenant's. */
void supply_hold(struct supply *s, struct plan_tenant *t, struct supply_pool *pool,
		 const struct supply_line *l, struct world_stock *m, const struct world_gang *of);
/* Why the class gets no more, as things stand within the try. */
void supply_tell_try(struct supply *s, const struct plan_cell *c, struct plan_reason **reasons,
		     size_t *nreasons);

/* plan_stock() of that pool; what it lists is taken from now on. */
void supply_list(struct supply *s, const char *pool, struct plan_stock *out);

/* The best free machine of the claim's pool and type that its tenant may have beside it, of no
 * elastic Provider; it is not taken. False: none. */
bool supply_second(struct supply *s, const struct world_claim *c, struct supply_offer *out);

struct labels supply_labels_of_claim(struct supply *s, const struct world_claim *c);

/* supply_pools.c: a pool's lines, the cheapest first, and what suits a fit of them. */
struct supply_group {
	/* best first */
	struct world_stock **v;
	size_t n;
	/* timeline.c; NULL: nobody asked yet */
	struct timeline_coming *coming;
	/* by supply_time_of(), then best first; NULL: nobody asked yet */
	struct world_stock **ahead;
	size_t nahead;
};
/* of one line, the machines with the same labels, permit and domain */
struct supply_option {
	struct labels labels;
	const char *permit, *domain;
	/* NULL: no pod asks for topology */
	const int *domains;
	/* NULL: no machine */
	struct supply_group *group;
	/* of the group: all before are taken or below the floor */
	size_t next;
	/* as the heap has it: that one, or a worse one by now */
	const struct world_machine *head;
};
/* one type of one provider of one pool */
struct supply_line {
	const struct world_provider *provider;
	const struct world_instance_type *type;
	/* of its provider in the pool */
	size_t order;
	/* supply_cost() */
	int64_t cost;
	/* its capacity by column */
	const int64_t *row;
	/* of the pool's options */
	size_t first, noptions;
	/* those with a machine, the best machine first */
	struct supply_option **heap;
	size_t nheap;
};
struct supply_pool {
	const struct world_pool *it;
	struct tally tally;
	/* NULL: not made yet */
	struct supply_line *lines;
	size_t nlines;
	/* of lines; closed where no machine is left; NULL: not made yet */
	struct rooms *rooms;
	struct supply_option *options;
	size_t noptions;
	bool soft;
};
/* by bit */
struct suits {
	/* lines with one of these options */
	uint64_t *options, *lines;
};
struct fit_pool {
	struct supply_pool *pool;
	/* supply_version() of the tenant there */
	const char *version;
	struct suits suits;
	struct fit_choice {
		int64_t score;
		struct suits suits;
	} * choices; /* by score, highest first; none: all the same */
	size_t nchoices;
	/* options that suit */
	size_t n;
	/* there are machines, but not where other pods let it go */
	bool blocked;
	/* what would suit, and is stopped (stops.h); all NULL: none is */
	struct suits stopped;
	/* of these the last; NULL: none */
	const struct world_stop *stop;
	/* what keeps the other types out: the nearest miss */
	enum plan_reason_code code;
	/* PLAN_REQUIREMENTS: of this one, the last */
	const struct supply_option *missed;
	const struct world_instance_type *missed_type;
	/* PLAN_PROOF: of this one, the last */
	const struct world_provider *unproved;
	/* the pool's own requirements */
	bool missed_own;
	const char *text;
};
/* A machine of the line has the resources. */
bool supply_fits(const struct plan_class *c, const struct supply_line *l);
void supply_lines(struct planning *p, struct supply_pool *pool);
void supply_narrow(struct planning *p, const struct plan_fit *f, struct fit_pool *fp);
/* Its next free machine; NULL: none. */
struct world_stock *supply_free_machine(const struct planning *p, const struct supply_pool *pool,
					struct supply_option *o);
/* The option of the line whose next machine is the best; NULL: the line is at its end. */
struct supply_option *supply_best(const struct planning *p, const struct supply_pool *pool,
				  struct supply_line *l);
static inline bool supply_has(const uint64_t *bits, size_t at)
{
	return bits[at / 64] >> at % 64 & 1;
}
struct labels supply_node_labels(struct arena *a, const struct labels *type, const char *type_name,
				 const struct labels *machine, const struct labels *pool,
				 const char *pool_name);
/* When it is free: 0: it is; else Unix ms, p50. */
#define SUPPLY_SOMETIME (INT64_MAX - 1) /* nobody knows when */
#define SUPPLY_NEVER INT64_MAX
int64_t supply_time_of(const struct planning *p, const struct world_machine *m);
/* Somebody has it, or is to have it, by now. */
bool supply_is_anothers(const struct planning *p, const struct world_stock *m);
/* The same for who comes now: one that somebody before him has or is to have is free sometime. */
int64_t supply_free_at(const struct planning *p, const struct world_stock *m);
/* By then; 0: now. */
static inline bool supply_is_there(const struct planning *p, const struct world_stock *m,
				   int64_t until)
{
	return until ? supply_free_at(p, m) <= until : m->m.offered && m->used != p->w->plan;
}
/* Fills g->ahead with those that will be free. */
void supply_look_ahead(struct planning *p, struct supply_group *g);
int supply_by_worth(const struct world_machine *a, const struct world_machine *b);
bool supply_wiped_enough(const struct world_machine *m, const struct world_pool *p);

/* supply_choose.c: how many of those that wait a new machine would serve, and at what cost. */
/* who may come along with a pod */
struct supply_rest {
	size_t n;
	/* of the pod itself, beside what DaemonSets take */
	const struct ask *asks;
	size_t nasks;
	/* by ask: of the n others together */
	int64_t *sum;
};
struct supply_rest supply_rest_of(struct planning *p, const struct plan_cell *c);
/* For the pod and k - 1 of the others, of average size. */
struct asks supply_asks_for(const struct supply_rest *r, size_t k, struct ask *out);
/* How many of them all a machine of the line serves, the pod among them. */
size_t supply_serves(const struct supply_rest *r, const struct supply_line *l);
/* What a pod costs, k on a, is less than what one costs, m on b. */
bool supply_is_cheaper(const struct supply_line *a, size_t k, const struct supply_line *b,
		       size_t m);
int64_t supply_cost(const struct resources *capacity);

/* supply_tell.c: why a class gets nothing. */
/* NULL: no image */
const char *supply_version(const struct world_pool *p, const char *server);
void supply_tell(struct planning *p, struct plan_class *c);
/* The same, where topology is in the way in one pool or more. */
struct plan_reason *supply_tell_blocked(struct planning *p, const struct plan_cell *cell,
					size_t *n);

#endif
