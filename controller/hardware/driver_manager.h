#ifndef CONTROLLER_HARDWARE_DRIVER_MANAGER_H
#define CONTROLLER_HARDWARE_DRIVER_MANAGER_H

#include "base/arena.h"
#include "controller/hardware/driver.h"

/*
 * driver_manager: converts spec.bcm of a Provider to the address and login of its manager (NVIDIA
 * Base Command Manager).
 *
 * Tests: tests/world/test_bcm.c
 */
struct provider_manager;

/* Returns a text that changes if the driver must be rebuilt: the fields of spec.bcm, the names of
 * the manager's Secrets and the known versions of these Secrets. Returns "" for a Provider without
 * a manager. */
const char *driver_manager_digest(const struct driver *s, const struct provider_object *p,
				  struct arena *a);

/* Fills *out with the manager's address and login. Returns -1 with *e, which names the field, on an
 * error; ERR_UNAVAILABLE while a Secret is being read. *out borrows from p and the Secrets, and is
 * valid until the next loop turn. */
int driver_manager_of(const struct driver *s, const struct provider_object *p,
		      struct provider_manager *out, struct err *e);

#endif
