#ifndef TESTS_WORLD_INVARIANTS_H
#define TESTS_WORLD_INVARIANTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * invariants: what must never happen, checked after every event of the simulated world. The checks
 * read stores, BMCs, drives and ports, but no controller's memory.
 *
 *   S1  A tenancy begins on a machine whose newest WipeRecord is valid and covers the previous
 *       tenancy, and whose drives hold no data, whatever the drives reported or forgot.
 *       A machine becomes free with such a record and such drives. A drive that forgets its wipe
 *       at power-off is exempt from the check of its data until an agent runs on the machine
 *       again.
 *   S2  A machine is in at most one tenant's cluster and one tenant's segment.
 *   S3  A claim ends only after its machine is off and out of the tenant's segment. Exception: a
 *       claim that never got beyond state claimed, on a machine that is warm, blank and clean.
 *       status.clean is false from the first tenant byte until a wipe of that tenancy is recorded.
 *       No machine is on in a tenant's segment with a medium inserted or with an agent running.
 *       Power is never cut while a tenant's system serves. A system that booted from the disk
 *       instead of the agent may be cut only while drover's medium is inserted and the port is in
 *       no tenant's segment.
 *       Fences never fall.
 *   S4  An act on a machine is in its journal before it happens (invariants_act_is_owned()).
 *       No Node, token or medium is left behind (invariants_nothing_leaks()).
 *   S5  No gang that has not begun has machines for only a part of it for long (gang_rule.h).
 *   S6  The possible cost of BurstPolicies, and the amount that the cloud bills for them, stay
 *       within their budgets. Nothing is launched for a deleted pod, and no gang is in two zones
 *       (burst_rule.h, in worlds with a cloud).
 *   S7  No object of a tenant is changed on an outdated lease (invariants_change_is_fresh()).
 *   S8  Credentials are stored in Secrets only (invariants_secrets_kept()).
 *   S9  Once faults have stopped, everything comes to rest within the sum of all deadlines,
 *       without an operator (world_settle()).
 */
struct sim_world;
struct server;

/* Checks all invariants that hold at any time. False: w->complaint describes the first violated
 * invariant. */
bool invariants_look(struct sim_world *w);
/* S8: true if the log contains no credential, and no object except Secrets contains the BMCs'
 * password. */
bool invariants_secrets_kept(struct sim_world *w);
/* S4: call before drover changes the machine. Complains unless the step in the Machine's journal
 * begins with `act`, so that the next leader knows of the act. */
void invariants_act_is_owned(struct sim_world *w, const struct server *b, const char *act);
/* S7: call before drover changes an object of a tenant. Complains unless the leader has renewed its
 * lease in the last 5 s. Changes of Events are exempt. */
void invariants_change_is_fresh(struct sim_world *w, const char *method, const char *target);
/* S4: true if each bootstrap token and each Node of drover in a tenant's cluster has a claim or a
 * pending cleanup, and no medium is inserted in a machine that serves, or that is free and not
 * warm. Must hold at any time, also during operations. */
bool invariants_nothing_leaks(struct sim_world *w);
/* S9: true if every machine is free or serves, every claim is Ready or deleted, and no cleanup is
 * pending. A machine that waits for an operator is at rest too, with its claim: quarantine with
 * exit `operator`, PowerStateUnexpected, managementPolicy Observe, or retired. */
bool invariants_is_settled(struct sim_world *w);
/* Returns the longest time in ms until everything is at rest after faults stopped (w->calm_at).
 * After that time invariants_look() reports whatever is not at rest. */
int64_t invariants_settle_ms(void);

#endif
