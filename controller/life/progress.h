#ifndef CONTROLLER_LIFE_PROGRESS_H
#define CONTROLLER_LIFE_PROGRESS_H

#include "controller/life/life.h"

/*
 * progress: writes the agent's progress with its order to status.operation.progress.
 */

/* Writes the agent's last progress report for this order to status.operation.progress, at limited
 * intervals. */
void life_progress(struct life *l, const char *order);

#endif
