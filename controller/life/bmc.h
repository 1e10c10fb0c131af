#ifndef CONTROLLER_LIFE_BMC_H
#define CONTROLLER_LIFE_BMC_H

#include "controller/life/life.h"

/*
 * bmc: reads the machine's BMC, and proves by two reads that the machine is off.
 * Tests: tests/world/test_leave.c, tests/unit/controller/life/test_conditions.c
 */

/* True if the last observation of the BMC is at most max_age_ms old and its read began after the
 * last act had ended. Otherwise starts a read and returns false; if the read takes longer than 10
 * s, status shows BmcSlow.
 *
 * The age counts from the start of the read. It counts from the end of the read if the read started
 * after the present state first asked for one; otherwise a slow BMC would make every read too old.
 * Acts do not rely on this age: they read the BMC themselves, see power.h. */
bool life_ensure_observed(struct life *l, int64_t max_age_ms);

/* True if the machine is proved off by two reads that are settle_ms apart. Both began after the
 * last power request, reported Off and the same identity, and no read between them failed or
 * reported anything else. Otherwise starts or schedules what is missing. */
bool life_ensure_off_proved(struct life *l);

/* Initialises the observation state of a new life. */
void life_observation_init(struct life *l);
/* Forgets when the present state first wanted an observation of the BMC. Call on a change of
 * state. */
void life_observation_over(struct life *l);
/* Forgets the last observation, and ignores that a read is in flight. Call when the machine was
 * attached to a different BMC, or another replica leads. */
void life_observation_forget(struct life *l);
/* Resets the back-off after failed reads, so that the next read can start at once. */
void life_observation_retry(struct life *l);
/* Restarts the proof that the machine is off: only reads from now on count. Call when other
 * evidence contradicts a BMC that reports Off. */
void life_observation_doubt(struct life *l);

#endif
