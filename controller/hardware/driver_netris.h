#ifndef CONTROLLER_HARDWARE_DRIVER_NETRIS_H
#define CONTROLLER_HARDWARE_DRIVER_NETRIS_H

#include "base/arena.h"
#include "controller/hardware/driver.h"

/*
 * driver_netris: the Netris fabric (providers/fabric.h) of a Provider object, with the login that
 * its Secret has.
 *
 * Tests: tests/world/test_netris.c
 */

/* What a new fabric is needed for, behind `text`: its fields, and which version of each Secret is
 * known, so that whoever changes a password gets another client. */
const char *driver_netris_digest(const struct context *c, const struct provider_object_netris *n,
				 const char *text, struct arena *a);

/*
 * NULL with s->error, which names the field; ERR_UNAVAILABLE while a Secret is being read. Whoever
 * may write Providers does not choose where a password is sent: the key `endpoint` of the Secret
 * says it, else ERR_DENIED.
 */
struct fabric *driver_netris_fabric(struct driver *s, const struct provider_object_netris *n,
				    const struct fabric_spec *fs);

#endif
