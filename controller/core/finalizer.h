#ifndef CONTROLLER_CORE_FINALIZER_H
#define CONTROLLER_CORE_FINALIZER_H

#include <stdbool.h>
#include "base/data/json.h"
#include "base/data/fields.h"

/*
 * finalizer: adds drover's finalizer to metadata.finalizers or removes it, as a list for a patch;
 * other finalizers stay, in their order. Pure functions; status_writer.h writes the patch.
 * Tests: tests/unit/controller/core/test_finalizer.c
 */

bool finalizer_is_on(const struct strings *have, const char *name);

/* Returns a new list with name appended, which the caller owns; NULL: name is already in have. */
json_t *finalizer_with(const struct strings *have, const char *name);
/* Returns a new list without name, which the caller owns; NULL: name is not in have. */
json_t *finalizer_without(const struct strings *have, const char *name);

#endif
