#ifndef CONTROLLER_HARDWARE_LOGIN_GUARD_H
#define CONTROLLER_HARDWARE_LOGIN_GUARD_H

#include "controller/core/context.h"

/*
 * login_guard: a Secret that many BMCs share is tried on one of them first, so that a wrong
 * password does not lock the account on all.
 *
 * For each version of a Secret: the first machine that asks is the scout; the others wait until its
 * BMC has answered. Accepted: all log in. Refused: nobody tries until the Secret changes, or
 * `drover retry` of the machine that was refused. A scout whose BMC has not answered after 5 s is
 * joined by another, so that a slow or dead one does not hold a thousand up: never more than three
 * are tried at once, and one that has failed, or said nothing for 30 s, is replaced.
 *
 * status.bmc.secretVersion and refusedSecretVersion of the Machines say it to the next leader.
 * Tests: tests/world/test_login_guard.c
 */
struct login_guard;
struct machine_index;

/* How the machine that tries a login stands. */
struct login_try {
	/* of the Secret that its BMC was attached with; NULL: not attached */
	const char *version;
	/* its BMC has answered */
	bool accepted;
	/* ... with an error that is no refusal */
	bool failed;
};

/* index: outlives it.  try: asks for the state of a machine; false: there is none of that name. */
struct login_guard *login_guard_new(struct context *c, const struct machine_index *index,
				    bool (*try_of)(const char *machine, struct login_try *out,
						   void *arg),
				    void *arg);
void login_guard_free(struct login_guard *s);

/* May the BMC of this machine be logged in to with that version of a Secret? False: ask again in a
 * second; *refused_by is the machine whose BMC refused it, or NULL. s NULL: always. */
bool login_guard_admit(struct login_guard *s, const char *machine, const char *version,
		       const char **refused_by);

#endif
