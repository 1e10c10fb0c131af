#ifndef CONTROLLER_STEPS_STOPPING_H
#define CONTROLLER_STEPS_STOPPING_H

#include "controller/life/life.h"

/*
 * stopping: checks that the states stopping, isolating and leaving share: whether the machine is
 * off, and whether it is isolated.
 * Tests: tests/world/test_leave.c
 */
/* True if an Off of the BMC can be believed in this operation. False if the machine's kubelet or
 * drover's agent was heard after the BMC had reported Off. In that case status shows the
 * contradiction, or is being written. */
bool life_ensure_undoubted(struct life *l);
/* True if the machine has been off for the minimumOffTime of its instance type. off_for: time for
 * which the machine has been off, in ms. Otherwise schedules a turn for the end of the
 * minimumOffTime and returns false. */
bool life_ensure_rested(struct life *l, int64_t off_for);
/* True if the port is proved to be in the quarantine segment. Otherwise starts the missing
 * observation, move or write and returns false. If the pool's isolation is NotRequired, also
 * returns true after a minute in isolating, and always in the states after it. */
bool life_ensure_isolated(struct life *l);

/* Requests the heartbeat of the machine's kubelet (the Lease of its Node), at most once a second.
 * Call from the moment when the last pod has gone. To prove the machine off, its kubelet must be
 * silent for some time; with this call, that time can begin while the machine is still being
 * drained. */
void life_beat_listen(struct life *l);
/* Cancels the request for a heartbeat if it uses the client of t, which is about to be freed. */
void life_beat_hang_up(struct life *l, const struct tenant *t);

#endif
