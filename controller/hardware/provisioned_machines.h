#ifndef CONTROLLER_HARDWARE_PROVISIONED_MACHINES_H
#define CONTROLLER_HARDWARE_PROVISIONED_MACHINES_H

#include "controller/hardware/driver.h"

/*
 * provisioned_machines: provisions the virtual machines that a Provider of type libvirt asks for
 * (spec.libvirt.machines): defines their domains at the libvirt host, and undefines them with their
 * drives.
 *
 * A wanted machine begins as a Machine object PROVIDER-N with drover's finalizer, so that the next
 * leader knows which domains may exist. Its system UUID is derived from the Provider's UID and N,
 * so a second request to define it does not create a second domain. If a machine is no longer
 * wanted, its Machine object is deleted and the machine retires like any other (a tenant's node on
 * it stays until released). The domain is undefined last, when only drover's finalizer is left.
 *
 *   no object -> created -> defined -> in use -> deleted: retired -> undefined -> finalizer removed
 *
 * Tests: tests/world/test_libvirt.c
 */
struct provisioned_machines;
struct provisioned_machines *provisioned_machines_new(struct context *c, struct drivers *ds);
void provisioned_machines_free(struct provisioned_machines *x);
/* Schedules a scan within a second. Call after a change of Machines or Providers. */
void provisioned_machines_kick(struct provisioned_machines *x);
/* Drops a request of driver s that is in progress. Call before s is freed. */
void provisioned_machines_closing(struct provisioned_machines *x, const struct driver *s);

#endif
