#ifndef CONTROLLER_HARDWARE_LOGIN_GUARD_H
#define CONTROLLER_HARDWARE_LOGIN_GUARD_H

#include "controller/core/context.h"

/*
 * login_guard: lets one machine try the login of a Secret first. Many BMCs may share this login,
 * and a wrong password that is sent to all of them would lock the account everywhere.
 *
 * For each version of a Secret, the first machine that asks is the scout: it tries the login. The
 * other machines wait for the answer of the scout's BMC. If the login is accepted, all machines log
 * in. If it is refused, no machine tries until the Secret changes, or until `drover retry` of the
 * refused machine. If a scout's BMC has not answered after 5 s, the next machine becomes a second
 * scout, so that one slow or dead BMC does not delay a thousand machines. At most three scouts try
 * at a time. A scout whose try failed, or that has had no answer for 30 s, is replaced.
 *
 * status.bmc.secretVersion and refusedSecretVersion of the Machines pass the results on to the next
 * leader.
 * Tests: tests/world/test_login_guard.c
 */
struct login_guard;
struct machine_index;

/* State of one machine's login attempt. */
struct login_try {
	/* version of the Secret with which the BMC was attached; NULL: the BMC is not attached */
	const char *version;
	/* True: the BMC has accepted the login */
	bool accepted;
	/* True: the BMC answered with an error other than a refused login */
	bool failed;
};

/* Creates the guard. index must outlive it. try_of() fills *out with the state of a machine's
 * login; it returns false if there is no such machine. */
struct login_guard *login_guard_new(struct context *c, const struct machine_index *index,
				    bool (*try_of)(const char *machine, struct login_try *out,
						   void *arg),
				    void *arg);
void login_guard_free(struct login_guard *s);

/* True if the machine may log in to its BMC with this version of the Secret, or if s is NULL. If
 * false, ask again in a second; *refused_by: name of the machine whose BMC refused this version, or
 * NULL. */
bool login_guard_admit(struct login_guard *s, const char *machine, const char *version,
		       const char **refused_by);

#endif
