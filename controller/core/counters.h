#ifndef CONTROLLER_CORE_COUNTERS_H
#define CONTROLLER_CORE_COUNTERS_H

#include "controller/core/context.h"

/*
 * counters: the counting metrics of claims and machines; the gauges are in controller/gauges.h.
 * docs/metrics.md lists all families with the help text that stands here; a test compares.
 *
 * Counters count what this replica did or, for times in a state, saw written while it led. Without
 * counters (NULL) nothing is counted.
 */
struct counters;
struct counters *counters_new(struct context *c);
void counters_free(struct counters *f);

/* The object changed; either may be NULL. */
void counters_machine(struct counters *f, const struct machine *was, const struct machine *is);
/* act: as in status.operation.step; reason: one of the closed list. */
void counters_act_failed(struct counters *f, const char *act, const char *reason);
void counters_claim_created(struct counters *f, const char *pool);
void counters_claim_failed(struct counters *f, const char *pool, const char *reason);
/* A machine that was warm was claimed: its agent answered, or it had to be booted after all. */
void counters_claimed_warm(struct counters *f, bool answered);
/* A record turned out not to be true: a drive held something again. */
void counters_wipe_revoked(struct counters *f);
void counters_wipe(struct counters *f, const char *verdict);
/* A machine's way ended, and by which of the times that were expected when it began: eta_way_names,
 * eta_by_names of claims/eta.h. */
void counters_way(struct counters *f, const char *way, const char *by);
/* A request to an API server is over: client "host" or "tenant"; status 0: no reply came. */
void counters_request(struct counters *f, const char *client, const char *method, int status);
/* A look at a machine's power, at its BMC or manager. */
void counters_look(struct counters *f, const char *provider, bool answered);
/* A pod of the tenant that was marked unschedulable has a Node, after so many ms. */
void counters_pod_placed(struct counters *f, const char *tenant, int64_t ms);
/* The first pod of a VirtualCluster runs on a machine of drover, so many ms after that was made. */
void counters_first_pod(struct counters *f, int64_t ms);
/* A machine was looked at: what a whole rack costs when news of one of it came. */
void counters_turn(struct counters *f);
/* How long a machine takes from leaving its tenant to being free again: the mean of those that this
 * replica saw, the newer the heavier; 0: none yet. */
int64_t counters_recycle_ms(const struct counters *f);

#endif
