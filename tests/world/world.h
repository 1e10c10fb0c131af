#ifndef TESTS_WORLD_WORLD_H
#define TESTS_WORLD_WORLD_H

#include "base/http_mem.h"
#include "base/loop_sim.h"
#include "controller/controller.h"
#include "tests/world/box.h"
#include "tests/world/plane.h"

/*
 * world: the whole of drover in one process on one simulated clock.
 *
 *	host, team-a, team-b    API servers (plane.h)
 *	gpu-1 ...               machines with BMC, drives, agent, kubelet (box.h)
 *	the fabric              a child process of drover that moves ports
 *	replicas                controller_new() as it ships, killed and started at will
 *
 * Everything under drover is the world's own; drover is the real one.  After
 * each event the oracle (oracle.h) looks at what changed, and a test that waits
 * fails with the oracle's first complaint.
 *
 * Its type is struct earth because planner/world.h has the other name.
 */
#define EARTH_BOXES 4
#define EARTH_REPLICAS 12
#define EARTH_WALL 1790000000000
#define EARTH_AGENT "https://drover:8443"
#define EARTH_MEDIA "http://drover:8080"
#define EARTH_IMAGES "http://images"
#define EARTH_FABRIC "/world/port-move"
#define EARTH_PASSWORD "correct horse"

struct replica {
	struct earth *earth;
	char name[24], origin[40]; /* origin: where it finds the host's API server */
	struct loop_group *group;  /* NULL: not running */
	struct http *http;
	struct controller *controller;
	struct httpd *agent, *media;
	bool ready;
};

struct earth {
	struct loop *loop;
	struct http_mem_net *net;
	struct loop_group *hardware;
	struct http *machines; /* what BMCs, agents and kubelets speak with */
	struct plane host, tenants[2];
	struct box boxes[EARTH_BOXES];
	unsigned nboxes;
	struct httpd *images;
	unsigned image_gets, bad_images; /* bad_images: how many to answer with something else */
	char image_digest[80], iso[64];
	char *ca_pem;
	struct replica replicas[EARTH_REPLICAS];
	unsigned nreplicas;
	struct replica *facing; /* the replica that agents reach; NULL: none */
	bool media_gone;

	uint64_t requests; /* of and to drover, since it leads */
	uint64_t fault_at; /* which of them meets the fault; 0: none */
	enum http_mem_fate fault;
	const char
		*refused; /* drover's requests with this in their target reach nobody; NULL: none */
	const char *unanswered; /* ... are acted on, and their answers never come */
	bool lease_fails;	/* nobody's lease is renewed; all else works */
	char fault_on[200];	/* what it was */
	uint64_t
		kill_at; /* at which of them the leader dies and another starts; 0: none, or done */

	bool restored; /* an old backup was put back: records of tenants and claims are lost */
	const char *evidence_dir; /* of replicas that start from now on; NULL: none */
	char complaint[512];	  /* of the oracle; "": none so far */
	uint64_t host_rev, tenant_rev[2];
	char *log; /* all that was logged */
	size_t log_len, log_cap;
};

/* Boxes off and empty, objects applied, no replica. */
void earth_start(struct earth *w, uint64_t seed, unsigned boxes);
void earth_stop(struct earth *w);

struct replica *earth_replica(struct earth *w); /* start one more */
void earth_kill(struct replica *r);		/* as a crash does */
void earth_cut(struct replica *r, bool cut);	/* the host's API server does not answer it */
void earth_media(struct earth *w, bool there);	/* boot media can be fetched */
struct replica *earth_leader(struct earth *w);	/* NULL: nobody leads */

struct plane *earth_tenant_at(struct earth *w, const char *endpoint); /* NULL: nobody is there */
/* A request to a plane, and its answer awaited; fails the test when it is none of 2xx. */
void earth_do(struct earth *w, struct plane *p, const char *method, const char *path, json_t *body);
void earth_apply(struct earth *w, const char *yaml);	  /* objects of the host cluster */
void earth_machine(struct earth *w, const struct box *b); /* its Machine object */
void earth_pod(struct earth *w, struct plane *p, const char *name);
void earth_delete_pod(struct earth *w, struct plane *p, const char *name);
void earth_release(struct box *b);		       /* delete the claim that holds it */
void earth_patch_machine(struct box *b, json_t *spec); /* taken */
void earth_secret(struct earth *w, const char *ns, const char *name, const char *key,
		  const char *value, const char *key2, const char *value2);

/* Let time pass; the oracle looks after each event and fails the test when it complains. */
void earth_run(struct earth *w, int64_t ms);
/* Where a test lets some request after the other fail: how far apart they are.  WORLD_EVERY=1: each in turn. */
unsigned earth_every(void);
/* ... until the condition holds; fails the test, saying where every machine stands, when it does not in time. */
void earth_wait(struct earth *w, bool (*cond)(void *arg), void *arg, int64_t limit_s,
		const char *what);
void earth_wait_state(struct box *b, const char *state, int64_t limit_s);
void earth_wait_all(struct earth *w, const char *state, int64_t limit_s);
/* status.operation.lastError, status.quarantine or the newest of status.failures names this reason. */
void earth_wait_reason(struct box *b, const char *reason, int64_t limit_s);
void earth_wait_running(struct earth *w, struct plane *p, const char *pod, int64_t limit_s);

const char *earth_at(const struct box *b,
		     const char *dotted); /* "status.operation.step"; "" when it is none */
struct box *earth_box_of(struct earth *w, struct plane *p,
			 const char *pod); /* the machine that runs it; NULL */
bool earth_has_failure(const struct box *b, const char *reason);

/* Everything that a machine with a running pod must be (tests/real/main_job.py check()). */
void earth_check_serving(struct earth *w, struct plane *p, const char *pod);

#endif
