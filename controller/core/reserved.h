#ifndef CONTROLLER_CORE_RESERVED_H
#define CONTROLLER_CORE_RESERVED_H

#include <stdbool.h>
#include <stddef.h>
#include "base/own.h"

/*
 * reserved: hosts to which drover must never connect because a tenant's kubeconfig names them, in
 * whatever spelling: BMCs, drover's own endpoints, and networks from the command line. Other
 * private addresses are allowed, since tenants' API servers have them.
 *
 * controller/controller.c adds and removes hosts as Machines and Providers change. If a BMC is
 * configured by a DNS name, life/bmc.c adds the address from which the BMC answered. On the loop
 * thread.
 * Tests: tests/unit/controller/core/test_reserved.c, tests/world/test_reserved.c
 */
struct reserved;

/* Creates the list. networks: "10.0.8.0/24" and so on, NULL-terminated and borrowed; NULL: none. */
struct reserved *reserved_new(const char *const *networks);
void reserved_free(struct reserved *r);
DEFINE_OWN(reserved)

/* format of the owner's name for the address to which a BMC's DNS name resolved */
#define RESERVED_ANSWERED "the address from which the BMC of machine %s answered"

/* Sets the one host that `owner` has in the list. owner: human-readable name ("the BMC of machine
 * gpu-1"). place: a URL or an address; NULL removes the owner's host. The host is reserved on all
 * ports; with port_alone only on the URL's port. */
void reserved_put(struct reserved *r, const char *owner, const char *place, bool port_alone);

/* Returns the owner of host:port; NULL: not reserved. host: a name or an address. The result is
 * borrowed until the next reserved_put(). */
const char *reserved_owner(const struct reserved *r, const char *host, int port);
/* Returns the owner of the host and port in the URL; NULL: not reserved. Borrowed until the next
 * reserved_put(). */
const char *reserved_owner_of(const struct reserved *r, const char *url);

#endif
