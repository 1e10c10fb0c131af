#ifndef CONTROLLER_BILLING_BILL_H
#define CONTROLLER_BILLING_BILL_H

#include "controller/core/context.h"
#include "controller/rules/ledger.h"

/*
 * bill: finds the tenant that is charged for a machine, and calculates the new cost of a tenant.
 * supply_status.c adds up the charges and writes the cost to the VirtualCluster;
 * controller/rules/ledger.h adds up machine time and cost.
 * Tests: tests/world/test_cost.c
 */

/* Sets *tenant to the tenant that is charged for the machine, and *like to the kind of charge
 * (pool, Provider, instance type, GPUs, phase, price, currency). state: state of the machine.
 * False: no tenant is charged. Texts are copied to the arena, because the caches may change before
 * the texts are used. */
bool bill_of_machine(const struct context *c, const struct machine *m, enum machine_state state,
		     struct arena *a, const char **tenant, struct virtual_cluster_charge *like);

/* Writes the new cost of the tenant vc to *cost. held: the charges for the machines that the tenant
 * has now; NULL: it has no machines. False: nothing to write, because the stored cost was already
 * calculated for these charges. The lists of *cost are in the arena; its texts also point into vc
 * and held. */
bool bill_changed(const struct context *c, const struct virtual_cluster *vc,
		  const struct virtual_cluster_charges *held, struct arena *a,
		  struct virtual_cluster_cost *cost);

#endif
