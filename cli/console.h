#ifndef CLI_CONSOLE_H
#define CLI_CONSOLE_H

#include "cli/client.h"

/*
 * console: `drover console`: opens the serial console of an IPMI machine on this terminal, with
 * ipmitool.
 *
 * It uses the caller's rights: the password is read from its Secret with the caller's kubeconfig.
 * So nobody gets a console who could not read the password without drover, and the controller
 * offers no console access. The password is only sent to a BMC to which the controller may send it
 * (status.trustedBMC), and is passed to ipmitool in a memory file (base/secret.h).
 * Tests: tests/unit/cli/test_console.c, tests/real/ipmi.py
 */
struct cli_console {
	/* ns: namespace of the Secret. */
	const char *machine, *ns;
	/* First end the session that has the console. */
	bool take;
	/* Path of ipmitool. */
	const char *program;
};

/* Replaces this process by ipmitool. Returns only on failure: 1, after printing the cause. */
int cli_do_console(struct cli_client *c, const struct cli_console *o);

#endif
