#ifndef CONTROLLER_CLAIMS_UNDERUSED_H
#define CONTROLLER_CLAIMS_UNDERUSED_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * underused: Nodes whose pods all have room on other Nodes of their tenant, for pools with
 * consolidationPolicy WhenEmptyOrUnderutilized. planner/consolidate.h finds them;
 * steps/leave_reason.c lets them go.
 *
 * A sweep follows a plan, on the same world, in slices, at most every UNDERUSED_SWEEP_MS. What it
 * says holds until the world changes: nothing goes by an older one. For how long a saving stands is
 * counted over all sweeps.
 *
 * Nothing of a tenant goes while a pod of it waits for a machine, or has one on its way: what would
 * be given back would be taken anew. A machine that was to go, and serves on, is left alone for
 * UNDERUSED_BARRED_MS, twice as long each time.
 *
 * Remembered by this process alone. On the loop thread.
 * Tests: tests/world/test_underused.c
 */
#define UNDERUSED_SWEEP_MS 10000
#define UNDERUSED_AGAIN_MS (5 * 60 * 1000) /* though nothing changed: what keeps a pod may end */
#define UNDERUSED_BARRED_MS ((int64_t)3600 * 1000)

struct tenants;
struct underused;
struct underused *underused_new(struct context *c, const struct tenants *tenants);
void underused_free(struct underused *u);

/* The world is another one: what was found is looked at again before anybody goes by it. */
void underused_changed(struct underused *u);
void underused_plan(struct underused *u, const struct plan *p);
/* One slice of a sweep, if one is due; false: there is no more to do now. The world is held
 * meanwhile. Whose claims change is told: NOTICE_CLAIM; who may go: NOTICE_MACHINE. */
bool underused_step(struct underused *u, struct world *w);
bool underused_runs(const struct underused *u);
/* gives up a sweep that is under way */
void underused_stop(struct underused *u);
/* ms until there is to be a plan for the sweep's sake; 0: no pool asks for it. */
int64_t underused_next_ms(const struct underused *u);
/* Another replica leads: what was found is not worth anything when this one leads again. */
void underused_clear(struct underused *u);

/* For how long all its pods have had room elsewhere, ms; -1: they have not, or nobody can say
 * now. */
int64_t underused_ms(const struct underused *u, const struct node_claim *n);
/* A pod of another tenant waits for a machine. */
bool underused_others_wait(const struct underused *u, const char *tenant);
/* A pod of this tenant waits for one, or has one on its way. */
bool underused_needs(const struct underused *u, const char *tenant);
void underused_withdrawn(struct underused *u, const struct node_claim *n);

/* What the last sweep said: of condition Consolidatable.  False: it was not judged. */
struct underused_words {
	bool goes;
	const char *reason, *text;
};
bool underused_say(const struct underused *u, const struct node_claim *n,
		   struct underused_words *out);

#endif
