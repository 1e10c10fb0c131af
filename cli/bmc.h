#ifndef CLI_BMC_H
#define CLI_BMC_H

#include "cli/client.h"

/*
 * bmc: `drover bmc probe`: what drover would do with a BMC, and what it would lack there. It reads
 * with the client that drover uses, and changes nothing (providers/bmc_check.h).
 * Tests: tests/unit/cli/test_bmc.c, tests/contract/test_bmc_check.c
 */
struct cli_bmc_probe {
	/* an address, or a Machine whose BMC, login and certificate are asked with */
	const char *what;
	/* of an address */
	const char *user, *password_file, *ca_file, *fingerprint;
	/* of a Machine's Secrets */
	const char *ns;
	/* http:// (tests) */
	bool plain_ok;
};
/* c: of a Machine with a host cluster, of an address without. Gives the exit status: 1: something
 * is wrong. */
int cli_do_bmc_probe(struct cli_client *c, const struct cli_bmc_probe *o);

#endif
