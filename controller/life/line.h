#ifndef CONTROLLER_LIFE_LINE_H
#define CONTROLLER_LIFE_LINE_H

#include "controller/life/life.h"

/*
 * line: how long calls of one machine wait in the line of its Provider (limits of pace and places,
 * providers/jobs.h), which is no silence of its BMC: it is told by a reason of its own, and eats no
 * deadline.
 */
/* a call was handed to the driver, or is about to be */
void life_line_asked(struct life *l);
/* as provider_call.begun */
void life_line_begun(int64_t waited_ms, void *arg /* struct life */);
/* no call waits any more: answered, or dropped */
void life_line_left(struct life *l);

/* a look or an act does, now */
bool life_line_waits(const struct life *l);

/* It waits for long: say so. */
void life_line_tell(struct life *l);
/* False: what was said of it is over, and that is being written. */
bool life_ensure_line_settled(struct life *l);
/* The state's deadline has passed by the clock. False: it has not, for the line took so long; that
 * is being written. */
bool life_ensure_line_counted(struct life *l);

#endif
