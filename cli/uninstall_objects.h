#ifndef CLI_UNINSTALL_OBJECTS_H
#define CLI_UNINSTALL_OBJECTS_H

#include "api/kinds.h"

/*
 * uninstall_objects: what an object of drover loses if it is deleted without drover. Pure
 * functions.
 * Tests: tests/unit/cli/test_uninstall.c
 */

/* True for the name of a finalizer that drover sets. */
bool uninstall_is_drovers(const char *finalizer);
/* Returns what is lost, as text in the arena, if the finalizers of drover are removed from object o
 * and o is deleted; "" if nothing but the object itself is lost. */
const char *uninstall_loses(enum object_kind_id kind, const json_t *o, struct arena *a);

#endif
