#ifndef CLI_CONSOLE_H
#define CLI_CONSOLE_H

#include "cli/client.h"

/*
 * console: `drover console`: opens the serial console of an IPMI machine on this terminal, with
 * ipmitool.
 *
 * The command uses the caller's rights: it reads the password from its Secret with the caller's
 * kubeconfig. Therefore only callers who can read the password anyway get a console, and the
 * controller offers no console access. The password is sent only to a BMC to which the controller
 * may send it (status.trustedBMC). ipmitool gets the password in a memory file (base/secret.h).
 * Tests: tests/unit/cli/test_console.c, tests/real/ipmi.py
 */
struct cli_console {
	/* name of the Machine, and namespace of the Secret with its password */
	const char *machine, *ns;
	/* true: first end the session, if any, in which another user has the console open */
	bool take;
	/* path of ipmitool */
	const char *program;
};

/* Opens the console: replaces this process by ipmitool. Returns only on failure: 1, after printing
 * the cause. */
int cli_do_console(struct cli_client *c, const struct cli_console *o);

#endif
