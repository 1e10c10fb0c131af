#ifndef CONTROLLER_LIFE_BMC_H
#define CONTROLLER_LIFE_BMC_H

#include "controller/life/life.h"

/*
 * bmc: reads the BMC, and proves by two reads that the machine is off.
 * Tests: tests/world/test_leave.c, tests/unit/controller/life/test_conditions.c
 */

/* There is a look at the BMC that was begun after the last act and is not older than max_age_ms.
 * The age of one that was begun after this state first wanted one counts from its answer: so it is
 * good enough however long the BMC needs for a request. (An act does not rely on this age: it looks
 * itself, see power.h.) False: one is on its way, and after 10 s without an answer the machine says
 * so. */
bool life_ensure_looked(struct life *l, int64_t max_age_ms);

/* Off, proved: two reads that say so, settle_ms apart, with no other answer between them, of one
 * identity, both later than the last power request. */
bool life_ensure_off_proved(struct life *l);

/* Of a new life. */
void life_look_init(struct life *l);
/* Its state is another: looks that it wanted before are not what it wants now. */
void life_look_over(struct life *l);
/* What was seen, and a look that is on its way: the BMC is another one's, or another leads. */
void life_look_forget(struct life *l);
/* The next one need not wait for the backoff. */
void life_look_retry(struct life *l);
/* Off is counted from now on: something else spoke against it. */
void life_look_doubt(struct life *l);

#endif
