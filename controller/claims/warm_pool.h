#ifndef CONTROLLER_CLAIMS_WARM_POOL_H
#define CONTROLLER_CLAIMS_WARM_POOL_H

#include "controller/core/context.h"

/*
 * warm_pool: decides which free machines are warm, that is, stay powered on with the agent running,
 * and for which pool. NodePool.spec.warm sets how many: a number of nodes or a percentage of the
 * pool's nodes, whichever is more. steps/warm.h carries out the decision.
 *
 * A pool gets machines that the planner would let it claim now (plan_stock), no more than its
 * limits allow, spread over racks. Pools are served by weight, then name; a machine is warm for one
 * pool only. Warm machines stay warm: none is switched off for a better spread. A warm machine may
 * be claimed like any free machine; another machine is then started in its place. A paused pool
 * keeps its warm machines but gets no new ones.
 *
 * A machine is not chosen if it failed in the last 30 min, is powered on without drover's agent, or
 * did not stay warm and waits for the next attempt (status.operation.nextAttempt).
 *
 * Decisions are derived from the caches by the leader only, shortly after a change; only
 * status.warmFor of the Machines is stored. On the loop thread.
 */
struct warm_pool;
struct world_sync;
struct warm_pool *warm_pool_new(struct context *c, struct world_sync *sync);
void warm_pool_free(struct warm_pool *w);
/* Schedules a pass over the pools. Call after a change. Does nothing if w is NULL. */
void warm_pool_kick(struct warm_pool *w);

enum warm_pool_desired { WARM_POOL_UNKNOWN, WARM_POOL_OFF, WARM_POOL_ON };
/* Returns the desired state of this free machine. WARM_POOL_ON: it should be warm, and *pool names
 * its pool, valid until the next loop turn. WARM_POOL_OFF: it should not be warm.
 * WARM_POOL_UNKNOWN: leave the machine as it is, because no pass of this process as leader has seen
 * it free yet. */
enum warm_pool_desired warm_pool_desired(const struct warm_pool *w, const char *machine,
					 struct object_ref *pool);

/* True if the pool asks for warm machines (spec.warm). */
bool warm_pool_asked(const struct node_pool *p);

/* Numbers of warm machines of a pool. wanted: as many as the pool asks for. */
struct warm_pool_tally {
	int64_t wanted;
	/* ready: machines whose agent runs; kept: ready machines plus those that are still
	 * starting */
	int64_t ready, kept;
	/* Reason of condition WarmReady */
	const char *reason;
	/* Message of condition WarmReady, in the arena */
	const char *message;
};
/* Writes the numbers and condition WarmReady of pool p to *out. False: the pool asks for no warm
 * machines, or no pass was made yet. */
bool warm_pool_tally(const struct warm_pool *w, const struct node_pool *p, struct arena *a,
		     struct warm_pool_tally *out);

#endif
