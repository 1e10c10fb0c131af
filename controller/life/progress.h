#ifndef CONTROLLER_LIFE_PROGRESS_H
#define CONTROLLER_LIFE_PROGRESS_H

#include "controller/life/life.h"

/*
 * progress: what an agent says of an order, into status now and then.
 */

/* What the agent said last of that order goes into status.operation.progress, now and then. */
void life_progress(struct life *l, const char *order);

#endif
