#ifndef CONTROLLER_RULES_LEDGER_H
#define CONTROLLER_RULES_LEDGER_H

#include "api/machine_states.h"
#include "api/virtualcluster.h"
#include "base/arena.h"

/*
 * ledger: cost of a tenant's machines, as stored in VirtualCluster.status.cost. Pure functions.
 *
 * Machine time is summed in whole seconds, like API times. There is a separate sum (struct
 * virtual_cluster_charge, a charge) for each month (UTC), pool, Provider, instance type, number of
 * GPUs, phase, price and currency. A sum is running while it has machines; it records their number.
 * All sums are complete up to one common time (cost.time). They are written in one request, and
 * readers add the machine time since then (ledger_at()).
 *
 * Therefore nothing is written while nothing changes. A restart or a new leader leaves no gap. A
 * write that was lost or refused counts nothing twice. Money is computed from a whole sum, so that
 * the number of writes does not affect the result.
 * Tests: tests/unit/controller/rules/test_ledger.c, tests/world/test_cost.c
 */
#define LEDGER_MONTHS 14
/* maximum number of sums of one tenant; beyond it the oldest months are deleted */
#define LEDGER_CHARGES 1024
#define LEDGER_MONTH_SIZE 8 /* size of a month such as "2026-11", with the final NUL */

/* Sets *phase to the billing phase (enum virtual_cluster_phase) of a machine in state s. False: a
 * machine in this state is not billed. */
bool ledger_phase(enum machine_state s, int *phase);

/* Returns the cost as of the time `now`: running sums are extended to `now`, a new month begins new
 * sums, and sums older than LEDGER_MONTHS months are left out. If `now` is before was->time,
 * nothing is added. was NULL: no cost yet. Strings are borrowed from *was, lists belong to the
 * arena. */
struct virtual_cluster_cost ledger_at(const struct virtual_cluster_cost *was, int64_t now,
				      struct arena *a);

/* Counts n machines in the sum of `held` that equals *like in pool, Provider, instance type,
 * number of GPUs, phase, price and currency; adds that sum if it is missing. month, seconds and
 * machines of *like are ignored. held: the machines that the tenant has now. */
void ledger_count(struct virtual_cluster_charges *held, const struct virtual_cluster_charge *like,
		  int64_t n, struct arena *a);
/* True if the running sums of *c have exactly the numbers of machines in `held`. */
bool ledger_holds(const struct virtual_cluster_cost *c, const struct virtual_cluster_charges *held);
/* Sets the running sums of *c to the machines in `held`, from c->time on; all other sums end.
 * Returns the number of sums of old months that were deleted to keep the limit LEDGER_CHARGES. */
size_t ledger_hold(struct virtual_cluster_cost *c, const struct virtual_cluster_charges *held,
		   struct arena *a);

/* Sets *micro to the cost of one sum, in millionths of its currency. False: the price is unknown,
 * or the result overflows. */
bool ledger_amount(const struct virtual_cluster_charge *c, int64_t *micro);
/* Sets *seconds to the GPU time of one sum, in GPU-seconds. False: the result overflows. */
bool ledger_gpu_seconds(const struct virtual_cluster_charge *c, int64_t *seconds);

void ledger_month(int64_t unix_ms, char out[static LEDGER_MONTH_SIZE]);
/* Sets *begin to the begin of the month and *end to the begin of the next month, in wall ms. month:
 * such as "2026-11". False: the text is not a month. */
bool ledger_month_times(const char *month, int64_t *begin, int64_t *end);

#endif
