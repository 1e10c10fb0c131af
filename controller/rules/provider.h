#ifndef CONTROLLER_RULES_PROVIDER_H
#define CONTROLLER_RULES_PROVIDER_H

#include "api/kinds.h"

/*
 * provider: what a Provider object says.  Pure.
 * Tests: tests/unit/controller/hardware/test_driver.c
 */

/* The instance type of that name; NULL: none, or name is NULL. */
const struct provider_object_instance_type *provider_instance_type(const struct provider_object *p,
								   const char *name);

/* It launches instances for claims, and ends them; NULL: no. */
bool provider_is_elastic(const struct provider_object *p);

#endif
