#ifndef CONTROLLER_LIFE_LINE_H
#define CONTROLLER_LIFE_LINE_H

#include "controller/life/life.h"

/*
 * line: measures how long calls of one machine wait in the machine queue of its Provider (limits on
 * rate and concurrency, providers/jobs.h). This wait is not the BMC's fault: it has its own reason
 * (CallsPaced) and does not count against the state's deadline.
 */
/* A call was handed to the driver, or is about to be. */
void life_line_asked(struct life *l);
/* Has the signature of provider_call.begun: a call left the queue after waited_ms. */
void life_line_begun(int64_t waited_ms, void *arg);
/* No call waits any more: it was answered or dropped. */
void life_line_left(struct life *l);

/* True if a read of the BMC or an act waits in the queue now. */
bool life_line_waits(const struct life *l);

/* Calls life_wait() with CallsPaced once the wait is long. */
void life_line_tell(struct life *l);
/* True unless status still says CallsPaced although no call waits. Otherwise clears it and returns
 * false. */
bool life_ensure_line_settled(struct life *l);
/* Call when the state's deadline has passed. False if calls of this state waited in the queue: the
 * deadline is then moved by that time. */
bool life_ensure_line_counted(struct life *l);

#endif
