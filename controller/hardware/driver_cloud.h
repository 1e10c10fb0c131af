#ifndef CONTROLLER_HARDWARE_DRIVER_CLOUD_H
#define CONTROLLER_HARDWARE_DRIVER_CLOUD_H

#include "base/arena.h"
#include "controller/hardware/driver.h"

/*
 * driver_cloud: what a Provider of type ec2 may launch, where, and as whom.
 *
 * Tests: tests/unit/controller/hardware/test_driver.c, tests/world/test_ec2.c
 */

/* What a new driver is needed for: spec.ec2, types with their prices, and what is known of each
 * Secret. "" for another type. */
const char *driver_cloud_digest(const struct driver *s, const struct provider_object *p,
				struct arena *a);

/* -1 with *e, which names the field; ERR_UNAVAILABLE while a Secret is being read. *out is borrowed
 * from the object, a, and the Secrets until the next turn of the loop. */
int driver_cloud_of(const struct driver *s, const struct provider_object *p, struct arena *a,
		    struct provider_cloud *out, struct err *e);

/* It hangs on that Secret of drover's namespace. */
bool driver_cloud_needs(const struct provider_object *p, const char *secret);

#endif
