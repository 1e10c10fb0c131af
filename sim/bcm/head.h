#ifndef SIM_BCM_HEAD_H
#define SIM_BCM_HEAD_H

#include "base/httpd/httpd.h"
#include "base/loop/loop.h"
#include "base/secret.h"

/*
 * head: a simulated head node of NVIDIA Base Command Manager (BCM), as far as a client of its JSON
 * API sees it: nodes with their states, categories, software images, networks; power; installs that
 * take time.
 *
 *   POST /json                               {"service", "call", "args"}; login by cookie or client
 *                                            certificate
 *   GET  /rest/v1/version, /rest/v1/status   HTTP Basic or client certificate
 *
 * Objects are stored as text, exactly as written: a member that a client omits is lost, as in BCM.
 * Validation refuses a node without hostname, mac or category. Versions of objects are not checked:
 * the last writer wins.
 *
 * Requests for users of the simulator, without a password:
 *
 *   GET    /sim/nodes              state of each node
 *   GET    /sim/nodes/NAME         the device of a node, as stored
 *   POST   /sim/nodes/NAME/close   {"closed": true}: an operator closes the node; false opens it
 *   POST   /sim/faults             adds one fault (below)
 *   DELETE /sim/faults             ends all faults
 *   POST   /sim/restart            {"ms": 5000}: the daemon is down for that time; installs begin
 *                                  again, and logins are lost
 *   PUT    /sim/version            {"version": "10.25.3"} sets the reported version
 *
 * A fault is {"what": "ErrorMessage", "call": "cmdevice.updateDevice", "count": 1, "text": "boom",
 * "value": 0}. Without call: for any call; without count: no limit.
 *
 *   ErrorMessage  200 with {"errormessage": text}, without executing the call
 *   Null          answers null, without executing the call
 *   Denied        the certificate does not allow the call
 *   NoCall        the call does not exist
 *   Status        HTTP status `value`
 *   Slow          executes the call and answers `value` ms later
 *   LostReply     executes the call, and closes the connection
 *   Hang          no answer, without executing the call
 *   Stale         answers with the device as it was before the last write
 *   Overwrite     another writer with an older copy writes afterwards: the write is lost
 *   Moved         another writer changes the device's notes meanwhile
 *   Invalid       validation refuses the write
 *   Ignored       the write succeeds without effect
 *   Expire        every login has expired
 *   InstallFails  the next install fails (no call)
 *   InstallHangs  the next install never ends (no call)
 *
 * The sources of these facts are listed in providers/bcm/client.h; the simulator shares no code
 * with that client.
 * Tests: tests/unit/sim/bcm/test_head.c
 */
struct sim_head;
struct sim_head_node;

/* Callbacks into the machine behind a node. Each may be NULL. */
struct sim_head_machine {
	/* Requests a power change, which takes time. The machine calls sim_head_powered() when its
	 * power has changed. */
	void (*power)(void *machine, bool on);
	/* True if the machine's network port reaches the head node; NULL: always. */
	bool (*reaches)(void *machine);
	/* Called when the image with this name has been installed on the machine's disk. */
	void (*installed)(void *machine, const char *image);
};

struct sim_head_spec {
	/* User name for logins. */
	const char *user;
	const struct secret *password;
	/* Subject CN of client certificates that are accepted as a login; NULL: none. */
	const char *cert_cn;
	/* Reported version; NULL: "11.0". */
	const char *version;
	/* Duration of a network boot; 0 means 3 s. */
	int64_t boot_ms;
	/* Duration of an install; 0 means 20 s. */
	int64_t install_ms;
};
struct sim_head *sim_head_new(struct loop_group *g, const struct sim_head_spec *s);
/* Frees the head node; the httpd with its routes must be freed first. */
void sim_head_free(struct sim_head *h);
void sim_head_routes(struct sim_head *h, struct httpd *d);

/* Adds a node of BCM's type PhysicalNode, with its BMC. machine: passed to the functions of *m,
 * which is copied. m NULL: a machine that can only be switched on and off. */
struct sim_head_node *sim_head_add(struct sim_head *h, const char *name, const char *mac,
				   const char *bmc_address, const struct sim_head_machine *m,
				   void *machine);
/* Sets one member of the node's device to a JSON text, for example "childType" to
 * "\"HeadNode\"". */
void sim_head_set(struct sim_head_node *n, const char *member, const char *json);
/* sim_head_device() returns the device as stored, sim_head_state() the node's state in BCM's
 * terms. */
const char *sim_head_device(const struct sim_head_node *n);
const char *sim_head_state(const struct sim_head_node *n);
/* Returns the node with this name; NULL: no such node. */
struct sim_head_node *sim_head_node(struct sim_head *h, const char *name);

/* Sets (closed true) or clears (false) the node's BCM state CLOSED, with which an operator takes a
 * node out of use. */
void sim_head_close(struct sim_head_node *n, bool closed);

/* Call it when the machine's power has changed to `on`. */
void sim_head_powered(struct sim_head_node *n, bool on);
/* Call it when the machine boots without a medium, before it boots its disk. True: the head node
 * boots the machine over the network. False: the machine does not reach the head node, or the
 * daemon is down; the machine must then boot its disk. */
bool sim_head_boots(struct sim_head_node *n);

/* Adds a fault in the JSON form of POST /sim/faults. ERR_INVALID: the fault is not valid; the error
 * text has the cause. */
int sim_head_fault(struct sim_head *h, const char *json, struct err *e)
	__attribute__((warn_unused_result));
/* Ends all faults. */
void sim_head_well(struct sim_head *h);
void sim_head_restart(struct sim_head *h, int64_t gone_ms);
/* Returns the number of requests so far for this call. */
unsigned sim_head_count(const struct sim_head *h, const char *call);

#endif
