#ifndef CONTROLLER_CORE_RESERVED_H
#define CONTROLLER_CORE_RESERVED_H

#include <stdbool.h>
#include <stddef.h>
#include "base/own.h"

/*
 * reserved: addresses of BMCs, of drover's own endpoints, and networks named on the command line:
 * no kubeconfig of a tenant leads drover there, by whatever name. Private addresses as such are
 * allowed: tenants' API servers have them.
 *
 * Kept in step by whoever hears of Machines and Providers (controller/controller.c); what a BMC
 * with a name answered from is added when it is known (life/bmc.c). On the loop thread.
 * Tests: tests/unit/controller/core/test_reserved.c, tests/world/test_reserved.c
 */
struct reserved;

/* networks: "10.0.8.0/24", NULL-terminated and borrowed; NULL: none. */
struct reserved *reserved_new(const char *const *networks);
void reserved_free(struct reserved *r);
DEFINE_OWN(reserved)

#define RESERVED_ANSWERED "what the BMC of machine %s answered from" /* an owner */

/* owner: whose it is, for people ("the BMC of machine gpu-1"): one place each. place: a URL, or an
 * address; NULL: it has none any more. The host counts on all its ports, and with `port_alone` on
 * that of the URL. */
void reserved_put(struct reserved *r, const char *owner, const char *place, bool port_alone);

/* host: a name or an address.  Gives whose it is, borrowed until the next put; NULL: nobody's. */
const char *reserved_owner(const struct reserved *r, const char *host, int port);
/* The same of a URL. */
const char *reserved_owner_of(const struct reserved *r, const char *url);

#endif
