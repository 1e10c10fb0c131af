#ifndef CONTROLLER_STEPS_STOPPING_H
#define CONTROLLER_STEPS_STOPPING_H

#include "controller/life/life.h"

/*
 * stopping: what stopping, isolating and leaving ask alike: is the machine off, and is it cut off?
 * Tests: tests/world/test_leave.c
 */
/* The BMC's Off is not believed in this operation, because its kubelet or our agent was heard
 * since; says so. */
bool life_doubted(struct life *l);
/* Off for the minimumOffTime of its instance type; else looks again when that is over. */
bool life_rested(struct life *l, int64_t off_for);
/* In the quarantine segment, proved.  Where its pool says that isolation is NotRequired, isolating tries that for
 * a minute, and leaving does not ask.  Starts what is missing. */
bool life_cut(struct life *l);

#endif
