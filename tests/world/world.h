#ifndef TESTS_WORLD_WORLD_H
#define TESTS_WORLD_WORLD_H

#include "base/httpd/http_mem.h"
#include "base/loop/loop_sim.h"
#include "controller/controller.h"
#include "tests/world/server.h"
#include "tests/contract/fake_cloud.h"
#include "tests/contract/fake_libvirt.h"
#include "tests/world/cluster.h"
#include "tests/world/gang_rule.h"

/*
 * world: the whole of drover in one process on one simulated clock.
 *
 *	host, team-a, team-b    API servers (cluster.h)
 *	gpu-1 ...               machines with BMC, drives, agent, kubelet (server.h)
 *	the fabric              a child process of drover that moves ports
 *	replicas                controller_new() as it ships, killed and started at will
 *
 * Everything under drover is the world's own; drover is the real one.  After
 * each event the invariants (invariants.h) looks at what changed, and a test that waits
 * fails with the invariants's first complaint.
 *
 * Its type is struct sim_world because planner/world.h has the other name.
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
	/* origin: where it finds the host's API server */
	char name[24], origin[40];
	/* NULL: not running */
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
	/* a host whose domains are the servers, by their names */
	struct fake_libvirt libvirt;
	/* sky.h; NULL: there is none */
	struct sky *sky;
	struct httpd *images;
	/* bad_images: how many to answer with something else */
	unsigned image_gets, bad_images;
	char image_digest[80], iso[64];
	char *ca_pem;
	struct replica replicas[WORLD_REPLICAS];
	unsigned nreplicas;
	/* the replica that agents reach; NULL: none */
	struct replica *facing;
	bool media_gone;
	/* until the fabric answers; 0: at once */
	int64_t fabric_ms;
	/* until a move takes effect, whoever lives to hear of it; 0: at once */
	int64_t port_lands_ms;
	/* of world.c, on their way */
	struct list fabric_answers;

	/* of and to drover, since it leads */
	uint64_t requests;
	/* ... that change something elsewhere, and moves of ports; a lease's renewal is none */
	uint64_t effects;
	/* the two below count effects, not requests */
	bool by_effect;
	/* which of them meets the fault; 0: none */
	uint64_t fault_at;
	enum http_mem_fate fault;
	/* drover's requests with this in their target reach nobody; NULL: none */
	const char *refused;
	/* ... are acted on, and their answers never come */
	const char *unanswered;
	/* nobody's lease is renewed; all else works */
	bool lease_fails;
	/* what it was */
	char fault_on[200];
	/* at which of them the leader dies and another starts; 0: none, or done */
	uint64_t kill_at;

	/* an old backup was put back: records of tenants and claims are lost */
	bool restored;
	/* of replicas that start from now on; NULL: none */
	const char *evidence_dir;
	/* of replicas that start from now on; 0: as usual */
	int64_t gang_hold_ms;
	/* loop_now() since when nothing goes wrong any more (S9); 0: something may */
	int64_t calm_at;
	/* of the invariants; "": none so far */
	char complaint[512];
	uint64_t host_rev, tenant_rev[2];
	/* S5 */
	struct gang_rule gangs;
	/* all that was logged */
	char *log;
	size_t log_len, log_cap;
};

/* Boxes off and empty, objects applied, no replica. */
void world_start(struct sim_world *w, uint64_t seed, unsigned servers);
void world_stop(struct sim_world *w);
/* effects or requests, whichever faults count */
uint64_t world_counted(const struct sim_world *w);

/* start one more */
struct replica *world_replica(struct sim_world *w);
/* as a crash does */
void world_kill(struct replica *r);
/* the host's API server does not answer it */
void world_cut(struct replica *r, bool cut);
/* boot media can be fetched */
void world_media(struct sim_world *w, bool there);
/* NULL: nobody leads */
struct replica *world_leader(struct sim_world *w);

/* NULL: nobody is there */
struct cluster *world_cluster_at(struct sim_world *w, const char *endpoint);
/* A request to a cluster, and its answer awaited; fails the test when it is none of 2xx. */
void world_do(struct sim_world *w, struct cluster *p, const char *method, const char *path,
	      json_t *body);
/* objects of the host cluster */
void world_apply(struct sim_world *w, const char *yaml);
/* its Machine object */
void world_machine(struct sim_world *w, const struct server *b);
/* The Provider "lab" of a helper program, which ends in WORLD_LAB_REST, in the place of the rack in
 * the pool; and a Machine of its, whose address is TYPE://lab/NAME. */
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
/* Creates a pod of a gang that has so many pods. */
void world_gang_pod(struct sim_world *w, struct cluster *p, const char *name, const char *gang,
		    const char *size);
void world_delete_pod(struct sim_world *w, struct cluster *p, const char *name);
/* delete the claim that holds it */
void world_release(struct server *b);
/* taken */
void world_patch_machine(struct server *b, json_t *spec);
void world_secret(struct sim_world *w, const char *ns, const char *name, const char *key,
		  const char *value, const char *key2, const char *value2);

/* Let time pass; the invariants looks after each event and fails the test when it complains. */
void world_run(struct sim_world *w, int64_t ms);
/* ... until the condition holds; fails the test, saying where every machine stands, when it does
 * not in time. */
void world_wait(struct sim_world *w, bool (*cond)(void *arg), void *arg, int64_t limit_s,
		const char *what);
void world_wait_state(struct server *b, const char *state, int64_t limit_s);
void world_wait_all(struct sim_world *w, const char *state, int64_t limit_s);
/* status.operation.lastError, status.quarantine or the newest of status.failures names this
 * reason. */
void world_wait_reason(struct server *b, const char *reason, int64_t limit_s);
void world_wait_running(struct sim_world *w, struct cluster *p, const char *pod, int64_t limit_s);

/* "status.operation.step"; "" when it is none */
const char *world_at(const struct server *b, const char *dotted);
/* the machine that runs it; NULL */
struct server *world_box_of(struct sim_world *w, struct cluster *p, const char *pod);
bool world_has_failure(const struct server *b, const char *reason);

/* From now on nothing goes wrong: wait until everything is at rest, for which S9 gives the
 * deadlines of all states one after the other. */
void world_settle(struct sim_world *w);

/* Everything that a machine with a running pod must be (tests/real/serving.py check()). */
void world_check_serving(struct sim_world *w, struct cluster *p, const char *pod);

#endif
