#ifndef CONTROLLER_CLAIMS_BILL_H
#define CONTROLLER_CLAIMS_BILL_H

#include "controller/core/context.h"
#include "controller/rules/ledger.h"

/*
 * bill: which tenant is charged for a machine, and the changed cost of a tenant. supply_status.c
 * counts and writes; controller/rules/ledger.h sums times.
 * Tests: tests/world/test_cost.c
 */

/* Sets *tenant to the tenant that is charged for the machine, and *like to the kind of charge.
 * False: no tenant is charged. Texts are copied to the arena, because caches may change before they
 * are used. */
bool bill_of_machine(const struct context *c, const struct machine *m, enum machine_state state,
		     struct arena *a, const char **tenant, struct virtual_cluster_charge *like);

/* Writes the tenant's cost to *cost. held: what its machines cost now; NULL: it has no machines.
 * False: the stored cost already continues with these machines. The lists of *cost are in the
 * arena; its texts also point into vc and held. */
bool bill_changed(const struct context *c, const struct virtual_cluster *vc,
		  const struct virtual_cluster_charges *held, struct arena *a,
		  struct virtual_cluster_cost *cost);

#endif
