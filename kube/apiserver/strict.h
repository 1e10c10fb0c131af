#ifndef KUBE_APISERVER_STRICT_H
#define KUBE_APISERVER_STRICT_H

#include "base/arena.h"
#include "base/data/json.h"
#include "base/err.h"

/*
 * strict: the fields of built-in kinds, as a strict API server judges a manifest.
 * Tests: tests/unit/kube/apiserver/test_strict.c, tests/unit/cli/simulate/test_scenario.c
 */

/* ERR_INVALID, with the path of the first field that core/v1's kind does not have or whose value
 * has another type. obj loses the fields that the kind does not have. */
int strict_check(const char *kind, json_t *obj, struct arena *a, struct err *e)
	__attribute__((warn_unused_result));

#endif
