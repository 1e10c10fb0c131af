#ifndef CONTROLLER_RULES_MACHINE_H
#define CONTROLLER_RULES_MACHINE_H

#include "api/kinds.h"

struct arena;
/*
 * machine: queries that need only the spec and status of one Machine. Pure functions.
 * Tests: tests/world/test_verbs.c, tests/world/test_warm.c,
 * tests/unit/controller/claims/test_warm_pool.c, tests/unit/controller/rules/test_machine.c
 */

/* Returns what happens to the machine after its wipe (status.leave.then); DRAIN_RELEASE if
 * status.leave is not set. */
enum drain_then leave_then(const struct machine *m);

/* Returns the time in ms that a machine stays in quarantine before drover tries the machine again:
 * 10 min, doubled with each attempt, up to 6 h. */
int64_t quarantine_wait(const struct machine *m);
/* Returns the wall time in ms at which drover tries the machine again; 0: an operator must act. */
int64_t quarantine_due(const struct machine *m);

/* Returns why the machine at rest neither retires nor disappears although an operator wants one of
 * them (spec.managementPolicy is Retire, or the object is being deleted): no wipe after its last
 * tenancy is proved. The text is in the arena. NULL: there is no such wish, or the machine need not
 * be wiped, or is on its way through its states. */
const char *machine_wipe_required(const struct machine *m, struct arena *a);

/* Maximum number of consecutive agent boots of a machine that should be warm (powered on, with its
 * agent running). Afterwards drover leaves the machine off for a while. */
#define WARM_POOL_BOOTS 3
/* True if the machine is free and warm (kept powered on), and its agent has reported and was not
 * dismissed. */
bool warm_is_ready(const struct machine *m);
/* True if a warm machine is being switched off, or its agent was booted too often
 * (WARM_POOL_BOOTS). The shutdown cannot be reversed, so a claim for the machine would have to
 * wait. */
bool warm_is_ending(const struct machine *m);

/* machine_is_topology() is true if the label key describes a location: topology.drover.dev/...,
 * topology.kubernetes.io/... (well-known labels of Kubernetes) or nvidia.com/gpu.clique (the NVLink
 * domain, as NVIDIA's GPU feature discovery names it). machine_topology() returns the labels of m
 * with such keys, in the same order. The Node of m has the same labels, for selectors, spread and
 * affinity. The list is in the arena; the strings belong to m. */
bool machine_is_topology(const char *key);
struct labels machine_topology(const struct machine *m, struct arena *a);

/* True if the specs of a and b are equal except for drives, controllers and unseen drives. The BMC
 * and the Provider of both are then reached in the same way. */
bool machine_same_reach(const struct machine *a, const struct machine *b);

/* True if a machine whose status.operation.lastError has this reason cannot be booted, because
 * drover cannot use its BMC or its Provider. Such reasons are BmcUnreachable, IdentityMismatch,
 * SecretNotFound and ProviderNotReady, among others. Such a machine is not claimed. */
bool machine_is_out_of_reach(const char *reason);

/* Returns NULL if the password may be sent to the BMC b; otherwise the name of the member that
 * differs from *trusted, for human readers.
 *
 * Compares the address, the TLS settings, the name of the Secret with the password (login) and the
 * digest of the CA certificate, byte for byte. ca_digest NULL: there is no CA, or it cannot be
 * read; in the latter case the caller sends nothing anyway. A Secret name or digest that *trusted
 * lacks (older objects; a digest that the operator left out) does not count as different. */
const char *machine_bmc_differs(const struct machine_bmc *b, const char *login,
				const char *ca_digest, const struct machine_bmc_trust *trusted);

/* Returns the value of the annotation `key` (api/annotations.h) if it is a new request: set, not
 * longer than status can store, and different from acted_on, the value on which drover acted last.
 * NULL: no new request. */
const char *request_new(const struct machine *m, const char *key, const char *acted_on);

/* Longest time in ms, from the begin of state leaving, for which drover waits for a step in the
 * tenant's cluster. Afterwards the step becomes a pending cleanup, and the machine goes on without
 * it. */
#define MACHINE_TENANT_PATIENCE_MS (2 * 60 * 1000)

#endif
