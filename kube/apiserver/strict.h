#ifndef KUBE_APISERVER_STRICT_H
#define KUBE_APISERVER_STRICT_H

#include "base/arena.h"
#include "base/data/json.h"
#include "base/err.h"

/*
 * strict: checks the fields of built-in kinds as a strict API server checks a manifest.
 * Tests: tests/unit/kube/apiserver/test_strict.c, tests/unit/cli/simulate/test_scenario.c
 */

/* Checks an object of a core/v1 kind. Fails with ERR_INVALID and the path of the first field that
 * the kind does not have or whose value has a wrong type; with ERR_UNSUPPORTED if the kind is
 * unknown. Removes unknown fields from obj. */
int strict_check(const char *kind, json_t *obj, struct arena *a, struct err *e)
	__attribute__((warn_unused_result));

#endif
