#ifndef PROVIDERS_FABRIC_H
#define PROVIDERS_FABRIC_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/http/http.h"
#include "base/loop/loop.h"

/*
 * fabric: which network segment a machine's ports are in.
 *
 * place() names the segment wanted and is idempotent; done() proves nothing by itself: observe()
 * tells where the machine is, how that was proved, and when. A later place() of the same machine is
 * ordered after an earlier one has ended or its 60 s are over. ERR_CONFLICT of place() says that a
 * higher fence was there, and nothing else. Asynchronous on the loop thread; done exactly once,
 * never inside the call.
 *
 *   none   there is no isolation: place succeeds, observe answers the segment last asked for with proof None
 *   exec   a child process that speaks JSON lines; docs/exec-fabric.md has the protocol
 *   netris server clusters of a Netris controller; docs/providers/netris.md
 * Tests: tests/contract/test_fabric.c, tests/contract/test_netris_way.c
 */
enum fabric_proof { FABRIC_PROOF_NONE, FABRIC_PROOF_WEAK, FABRIC_PROOF_STRONG };
/* None, Weak, Strong */
extern const char *const fabric_proof_names[];

/* A Netris controller, and what stands for segments there.  Everything is copied but http. */
struct fabric_netris {
	/* borrowed; outlives the fabric */
	struct http *http;
	/* "https://netris.example" */
	const char *url, *user;
	const struct secret *password;
	/* as http_peer_spec */
	const char *ca_pem, *pin_sha256;
	bool plain_ok;
	/* names; admin: the tenant of Netris that owns the servers */
	const char *site, *template_, *admin;
	/* of the names of what drover makes: its installation */
	const char *prefix;
	/* shared in each cluster that drover makes; NULL-terminated or NULL */
	const char *const *host_servers;
	/* that a machine's ports may be in besides; as above */
	const char *const *common_vnets;
};
struct fabric_spec {
	/* none, exec, netris */
	const char *type;
	/* exec: NULL-terminated argv */
	const char *const *command;
	/* exec: the programs that may be run, by absolute path, NULL-terminated; NULL: none.
	 * command[0] has to be one of them letter for letter, or opening ends with ERR_DENIED. */
	const char *const *allowed;
	/* netris */
	const struct fabric_netris *netris;
	struct loop_group *group;
};
struct fabric;

/* Segments are names: a Provider's quarantine and provisioning segment, or a tenant's. */
struct fabric_port {
	const char *machine;
	/* of the boot NIC; NULL: unknown */
	const char *mac;
};
struct fabric_place {
	/* NULL: unknown, or in none */
	const char *segment;
	enum fabric_proof proof;
	/* there is no better proof; NULL: nothing to say */
	const char *why;
	/* loop_now() when the question was sent */
	int64_t read_at;
};
struct fabric_call {
	const char *op_id;
	int64_t fence;
	/* p NULL for place() */
	void (*done)(const struct fabric_place *p, const struct err *e, void *arg);
	/* place(), drop(): asked just before something is changed, which may be long after the call
	 * began; false ends it with ERR_UNAVAILABLE. NULL: always. exec does not ask: its program
	 * works on its own. */
	bool (*may_act)(void *arg);
	void *arg;
};
/* The way from a tenant's machines to its API server, where a fabric has to do with it. */
enum fabric_via { FABRIC_VIA_VIP, FABRIC_VIA_L4LB };
struct fabric_way {
	enum fabric_via via;
	/* the tenant's */
	const char *segment;
	/* of the tenant: part of the name of what is made for it */
	const char *uid;
	/* IP:PORT; NULL: a load balancer takes a free one */
	const char *address;
	/* of a load balancer, IP:PORT; NULL-terminated */
	const char *const *backends;
};
struct fabric_way_seen {
	bool up;
	/* CamelCase, static */
	const char *reason;
	/* for people; "": nothing to say */
	const char *why;
	/* IP:PORT; NULL: not known */
	const char *address;
};
struct fabric_way_call {
	void (*done)(const struct fabric_way_seen *s, const struct err *e, void *arg);
	/* as of fabric_call */
	bool (*may_act)(void *arg);
	void *arg;
};
struct fabric_ops {
	const char *type;
	int (*open)(struct fabric *f, const struct fabric_spec *s, struct err *e);
	void (*close)(struct fabric *f);
	void (*place)(struct fabric *f, const struct fabric_port *p, const char *segment,
		      const struct fabric_call *c);
	void (*observe)(struct fabric *f, const struct fabric_port *p, const struct fabric_call *c);
	/* NULL: it knows of none */
	bool (*trouble)(const struct fabric *f, char *text, size_t size);
	/* What moves the ports, for people: "release 4.14.0". NULL, false: nothing is known of
	 * it. */
	bool (*about)(const struct fabric *f, char *text, size_t size);
	/* NULL: it makes nothing for a segment. */
	void (*drop)(struct fabric *f, const char *segment, const struct fabric_call *c);
	/* NULL, both: it has nothing to do with ways. */
	void (*way)(struct fabric *f, const struct fabric_way *w, const struct fabric_way_call *c);
	void (*unway)(struct fabric *f, const struct fabric_way *w,
		      const struct fabric_way_call *c);
};
struct fabric {
	const struct fabric_ops *ops;
	void *state;
};

struct fabric *fabric_new(const struct fabric_spec *s, struct err *e);
/* calls in flight end without done() */
void fabric_free(struct fabric *f);
void fabric_place(struct fabric *f, const struct fabric_port *p, const char *segment,
		  const struct fabric_call *c);
void fabric_observe(struct fabric *f, const struct fabric_port *p, const struct fabric_call *c);
/* Something that a person has to mend, beyond one machine: what, for people.  False: nothing. */
bool fabric_trouble(const struct fabric *f, char *text, size_t size);
bool fabric_about(const struct fabric *f, char *text, size_t size);
/* Does it make anything for a segment, that is to be removed when nobody needs that any more? */
bool fabric_makes(const struct fabric *f);
/* Nobody needs this segment any more: what was made for it is removed, and nothing that others
 * made. Idempotent; ERR_CONFLICT: a machine is in it. Only where fabric_makes(). */
void fabric_drop(struct fabric *f, const char *segment, const struct fabric_call *c);

/* Does it have to do with ways to API servers? */
bool fabric_has_ways(const struct fabric *f);
/* A load balancer is made or corrected where it is not as wanted, and looked at; of a VIP, what it
 * needs is looked at. Idempotent: what is made is found again by its name, also when the answer was
 * lost. w is copied. Where fabric_has_ways(). */
void fabric_way(struct fabric *f, const struct fabric_way *w, const struct fabric_way_call *c);
/* The load balancer that was made for it is removed, and no other; segment and uid of w count.
 * done() without an error: none is left (s NULL). */
void fabric_unway(struct fabric *f, const struct fabric_way *w, const struct fabric_way_call *c);

#endif
