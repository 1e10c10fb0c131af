#ifndef TESTS_WORLD_INVARIANTS_H
#define TESTS_WORLD_INVARIANTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * invariants: what must never happen, checked after every event of the simulated world. The checks
 * read stores, BMCs, drives and ports, and nothing that a controller holds in memory.
 *
 *   S1  a tenancy begins on a machine whose newest WipeRecord is valid, of the tenancy before, and
 *       whose drives hold no byte of anybody, whatever they said and forgot
 *       a machine becomes free with such a record and such drives; of a drive that forgets its wipe when the
 *       power goes only the record can be asked for, until an agent runs there again
 *   S2  a machine is in one tenant's cluster and one tenant's segment at most
 *   S3  a claim ends only after its machine is off and out of the tenant's segment; or it never got beyond
 *       claimed, on a machine that is warm, blank and clean
 *       clean is false from the first tenant byte until a wipe of that tenancy is recorded
 *       no medium in a machine that is on in a tenant's segment, no agent there
 *       power never goes away under a machine that serves; under what comes up from the disk in the
 *       agent's place only while our medium is in and the port is no tenant's
 *       fences never fall
 *   S4  what is done to a machine stands in its journal first (invariants_act_is_owned())
 *   S5  no gang that has not begun is held in part for long (gang_rule.h)
 *   S6  what BurstPolicies may cost, and what the cloud bills for them, stays within their budgets; nothing is launched
 *       for a pod that has gone, and no gang in two zones (burst_rule.h, in worlds with a cloud)
 *   S7  nothing of a tenant's is changed on an old lease (invariants_change_is_fresh())
 *   S9  once faults have stopped everything comes to rest within the sum of all deadlines, without a person
 *       (world_settle())
 */
struct sim_world;
struct server;

/* False: w->complaint says what is wrong. */
bool invariants_look(struct sim_world *w);
/* S8: credentials are in no log line and no object but Secrets. */
bool invariants_secrets_kept(struct sim_world *w);
/* S4: drover is about to change something outside. The Machine in the store names that act, so that
 * a successor knows of it. act: what the name begins with. */
void invariants_act_is_owned(struct sim_world *w, const struct server *b, const char *act);
/* S7: something of drover's is about to change an object of a tenant's. Whoever leads has renewed
 * the lease in the last 5 s. Events change nothing. */
void invariants_change_is_fresh(struct sim_world *w, const char *method, const char *target);
/* S4: whatever is under way, each token and each Node of drover's in a tenant's cluster has a
 * claim, or is owed to the tenant; no medium is in a machine that serves, or that is free and not
 * warm. */
bool invariants_nothing_leaks(struct sim_world *w);
/* S9: every machine is free or serves, every claim is Ready or gone, no debt is left. What a person
 * has to decide is at rest too, with the claim that it holds: a quarantine of exit `operator`,
 * PowerStateUnexpected, a machine that drover may only look at or that is retired. */
bool invariants_is_settled(struct sim_world *w);
/* So long it may take once faults have stopped (w->calm_at); invariants_look() complains of what is
 * not at rest then. */
int64_t invariants_settle_ms(void);

#endif
