#ifndef CONTROLLER_HARDWARE_LOGIN_GUARD_H
#define CONTROLLER_HARDWARE_LOGIN_GUARD_H

#include "controller/life/life.h"

/*
 * scout: a Secret that many BMCs share is tried on one of them first, so that a wrong password does not lock
 * the account on all.
 *
 * For each version of a Secret: the first machine that asks is the scout; the others wait until its
 * BMC has answered.  Accepted: all log in.  Refused: nobody tries until the Secret changes, or
 * `drover retry` of the machine that was refused.  A scout whose BMC does not answer is relieved after 30 s.
 *
 * status.bmc.secretVersion and refusedSecretVersion of the Machines say it to the next leader.
 * Tests: tests/world/test_scout.c
 */
struct login_guard;
struct login_guard *login_guard_new(struct controller *c);
void login_guard_free(struct login_guard *s);

/* May its BMC be logged in to with the Secret that it was attached with?  False: ask again in a second;
 * *refused_by is the machine whose BMC refused it, or NULL.  s NULL: always. */
bool login_guard_admit(struct login_guard *s, const struct life *l, const char **refused_by);

#endif
