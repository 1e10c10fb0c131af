#ifndef CLI_BMC_LOGIN_H
#define CLI_BMC_LOGIN_H

#include "base/arena.h"
#include "cli/client.h"

/*
 * bmc_login: reads the BMC of a Machine and the login for it, with the caller's own rights. The
 * password is only used for a BMC to which the controller may send it (status.trustedBMC).
 * Tests: tests/unit/cli/test_console.c, tests/unit/cli/test_bmc.c
 */
struct cli_bmc {
	/* m and p are allocated in the arena given to cli_bmc_read(). */
	const struct machine *m;
	const struct provider_object *p;
	/* Name of the Secret with user name and password. */
	const char *login;
	/* ca: NULL: none. */
	struct secret *user, *password, *ca;
};

/* Reads the Machine and its Provider. Returns 0, or -1 with e. */
int cli_bmc_read(struct cli_client *c, struct arena *a, const char *machine, struct cli_bmc *out,
		 struct err *e);
/* Reads the Secrets of the machine in namespace ns, if its BMC is the approved one. Returns 0, or
 * -1 with e. */
int cli_bmc_login(struct cli_client *c, const char *ns, struct cli_bmc *b, struct err *e);
void cli_bmc_done(struct cli_bmc *b);

#endif
