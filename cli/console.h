#ifndef CLI_CONSOLE_H
#define CLI_CONSOLE_H

#include "cli/client.h"

/*
 * console: `drover console`: the serial console of a machine behind IPMI, by ipmitool on this
 * terminal.
 *
 * It runs with the rights of whoever asks: the password is read from its Secret by his own
 * kubeconfig, so drover gives nobody a console who could not have it without drover, and the
 * controller has no way in for people. The password goes where the controller may send it, and
 * nowhere else (status.trustedBMC), by a file in memory (base/secret.h).
 * Tests: tests/unit/cli/test_console.c, tests/real/ipmi.py
 */
struct cli_console {
	/* ns: of the Secret */
	const char *machine, *ns;
	/* end the session that holds it first */
	bool take;
	/* ipmitool's path */
	const char *program;
};

/* Becomes ipmitool.  It comes back only if it cannot, having said why: 1. */
int cli_do_console(struct cli_client *c, const struct cli_console *o);

#endif
