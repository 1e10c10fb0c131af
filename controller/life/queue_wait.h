#ifndef CONTROLLER_LIFE_QUEUE_WAIT_H
#define CONTROLLER_LIFE_QUEUE_WAIT_H

#include "controller/life/life.h"

/*
 * queue_wait: measures how long calls of one machine wait in the machine queue of its Provider,
 * which limits rate and concurrency (providers/jobs.h). This wait is not the BMC's fault. Therefore
 * it has its own reason (CallsPaced) and does not count against the state's deadline.
 */
/* Records that a call was handed to the driver, or is about to be: from now on the call waits in
 * the queue. */
void life_queue_asked(struct life *l);
/* Records that a call left the queue after waited_ms milliseconds, and adds waited_ms to the total
 * wait of the present state. Has the signature of provider_call.begun; arg: struct life. */
void life_queue_begun(int64_t waited_ms, void *arg);
/* Records that no call waits any more, because the call was answered or dropped. */
void life_queue_left(struct life *l);

/* True if a read of the BMC or an act waits in the queue now. */
bool life_queue_waits(const struct life *l);

/* If a read or an act (a request that changes the machine) has waited in the machine queue for 2
 * min (TELL_MS), reports that in status with the reason CallsPaced (life_wait()). If it has waited
 * less, starts l->timer to check again. */
void life_queue_report(struct life *l);
/* True unless status still shows CallsPaced although no call waits. In that case clears the reason,
 * and returns false. */
bool life_ensure_queue_settled(struct life *l);
/* Call when the state's deadline has passed. True if no call of this state has waited in the queue
 * since the deadline was last moved. Otherwise moves the deadline by the time waited, and returns
 * false. */
bool life_ensure_queue_counted(struct life *l);

#endif
