#ifndef CLI_BMC_H
#define CLI_BMC_H

#include "cli/client.h"

/*
 * bmc: `drover bmc probe`: shows how drover would use a BMC and what the BMC lacks. The probe reads
 * with the Redfish client of the controller, and changes nothing (providers/bmc_check.h).
 * Tests: tests/unit/cli/test_bmc.c, tests/contract/test_bmc_check.c
 */
struct cli_bmc_probe {
	/* URL of a BMC, or name of a Machine. For a Machine, the address, login and certificate of
	 * its BMC are used. */
	const char *what;
	/* login and certificate of the BMC; set only if `what` is a URL */
	const char *user, *password_file, *ca_file, *fingerprint;
	/* namespace of the Secrets; used only if `what` is a Machine */
	const char *ns;
	/* true: allow http:// (tests) */
	bool plain_ok;
};
/* Probes the BMC o->what and prints the findings. c: connected to the host cluster, which is
 * needed only for a Machine. Returns the exit status; 1: something is wrong, or the BMC could
 * not be read. */
int cli_do_bmc_probe(struct cli_client *c, const struct cli_bmc_probe *o);

#endif
