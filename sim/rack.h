#ifndef SIM_RACK_H
#define SIM_RACK_H

#include "base/http/http.h"
#include "base/httpd/httpd.h"
#include "base/secret.h"
#include "sim/faults.h"
#include "sim/machine.h"

/*
 * rack: machines 1..N behind one HTTP server. The BMC of machine N has the address 127.10.H.L (H,
 * L: N / 250 and N % 250 + 1), all served by one listener on all addresses of the loopback: which
 * BMC is meant is told by the Host header. Beside /redfish/v1 of each BMC the server has, for
 * people and the switch driver (ports.h):
 *
 *   GET  /sim/machines              what every machine does, its drives, its segment
 *   POST /sim/machines/NAME/pull-drive   {"drive": 0, "pulled": true}: what a person does in the aisle
 *   POST /sim/machines/NAME/plug         {"in": false}
 *   POST /sim/machines/NAME/press        the power button
 *   GET, POST, DELETE /sim/faults   what goes wrong: rows as in faults.h; DELETE /sim/faults/NAME of one machine
 *   GET, PUT /sim/ports/MAC         {"segment": "...", "fence": 3}; a lower fence than the highest seen: 409
 *
 * State (power, drives, ports, boot counts, sessions not) is kept under `data` and survives the
 * process. On the real loop or a simulated one; everything on the loop thread.
 */
/* This origin ("https://127.0.0.1:6444") is reached from this segment. One that no route names is
 * drover's own or a store of images: reached from segments_to_drover alone; without any routes a
 * tenant's segment reaches every origin. */
struct sim_route {
	const char *segment, *origin;
};
struct sim_rack_spec {
	/* drives: 0: 2 */
	unsigned machines, drives;
	/* 0: 16 GiB, sparse */
	int64_t drive_bytes;
	/* folder; NULL: memory alone */
	const char *data;
	const char *user;
	const struct secret *password;
	/* machines fetch media, call the agent endpoint and API servers through it */
	struct http *http;
	/* of a BMC, for what the rack says of itself: "https://127.10.%u.%u:8443" */
	const char *endpoint_format;
	/* 0: of a fast laptop demo */
	struct sim_times times;
	/* that it begins with, copied; NULL: none */
	const struct sim_faults *faults;
	/* NULL-terminated: from where the agent endpoint is reached; NULL: quarantine,
	 * provisioning */
	const char *const *segments_to_drover;
	/* NULL-terminated PEM: what a node finds by the CA_CERT_HASH on its config drive; NULL: it
	 * asks cluster-info, as kubeadm does */
	const char *const *cluster_cas;
	/* borrowed; ends with segment NULL; NULL: none */
	const struct sim_route *routes;
	/* of the CA of the rack's certificate, for sim_rack_objects(); NULL: objects trust on first
	 * use */
	const char *ca_pem;
	/* of a BCM head node that manages them, for sim_rack_objects(); NULL: none */
	const char *head_url;
	/* of drover, for sim_rack_objects(); NULL: left out */
	const char *media_url, *agent_url;
	/* borrowed (dialect.h): its machines take turns; NULL: by the book */
	const struct sim_dialects *dialects;
	/* refuse callers that are not on this machine: the listener hears all addresses */
	bool loopback_only;
	/* where no certificates are signed: a node's bearer once it is registered, in the
	 * certificate's place; NULL: the bootstrap token on */
	const struct secret *kubelet_token;
};
struct sim_dialect;
struct sim_dialects;
struct sim_rack;
struct sim_rack *sim_rack_new(struct loop_group *g, const struct sim_rack_spec *s, struct err *e);
/* after the httpd that has its routes */
void sim_rack_free(struct sim_rack *r);
void sim_rack_routes(struct sim_rack *r, struct httpd *d);
/* NULL: none */
struct sim_machine *sim_rack_machine(struct sim_rack *r, unsigned number);
unsigned sim_rack_count(const struct sim_rack *r);
/* YAML of Machine objects (and of one Provider "rack") that make drover manage this rack;
 * malloc'd. */
char *sim_rack_objects(const struct sim_rack *r, const char *provider_name);

/* The segment that a machine is in, and whether from there this origin can be reached. */
const char *sim_rack_segment(const struct sim_machine *m);
bool sim_rack_reaches(const struct sim_machine *m, const char *origin);
/* NULL: by the book */
const struct sim_dialect *sim_rack_dialect(const struct sim_machine *m);
struct loop_group *sim_rack_group(const struct sim_rack *r);
const struct sim_rack_spec *sim_rack_spec_of(const struct sim_rack *r);
/* Does this fault strike now (faults.h)? when: what the machine is about to do ("POST", "wipe",
 * "Request"); a row without `when` fits any. Yes counts against the row's count; *value (NULL: not
 * wanted) is the row's. */
bool sim_rack_fault(const struct sim_machine *m, const char *when, const char *what,
		    int64_t *value);

#endif
