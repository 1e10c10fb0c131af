#ifndef CONTROLLER_CORE_LOOKUP_H
#define CONTROLLER_CORE_LOOKUP_H

#include "controller/core/context.h"

/*
 * lookup: which object of the host belongs to which, by name and UID.
 * Tests: tests/unit/controller/claims/test_claims.c
 */

/* The Machine whose lock names this claim; NULL: none. */
const struct machine *machine_of_claim(const struct context *c, const struct node_claim *n);
/* Returns the Machine that the claim names, locked or not; NULL: it names none, or none is
 * there. */
const struct machine *machine_named_by(const struct context *c, const struct node_claim *n);
/* Returns the Provider of that Machine, else the one that the claim names; NULL: none. */
const struct provider_object *provider_of_claim(const struct context *c,
						const struct node_claim *n);

#endif
