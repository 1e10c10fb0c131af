#ifndef TESTS_WORLD_WORLD_H
#define TESTS_WORLD_WORLD_H

#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "controller/controller.h"
#include "tests/world/server.h"
#include "tests/contract/fake_cloud.h"
#include "tests/contract/fake_libvirt.h"
#include "tests/world/cluster.h"
#include "tests/world/gang_rule.h"

/*
 * world: the whole of drover in one process on one simulated clock.
 *
 *   host, team-a, team-b    API servers (cluster.h)
 *   gpu-1 ...               machines with BMC, drives, agent, kubelet (server.h)
 *   the fabric              a child process of drover that moves ports
 *   replicas                controller_new() as it ships, killed and started at will
 *
 * The replicas of drover are the real code; everything that they talk to is simulated. The
 * invariants (invariants.h) are checked after each event; a test that waits fails with the first
 * violation.
 *
 * The type is struct sim_world because planner/world.h has a struct world.
 */
#define WORLD_BOXES 48
#define WORLD_REPLICAS 12
#define WORLD_WALL 1790000000000
#define WORLD_AGENT "https://drover:8443"
#define WORLD_MEDIA "http://drover:8080"
#define WORLD_IMAGES "http://images"
#define WORLD_FABRIC "/world/port-move"
#define WORLD_PASSWORD "correct horse"

struct replica {
	struct sim_world *world;
	/* origin: URL of the host cluster's API server that only this replica uses, so that
	 * world_cut() can make it hang. */
	char name[24], origin[40];
	/* NULL: the replica does not run. */
	struct loop_group *group;
	struct http *http;
	struct controller *controller;
	struct httpd *agent, *media;
	bool ready;
};

struct sim_world {
	struct loop *loop;
	struct http_mem_net *net;
	struct loop_group *hardware;
	struct cluster host, tenants[2];
	struct server servers[WORLD_BOXES];
	unsigned nboxes;
	/* Fake libvirt host; each server is a domain with the server's name. */
	struct fake_libvirt libvirt;
	/* The cloud (sky.h); NULL: no cloud. */
	struct sky *sky;
	struct httpd *images;
	/* image_gets: number of image downloads so far. bad_images: number of further downloads
	 * that are answered with wrong data. */
	unsigned image_gets, bad_images;
	/* iso: path of the boot image, which is open as iso_fd */
	char image_digest[80], iso[64];
	int iso_fd;
	char *ca_pem;
	struct replica replicas[WORLD_REPLICAS];
	unsigned nreplicas;
	/* The replica that agents reach; NULL: none. */
	struct replica *facing;
	bool media_gone;
	/* Delay of the fabric's answers, in ms; 0: no delay. */
	int64_t fabric_ms;
	/* Delay in ms until a port move takes effect, also if the caller has died by then; 0: no
	 * delay. */
	int64_t port_lands_ms;
	/* Answers of the fabric that are not delivered yet: struct fabric_answer in world.c. */
	struct list fabric_answers;

	/* Number of HTTP requests from and to drover while a replica leads. */
	uint64_t requests;
	/* Number of effects: port moves, and requests that change something outside drover.
	 * Renewals of leases do not count. */
	uint64_t effects;
	/* True: fault_at and kill_at count effects instead of requests. */
	bool by_effect;
	/* Number of the request or effect that meets the fault; 0: no fault. */
	uint64_t fault_at;
	enum http_mem_fault_kind fault;
	/* Text; requests of drover whose target contains it fail to connect. NULL: none. */
	const char *refused;
	/* Text; requests of drover whose target contains it are executed, but not answered. NULL:
	 * none. */
	const char *unanswered;
	/* True: no lease can be renewed; all other requests work. */
	bool lease_fails;
	/* Description of the request or effect that met the fault. */
	char fault_on[200];
	/* Number of the request or effect at which the leader dies and another replica starts; 0:
	 * none, or already happened. */
	uint64_t kill_at;

	/* True: status was restored from an old backup. Checks against earlier tenants and claims
	 * are then off. */
	bool restored;
	/* True: at the end, each reason that drover wrote must have a page (reason_rule.h). Set by
	 * tests between world_start() and world_stop(). */
	bool reasons_have_pages;
	/* Evidence directory for replicas that start from now on; NULL: none. */
	const char *evidence_dir;
	/* Gang hold time (--gang-hold) for replicas that start from now on, in ms; 0: the
	 * default. */
	int64_t gang_hold_ms;
	/* loop_now() at which faults stopped (for S9); 0: faults may occur. */
	int64_t calm_at;
	/* First violated invariant; "": none so far. */
	char complaint[512];
	uint64_t host_rev, tenant_rev[2];
	/* State of the check of S5 (gang_rule.h). */
	struct gang_rule gangs;
	/* All log lines so far. */
	char *log;
	size_t log_len, log_cap;
};

/* Starts a world: machines off and empty, objects created, no replica running. */
void world_start(struct sim_world *w, uint64_t seed, unsigned servers);
void world_stop(struct sim_world *w);
/* Returns the number of effects (by_effect) or requests so far. */
uint64_t world_counted(const struct sim_world *w);

/* Starts one more replica. */
struct replica *world_replica(struct sim_world *w);
/* Stops the replica without cleanup, like a crash. */
void world_kill(struct replica *r);
/* Makes the host cluster's API server stop answering this replica (cut true), or answer again. */
void world_cut(struct replica *r, bool cut);
/* Makes boot media available (there true) or not. */
void world_media(struct sim_world *w, bool there);
/* Returns the leading replica; NULL: none. */
struct replica *world_leader(struct sim_world *w);

/* Returns the cluster at this address; NULL: no cluster has it. */
struct cluster *world_cluster_at(struct sim_world *w, const char *endpoint);
/* Sends a request to a cluster and waits for the answer; fails the test unless its status is
 * 2xx. */
void world_do(struct sim_world *w, struct cluster *p, const char *method, const char *path,
	      json_t *body);
/* Applies objects to the host cluster. */
void world_apply(struct sim_world *w, const char *yaml);
/* Creates the server's Machine object. */
void world_machine(struct sim_world *w, const struct server *b);
/* world_lab() creates Provider "lab", a Provider with a helper program such as libvirt, and sets it
 * in the pool in place of the rack. provider: YAML text that ends in WORLD_LAB_REST.
 * world_lab_machine() creates a Machine of that Provider with address TYPE://lab/NAME. */
#define WORLD_LAB_REST                                                                             \
	"  agent: {endpoint: \"" WORLD_AGENT "\"}\n"                                               \
	"  network:\n    type: exec\n    exec: {command: [" WORLD_FABRIC "]}\n"                    \
	"    segments: {quarantine: quarantine, provisioning: provisioning}\n"                     \
	"  instanceTypes:\n  - name: gpu-8\n"                                                      \
	"    capacity: {cpu: \"4\", memory: 8Gi, nvidia.com/gpu: \"8\", pods: \"110\"}\n"          \
	"    rootDevice: {model: ROOT}\n"                                                          \
	"  wipe: {minimumLevel: {flash: Clear, hdd: Clear}, minimumTrust: BootNetwork}\n"
void world_lab(struct sim_world *w, const char *provider);
void world_lab_machine(struct sim_world *w, const struct server *b, const char *type);
void world_pod(struct sim_world *w, struct cluster *p, const char *name);
/* Creates a pod with these labels and annotations; takes ownership of both. NULL: none. */
void world_pod_with(struct sim_world *w, struct cluster *p, const char *name, json_t *labels,
		    json_t *notes);
/* Creates a pod that belongs to a gang of `size` pods. */
void world_gang_pod(struct sim_world *w, struct cluster *p, const char *name, const char *gang,
		    const char *size);
void world_delete_pod(struct sim_world *w, struct cluster *p, const char *name);
/* Deletes the claim of the machine. */
void world_release(struct server *b);
/* Patches the spec of the machine's Machine object. Takes ownership of spec. */
void world_patch_machine(struct server *b, json_t *spec);
void world_secret(struct sim_world *w, const char *ns, const char *name, const char *key,
		  const char *value, const char *key2, const char *value2);

/* Lets ms of simulated time pass. Checks the invariants after each event, and fails the test at a
 * violation. */
void world_run(struct sim_world *w, int64_t ms);
/* Runs the world until cond() is true. After limit_s, fails the test and prints the state of every
 * machine. */
void world_wait(struct sim_world *w, bool (*cond)(void *arg), void *arg, int64_t limit_s,
		const char *what);
void world_wait_state(struct server *b, const char *state, int64_t limit_s);
void world_wait_all(struct sim_world *w, const char *state, int64_t limit_s);
/* Waits until status.operation.lastError, status.quarantine or the newest of status.failures has
 * this reason. */
void world_wait_reason(struct server *b, const char *reason, int64_t limit_s);
void world_wait_running(struct sim_world *w, struct cluster *p, const char *pod, int64_t limit_s);

/* Returns the value of a member of the Machine such as "status.operation.step"; "" if it does not
 * exist. */
const char *world_at(const struct server *b, const char *dotted);
/* Returns the server whose claim is the Node that runs the pod; NULL: none. */
struct server *world_box_of(struct sim_world *w, struct cluster *p, const char *pod);
bool world_has_failure(const struct server *b, const char *reason);

/* Ends all faults and waits until everything is at rest, at most the sum of the deadlines of all
 * states (S9). */
void world_settle(struct sim_world *w);

/* Checks all that must hold for a machine with a running pod, like check() in
 * tests/real/serving.py. */
void world_check_serving(struct sim_world *w, struct cluster *p, const char *pod);

#endif
