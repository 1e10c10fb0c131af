#ifndef CONTROLLER_LIFE_PROGRESS_H
#define CONTROLLER_LIFE_PROGRESS_H

#include "controller/life/life.h"

/*
 * progress: writes how far the agent is with its order into status.operation.progress.
 */

/* What the agent said last of that order goes into status.operation.progress, now and then. */
void life_progress(struct life *l, const char *order);

#endif
