#ifndef CONTROLLER_HARDWARE_MADE_MACHINES_H
#define CONTROLLER_HARDWARE_MADE_MACHINES_H

#include "controller/hardware/driver.h"

/*
 * made_machines: as many machines as a Provider of type libvirt asks for (spec.libvirt.machines):
 * defined at its host, and undefined with their drives.
 *
 * A machine that is wanted is first a Machine object, PROVIDER-N, with a finalizer of ours: so
 * whoever leads knows of what may exist. Its system UUID is made of the Provider's uid and N, so
 * defining it twice defines it once. One that is not wanted any more has its object deleted; it
 * leaves as every Machine does (a tenant on it stays), and what is defined goes last, when nothing
 * but our finalizer is left.
 *
 *   no object -> created -> defined -> lives -> deleted: retired -> undefined -> finalizer off
 *
 * Tests: tests/world/test_libvirt.c
 */
struct made_machines;
struct made_machines *made_machines_new(struct context *c, struct drivers *ds);
void made_machines_free(struct made_machines *x);
/* something may have to be done */
void made_machines_kick(struct made_machines *x);
/* The driver of its provider is about to go. */
void made_machines_closing(struct made_machines *x, const struct driver *s);

#endif
