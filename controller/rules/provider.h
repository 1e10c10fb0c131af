#ifndef CONTROLLER_RULES_PROVIDER_H
#define CONTROLLER_RULES_PROVIDER_H

#include "api/kinds.h"

/*
 * provider: queries on a Provider object. Pure functions.
 * Tests: tests/unit/controller/hardware/test_driver.c
 */

/* Returns the instance type of p with this name. NULL: p has none, or name is NULL. */
const struct provider_object_instance_type *provider_instance_type(const struct provider_object *p,
								   const char *name);

/* Returns the whole GPUs of one machine of the type; 0: none, or t is NULL. */
int64_t provider_type_gpus(const struct provider_object_instance_type *t);

/* Returns the network between instances of the type: as set, or Efa if they have EFA interfaces. */
enum object_interconnect provider_type_interconnect(const struct provider_object_instance_type *t);

/* True if the Provider launches and ends instances for claims. p NULL: false. */
bool provider_is_elastic(const struct provider_object *p);

#endif
