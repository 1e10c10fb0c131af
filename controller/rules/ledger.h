#ifndef CONTROLLER_RULES_LEDGER_H
#define CONTROLLER_RULES_LEDGER_H

#include "api/machine_states.h"
#include "api/virtualcluster.h"
#include "base/arena.h"

/*
 * ledger: what a tenant's machines cost, as VirtualCluster.status.cost keeps it. Pure.
 *
 * Machine time is summed in whole seconds, as API times are, apart for each month (UTC), pool,
 * machine class, phase and price, and how many machines each sum goes on for stands beside it with
 * the time up to which all is summed: one object, one write. Whoever reads it reckons on from there
 * (ledger_at()), so that nothing is written while nothing changes, a restart or a new leader leaves
 * no gap, and a write that was lost or refused counts nothing twice. Money is reckoned from a whole
 * sum: how often it was written does not show in it.
 * Tests: tests/unit/controller/rules/test_ledger.c, tests/world/test_cost.c
 */
#define LEDGER_MONTHS 14
#define LEDGER_CHARGES 1024 /* beyond that the oldest months go */
#define LEDGER_MONTH_SIZE 8 /* "2026-11" */

/* False: in that state a machine is on nobody's bill. */
bool ledger_phase(enum machine_state s, int *phase);

/* As things are at that time: sums up to now, months that have begun, months too old left out. A
 * clock that stands before was->time adds nothing. was: NULL: nothing yet. Texts are borrowed from
 * it, lists are the arena's. */
struct virtual_cluster_cost ledger_at(const struct virtual_cluster_cost *was, int64_t now,
				      struct arena *a);

/* One more machine of that kind; the sums' members of `like` do not count. */
void ledger_count(struct virtual_cluster_charges *held, const struct virtual_cluster_charge *like,
		  struct arena *a);
/* It goes on for the machines of `held`, and no others. */
bool ledger_holds(const struct virtual_cluster_cost *c, const struct virtual_cluster_charges *held);
/* Let it, from c->time on.  Gives how many sums of old months had to go. */
size_t ledger_hold(struct virtual_cluster_cost *c, const struct virtual_cluster_charges *held,
		   struct arena *a);

/* Money of one sum; false: its price is not known, or it leaves the range. */
bool ledger_amount(const struct virtual_cluster_charge *c, int64_t *micro);
/* GPU time of one sum. */
bool ledger_gpu_seconds(const struct virtual_cluster_charge *c, int64_t *seconds);

void ledger_month(int64_t unix_ms, char out[static LEDGER_MONTH_SIZE]);
/* When it begins, and when the next one does; false: that is no month. */
bool ledger_month_times(const char *month, int64_t *begin, int64_t *end);

#endif
