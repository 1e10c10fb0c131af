#ifndef CONTROLLER_LIFE_BMC_H
#define CONTROLLER_LIFE_BMC_H

#include "controller/life/life.h"

/*
 * bmc: reads the BMC, and proves by two reads that the machine is off.
 * Tests: tests/world/test_leave.c, tests/unit/controller/life/test_conditions.c
 */

/* True if there is an observation of the BMC that began after the last act and is at most
 * max_age_ms old. The age counts from the start of the read. If the read started after the current
 * state first asked for one, its age counts from its end, so that a slow BMC does not make every
 * read too old. (Acts do not rely on this age: they read the BMC themselves, see power.h.)
 * Otherwise starts a read and returns false; after 10 s without an answer, status says BmcSlow. */
bool life_ensure_looked(struct life *l, int64_t max_age_ms);

/* True if the machine is proved off: two reads say Off, settle_ms apart, with no other answer
 * between them, of the same identity, both later than the last power request. */
bool life_ensure_off_proved(struct life *l);

/* Initialises the observation state of a new life. */
void life_look_init(struct life *l);
/* Forgets, on a change of state, when the state before first wanted an observation. */
void life_look_over(struct life *l);
/* Forgets the last observation and any read in flight. Call when the machine was attached to a
 * different BMC, or another replica leads. */
void life_look_forget(struct life *l);
/* Resets the back-off, so that the next read can start at once. */
void life_look_retry(struct life *l);
/* Restarts the proof of off at the present time, because other evidence contradicts the BMC. */
void life_look_doubt(struct life *l);

#endif
