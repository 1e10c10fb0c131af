#ifndef CONTROLLER_BURST_PERMITS_H
#define CONTROLLER_BURST_PERMITS_H

#include "api/kinds.h"
#include "planner/burst/burst.h"
#include "planner/world.h"

/*
 * permits: decisions of BurstPolicies with mode Enforce or Recommend that no plan has carried out
 * yet. Each permit allows one piece of work (a pod or a gang) a number of instances of one offer.
 *
 *   burst_decide() --> permit --> machines to come that only its work may use (burst/to_come.h)
 *                  --> one plan --> NodeClaims with spec.burst; the permit ends, used or not
 *
 * Only the plan decides whether the work fits such an instance. Until the claims exist, the permit
 * counts as spent money, so that nothing is decided twice. Permits are kept in memory only: a
 * leader that stops before the claims are written has spent nothing.
 * Tests: tests/unit/controller/burst/test_permits.c, tests/world/test_burst_enforce.c
 */
struct permit_pod {
	const char *ns, *name;
};
struct permit {
	/* Identifies the work; set by permits_add() */
	const char *id;
	const char *tenant, *work;
	const char *provider, *type;
	/* spec.burst of each claim that the permit allows */
	struct node_claim_burst burst;
	/* nodes: instances allowed; gpus: GPUs of one instance */
	int64_t nodes, gpus;
	/* Longest spec.expireAfter of the permit's claims, ms; 0: the permit does not limit it */
	int64_t expire_after;
	/* spec.gang of the permit's claims. gang.uid NULL: the work is no gang; gang.size: number
	 * of claims that the plan makes for the gang */
	struct node_claim_gang gang;
	/* Pods of the work at the time of the decision */
	const struct permit_pod *pods;
	size_t npods;
};

struct permits;
/* changed(): called after a permit was added or removed. It must update the permit's machines and
 * pods in the planner's world. */
struct permits *permits_new(void (*changed)(const struct permit *p, void *arg), void *arg);
void permits_free(struct permits *s);

/* Adds a copy of the permit p. gang: true if the work is a gang. */
void permits_add(struct permits *s, const struct permit *p, bool gang);
/* permits_of_pod() returns the permit for this pod, permits_of_machine() the permit to which the
 * machine of this name belongs. NULL: none. */
const struct permit *permits_of_pod(const struct permits *s, const struct world_pod *p);
const struct permit *permits_of_machine(const struct permits *s, const char *machine);
bool permits_has(const struct permits *s, const char *tenant, const char *work, bool gang);
void permits_each(const struct permits *s, void (*fn)(const struct permit *p, void *arg),
		  void *arg);
/* True if this is the name of a machine that a permit allows, as made by permits_machine(). */
bool permits_is(const char *machine);
/* Returns the name of machine number i of the permit, in the format of to_come.h; in the arena. */
const char *permits_machine(const struct permit *p, int64_t i, struct arena *a);

/* Marks the existing permits as part of the plan that begins now. */
void permits_begin(struct permits *s);
/* Ends each permit that was part of the plan; call after the plan's claims were sent. Calls over()
 * for each such permit; used: true if a claim was sent for it. */
void permits_end(struct permits *s, void (*over)(const struct permit *p, bool used, void *arg),
		 void *arg);
/* permits_count() counts one claim that the plan will send for this machine, in gang.size of the
 * machine's permit. permits_used() records that the claim was sent. Both do nothing for a machine
 * without a permit. */
void permits_count(struct permits *s, const char *machine);
void permits_used(struct permits *s, const char *machine);
/* Removes all permits. Call when another replica becomes the leader. */
void permits_clear(struct permits *s);

#endif
