#ifndef SIM_BMC_BMC_H
#define SIM_BMC_BMC_H

#include "base/httpd/httpd.h"
#include "sim/machine/machine.h"

/*
 * bmc: the simulated Redfish service of one machine (DMTF DSP0266 1.20, schemas 2023.3). It serves
 * ServiceRoot, SessionService (8 sessions, idle timeout), AccountService (accounts, roles,
 * lockout), Systems/1 (power with transitional states, boot override with AllowableValues and
 * ActionInfo, BootProgress), Chassis, Managers/1 with VirtualMedia (InsertMedia, EjectMedia),
 * TaskService (202 with Location for `Prefer: respond-async`), EventService (SSE stream,
 * subscriptions refused), ETags with If-Match, $metadata, odata, Registries, and JsonSchemas as
 * references. It is tested with sushy, redfishtool and the Redfish Protocol Validator; docs/sim.md
 * lists every exception.
 *
 * With a dialect (dialect.h) the resources are those of the dialect's tree. Power, boot override,
 * media, sessions, tasks and events are simulated on top of them, with the quirks of that make.
 *
 * The BMC sets the machine's `changed` callback. Free the BMC before its machine, and after the
 * httpd that serves it.
 */
#define SIM_BMC_BODY_MAX 65536 /* Largest body of a request, in bytes. */
struct sim_bmc;
struct sim_dialect;
/* Creates a BMC. d: dialect, which must outlive the BMC; NULL: the BMC follows the
 * specification. */
struct sim_bmc *sim_bmc_new(struct loop_group *g, struct sim_machine *m,
			    const struct sim_dialect *d, const char *user,
			    const struct secret *password);
/* Returns the path of the System, for example "/redfish/v1/Systems/1". */
const char *sim_bmc_system(const struct sim_bmc *b);
void sim_bmc_free(struct sim_bmc *b);
/* Handles one request under /redfish. */
void sim_bmc_handle(struct httpd_req *q, struct sim_bmc *b);

#endif
