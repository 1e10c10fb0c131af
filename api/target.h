#ifndef API_TARGET_H
#define API_TARGET_H

#include "api/kinds.h"

/*
 * target: finds an object type by the name that a user types. Accepted are the API's names with or
 * without group (machine, machines, Machine, nodepools.drover.dev), and drover's short names
 * claims, pools, tenants, wipes.
 * Tests: tests/unit/cli/test_get.c
 */
/* Returns the kind that word (len bytes) names; OBJECT_KINDS: no type has that name. */
enum object_kind_id target_kind(const char *word, size_t len);
/* Returns the shortest name that users type for the kind, such as "pool". */
const char *target_word(enum object_kind_id kind);
/* List of all types, for errors and help */
#define TARGET_KINDS "machines, claims, pools, tenants, drains, wipes, providers, burstpolicies"

#endif
