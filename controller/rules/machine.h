#ifndef CONTROLLER_RULES_MACHINE_H
#define CONTROLLER_RULES_MACHINE_H

#include "api/kinds.h"

/*
 * machine: what the status of a Machine says, by itself. Pure.
 * Tests: tests/world/test_verbs.c, tests/world/test_warm.c,
 * tests/unit/controller/claims/test_warm_pool.c, tests/unit/controller/rules/test_machine.c
 */

/* What comes after the wipe, of status.leave; DRAIN_RELEASE when nothing is written. */
enum drain_then leave_then(const struct machine *m);

/* ms until a machine that is quarantined now is tried again. */
int64_t quarantine_wait(const struct machine *m);
/* Wall ms when it is tried again by itself; 0: an operator has to. */
int64_t quarantine_due(const struct machine *m);

/* After so many boots in a row a machine that shall be warm is left off for a while. */
#define WARM_POOL_BOOTS 3
/* Kept warm, and its agent is there. */
bool warm_is_ready(const struct machine *m);
/* On its way off, which is not called back: a claim would have to wait. */
bool warm_is_ending(const struct machine *m);

/* Of the Machine's labels those that say where it stands, which its Node carries for selectors,
 * spread and affinity: topology.drover.dev/..., topology.kubernetes.io/... (well-known labels of
 * Kubernetes) and nvidia.com/gpu.clique (the NVLink domain, as NVIDIA's GPU feature discovery names
 * it). The rest is the operator's own. Sorted as they were; in the arena, whose strings are m's. */
struct arena;
bool machine_is_topology(const char *key);
struct labels machine_topology(const struct machine *m, struct arena *a);

/* Are its BMC and its place reached as before? All of spec but the drives and controllers that an
 * inspection learns. */
bool machine_same_reach(const struct machine *a, const struct machine *b);

/* A reason for which no machine can be booted while it stands in lastError: its BMC is not trusted,
 * refuses the login, does not answer or is of another machine, or its Provider is not ready. So it
 * is not taken either. */
bool machine_is_out_of_reach(const char *reason);

/* Is this the BMC that the password may go to? Address, what its certificate is known by, the
 * Secret that the password is in, and the CA's bytes, letter for letter. login, ca_digest: those of
 * now; ca_digest NULL: no CA, or it cannot be read, so nothing is sent either way. NULL: it is;
 * else what differs, for people. What `trusted` does not name (it was written before drover wrote
 * that; a digest that a person left out) does not differ. */
const char *machine_bmc_differs(const struct machine_bmc *b, const char *login,
				const char *ca_digest, const struct machine_bmc_trust *trusted);

/* The value of that annotation (api/annotations.h) when it is not the one acted on last, or
 * NULL. */
const char *request_new(const struct machine *m, const char *key, const char *acted_on);

/* A tenant that does not do its step in this time, from the machine's leaving on, is owed it and
 * holds nothing up. */
#define MACHINE_TENANT_PATIENCE_MS (2 * 60 * 1000)

#endif
