#ifndef CONTROLLER_CLAIMS_BILL_H
#define CONTROLLER_CLAIMS_BILL_H

#include "controller/core/context.h"
#include "controller/rules/ledger.h"

/*
 * bill: whose bill a machine is on, and what of a tenant's bill is to be written. supply_status.c
 * counts and writes; how time is summed is in controller/rules/ledger.h.
 * Tests: tests/world/test_cost.c
 */

/* False: nobody's.  Texts are the arena's: caches may change before they are used. */
bool bill_of_machine(const struct context *c, const struct machine *m, enum machine_state state,
		     struct arena *a, const char **tenant, struct virtual_cluster_charge *like);

/* held: what its machines are at now; NULL: it has none. False: that is what its bill goes on for.
 * Lists of *cost are the arena's, texts also the caller's. */
bool bill_changed(const struct context *c, const struct virtual_cluster *vc,
		  const struct virtual_cluster_charges *held, struct arena *a,
		  struct virtual_cluster_cost *cost);

#endif
