#ifndef CONTROLLER_FIGURES_H
#define CONTROLLER_FIGURES_H

#include "controller/controller.h"

/*
 * figures: the metrics of claims and machines.  docs/metrics.md lists all
 * families with the help text that stands here; a test compares.
 *
 * Counters count what this replica did or, for times in a state, saw written
 * while it led; gauges are made from the caches when they are read.  Without
 * figures (NULL) nothing is counted.
 */
struct figures;
struct figures *figures_new(struct controller *c);
void figures_free(struct figures *f);

/* The object changed; either may be NULL. */
void figures_machine(struct figures *f, const struct machine *was, const struct machine *is);
/* act: as in status.operation.step; reason: one of the closed list. */
void figures_act_failed(struct figures *f, const char *act, const char *reason);
void figures_claim_created(struct figures *f, const char *pool);
void figures_claim_failed(struct figures *f, const char *pool, const char *reason);
/* A machine that was warm was claimed: its agent answered, or it had to be booted after all. */
void figures_claimed_warm(struct figures *f, bool answered);
void figures_wipe(struct figures *f, const char *verdict);
/* How long a machine takes from leaving its tenant to being free again: the mean of those that this
 * replica saw, the newer the heavier; 0: none yet. */
int64_t figures_recycle_ms(const struct figures *f);
/* Bring the gauges up to date. */
void figures_read(struct figures *f);

#endif
