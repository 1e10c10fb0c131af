#ifndef CONTROLLER_CORE_FINALIZER_H
#define CONTROLLER_CORE_FINALIZER_H

#include <stdbool.h>
#include "base/data/json.h"
#include "base/data/fields.h"

/*
 * finalizer: computes the list for a patch of metadata.finalizers, with one finalizer added or
 * removed. Other finalizers stay, in their order. Pure functions; status_writer.h writes the patch.
 * Tests: tests/unit/controller/core/test_finalizer.c
 */

bool finalizer_is_on(const struct strings *have, const char *name);

/* Returns a new list: `have` with `name` appended. The caller owns the list. NULL: have already
 * contains name. */
json_t *finalizer_with(const struct strings *have, const char *name);
/* Returns a new list: `have` without `name`. The caller owns the list. NULL: have does not contain
 * name. */
json_t *finalizer_without(const struct strings *have, const char *name);

#endif
