#ifndef CONTROLLER_STEPS_STOPPING_H
#define CONTROLLER_STEPS_STOPPING_H

#include "controller/life/life.h"

/*
 * stopping: what stopping, isolating and leaving share: is the machine off, and is it isolated?
 * Tests: tests/world/test_leave.c
 */
/* True if the BMC's Off can be believed in this operation. False: the machine's kubelet or drover's
 * agent was heard after it; that is reported or being written. */
bool life_ensure_undoubted(struct life *l);
/* True if the machine has been off for the minimumOffTime of its instance type. Otherwise schedules
 * a turn for the end of that time. */
bool life_ensure_rested(struct life *l, int64_t off_for);
/* True if the port is proved to be in the quarantine segment. Otherwise starts what is missing. If
 * the pool's isolation is NotRequired, isolating tries for a minute, and leaving does not require
 * it. */
bool life_ensure_cut(struct life *l);

/* Requests the heartbeat of the machine's kubelet, at most once a second. Called from when the last
 * pod has gone, so that the time in which a kubelet would fall silent if the machine is off passes
 * while the machine is still being drained. */
void life_beat_listen(struct life *l);
/* Stops requesting heartbeats through the client of t, which is about to be freed. */
void life_beat_hang_up(struct life *l, const struct tenant *t);

#endif
