#ifndef SIM_EC2_EC2_H
#define SIM_EC2_EC2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/data/json.h"
#include "base/httpd/httpd.h"
#include "base/loop/loop.h"

/*
 * ec2: a simulated Amazon EC2 as an httpd handler; `drover sim ec2` runs it. docs/sim.md lists its
 * actions and faults.
 *
 * It implements the AWS Query protocol: POST /, a form as input, XML as output. One endpoint serves
 * all regions of its zones. The region is that of the request's signature, and an account sees only
 * its own instances. Without keys no signature is checked, the region is that of the first zone,
 * and the account is SIM_EC2_ACCOUNT.
 *
 *   pending -- pending_ms --> running
 *   running -- TerminateInstances, interruption, end of a block --> shutting-down
 *   shutting-down -- ending_ms --> terminated
 *
 * The state of an instance is computed from recorded times; only the loop's clock changes it. A
 * terminated instance is listed for another gone_ms. A ClientToken is remembered for a day.
 *
 * Costs are in millionths of the currency. An instance costs whole seconds from running to
 * shutting-down, at least 60, at the rate of its market (Spot or on-demand). A capacity block costs
 * its fee at once; any other reservation costs the on-demand rate for its full size. Instances in a
 * reservation cost nothing more.
 */
#define SIM_EC2_ACCOUNT "123456789012"
struct sim_ec2;

struct sim_ec2_key {
	const char *id, *secret;
	/* Session token of the key; NULL: none. */
	const char *session;
	/* Account of the key; NULL: SIM_EC2_ACCOUNT. */
	const char *account;
};
struct sim_ec2_instance {
	const char *id, *type, *zone, *account;
	/* State of the instance: pending, running, shutting-down or terminated. */
	const char *state;
	bool spot;
	/* User data as sent, decoded from base64. */
	const char *user_data;
	size_t user_data_len;
	/* Cost of the instance so far, in millionths of the currency. */
	int64_t micros;
};
struct sim_ec2_spec {
	struct loop_group *group;
	/* Accepted keys; borrowed, must outlive the simulator. */
	const struct sim_ec2_key *keys;
	size_t nkeys;
	/* Names of the zones, NULL-terminated; NULL: eu-west-1a, eu-west-1b, eu-west-1c,
	 * us-east-1a. */
	const char *const *zones;
	/* Instance types and their prices; used only during sim_ec2_new(). NULL: a few built-in
	 * types. */
	const json_t *prices;
	/* Time from launch to running; 0 means 20 s. */
	int64_t pending_ms;
	/* Time from termination to terminated; 0 means 30 s. */
	int64_t ending_ms;
	/* Time for which a terminated instance is listed; 0 means 1 h. */
	int64_t gone_ms;
	/* Called when an instance has changed its state. */
	void (*on_change)(const struct sim_ec2_instance *i, void *arg);
	void *arg;
};
/* Creates the simulator. NULL with *e: the prices are not valid. */
struct sim_ec2 *sim_ec2_new(const struct sim_ec2_spec *s, struct err *e);
/* Frees the simulator; its httpd must be freed first. */
void sim_ec2_free(struct sim_ec2 *s);
void sim_ec2_routes(struct sim_ec2 *s, struct httpd *d);

/*
 * A fault. Member `what` names one of these kinds; the other members are its parameters.
 *
 * Faults of a request, which `on` names (an action; NULL: any). The request is not executed:
 *   Status       HTTP status `value` without XML
 *   Throttle     503 RequestLimitExceeded, with Retry-After `value` unless 0
 *   Error        error code `name` with status `value` (0: 400)
 *
 * Faults of a request that is executed; only its answer is changed:
 *   StatusAfter  HTTP status `value`
 *   LostReply    closes the connection
 *   Silent       no answer
 *   Slow         answers `value` ms later
 *   Garbage      answers something that is not XML
 *
 * Faults of launches, of `type` in `zone` (NULL: any):
 *   Capacity     at most `value` instances
 *   Unsupported  the type is not offered in the zone
 *   SlowPending  pending for `value` ms
 *   Dies         terminates `value` ms after the launch, with cause `name`; NULL:
 *                Server.InternalError
 *   Partial      launches at most `value`, even if MinCount is higher
 *   Quota        at most `value` vCPUs in a region and account
 *   SpotQuota    at most `value` Spot instances in a region and account
 *
 * Faults of the reported state:
 *   Late         instances are unknown to `on` until they are `value` ms old
 *   Stale        reports instances as they were `value` ms ago
 *   Pages        at most `value` entries on a page
 *   Skew         the server's clock is ahead by `value` ms
 *
 * A single event:
 *   SpotNotice   running Spot instances of `type` in `zone` end in `value` ms (0: 120,000); with
 *                `name` only the instance with that id
 *
 * after_ms: time until the fault begins. for_ms: its duration (0: no end). count: number of
 * requests (0: no limit).
 */
struct sim_ec2_fault {
	const char *what, *on, *type, *zone, *name;
	int64_t value, count, after_ms, for_ms;
};
/* Adds a copy of *f. -1: `what` is unknown. */
int sim_ec2_fault(struct sim_ec2 *s, const struct sim_ec2_fault *f, struct err *e);
void sim_ec2_well(struct sim_ec2 *s);

/* A reservation, for sim_ec2_reserve(). If id is the id of an existing reservation, the end and the
 * size of that reservation are changed. A reservation with upfront_micros is a capacity block,
 * whose instances end 30 min before the block does. starts, ends: loop time (loop_now()) in ms;
 * ends 0: never. */
struct sim_ec2_reservation {
	/* account NULL: SIM_EC2_ACCOUNT. */
	const char *id, *type, *zone, *account;
	int64_t count, starts, ends;
	/* Fee in millionths; -1: not a capacity block. */
	int64_t upfront_micros;
};
int sim_ec2_reserve(struct sim_ec2 *s, const struct sim_ec2_reservation *r, struct err *e);
#define SIM_EC2_BLOCK_ENDS_MS ((int64_t)30 * 60 * 1000)

/* Returns the total cost so far, in millionths of the currency. */
int64_t sim_ec2_micros(const struct sim_ec2 *s);
/* Returns the number of pending and running instances. */
size_t sim_ec2_live(const struct sim_ec2 *s);
size_t sim_ec2_launched(const struct sim_ec2 *s);
/* Returns the number of calls of an action; action NULL: of all actions. */
unsigned sim_ec2_calls(const struct sim_ec2 *s, const char *action);
/* Copies the present state of an instance to *out. False: no instance has that id. */
bool sim_ec2_find(struct sim_ec2 *s, const char *id, struct sim_ec2_instance *out);

#endif
