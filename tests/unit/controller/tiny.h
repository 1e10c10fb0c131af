#ifndef TESTS_UNIT_CONTROLLER_TINY_H
#define TESTS_UNIT_CONTROLLER_TINY_H

#include "tests/unit/testing.h"

#include "base/arena.h"
#include "base/http_mem.h"
#include "base/loop_sim.h"
#include "controller/agents.h"

/*
 * tiny: the endpoint of the agents on the simulated loop, with a seat for
 * machine m-1, and an agent that says no more than a test tells it to.
 */
#define TINY_ORIGIN "https://10.1.0.5:8443"

struct tiny_desk {
	struct loop *l;
	struct loop_group *g, *machine_g;
	struct http_mem_net *net;
	struct httpd *d;
	struct http *h;
	struct http_peer *p;
	struct agents *agents;
	struct agents_seat *seat;
	unsigned changes;
	struct arena *a;
	struct err e;
};

/* What the program on a machine has, and what it was answered last. */
struct tiny {
	struct tiny_desk *f;
	struct crypto_key *key;
	char public[CRYPTO_PUBLIC_TEXT], secret[65], boot_id[40];
	int64_t boot;
	struct http_req *q;
	bool done;
	int status; /* -1: no answer */
	char body[4096];
};

struct agents_seat *tiny_seat(struct tiny_desk *f, const char *machine);
int tiny_setup(void **state);
int tiny_teardown(void **state);
void tiny_run(struct tiny_desk *f, int64_t ms);
void tiny_init(struct tiny *t, struct tiny_desk *f, const char *boot_id);
void tiny_done(struct tiny *t);
/* NULL signature: a right one. */
void tiny_send(struct tiny *t, const char *method, const char *target, const void *body, size_t len,
	       const char *signature);
char *tiny_hello_text(struct tiny *t);
/* Its status. */
int tiny_hello(struct tiny *t);
void tiny_poll(struct tiny *t, int64_t after);
int tiny_report(struct tiny *t, const struct proto_report *r);
/* The order that it was answered. */
struct proto_order tiny_got(struct tiny *t);
void tiny_order(struct tiny_desk *f, const char *id, int kind);
/* The seat is open and this agent said hello. */
void tiny_greeted(struct tiny_desk *f, struct tiny *t);

#endif
