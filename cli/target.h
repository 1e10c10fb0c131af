#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "api/kinds.h"

/*
 * target: the types that a person names on the command line: those of the API in all their names,
 * with or without group (machine, machines, Machine, nodepools.drover.dev), and drover's own words:
 * claims, pools, tenants, wipes.
 * Tests: tests/unit/cli/test_get.c
 */
/* word: of len bytes.  OBJECT_KINDS: no type is called that. */
enum object_kind_id target_kind(const char *word, size_t len);
/* All of them, for errors and help. */
#define TARGET_KINDS "machines, claims, pools, tenants, drains, wipes, providers, burstpolicies"

#endif
