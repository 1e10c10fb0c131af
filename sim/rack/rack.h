#ifndef SIM_RACK_RACK_H
#define SIM_RACK_RACK_H

#include "base/http/http.h"
#include "base/httpd/httpd.h"
#include "base/secret.h"
#include "sim/machine/faults.h"
#include "sim/machine/machine.h"

/*
 * rack: machines 1..N behind one HTTP server. The BMC of machine N has the address 127.10.H.L, with
 * H = N / 250 and L = N % 250 + 1. One listener on all loopback addresses serves all BMCs; the Host
 * header selects the BMC. Beside /redfish/v1 of each BMC, the server has requests for users and for
 * the switch driver (ports.h):
 *
 *   GET  /sim/machines                   state, drives and segment of each machine
 *   POST /sim/machines/NAME/pull-drive   {"drive": 0, "pulled": true} pulls or restores a drive
 *   POST /sim/machines/NAME/plug         {"in": false} removes mains power
 *   POST /sim/machines/NAME/press        presses the power button
 *   GET, POST, DELETE /sim/faults        injected faults, in rows as in faults.h
 *   DELETE /sim/faults/NAME              removes the faults of one machine
 *   GET, PUT /sim/ports/MAC              {"segment": "...", "fence": 3}; 409 if fence is lower than
 *                                        the highest seen
 *
 * State (power, drives, ports and boot counts, but not sessions) is stored under `data` and
 * survives the process. Works on the real loop and on a simulated one; everything runs on the loop
 * thread.
 */
/* Number of machines of a rack, if the number of racks is not set. */
#define SIM_RACK_MACHINES 16
struct sim_rack_spec {
	unsigned machines;
	/* Number of racks that share the machines, at most one for each machine; 0 means one for
	 * each SIM_RACK_MACHINES machines. The label topology.drover.dev/rack of the Machine
	 * objects has their names: that of the Provider for a single rack, else NAME-1 to NAME-N,
	 * with leading zeros from ten racks on. */
	unsigned racks;
	/* Number of drives of each machine; 0 means 2. */
	unsigned drives;
	/* Size of each drive in bytes (stored sparsely); 0 means 16 GiB. */
	int64_t drive_bytes;
	/* State directory; NULL: state only in memory. */
	const char *data;
	const char *user;
	const struct secret *password;
	/* HTTP client with which machines fetch media and call the agent endpoint and API
	 * servers. */
	struct http *http;
	/* Printf format of a BMC's base URL, for sim_rack_objects():
	 * "https://127.10.%u.%u:8443". */
	const char *endpoint_format;
	/* Durations and rates of the machines. A member that is 0 is replaced by the value of a
	 * fast laptop demo. */
	struct sim_times times;
	/* Initial faults; copied. NULL: none. */
	const struct sim_faults *faults;
	/* Segments from which the agent endpoint is reachable, NULL-terminated. NULL: quarantine
	 * and provisioning. */
	const char *const *segments_to_drover;
	/* PEM certificates, NULL-terminated, among which a node looks for the CA_CERT_HASH of its
	 * config drive. NULL: the node reads cluster-info, as kubeadm does. */
	const char *const *cluster_cas;
	/* Routes of the network; borrowed. The last entry has segment NULL. NULL: no routes. */
	const struct sim_route *routes;
	/* CA of the rack's certificate, for sim_rack_objects(). NULL: the objects trust the
	 * certificate that drover sees at first contact. */
	const char *ca_pem;
	/* URL of a BCM head node that manages the machines, for sim_rack_objects(); NULL: none. */
	const char *head_url;
	/* URL of drover's boot media, for sim_rack_objects(); NULL: the objects have none. */
	const char *media_url;
	/* URL of drover's agent endpoint, for sim_rack_objects(); NULL: the objects have none. */
	const char *agent_url;
	/* Dialects of the BMCs, used by the machines in turn (dialect.h); borrowed. NULL: all BMCs
	 * follow the specification. */
	const struct sim_dialects *dialects;
	/* True: refuses clients that are not on this computer, because the listener accepts on all
	 * addresses. */
	bool loopback_only;
	/* Bearer token that a registered node uses instead of a client certificate, for clusters
	 * that sign no certificates. NULL: the node continues to use its bootstrap token. */
	const struct secret *kubelet_token;
};
struct sim_dialects;
struct sim_rack;
struct sim_rack *sim_rack_new(struct loop_group *g, const struct sim_rack_spec *s, struct err *e);
/* Frees the rack; the httpd with its routes must be freed first. */
void sim_rack_free(struct sim_rack *r);
void sim_rack_routes(struct sim_rack *r, struct httpd *d);
/* Returns machine `number` (1..N); NULL: no such machine. */
struct sim_machine *sim_rack_machine(struct sim_rack *r, unsigned number);
unsigned sim_rack_count(const struct sim_rack *r);
/* Returns the YAML of one Provider and of the Machine objects with which drover manages this rack;
 * malloc'd. */
char *sim_rack_objects(const struct sim_rack *r, const char *provider_name);

struct loop_group *sim_rack_group(const struct sim_rack *r);

#endif
