#ifndef CONTROLLER_CORE_RESERVED_H
#define CONTROLLER_CORE_RESERVED_H

#include <stdbool.h>
#include <stddef.h>
#include "base/own.h"

/*
 * reserved: hosts to which a tenant's kubeconfig must never point drover, under any name: BMCs,
 * drover's own endpoints, and networks from the command line. Private addresses as such are
 * allowed, since tenants' API servers have them.
 *
 * controller/controller.c adds and removes hosts as Machines and Providers change; life/bmc.c adds
 * the address from which a BMC known by a name answered. On the loop thread.
 * Tests: tests/unit/controller/core/test_reserved.c, tests/world/test_reserved.c
 */
struct reserved;

/* networks: "10.0.8.0/24" ..., NULL-terminated and borrowed; NULL: none. */
struct reserved *reserved_new(const char *const *networks);
void reserved_free(struct reserved *r);
DEFINE_OWN(reserved)

/* owner text for the address that a BMC's name resolved to */
#define RESERVED_ANSWERED "the address from which the BMC of machine %s answered"

/* Sets the one host of an owner. owner: human-readable name ("the BMC of machine gpu-1"). place: a
 * URL or an address; NULL removes the entry. The host is reserved on all its ports, with port_alone
 * only on the URL's port. */
void reserved_put(struct reserved *r, const char *owner, const char *place, bool port_alone);

/* Returns the owner of host:port, borrowed until the next reserved_put(); NULL: not reserved. host:
 * a name or an address. */
const char *reserved_owner(const struct reserved *r, const char *host, int port);
/* Returns the owner of the URL's host and port; see reserved_owner(). */
const char *reserved_owner_of(const struct reserved *r, const char *url);

#endif
