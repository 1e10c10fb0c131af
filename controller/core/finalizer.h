#ifndef CONTROLLER_CORE_FINALIZER_H
#define CONTROLLER_CORE_FINALIZER_H

#include <stdbool.h>
#include "base/data/json.h"
#include "base/data/fields.h"

/*
 * finalizer: metadata.finalizers with ours put in or taken out, as a patch may write it: the others
 * stay, in their order. Pure. status_writer.h writes it.
 * Tests: tests/unit/controller/core/test_finalizer.c
 */

bool finalizer_is_on(const struct strings *have, const char *name);

/* The list with it, at the end; NULL: it is there already.  Gives. */
json_t *finalizer_with(const struct strings *have, const char *name);
/* The list without it; NULL: it is not there.  Gives. */
json_t *finalizer_without(const struct strings *have, const char *name);

#endif
