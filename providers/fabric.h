#ifndef PROVIDERS_FABRIC_H
#define PROVIDERS_FABRIC_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "providers/timed_calls.h"

/*
 * fabric: interface to the network backend that moves a machine's switch ports between segments
 * (isolated networks).
 *
 * place() requests that the machine is moved to a segment; it may be repeated. A successful done()
 * of place() proves nothing. Only observe() reports in which segment the machine is, how that was
 * proved, and when. A later place() for the same machine starts after the earlier one has ended or
 * has taken 60 s. ERR_CONFLICT of place() always means that a leader with a higher fence has
 * already moved the machine. All calls are asynchronous on the loop thread; done() is called
 * exactly once, never inside the call.
 *
 * Types of fabric:
 *
 *   none   no isolation: place() succeeds, observe() reports the requested segment, proof None
 *   exec   a child process that speaks JSON lines; docs/exec-fabric.md has the protocol
 *   netris server clusters of a Netris controller; docs/providers/netris.md
 *
 * Tests: tests/contract/test_fabric.c, tests/contract/test_netris_api_path.c
 */
enum fabric_proof { FABRIC_PROOF_NONE, FABRIC_PROOF_WEAK, FABRIC_PROOF_STRONG };
/* Names of enum fabric_proof, by value: None, Weak, Strong. */
extern const char *const fabric_proof_names[];

/* Settings of type netris: a Netris controller, and the names that drover uses there. fabric_new()
 * copies everything except http. */
struct fabric_netris {
	/* HTTP client, borrowed; must exist as long as the fabric */
	struct http *http;
	/* URL of the controller, such as "https://netris.example" */
	const char *url, *user;
	const struct secret *password;
	/* CA certificates and fingerprint of the controller, as in struct http_peer_spec */
	const char *ca_pem, *pin_sha256;
	bool plain_ok;
	/* Names at the controller. site: the site; template_: the server-cluster template; admin:
	 * the Netris tenant that owns the servers. */
	const char *site, *template_, *admin;
	/* Prefix of the names of all objects that drover creates; identifies this installation. */
	const char *prefix;
	/* Names of servers that drover adds as shared to each cluster that it creates;
	 * NULL-terminated or NULL. */
	const char *const *host_servers;
	/* Names of V-nets that may contain a machine's ports in addition to the V-nets of its
	 * segment; NULL-terminated or NULL */
	const char *const *common_vnets;
};
struct fabric_spec {
	/* Type of fabric: none, exec or netris */
	const char *type;
	/* Type exec: argv of the program, NULL-terminated */
	const char *const *command;
	/* Type exec: programs that drover may run, with first arguments (allowed.h).
	 * NULL-terminated; NULL: none. If command matches no entry, fabric_new() fails with
	 * ERR_DENIED. */
	const char *const *allowed;
	/* Settings of type netris; NULL for other types */
	const struct fabric_netris *netris;
	struct loop_group *group;
	/* Observer of all calls, not used for type none; .ended NULL: none */
	struct call_watch watch;
};
struct fabric;

/* A machine whose switch ports are moved. Segments are given by name: the quarantine or
 * provisioning segment of a Provider, or "tenant/NAME". */
struct fabric_port {
	const char *machine;
	/* MAC address of the network interface from which the machine boots; NULL: unknown */
	const char *mac;
};
struct fabric_place {
	/* Segment in which the machine is; NULL: unknown, or in no segment */
	const char *segment;
	enum fabric_proof proof;
	/* Why the proof is not stronger; NULL: no reason given */
	const char *why;
	/* loop_now() when the read was sent */
	int64_t read_at;
};
struct fabric_call {
	const char *op_id;
	int64_t fence;
	/* Called when the call has ended. p: result of observe(), valid during the call; NULL for
	 * place() and drop(), and with an error. */
	void (*done)(const struct fabric_place *p, const struct err *e, void *arg);
	/* For place() and drop(): called just before each change, which may be long after the call
	 * began. Must return true while the change is still allowed. False ends the call with
	 * ERR_UNAVAILABLE. NULL: always true. Type exec calls it when it hands the request to its
	 * program, which makes the changes on its own. */
	bool (*may_act)(void *arg);
	void *arg;
};
/* The network path from a tenant's machines to the tenant's API server, if the fabric provides or
 * checks it: a virtual IP address in the machines' network, or a load balancer of the fabric. */
enum fabric_via { FABRIC_VIA_VIP, FABRIC_VIA_L4LB };
struct fabric_api_path {
	enum fabric_via via;
	/* Segment of the tenant. */
	const char *segment;
	/* UID of the VirtualCluster; part of the load balancer's name */
	const char *uid;
	/* IP:PORT that the machines use; NULL: the load balancer gets a free address */
	const char *address;
	/* IP:PORT of the API servers behind a load balancer; NULL-terminated. */
	const char *const *backends;
};
struct fabric_api_path_state {
	bool up;
	/* Reason of a condition: static string in CamelCase */
	const char *reason;
	/* Human-readable message; "": none. */
	const char *why;
	/* IP:PORT that the machines use; NULL: unknown */
	const char *address;
};
struct fabric_api_path_call {
	void (*done)(const struct fabric_api_path_state *s, const struct err *e, void *arg);
	/* Called just before each change; see struct fabric_call */
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
	/* Implements fabric_trouble(); NULL: this type reports no problems */
	bool (*trouble)(const struct fabric *f, char *text, size_t size);
	/* Implements fabric_about(): describes the backend for operators, for example "release
	 * 4.14.0". False, or NULL: unknown. */
	bool (*about)(const struct fabric *f, char *text, size_t size);
	/* Implements fabric_drop(); NULL: this type creates no objects for a segment */
	void (*drop)(struct fabric *f, const char *segment, const struct fabric_call *c);
	/* Implement fabric_ensure_api_path() and fabric_remove_api_path(); NULL: this type provides
	 * no network paths to tenants' API servers. */
	void (*ensure_api_path)(struct fabric *f, const struct fabric_api_path *w,
				const struct fabric_api_path_call *c);
	void (*remove_api_path)(struct fabric *f, const struct fabric_api_path *w,
				const struct fabric_api_path_call *c);
};
struct fabric {
	const struct fabric_ops *ops;
	void *state;
	struct timed_calls timed;
};

struct fabric *fabric_new(const struct fabric_spec *s, struct err *e);
/* Frees the fabric. Pending calls end without done(). */
void fabric_free(struct fabric *f);
void fabric_place(struct fabric *f, const struct fabric_port *p, const char *segment,
		  const struct fabric_call *c);
void fabric_observe(struct fabric *f, const struct fabric_port *p, const struct fabric_call *c);
/* Writes a human-readable problem to text, if there is one that concerns more than one machine and
 * that an operator must solve. False: there is none. */
bool fabric_trouble(const struct fabric *f, char *text, size_t size);
bool fabric_about(const struct fabric *f, char *text, size_t size);
/* True if this type creates objects for a segment. The caller must then call fabric_drop() when a
 * segment is no longer used. */
bool fabric_makes(const struct fabric *f);
/* Removes the objects that drover created for a segment that is no longer used, and no other
 * objects. May be repeated. ERR_CONFLICT: the segment still contains a machine. Call only if
 * fabric_makes(). */
void fabric_drop(struct fabric *f, const char *segment, const struct fabric_call *c);

/* True if this type provides network paths from a tenant's machines to the tenant's API server:
 * fabric_ensure_api_path() and fabric_remove_api_path(). */
bool fabric_has_api_paths(const struct fabric *f);
/* Creates or corrects the load balancer of a tenant's API server and reports its state. For
 * FABRIC_VIA_VIP, only checks that the network meets the needs of a virtual IP address. May be
 * repeated: an object that was created is found again by its name, even if the answer to its
 * creation was lost. w is copied. Call only if fabric_has_api_paths(). */
void fabric_ensure_api_path(struct fabric *f, const struct fabric_api_path *w,
			    const struct fabric_api_path_call *c);
/* Removes the load balancer that drover created for path w, and no other. Uses only segment and uid
 * of w. done() without an error (s is NULL) means that no such load balancer is left. */
void fabric_remove_api_path(struct fabric *f, const struct fabric_api_path *w,
			    const struct fabric_api_path_call *c);

#endif
