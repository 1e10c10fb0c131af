#ifndef CONTROLLER_CLAIMS_PERMITS_H
#define CONTROLLER_CLAIMS_PERMITS_H

#include "api/kinds.h"
#include "planner/burst.h"
#include "planner/world.h"

/*
 * permits: decisions of BurstPolicies of mode Enforce that no plan has carried out yet. Each permit
 * allows one piece of work N instances of one offer.
 *
 *   burst_decide() --> permit --> machines to come that only its work may use (claims/to_come.h)
 *                  --> one plan --> NodeClaims with spec.burst; the permit ends, used or not
 *
 * Only the plan judges whether the work fits such an instance. Between the decision and the claims
 * the permit counts as spent money, so that nothing is decided twice. Kept in memory only: a leader
 * that stops before the claims are written has spent nothing.
 * Tests: tests/unit/controller/claims/test_permits.c, tests/world/test_burst_enforce.c
 */
struct permit_pod {
	const char *ns, *name;
};
struct permit {
	/* Set by permits_add(): identifies the work */
	const char *id;
	const char *tenant, *work;
	const char *provider, *type;
	/* spec.burst of each of its claims */
	struct node_claim_burst burst;
	/* Committed amount of each claim */
	int64_t committed;
	/* nodes: instances allowed; gpus: GPUs of one instance */
	int64_t nodes, gpus;
	/* spec.expireAfter of its claims, ms; 0: never */
	int64_t expire_after;
	/* gang.uid NULL: the work is no gang; gang.size: claims that the plan makes for it */
	struct node_claim_gang gang;
	/* The pods of the work at the time of the decision */
	const struct permit_pod *pods;
	size_t npods;
};

struct permits;
/* changed(): called when a permit was added or removed; the caller must update the permit's
 * machines and pods. */
struct permits *permits_new(void (*changed)(const struct permit *p, void *arg), void *arg);
void permits_free(struct permits *s);

/* Adds a copy of the permit. gang: the work is a gang. */
void permits_add(struct permits *s, const struct permit *p, bool gang);
/* permits_of_pod(), permits_of_machine(): return the permit for that pod or machine name; NULL:
 * none. */
const struct permit *permits_of_pod(const struct permits *s, const struct world_pod *p);
const struct permit *permits_of_machine(const struct permits *s, const char *machine);
bool permits_has(const struct permits *s, const char *tenant, const char *work, bool gang);
void permits_each(const struct permits *s, void (*fn)(const struct permit *p, void *arg),
		  void *arg);
/* True if the name is that of a permit's machine. */
bool permits_is(const char *machine);
/* Returns the name of the permit's machine number i, in the format of to_come.h, in the arena. */
const char *permits_machine(const struct permit *p, int64_t i, struct arena *a);

/* Marks the existing permits as part of the plan that begins. */
void permits_begin(struct permits *s);
/* Ends the permits that were part of the plan, after its claims were sent. over(): called for each;
 * used: a claim was sent for it. */
void permits_end(struct permits *s, void (*over)(const struct permit *p, bool used, void *arg),
		 void *arg);
/* permits_count(): counts a claim that will be sent for that machine. permits_used(): records that
 * it was sent. */
void permits_count(struct permits *s, const char *machine);
void permits_used(struct permits *s, const char *machine);
/* Removes all permits. Call when another replica becomes the leader. */
void permits_clear(struct permits *s);

#endif
