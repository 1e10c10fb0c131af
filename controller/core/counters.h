#ifndef CONTROLLER_CORE_COUNTERS_H
#define CONTROLLER_CORE_COUNTERS_H

#include "controller/core/context.h"

/*
 * counters: the counting metrics of claims and machines; the gauges are in controller/gauges.h.
 * docs/metrics.md lists all metric families with their help texts; a test compares that list with
 * the code.
 *
 * A replica counts only while it is the leader, except for its requests to API servers, which each
 * replica counts. All functions accept f NULL and then count nothing.
 */
struct counters;
/* Each new series is shown with 0 for this time, and then with what it counted (metric_delay()):
 * two scrapes at an interval of a minute. */
#define COUNTERS_DELAY_MS (2 * 60 * 1000)
struct counters *counters_new(struct context *c);
void counters_free(struct counters *f);

/* Counts a change of a Machine. was: the object before, is: the object now; nothing is counted if
 * either is NULL. When the machine begins to serve, its NodeClaim is read from the cache. */
void counters_machine(struct counters *f, const struct machine *was, const struct machine *is);
/* Counts a failed act. act: as in status.operation.step; reason: one of a fixed list of reasons. */
void counters_act_failed(struct counters *f, const char *act, const char *reason);
void counters_claim_created(struct counters *f, const char *pool);
void counters_claim_failed(struct counters *f, const char *pool, const char *reason);
/* Counts a claim of a warm machine. answered: true if the machine's agent answered; false if the
 * machine had to be booted after all. */
void counters_claimed_warm(struct counters *f, bool answered);
/* Counts a wipe record that was revoked because a drive was later found to hold data. */
void counters_wipe_revoked(struct counters *f);
void counters_wipe(struct counters *f, const char *verdict);
/* Counts a drive in a wipe record. technique: one of wipe/evidence.h; level: Fail, Clear or
 * Purge. */
void counters_wiped_drive(struct counters *f, const char *technique, const char *level);
/* Counts changes that have no entry in the audit log, because a queue was full or the API server
 * refused the entry. */
void counters_audit_lost(struct counters *f, int64_t n);
/* Counts a failed write of the file of the audit log. */
void counters_audit_file_failed(struct counters *f);
/* Counts a finished transition of a machine. transition: its name (eta_transition_names). by:
 * the expected time within which the transition ended (eta_by_names). Both lists are in
 * core/eta.h. */
void counters_transition(struct counters *f, const char *transition, const char *by);
/* Counts a finished request to an API server. client: "host" or "tenant"; status 0: no reply; ms:
 * duration of the exchange, -1: not measured. */
void counters_request(struct counters *f, const char *client, const char *method, int status,
		      int64_t ms);
/* Counts a read of a machine's power state at its BMC or manager. answered: the read succeeded. */
void counters_observation(struct counters *f, const char *provider, bool answered);
/* Counts a finished call to a Provider's backend or fabric. operation: one of a fixed list of names
 * (providers/timed_calls.h); e: its error, NULL: success; ms: its duration. */
void counters_provider_call(struct counters *f, const char *provider, const char *operation,
			    const struct err *e, int64_t ms);
/* Counts a pod of the tenant that was placed on a Node. class: the pod's PriorityClass, NULL for
 * none; ms: time since the pod was marked unschedulable. */
void counters_pod_placed(struct counters *f, const char *tenant, const char *class, int64_t ms);
/* Counts a pod with GPUs that ended on a machine. result: one of pod_end_names
 * (controller/rules/pod_end.h). */
#define COUNTERS_POD_RESULTS 8
void counters_pod_ended(struct counters *f, const char *tenant, const char *result);
/* Counts the first pod that runs on one of a VirtualCluster's machines. ms: time since the
 * VirtualCluster was created. */
void counters_first_pod(struct counters *f, int64_t ms);
/* Counts one run of a machine's reconcile step. The metric shows how many steps one change causes
 * in a whole rack. */
void counters_turn(struct counters *f);
/* Counts an object of this kind whose count was wrong (billing/supply_tally.h). */
void counters_corrected(struct counters *f, const char *kind);
/* Returns how many ms a machine takes from leaving its tenant until it is free again: a mean over
 * the machines that this replica observed, weighted towards the newest. 0: none observed yet. */
int64_t counters_recycle_ms(const struct counters *f);

#endif
