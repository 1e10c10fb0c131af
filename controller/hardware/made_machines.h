#ifndef CONTROLLER_HARDWARE_MADE_MACHINES_H
#define CONTROLLER_HARDWARE_MADE_MACHINES_H

#include "controller/hardware/driver.h"

/*
 * made_machines: provisions the virtual machines that a Provider of type libvirt asks for
 * (spec.libvirt.machines): defines them at the libvirt host, and undefines them with their drives.
 *
 * A wanted machine begins as a Machine object PROVIDER-N with drover's finalizer, so that the next
 * leader knows which domains may exist. Its system UUID is derived from the Provider's uid and N,
 * so defining it twice defines one domain. If a machine is no longer wanted, its object is deleted
 * and the Machine retires like any other (a tenant's node on it stays until released). The domain
 * is undefined last, when only drover's finalizer is left.
 *
 *   no object -> created -> defined -> in use -> deleted: retired -> undefined -> finalizer removed
 *
 * Tests: tests/world/test_libvirt.c
 */
struct made_machines;
struct made_machines *made_machines_new(struct context *c, struct drivers *ds);
void made_machines_free(struct made_machines *x);
/* Call after a change of Machines or Providers: runs a scan within a second. */
void made_machines_kick(struct made_machines *x);
/* Call before the driver s is freed: drops a request in progress there. */
void made_machines_closing(struct made_machines *x, const struct driver *s);

#endif
