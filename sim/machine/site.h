#ifndef SIM_MACHINE_SITE_H
#define SIM_MACHINE_SITE_H

#include "base/http/http.h"
#include "base/loop/loop.h"
#include "base/secret.h"

/*
 * site: the surroundings of simulated machines: their network, their faults, and the settings that
 * all of them share.
 * Tests: tests/unit/sim/rack/test_rack.c, tests/unit/sim/machine/test_machine.c
 */
struct fault_list;
struct sim_machine;

/* Makes origin (for example "https://127.0.0.1:6444") reachable from segment only. An origin
 * without any route is drover's own or an image store. Such an origin is reachable from
 * segments_to_drover and, if the rack has no routes at all, also from every tenant's segment. */
struct sim_route {
	const char *segment, *origin;
};
struct sim_times {
	/* Time in ms from a power request to the change of power. */
	int64_t power_ms;
	/* Time in ms from power-on to the boot. */
	int64_t post_ms;
	/* Time in ms from the boot of a medium to the agent's hello. */
	int64_t kernel_ms;
	/* Time in ms from the boot of the root drive to the start of the kubelet. */
	int64_t system_ms;
	/* Erase rate and write rate of one drive; the agent reports these rates and does not exceed
	 * them. */
	int64_t wipe_bytes_per_s, write_bytes_per_s;
};
/* Returns *t with each 0 replaced by the duration or rate of a fast laptop demo. */
struct sim_times sim_times_or_fast(const struct sim_times *t);

/* The firmware of the machines: what they run (firmware.h). */
struct sim_firmware {
	/* Boots the machine; called at the end of POST. */
	void (*boot)(struct sim_machine *m);
	/* Boots the root drive. */
	void (*boot_disk)(struct sim_machine *m);
	/* Stops at once what runs, as a power loss does. */
	void (*stop)(struct sim_machine *m);
};

/* All pointers are borrowed. */
struct sim_site {
	struct loop_group *group;
	const struct sim_firmware *firmware;
	/* HTTP client with which machines fetch media and call the agent endpoint and API
	 * servers. */
	struct http *http;
	/* Faults of the machines; NULL: none. */
	struct fault_list *faults;
	/* A member that is 0 is replaced as by sim_times_or_fast(). */
	struct sim_times times;
	/* Number of drives of each machine; 0 means 2. */
	unsigned drives;
	/* Size of each drive in bytes (stored sparsely); 0 means 16 GiB. */
	int64_t drive_bytes;
	/* State directory; NULL: state only in memory. */
	const char *data;
	/* Segments from which the agent endpoint is reachable, NULL-terminated. NULL: quarantine
	 * and provisioning. */
	const char *const *segments_to_drover;
	/* PEM certificates, NULL-terminated, among which a node looks for the CA_CERT_HASH of its
	 * config drive. NULL: the node reads cluster-info, as kubeadm does. */
	const char *const *cluster_cas;
	/* Routes of the network. The last entry has segment NULL. NULL: no routes. */
	const struct sim_route *routes;
	/* Bearer token that a registered node uses instead of a client certificate, for clusters
	 * that sign no certificates. NULL: the node continues to use its bootstrap token. */
	const struct secret *kubelet_token;
};

/* True if the origin is reachable from the segment. */
bool sim_site_reaches(const struct sim_site *s, const char *segment, const char *origin);
/* True if the fault `what` applies to the machine with this name now (faults.h); then counts the
 * fault down. when: the machine's present phase ("POST", "wipe", "Request"); a fault row without
 * `when` matches any phase. *value: the row's value; value may be NULL. */
bool sim_site_fault(const struct sim_site *s, const char *machine, const char *when,
		    const char *what, int64_t *value);

#endif
