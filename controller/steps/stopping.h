#ifndef CONTROLLER_STEPS_STOPPING_H
#define CONTROLLER_STEPS_STOPPING_H

#include "controller/life/life.h"

/*
 * stopping: what stopping, isolating and leaving ask alike: is the machine off, and is it cut off?
 * Tests: tests/world/test_leave.c
 */
/* The BMC's Off is believed in this operation. False: its kubelet or our agent was heard since, and
 * that is said or written down. */
bool life_ensure_undoubted(struct life *l);
/* Off for the minimumOffTime of its instance type.  False: it looks again when that is over. */
bool life_ensure_rested(struct life *l, int64_t off_for);
/* In the quarantine segment, proved. Where its pool says that isolation is NotRequired, isolating
 * tries that for a minute, and leaving does not ask. Starts what is missing. */
bool life_ensure_cut(struct life *l);

/* Asks for the heartbeat of its kubelet, at most once a second. Asked from when its last pod has
 * gone, the time that a kubelet would have been silent if the machine is off passes while the
 * machine is still drained. */
void life_beat_listen(struct life *l);
/* The client of this tenant is about to be freed: its heartbeat is not asked for there any more. */
void life_beat_hang_up(struct life *l, const struct tenant *t);

#endif
