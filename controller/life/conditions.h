#ifndef CONTROLLER_LIFE_CONDITIONS_H
#define CONTROLLER_LIFE_CONDITIONS_H

#include "controller/life/life.h"

/*
 * conditions: computes the conditions Ready, Reachable, Managed, BootProtected and Healthy of a
 * Machine.
 */

/* Returns the list of all conditions of the Machine as they will be after the patch `status` (NULL:
 * no patch), as a new reference that the caller owns. NULL: the conditions in status are up to
 * date. life_write() adds the list to its patch. */
json_t *life_conditions(const struct life *l, const json_t *status);

#endif
