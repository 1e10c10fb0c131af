#ifndef CLI_BMC_LOGIN_H
#define CLI_BMC_LOGIN_H

#include "base/arena.h"
#include "cli/client.h"

/*
 * bmc_login: reads the BMC of a Machine and the user name and password for it, with the caller's
 * own rights. Fails for a BMC to which the controller would not send the password
 * (status.trustedBMC).
 * Tests: tests/unit/cli/test_console.c, tests/unit/cli/test_bmc.c
 */
struct cli_bmc {
	/* the Machine and its Provider, allocated in the arena of cli_bmc_read() */
	const struct machine *m;
	const struct provider_object *p;
	/* name of the Secret with user name and password */
	const char *login;
	/* values that cli_bmc_login() read; ca: CA certificate of the BMC, NULL: none */
	struct secret *user, *password, *ca;
};

/* Reads the Machine and its Provider into *out. Returns 0, or -1 with *e. */
int cli_bmc_read(struct cli_client *c, struct arena *a, const char *machine, struct cli_bmc *out,
		 struct err *e);
/* Reads the BMC's password, user name and CA from Secrets in namespace ns into *b, which
 * cli_bmc_read() has filled. Fails before it reads the password if the BMC is not the one in
 * status.trustedBMC. Returns 0, or -1 with *e. Free the secrets with cli_bmc_done(). */
int cli_bmc_login(struct cli_client *c, const char *ns, struct cli_bmc *b, struct err *e);
void cli_bmc_done(struct cli_bmc *b);

#endif
