#ifndef CONTROLLER_LIFE_PROGRESS_H
#define CONTROLLER_LIFE_PROGRESS_H

#include "controller/life/life.h"

/*
 * progress: writes the agent's progress to status.operation.progress, for humans.
 */

/* Writes the agent's last progress report for `order` (its id) to status.operation.progress, at
 * limited intervals. */
void life_progress(struct life *l, const char *order);

#endif
