#ifndef CONTROLLER_CORE_COUNTERS_H
#define CONTROLLER_CORE_COUNTERS_H

#include "controller/core/context.h"

/*
 * counters: the counting metrics of claims and machines; the gauges are in controller/gauges.h.
 * docs/metrics.md lists all families with their help texts; a test compares the two.
 *
 * A replica counts only what it did itself, or what it saw written while it was leader. Without
 * counters (f NULL) nothing is counted.
 */
struct counters;
struct counters *counters_new(struct context *c);
void counters_free(struct counters *f);

/* Counts a change of the Machine from was to is; either may be NULL. */
void counters_machine(struct counters *f, const struct machine *was, const struct machine *is);
/* act: as in status.operation.step; reason: one of the closed list */
void counters_act_failed(struct counters *f, const char *act, const char *reason);
void counters_claim_created(struct counters *f, const char *pool);
void counters_claim_failed(struct counters *f, const char *pool, const char *reason);
/* Counts a claim of a warm machine. answered: its agent answered; false: the machine had to be
 * booted after all. */
void counters_claimed_warm(struct counters *f, bool answered);
/* Counts a wipe record that turned out to be wrong: a drive held data again. */
void counters_wipe_revoked(struct counters *f);
void counters_wipe(struct counters *f, const char *verdict);
/* Counts the end of a machine's transition and which of the times expected at its start it met:
 * names from eta_way_names and eta_by_names of claims/eta.h. */
void counters_way(struct counters *f, const char *way, const char *by);
/* Counts a finished request to an API server. client: "host" or "tenant"; status 0: no reply. */
void counters_request(struct counters *f, const char *client, const char *method, int status);
/* Counts a read of a machine's power state at its BMC or manager. */
void counters_look(struct counters *f, const char *provider, bool answered);
/* Counts a pod of the tenant that got a Node ms after it was marked unschedulable. */
void counters_pod_placed(struct counters *f, const char *tenant, int64_t ms);
/* Counts the first pod that runs on one of the VirtualCluster's machines, ms after the
 * VirtualCluster was created. */
void counters_first_pod(struct counters *f, int64_t ms);
/* Counts one run of a machine's reconcile step. The total shows what one change costs for a whole
 * rack. */
void counters_turn(struct counters *f);
/* Returns how long a machine takes from leaving its tenant until it is free again, in ms: a mean of
 * those that this replica saw, weighted towards the newest; 0: none seen yet. */
int64_t counters_recycle_ms(const struct counters *f);

#endif
