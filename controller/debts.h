#ifndef CONTROLLER_DEBTS_H
#define CONTROLLER_DEBTS_H

#include "controller/controller.h"

/*
 * debts: what drover owes to tenants: Nodes to delete (by UID) and bootstrap tokens to
 * delete in clusters that could not be reached when their machine left.
 *
 * They stand in VirtualCluster.status.debts, written before the machine goes on (life_leave.c).
 * As soon as the tenant answers again they are paid, one call at a time, and struck off by a write
 * with the resourceVersion.  After 24 h one is written off with an event that names what is left.
 *
 * Also the finalizer drover.dev/virtual-cluster: put on while claims or debts exist; a VirtualCluster
 * that is being deleted has its claims deleted, its debts tried once more, and then the finalizer taken off.
 * A deleted NodePool likewise has its claims deleted (its claims' spec is frozen, so nothing else hangs on it).
 * None of this happens while one of our CustomResourceDefinitions is being deleted.
 */
struct debts;
struct debts *debts_new(struct controller *c);
void debts_free(struct debts *d);
void debts_kick(struct debts *d, const char *tenant); /* NULL: look at all */
/* The client of this tenant is about to be freed: calls through it are as if never made. */
void debts_hang_up(struct debts *d, const char *tenant);

#endif
