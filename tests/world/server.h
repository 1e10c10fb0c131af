#ifndef TESTS_WORLD_SERVER_H
#define TESTS_WORLD_SERVER_H

#include "base/arena.h"
#include "base/http/http.h"
#include "tests/contract/fake_bmc.h"
#include "tests/world/cluster.h"

/*
 * server: one machine of the simulated world: a fake BMC, two drives, a port in
 * the fabric, and what happens when power comes.
 *
 *	power --> medium in and override set: fetch it, start the agent in it
 *	      |-> else BCM's network boot, where its port leads to the head node
 *	      '-> else the root drive: an image with a config drive joins a tenant,
 *	          anything else just stays on
 *
 * Drives are bytes: a wipe zeroes them, an operating system leaves a tenant's
 * secret on them, and oracles read them.
 */
#define SERVER_DRIVES 2
#define SERVER_DRIVE_BYTES 8192 /* what there is of it; what it says is its size is another thing */
#define SERVER_CONFIG_AT 4096	/* the config drive's text on the root drive */
#define SERVER_IMAGE "DROVER-TEST-OS" /* how an image that boots begins */
#define SERVER_SECRET "a tenant's secret"
#define SERVER_BEAT_MS 10000 /* between two heartbeats of its kubelet */

struct sim_world;
struct bootagent;
struct sim_head_node;

enum server_doing { SERVER_OFF, SERVER_FIRMWARE, SERVER_AGENT, SERVER_OS, SERVER_NOTHING };

struct server {
	struct sim_world *world;
	char name[32], uuid[40], serial[32], mac[20], origin[40];
	/* what its agent, and what its BMC speaks with: 10.1.0.N, 10.0.8.N */
	struct http *as_machine, *as_bmc;
	/* type libvirt: its host has no such domain */
	bool undefined;
	struct fake_bmc bmc;
	struct {
		char wwn[32];
		char data[SERVER_DRIVE_BYTES];
		/* before the last wipe, where `forgets` */
		char kept[SERVER_DRIVE_BYTES];
	} drives[SERVER_DRIVES];
	enum server_doing doing;
	/* what it does next */
	struct loop_timer timer;
	unsigned boots;
	char boot_id[40];
	struct http_peer *media_peer;
	struct http_req *media;
	struct bootagent *agent;
	/* the boot block that it started with */
	char *block;

	/* that BCM has for it (managed.h); NULL: none */
	struct sim_head_node *node;
	/* ... which it reaches from whatever segment: a leak */
	bool reaches_head;

	/* fabric */
	char segment[128];
	/* likewise; "": in none */
	char infiniband[128], nvlink[128];
	int64_t fence;
	/* it says that it moved the port, and did not */
	bool port_stuck;
	/* ... and cannot prove where the port is */
	bool port_unproved;
	/* a segment that it reaches besides its own; NULL: none */
	const char *leaks;

	/* operating system */
	/* of this boot */
	struct arena *os;
	const char *node_name, *token, *provider_id, *taints;
	/* whose cluster its config drive names */
	struct cluster *tenant;
	/* its GPUs are had by resource claims: no device plugin registers them */
	bool by_claims;
	/* key of a NoSchedule taint that the Node has besides; NULL: none */
	const char *lingering;
	bool registered, ready, busy;
	/* kubelet renews its Lease every 10 s */
	bool beats;
	/* loop_now() of the next heartbeat */
	int64_t beat_at;
	struct {
		struct http_peer *peer;
		struct http_req *call;
		void (*done)(struct server *b);
		/* in this boot */
		bool ran;
		/* what went wrong last; "": nothing */
		char console[96];
	} script; /* scripted.h */
	/* the boot that a call to the API server belongs to */
	unsigned asked_in;

	/* misdeeds */
	/* from power to the medium or the disk; 0: a few seconds */
	int64_t firmware_ms;
	/* whatever the medium and the override say */
	bool boots_disk;
	/* the image comes up, kubelet does not */
	bool no_kubelet;
	/* kubelet's word for it; NULL: the truth */
	const char *says_uuid, *says_provider_id;
	/* its agent's, when it says hello; NULL: the truth */
	const char *calls_uuid;
	/* from when on it tells of no more progress; 0: it does to its end */
	int64_t wipe_still_ms;
	/* how long a wipe takes, with a word on it each second; 0: at once */
	int64_t wipe_ms;
	/* the second drive cannot be erased */
	bool wipe_fails;
	/* the second drive was pulled out */
	bool drive_gone;
	/* wipes that it forgets when the power goes after them, but for the stamp */
	unsigned forgets;
	/* it did, and was not wiped since: nobody can know before its next boot */
	bool forgot;
	/* its agent does not read wiped drives again at a claim, though told to */
	bool reads_once;
	/* its agent is of before there were probes */
	bool probes_not;
	/* no address of its own segment answers its image, which joins all the same */
	bool unanswered;
	/* its tenant's API server changes what its Node says that it reaches */
	bool says_proved;
	/* a storage controller has no driver in its agent */
	bool undriven;
	/* the second drive's controller has lost its driver */
	bool dead;
	/* why the first one does not show all that it holds; NULL: it does */
	const char *hides;
	/* its drives are no flash */
	bool spins;
	/* at this order ("wipe") the machine reboots, once */
	const char *reboots_at;
	/* its agent says hello and then nothing */
	bool mute;
	/* What its evidence says in place of what the agent was told; NULL: that. */
	const char *swears_uuid, *swears_serial, *swears_tenant, *swears_trust;
	/* its clock is wrong by so many ms */
	int64_t swears_later;
	/* its agent is given none of its memory to overwrite */
	bool keeps_memory;
	/* ms from the first byte to the last, of drives of 8 TB */
	int64_t swears_took;
	/* the next power cut is a person's */
	bool button;

	/* what oracles look at */
	/* the Machine, as the host's store has it; NULL: none */
	json_t *object;
	uint64_t rev;
	char state[24], claim[128];
	int64_t tenancy, seen_fence;
	/* times that power went away under an operating system */
	unsigned switched_off;
};

void server_init(struct server *b, struct sim_world *w, unsigned number);
void server_done(struct server *b);
/* The power button, and what the agent's poweroff does: as if the BMC had done it. */
void server_power(struct server *b, bool on);
/* Something of somebody's is on its drives, and it boots from them. */
void server_put_old_system(struct server *b);
/* Its own port leads there: the agent's endpoint, a tenant's cluster. */
bool server_reaches_drover(const struct server *b);
/* Addresses that answer in one segment alone. */
#define SERVER_QUARANTINE_GATE "10.90.0.1"
#define SERVER_PROVISIONING_GATE "10.90.1.1"
#define SERVER_TEAM_A_GATE "10.90.2.1:6443"
#define SERVER_TEAM_B_GATE "10.90.3.1:6443"
/* This one answers it. */
bool server_hears(const struct server *b, const char *address);
/* No byte of anybody's on any drive; a clean stamp is nobody's. */
bool server_is_blank(const struct server *b);

#endif
