#ifndef TESTS_UNIT_CONTROLLER_AGENT_FAKE_AGENT_H
#define TESTS_UNIT_CONTROLLER_AGENT_FAKE_AGENT_H

#include "tests/unit/testing.h"

#include "base/arena.h"
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "controller/agent/endpoint.h"

/*
 * fake agent: a test fixture. The bench runs drover's agent endpoint on the simulated loop, with
 * one agent session for machine m-1. The fake agent sends to that endpoint only what a test asks
 * for.
 */
#define TINY_ORIGIN "https://10.1.0.5:8443"

struct fake_agent_bench {
	struct loop *l;
	struct loop_group *g, *machine_g;
	struct http_mem_net *net;
	struct httpd *d;
	struct http *h, *away;
	/* Client connections to the endpoint: p from address 10.1.0.17, q from 10.66.6.6 */
	struct http_peer *p, *q;
	struct agent_endpoint *agents;
	struct agent_session *seat;
	unsigned changes;
	struct arena *a;
	struct err e;
};

/* State of an agent on a machine, and the last reply it got. */
struct fake_agent {
	struct fake_agent_bench *f;
	struct crypto_key *key;
	char public[CRYPTO_PUBLIC_TEXT], secret[65], boot_id[40];
	/* protocol: PROTO_VERSION, unless a test changes it */
	int64_t boot, protocol;
	/* Version in the hello */
	const char *version;
	struct http_req *q;
	/* True: the agent sends from address 10.66.6.6 instead of 10.1.0.17 */
	bool elsewhere;
	bool done;
	/* Status of the last reply; -1: none */
	int status;
	/* True: the last reply closed the connection */
	bool closed;
	char body[4096];
};

struct agent_session *fake_agent_seat(struct fake_agent_bench *f, const char *machine);
int fake_agent_setup(void **state);
/* Opens the session for this boot and marks the machine as powered on, so that a hello is
 * accepted. */
void fake_agent_due(struct fake_agent_bench *f, const char *operation, int64_t boot, int64_t fence);
int fake_agent_teardown(void **state);
void fake_agent_run(struct fake_agent_bench *f, int64_t ms);
void fake_agent_init(struct fake_agent *t, struct fake_agent_bench *f, const char *boot_id);
void fake_agent_done(struct fake_agent *t);
/* Sends one request without waiting for the reply. signature NULL: signs the request correctly with
 * t->key. */
void fake_agent_send(struct fake_agent *t, const char *method, const char *target, const void *body,
		     size_t len, const char *signature);
char *fake_agent_hello_text(struct fake_agent *t);
/* Sends a hello and waits; returns the HTTP status of the reply. */
int fake_agent_hello(struct fake_agent *t);
void fake_agent_poll(struct fake_agent *t, int64_t after);
int fake_agent_report(struct fake_agent *t, const struct proto_report *r);
/* Decodes and returns the order in the last reply. */
struct proto_order fake_agent_got(struct fake_agent *t);
void fake_agent_order(struct fake_agent_bench *f, const char *id, int kind);
/* Opens the session for the first boot, initializes t and sends its hello, which must succeed. */
void fake_agent_greeted(struct fake_agent_bench *f, struct fake_agent *t);

#endif
