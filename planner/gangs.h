#ifndef PLANNER_GANGS_H
#define PLANNER_GANGS_H

#include "planner/queue.h"

/*
 * gangs: pods that are of use together alone.
 *
 * Of a gang's pods those count that have a node and those that a claim on its way was made for. A
 * pod that succeeded is not made again, so a gang that has one does not wait for its full size.
 * What it lacks of its size gets places in one transaction (planner/gang_try.h), when the first of
 * its pods has its turn, or nothing is opened and each of its pods is told how far it went. A gang
 * of which fewer pods are there than its size waits for the others; one that has begun (a pod has a
 * node) does not: pods that have ended are not made again. What it has beyond its size is served
 * pod by pod, like any other.
 * Tests: tests/unit/planner/test_gangs.c, tests/unit/planner/test_oracle.c
 */
struct plan_gang {
	const struct world_gang *it;
	struct plan_tenant *tenant;
	/* who waits, in the order of the queue, those with seats among them */
	struct queued **v;
	size_t n, cap;
	size_t begun, seated;
	/* one of them succeeded */
	bool ended;
	/* whose turn it was taken in */
	const struct queued *turn;
	/* who have no place yet; so many of them at least */
	size_t want, need;
	/* from 1, once it has its places */
	size_t number;
	/* NULL: it has its places, or needs none */
	struct plan_reason *reasons;
	size_t nreasons;
	/* machines that are free (holds.h) */
	size_t held;
	/* GPUs of these machines, thousandths */
	int64_t held_gpus;
	const char **held_names;
	size_t held_cap;
	/* that it waits for; NULL: nobody knows when it is whole */
	const struct world_machine *last;
	int64_t p50, p90;
};

/* The gang of a pod; NULL: it is of none. */
struct plan_gang *gangs_of(struct planning *p, const struct world_one *pod, struct plan_tenant *t);
/* Each of its pods that waits, in the order of the queue, once seats are taken. */
void gangs_add(struct planning *p, struct queued *q);
/* The turn of q, of a gang, has come.  Those that got a place have a seat afterwards. */
void gangs_serve(struct planning *p, struct queued *q);

#endif
