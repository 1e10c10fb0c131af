#ifndef CONTROLLER_RULES_LEDGER_H
#define CONTROLLER_RULES_LEDGER_H

#include "api/machine_states.h"
#include "api/virtualcluster.h"
#include "base/arena.h"

/*
 * ledger: cost of a tenant's machines, as stored in VirtualCluster.status.cost. Pure.
 *
 * Machine time is summed in whole seconds, like API times, separately for each month (UTC), pool,
 * instance type, phase and price. Each sum also has the number of machines for which it continues,
 * and one common time says until when all sums are complete; all are written in one request.
 * Readers add the time since then (ledger_at()). So nothing is written while nothing changes, a
 * restart or a new leader leaves no gap, and a write that was lost or refused counts nothing twice.
 * Money is computed from a whole sum, so that the number of writes does not affect the result.
 * Tests: tests/unit/controller/rules/test_ledger.c, tests/world/test_cost.c
 */
#define LEDGER_MONTHS 14
#define LEDGER_CHARGES 1024 /* most sums; beyond that the oldest months are deleted */
#define LEDGER_MONTH_SIZE 8 /* size of "2026-11" */

/* Sets *phase to the billing phase of a machine state. False: machines in that state are not
 * billed. */
bool ledger_phase(enum machine_state s, int *phase);

/* Returns the cost as of the time now: sums extended to now, new months begun, months older than
 * LEDGER_MONTHS left out. If now is before was->time, nothing is added. was NULL: no cost yet.
 * Strings are borrowed from was, lists belong to the arena. */
struct virtual_cluster_cost ledger_at(const struct virtual_cluster_cost *was, int64_t now,
				      struct arena *a);

/* Counts one more machine of this kind in held. month, seconds and machines of `like` are
 * ignored. */
void ledger_count(struct virtual_cluster_charges *held, const struct virtual_cluster_charge *like,
		  struct arena *a);
/* True if the sums of c continue for exactly the machines in held. */
bool ledger_holds(const struct virtual_cluster_cost *c, const struct virtual_cluster_charges *held);
/* Lets the sums of c continue for exactly the machines in held, from c->time on. Returns the number
 * of sums of old months that had to be deleted. */
size_t ledger_hold(struct virtual_cluster_cost *c, const struct virtual_cluster_charges *held,
		   struct arena *a);

/* Sets *micro to the cost of one sum. False: the price is unknown, or the result overflows. */
bool ledger_amount(const struct virtual_cluster_charge *c, int64_t *micro);
/* Sets *seconds to the GPU time of one sum. False: the result overflows. */
bool ledger_gpu_seconds(const struct virtual_cluster_charge *c, int64_t *seconds);

void ledger_month(int64_t unix_ms, char out[static LEDGER_MONTH_SIZE]);
/* Sets the begin of the month and of the next month, wall ms. False: month is not a month. */
bool ledger_month_times(const char *month, int64_t *begin, int64_t *end);

#endif
