#ifndef CLI_BMC_H
#define CLI_BMC_H

#include "cli/client.h"

/*
 * bmc: `drover bmc probe`: shows how drover would use a BMC and what the BMC lacks. It reads with
 * the client that drover uses, and changes nothing (providers/bmc_check.h).
 * Tests: tests/unit/cli/test_bmc.c, tests/contract/test_bmc_check.c
 */
struct cli_bmc_probe {
	/* An address, or the name of a Machine whose BMC address, login and certificate are
	 * used. */
	const char *what;
	/* Only for an address. */
	const char *user, *password_file, *ca_file, *fingerprint;
	/* Namespace of a Machine's Secrets. */
	const char *ns;
	/* Allows http:// (tests). */
	bool plain_ok;
};
/* Probes a BMC and prints the findings. c: connected to the host cluster for a Machine; not needed
 * for an address. Returns the exit status; 1: something is wrong, or the BMC could not be read. */
int cli_do_bmc_probe(struct cli_client *c, const struct cli_bmc_probe *o);

#endif
