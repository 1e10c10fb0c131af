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

/* Returns `text` with the Netris fields and the known versions of their Secrets appended. If the
 * result has changed, the caller must create a new fabric, because an existing fabric keeps its old
 * settings and password. */
const char *driver_netris_digest(const struct context *c, const struct provider_object_netris *n,
				 const char *text, struct arena *a);

/*
 * Returns a new fabric that the caller owns. On an error returns NULL with s->error, which names
 * the field; ERR_UNAVAILABLE while a Secret is being read.
 *
 * ERR_DENIED if the key `endpoint` of the Secret differs from n->endpoint: a user who may only
 * write Providers must not be able to choose where a password is sent.
 */
struct fabric *driver_netris_fabric(struct driver *s, const struct provider_object_netris *n,
				    const struct fabric_spec *fs);

#endif
