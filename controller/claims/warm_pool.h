#ifndef CONTROLLER_CLAIMS_WARM_POOL_H
#define CONTROLLER_CLAIMS_WARM_POOL_H

#include "controller/core/context.h"

/*
 * warm_pool: which free machines are kept on with the agent running, and for which pool
 * (NodePool.spec.warm: nodes, or a percentage of what it has, whichever is more); steps/warm.h is
 * how.
 *
 * A pool keeps machines that the planner would let it claim now (plan_stock), no more than its
 * limits leave room for, spread over racks. Pools by weight, then name; a machine is kept for one.
 * What is warm stays: nothing is switched off for the sake of a better spread. Whoever claims one
 * takes it, and another is warmed. A paused pool keeps what it has.
 *
 * Not taken: a machine that failed in the last 30 min, that is on without our agent, or that did
 * not stay warm (status.operation.nextAttempt).
 *
 * Derived from the caches by the leader alone, shortly after anything changed; nothing but
 * status.warmFor of the Machines is kept. On the loop thread.
 */
struct warm_pool;
struct world_sync;
struct warm_pool *warm_pool_new(struct context *c, struct world_sync *sync);
void warm_pool_free(struct warm_pool *w);
/* something changed; w NULL: nothing */
void warm_pool_kick(struct warm_pool *w);

enum warm_pool_wish { WARM_POOL_UNKNOWN, WARM_POOL_OFF, WARM_POOL_ON };
/* What is to become of this free machine; WARM_POOL_ON: *pool names it, valid until the next turn.
 * UNKNOWN until this process has looked as the leader since the machine is free: what is stays. */
enum warm_pool_wish warm_pool_wish(const struct warm_pool *w, const char *machine,
				   struct object_ref *pool);

/* The pool asks for any. */
bool warm_pool_asked(const struct node_pool *p);

/* How a pool stands. */
struct warm_pool_tally {
	int64_t wanted;
	/* with their agent there; with those that are coming */
	int64_t ready, kept;
	/* of WarmReady */
	const char *reason;
	/* in the arena */
	const char *message;
};
/* False: nothing is to be kept, or nobody has looked yet. */
bool warm_pool_tally(const struct warm_pool *w, const struct node_pool *p, struct arena *a,
		     struct warm_pool_tally *out);

#endif
