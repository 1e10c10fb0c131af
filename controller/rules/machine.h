#ifndef CONTROLLER_RULES_MACHINE_H
#define CONTROLLER_RULES_MACHINE_H

#include "api/kinds.h"

/*
 * machine: queries that need only the spec and status of one Machine. Pure.
 * Tests: tests/world/test_verbs.c, tests/world/test_warm.c,
 * tests/unit/controller/claims/test_warm_pool.c, tests/unit/controller/rules/test_machine.c
 */

/* Returns what happens after the wipe, from status.leave; DRAIN_RELEASE if status.leave is not
 * set. */
enum drain_then leave_then(const struct machine *m);

/* Returns the delay in ms until a machine that is quarantined now is tried again. */
int64_t quarantine_wait(const struct machine *m);
/* Returns the wall time in ms at which drover tries the machine again; 0: an operator must act. */
int64_t quarantine_due(const struct machine *m);

/* Number of agent boots in a row after which a machine that should be warm is left off for a
 * while. */
#define WARM_POOL_BOOTS 3
/* True if the machine is kept warm and its agent has reported. */
bool warm_is_ready(const struct machine *m);
/* True if a warm machine is being switched off. That cannot be reversed, so a claim would have to
 * wait. */
bool warm_is_ending(const struct machine *m);

/* Returns those labels of the Machine that describe its location, which its Node carries for
 * selectors, spread and affinity: topology.drover.dev/..., topology.kubernetes.io/... (well-known
 * labels of Kubernetes) and nvidia.com/gpu.clique (the NVLink domain, as NVIDIA's GPU feature
 * discovery names it). Order is kept. The list is in the arena, strings belong to m. */
struct arena;
bool machine_is_topology(const char *key);
struct labels machine_topology(const struct machine *m, struct arena *a);

/* True if the BMC and the Provider of a and b are reached in the same way: all of spec is equal,
 * except drives and controllers, which an inspection writes. */
bool machine_same_reach(const struct machine *a, const struct machine *b);

/* True for reasons in lastError with which no machine can be booted: its BMC is not trusted,
 * refuses the login, does not answer or is of another machine, or its Provider is not ready. Such a
 * machine is not claimed. */
bool machine_is_out_of_reach(const char *reason);

/* Returns NULL if the password may be sent to this BMC, else what differs from `trusted`, for human
 * readers. Compares the address, the TLS settings, the name of the Secret with the password
 * (login), and the digest of the CA, byte for byte. ca_digest NULL: no CA, or it cannot be read, in
 * which case nothing is sent anyway. Members that `trusted` lacks (older objects; a digest that the
 * operator left out) do not differ. */
const char *machine_bmc_differs(const struct machine_bmc *b, const char *login,
				const char *ca_digest, const struct machine_bmc_trust *trusted);

/* Returns the value of that annotation (api/annotations.h) unless it equals acted_on; NULL: no new
 * request. */
const char *request_new(const struct machine *m, const char *key, const char *acted_on);

/* Time in ms, from the machine's state leaving on, that drover waits for a step of the tenant.
 * Afterwards the step becomes a pending cleanup, and the machine goes on. */
#define MACHINE_TENANT_PATIENCE_MS (2 * 60 * 1000)

#endif
