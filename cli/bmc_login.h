#ifndef CLI_BMC_LOGIN_H
#define CLI_BMC_LOGIN_H

#include "base/arena.h"
#include "cli/client.h"

/*
 * bmc_login: the BMC of a Machine and what is needed to log in to it, by the rights of whoever
 * asks. The password goes where the controller may send it, and nowhere else (status.trustedBMC).
 * Tests: tests/unit/cli/test_console.c, tests/unit/cli/test_bmc.c
 */
struct cli_bmc {
	/* in the arena, as p */
	const struct machine *m;
	const struct provider_object *p;
	/* name of the Secret */
	const char *login;
	/* ca: NULL: none */
	struct secret *user, *password, *ca;
};

/* Machine and Provider.  -1 with e, as below. */
int cli_bmc_read(struct cli_client *c, struct arena *a, const char *machine, struct cli_bmc *out,
		 struct err *e);
/* Its Secrets, of namespace ns, if its BMC is the one that was approved. */
int cli_bmc_login(struct cli_client *c, const char *ns, struct cli_bmc *b, struct err *e);
void cli_bmc_done(struct cli_bmc *b);

#endif
