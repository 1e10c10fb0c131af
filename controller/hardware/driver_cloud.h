#ifndef CONTROLLER_HARDWARE_DRIVER_CLOUD_H
#define CONTROLLER_HARDWARE_DRIVER_CLOUD_H

#include "base/arena.h"
#include "controller/hardware/driver.h"

/*
 * driver_cloud: converts a Provider of type ec2 to the settings of its cloud driver: instance
 * types, zones, prices and login.
 *
 * Tests: tests/unit/controller/hardware/test_driver.c, tests/world/test_ec2.c
 */
struct provider_cloud;

/* Returns a text that changes if the driver must be rebuilt: spec.ec2, the instance types with
 * their prices, and the state and version of each Secret. Returns "" for other types of
 * Provider. */
const char *driver_cloud_digest(const struct driver *s, const struct provider_object *p,
				struct arena *a);

/* Fills *out with the settings. Returns -1 with *e, which names the field, on an error;
 * ERR_UNAVAILABLE while a Secret is being read. *out borrows from p, a and the Secrets, and is
 * valid until the next loop turn. */
int driver_cloud_of(const struct driver *s, const struct provider_object *p, struct arena *a,
		    struct provider_cloud *out, struct err *e);

/* True if the Provider is of type ec2 and refers to `secret` (a Secret in drover's namespace). */
bool driver_cloud_needs(const struct provider_object *p, const char *secret);

#endif
