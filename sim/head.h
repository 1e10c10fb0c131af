#ifndef SIM_HEAD_H
#define SIM_HEAD_H

#include "base/httpd/httpd.h"
#include "base/loop/loop.h"
#include "base/secret.h"

/*
 * head: the head node of an NVIDIA Base Command Manager (BCM), as far as a client of its JSON API
 * sees it: nodes with their states, categories, software images, networks; power; installs that
 * take their time.
 *
 *   POST /json		{"service", "call", "args"}, login by cookie or client certificate
 *   GET  /rest/v1/version, /rest/v1/status	HTTP Basic or client certificate
 *
 * Objects are kept as text, letter for letter as they were written: what a client leaves out is
 * gone, as there. A node without a hostname, mac or category is refused by validation. Nothing is
 * compared: the last writer wins.
 *
 * For people, without a password:
 *
 *   GET  /sim/nodes			what each node does
 *   GET  /sim/nodes/NAME		its device, as it stands
 *   POST /sim/nodes/NAME/close {"closed": true}	an operator closes it, or opens it again
 *   POST /sim/faults		one row of what goes wrong (below)
 *   DELETE /sim/faults		nothing goes wrong any more
 *   POST /sim/restart {"ms": 5000}	the daemon is gone for so long; installs begin again, cookies are forgotten
 *   PUT  /sim/version {"version": "10.25.3"}
 *
 * {"what": "ErrorMessage", "call": "cmdevice.updateDevice", "count": 1, "text": "boom", "value":
 * 0}. Without call: at any; without count: for ever.
 *
 *   ErrorMessage	200 with {"errormessage": text}		Null	null, without effect
 *   Denied		the certificate does not allow it	NoCall	there is no such call
 *   Status		HTTP status `value`			Slow	answered and acted on `value` ms later
 *   LostReply	acted on, and the connection breaks	Hang	no answer, no effect
 *   Stale		the device as it was before the last write
 *   Overwrite	somebody who read before writes the device after: the write is lost
 *   Moved		somebody else's notes are written into the device meanwhile
 *   Invalid		the write is refused by validation	Ignored	the write succeeds and is not done
 *   Expire		every login is over before it
 *   InstallFails, InstallHangs	at the next install (no call)
 *
 * Sources: as of providers/bcm/client.h; it is no copy of that client, and knows nothing of it.
 * Tests: tests/unit/sim/test_head.c
 */
struct sim_head;
struct sim_head_node;

/* The machine behind a node.  Each may be NULL. */
struct sim_head_machine {
	/* takes its time; sim_head_powered() tells */
	void (*power)(void *machine, bool on);
	/* its port leads to the head node; NULL: always */
	bool (*reaches)(void *machine);
	/* its disk holds that image now */
	void (*installed)(void *machine, const char *image);
};

struct sim_head_spec {
	/* of logins */
	const char *user;
	const struct secret *password;
	/* a client certificate with this name is a login; NULL: none is */
	const char *cert_cn;
	/* "11.0" */
	const char *version;
	/* 0: 3 s, 20 s */
	int64_t boot_ms, install_ms;
};
struct sim_head *sim_head_new(struct loop_group *g, const struct sim_head_spec *s);
/* after the httpd that has its routes */
void sim_head_free(struct sim_head *h);
void sim_head_routes(struct sim_head *h, struct httpd *d);

/* A PhysicalNode with its BMC; m: borrowed ops, copied; NULL: a machine that only has power. */
struct sim_head_node *sim_head_add(struct sim_head *h, const char *name, const char *mac,
				   const char *bmc_address, const struct sim_head_machine *m,
				   void *machine);
/* A member of its device becomes this JSON text: "childType", "\"HeadNode\"". */
void sim_head_set(struct sim_head_node *n, const char *member, const char *json);
/* The device as it stands, and the node's state in BCM's words. */
const char *sim_head_device(const struct sim_head_node *n);
const char *sim_head_state(const struct sim_head_node *n);
/* NULL: none */
struct sim_head_node *sim_head_node(struct sim_head *h, const char *name);

/* An operator closes the node, or opens it again. */
void sim_head_close(struct sim_head_node *n, bool closed);

/* Its machine has power, or has not. */
void sim_head_powered(struct sim_head_node *n, bool on);
/* Its machine came up without a boot medium, and asks the network first. False: nobody answers, it
 * boots its disk. */
bool sim_head_boots(struct sim_head_node *n);

/* As POST /sim/faults.  ERR_INVALID names what is wrong with it. */
int sim_head_fault(struct sim_head *h, const char *json, struct err *e)
	__attribute__((warn_unused_result));
/* nothing goes wrong any more */
void sim_head_well(struct sim_head *h);
void sim_head_restart(struct sim_head *h, int64_t gone_ms);
/* so often called */
unsigned sim_head_count(const struct sim_head *h, const char *call);

#endif
