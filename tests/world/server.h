#ifndef TESTS_WORLD_SERVER_H
#define TESTS_WORLD_SERVER_H

#include "base/arena.h"
#include "base/http/http.h"
#include "tests/contract/fake_bmc.h"
#include "tests/world/cluster.h"

/*
 * server: one machine of the simulated world: a fake BMC, two drives, a port in the fabric, and the
 * boot at power-on.
 *
 *   power --> medium inserted and override set: fetch it, start its agent
 *         |-> else the network boot of BCM, if the port leads to the head node
 *         '-> else the root drive: an image with a config drive joins a tenant,
 *             anything else just stays on
 *
 * Drives are bytes: a wipe zeroes them, an operating system leaves a tenant's secret on them, and
 * the invariants read them.
 */
#define SERVER_DRIVES 2
/* bytes simulated for each drive; the size that a drive reports is larger */
#define SERVER_DRIVE_BYTES 8192
#define SERVER_CONFIG_AT 4096	      /* offset of the config drive's text on the root drive */
#define SERVER_IMAGE "DROVER-TEST-OS" /* first bytes of an image that boots */
#define SERVER_SECRET "a tenant's secret"
#define SERVER_BEAT_MS 10000 /* interval of the kubelet's heartbeats */

struct sim_world;
struct bootagent;
struct sim_head_node;

enum server_doing { SERVER_OFF, SERVER_FIRMWARE, SERVER_AGENT, SERVER_OS, SERVER_NOTHING };

struct server {
	struct sim_world *world;
	char name[32], uuid[40], serial[32], mac[20], origin[40];
	/* HTTP clients with the address of the machine (10.1.0.N) and of its BMC (10.0.8.N). */
	struct http *as_machine, *as_bmc;
	/* Provider type libvirt only. True: the host has no domain for this server. */
	bool undefined;
	struct fake_bmc bmc;
	struct {
		char wwn[32];
		char data[SERVER_DRIVE_BYTES];
		/* Data before the last wipe. They come back at power-off if `forgets` is not 0. */
		char kept[SERVER_DRIVE_BYTES];
	} drives[SERVER_DRIVES];
	enum server_doing doing;
	/* Starts the next phase of the boot, or of the kubelet. */
	struct loop_timer timer;
	unsigned boots;
	char boot_id[40];
	struct http_peer *media_peer;
	struct http_req *media;
	struct bootagent *agent;
	/* The boot block with which the agent started. */
	char *block;

	/* The machine's node in BCM (managed.h); NULL: not in BCM. */
	struct sim_head_node *node;
	/* True: the machine reaches the head node from every segment (a leak). */
	bool reaches_head;

	/* Segment of the Ethernet port. */
	char segment[128];
	/* Segments of the ports in the other fabrics; "": none. */
	char infiniband[128], nvlink[128];
	int64_t fence;
	/* True: the fabric reports success for a move of the port, but does not move it. */
	bool port_stuck;
	/* True: the fabric reports the port's segment without proof. */
	bool port_unproved;
	/* Segment that the machine reaches in addition to its own; NULL: none. */
	const char *leaks;

	/* Memory for the running operating system's strings, freed when it ends. */
	struct arena *os;
	const char *node_name, *token, *provider_id, *taints;
	/* The cluster named on the config drive. */
	struct cluster *tenant;
	/* True: GPUs are allocated by resource claims (DRA), so no device plugin registers them. */
	bool by_claims;
	/* Key of an additional NoSchedule taint that the Node keeps; NULL: none. */
	const char *lingering;
	bool registered, ready, busy;
	/* True: the kubelet renews its Lease every 10 s. */
	bool beats;
	/* loop_now() of the next heartbeat. */
	int64_t beat_at;
	/* state of the join script (scripted.h) */
	struct {
		struct http_peer *peer;
		struct http_req *call;
		void (*done)(struct server *b);
		/* True once the join script has run in this boot. */
		bool ran;
		/* The last error of the script; "": none. */
		char console[96];
	} script;
	/* Value of boots when the call in flight was sent; replies of earlier boots are ignored. */
	unsigned asked_in;

	/* Fault: time from power-on to the boot from medium or disk, in ms; 0: the default, 12
	 * s. */
	int64_t firmware_ms;
	/* Fault: true: the machine boots from the disk whatever medium and override are set. */
	bool boots_disk;
	/* True: the image boots, but its kubelet does not start. */
	bool no_kubelet;
	/* UUID and providerID that the kubelet reports; NULL: the true ones. */
	const char *says_uuid, *says_provider_id;
	/* UUID that the agent reports in its hello message; NULL: the true UUID. */
	const char *calls_uuid;
	/* Time after the start of a wipe at which its progress stops, in ms; 0: progress does not
	 * stop. */
	int64_t wipe_still_ms;
	/* Duration of a wipe in ms; 0: the wipe ends at once. Progress is reported each second, in
	 * wipes of more than an hour each 10 s. */
	int64_t wipe_ms;
	/* True: the second drive cannot be erased. */
	bool wipe_fails;
	/* True: the second drive was pulled out. */
	bool drive_gone;
	/* Number of wipes that the drives still forget: at each power-off after a wipe, the data
	 * comes back, except for the stamp. */
	unsigned forgets;
	/* True: the drives forgot a wipe, and no wipe followed. drover cannot detect this before
	 * the next boot. */
	bool forgot;
	/* True: at a claim the agent ignores the order to read the wiped drives again. */
	bool reads_once;
	/* True: the next agents speak a protocol that drover does not know. */
	bool other_protocol;
	/* True: the agent is an older release without probes. */
	bool probes_not;
	/* True: the image gets no answer from the addresses of its own segment that it probes; the
	 * image joins nevertheless. */
	bool unanswered;
	/* True: the probe label on the Node is forged to report "proved", as a tenant's API server
	 * could do. */
	bool says_proved;
	/* True: the agent has no driver for one more storage controller. */
	bool undriven;
	/* True: the second drive's controller has lost its driver. */
	bool dead;
	/* Reason why the first controller does not show all of its storage; NULL: it shows all. */
	const char *hides;
	/* True: the drives are rotational. */
	bool spins;
	/* Kind of order, e.g. "wipe", at which the machine reboots once; NULL: none. */
	const char *reboots_at;
	/* True: the agent sends its hello message and nothing more. */
	bool mute;
	/* Values in the agent's evidence in place of those in the order; NULL: the true values. */
	const char *swears_uuid, *swears_serial, *swears_tenant, *swears_trust;
	/* True: the agent leaves the waivers of the order out of its evidence. */
	bool hides_waivers;
	/* Difference of the times in the evidence from the true times, in ms. */
	int64_t swears_later;
	/* True: the agent does not overwrite the machine's memory, because its kernel gives it
	 * none. */
	bool keeps_memory;
	/* Duration of the wipe in the evidence, in ms, for drives of 8 TB; 0: the true duration. */
	int64_t swears_took;
	/* True: an operator presses the button, so the next power-off is not drover's. */
	bool button;

	/* State for the invariants: the Machine object last seen in the host cluster's store; NULL:
	 * none. */
	json_t *object;
	uint64_t rev;
	char state[24], claim[128];
	int64_t tenancy, seen_fence;
	/* Number of power-offs while an operating system ran, since the last check. */
	unsigned switched_off;
};

void server_init(struct server *b, struct sim_world *w, unsigned number);
void server_done(struct server *b);
/* Switches power as the BMC does; used for the power button and for the agent's poweroff. */
void server_power(struct server *b, bool on);
/* Puts an older system of unknown origin on the drives; the server boots from it. */
void server_put_old_system(struct server *b);
/* True if the server's port leads to drover (the agent's endpoint): segment quarantine or
 * provisioning. */
bool server_reaches_drover(const struct server *b);
/* Addresses that answer only in one segment each. */
#define SERVER_QUARANTINE_GATE "10.90.0.1"
#define SERVER_PROVISIONING_GATE "10.90.1.1"
#define SERVER_TEAM_A_GATE "10.90.2.1:6443"
#define SERVER_TEAM_B_GATE "10.90.3.1:6443"
/* True if the server gets an answer from `address` in its present segment. */
bool server_hears(const struct server *b, const char *address);
/* True if no drive contains any data but a clean stamp. */
bool server_is_blank(const struct server *b);

#endif
