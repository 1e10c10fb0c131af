#ifndef CONTROLLER_CLAIMS_PERMITS_H
#define CONTROLLER_CLAIMS_PERMITS_H

#include "api/kinds.h"
#include "planner/burst.h"
#include "planner/world.h"

/*
 * permits: decisions of BurstPolicies of mode Enforce that no plan has carried out yet: for one
 * piece of work, so many instances of one offer.
 *
 *   burst_decide() --> permit --> machines to come that its work alone may have (claims/to_come.h)
 *                  --> one plan --> NodeClaims with spec.burst, and the permit has ended, used or not
 *
 * Whether the work fits such an instance the plan judges and nobody else. Between the decision and
 * the claims its money is charged here: never is it decided on twice. In memory alone: a leader
 * that dies before the claims are written has spent nothing.
 * Tests: tests/unit/controller/claims/test_permits.c, tests/world/test_burst_enforce.c
 */
struct permit_pod {
	const char *ns, *name;
};
struct permit {
	/* of its work */
	const char *id;
	const char *tenant, *work;
	const char *provider, *type;
	/* of each of its claims */
	struct node_claim_burst burst;
	/* by each */
	int64_t committed;
	/* gpus: of one instance */
	int64_t nodes, gpus;
	/* 0: never */
	int64_t expire_after;
	/* uid NULL: it is none; size: claims that the plan makes of it */
	struct node_claim_gang gang;
	/* those of the work when it was decided */
	const struct permit_pod *pods;
	size_t npods;
};

struct permits;
/* changed(): one has come or gone; its machines and its pods are to be looked at again. */
struct permits *permits_new(void (*changed)(const struct permit *p, void *arg), void *arg);
void permits_free(struct permits *s);

/* gang: the work is one.  Nothing of it is the caller's. */
void permits_add(struct permits *s, const struct permit *p, bool gang);
/* NULL: there is none for that pod; for a machine of that name. */
const struct permit *permits_of_pod(const struct permits *s, const struct world_pod *p);
const struct permit *permits_of_machine(const struct permits *s, const char *machine);
bool permits_has(const struct permits *s, const char *tenant, const char *work, bool gang);
void permits_each(const struct permits *s, void (*fn)(const struct permit *p, void *arg),
		  void *arg);
/* it is such a name */
bool permits_is(const char *machine);
/* Name of its machine number i, as to_come.h has it; in the arena. */
const char *permits_machine(const struct permit *p, int64_t i, struct arena *a);

/* A plan of those that there are now begins. */
void permits_begin(struct permits *s);
/* It is ready, and its claims are sent: those have ended. used(): for each, whether a claim of it
 * was sent. */
void permits_end(struct permits *s, void (*over)(const struct permit *p, bool used, void *arg),
		 void *arg);
/* A claim will be, or is, sent for that machine. */
void permits_count(struct permits *s, const char *machine);
void permits_used(struct permits *s, const char *machine);
/* another leads */
void permits_clear(struct permits *s);

#endif
