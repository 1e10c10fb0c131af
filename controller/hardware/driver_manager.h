#ifndef CONTROLLER_HARDWARE_DRIVER_MANAGER_H
#define CONTROLLER_HARDWARE_DRIVER_MANAGER_H

#include "base/arena.h"
#include "controller/hardware/driver.h"

/*
 * driver_manager: where the manager of a Provider's machines (NVIDIA Base Command Manager) is, and
 * what drover shows it.
 *
 * Tests: tests/world/test_bcm.c
 */

/* What a new driver is needed for: the manager's fields, the names of its Secrets, and which
 * version of each is known. "" where there is no manager. */
const char *driver_manager_digest(const struct driver *s, const struct provider_object *p,
				  struct arena *a);

/* -1 with *e, which names the field; ERR_UNAVAILABLE while a Secret is being read. *out is borrowed
 * from the Secrets, until the next turn of the loop. */
int driver_manager_of(const struct driver *s, const struct provider_object *p,
		      struct provider_manager *out, struct err *e);

#endif
