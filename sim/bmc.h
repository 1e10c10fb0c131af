#ifndef SIM_BMC_H
#define SIM_BMC_H

#include "base/httpd/httpd.h"
#include "sim/machine.h"

/*
 * bmc: the Redfish service of one machine (DMTF DSP0266 1.20, schemas 2023.3 as far as they are
 * served): ServiceRoot, SessionService (8 sessions, idle timeout), AccountService (accounts, roles,
 * lockout), Systems/1 (power with transitional states, boot override with AllowableValues and
 * ActionInfo, BootProgress), Chassis, Managers/1 with VirtualMedia (InsertMedia, EjectMedia),
 * TaskService (202 with Location for `Prefer: respond-async`), EventService (SSE stream,
 * subscriptions refused), ETags with If-Match, $metadata, odata, Registries, JsonSchemas as
 * references. Tested with sushy, redfishtool and the Redfish Protocol Validator; every exception is
 * in docs/sim.md.
 *
 * With a dialect (dialect.h) the resources are those of its tree. Power, boot override, media,
 * sessions, tasks and events are simulated on top of them, with the quirks of that make.
 *
 * The BMC sets the machine's `changed`. Free the BMC before its machine, and after the httpd that
 * serves it.
 */
#define SIM_BMC_BODY_MAX 65536 /* Longest body of a request. */
struct sim_bmc;
struct sim_dialect;
/* d: borrowed; NULL: the BMC follows the specification. */
struct sim_bmc *sim_bmc_new(struct loop_group *g, struct sim_machine *m,
			    const struct sim_dialect *d, const char *user,
			    const struct secret *password);
/* Returns the path of the System. */
const char *sim_bmc_system(const struct sim_bmc *b);
void sim_bmc_free(struct sim_bmc *b);
/* Handles every request under /redfish. */
void sim_bmc_handle(struct httpd_req *q, struct sim_bmc *b);

#endif
