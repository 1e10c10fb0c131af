#ifndef CONTROLLER_LIFE_CONDITIONS_H
#define CONTROLLER_LIFE_CONDITIONS_H

#include "controller/life/life.h"

/*
 * conditions: the conditions Ready, Reachable, Managed, BootProtected and Healthy of a Machine.
 */

/* These as they will be with this patch of status (NULL: without one), in the list of all of them;
 * gives. NULL: they stand there already. life_write() puts them into what it writes. */
json_t *life_conditions(const struct life *l, const json_t *status);

#endif
