#ifndef CONTROLLER_HARDWARE_DRIVER_NETRIS_H
#define CONTROLLER_HARDWARE_DRIVER_NETRIS_H

#include "base/arena.h"
#include "controller/hardware/driver.h"

/*
 * driver_netris: creates the Netris fabric (providers/fabric.h) of a Provider, with the login from
 * its Secret.
 *
 * Tests: tests/world/test_netris.c
 */

/* Returns text with the fields and the Secrets' known versions appended. A changed result requires
 * a new fabric, so a changed password gets a new client. */
const char *driver_netris_digest(const struct context *c, const struct provider_object_netris *n,
				 const char *text, struct arena *a);

/*
 * Returns NULL with s->error, which names the field; ERR_UNAVAILABLE while a Secret is being read.
 * Permission to write Providers must not be enough to choose where a password is sent: unless the
 * Secret's own key `endpoint` names n->endpoint, returns ERR_DENIED.
 */
struct fabric *driver_netris_fabric(struct driver *s, const struct provider_object_netris *n,
				    const struct fabric_spec *fs);

#endif
