#ifndef SIM_EC2_H
#define SIM_EC2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/data/json.h"
#include "base/httpd/httpd.h"
#include "base/loop/loop.h"

/*
 * ec2: a simulated Amazon EC2 as an httpd handler; `drover sim ec2` runs it. docs/sim.md has its
 * actions and faults.
 *
 * It speaks the AWS Query protocol: POST /, a form in, XML out. One endpoint serves every region of
 * its zones: the region is the one of the request's signature, and an account sees its own
 * instances alone. Without keys no signature is checked, the region is the first zone's and the
 * account is SIM_EC2_ACCOUNT.
 *
 *   pending -- pending_ms --> running -- TerminateInstances, interruption, a block's end --> shutting-down -- ending_ms --> terminated
 *
 * What an instance is at a moment follows from moments that are written down with it; nothing but
 * the loop's clock moves it. It is listed for gone_ms more. The same ClientToken is known for a
 * day.
 *
 * Money is in millionths: whole seconds from running to shutting-down, at least 60, at the rate of
 * the market. A capacity block costs what it costs at once, any other reservation the on-demand
 * rate of all of it; what runs in them costs no more.
 */
#define SIM_EC2_ACCOUNT "123456789012"
struct sim_ec2;

struct sim_ec2_key {
	const char *id, *secret;
	/* token that goes with it; NULL: none */
	const char *session;
	/* NULL: SIM_EC2_ACCOUNT */
	const char *account;
};
struct sim_ec2_instance {
	const char *id, *type, *zone, *account;
	/* pending, running, shutting-down, terminated */
	const char *state;
	bool spot;
	/* as it was sent, without base64 */
	const char *user_data;
	size_t user_data_len;
	/* so far */
	int64_t micros;
};
struct sim_ec2_spec {
	struct loop_group *group;
	/* borrowed, and outlive it */
	const struct sim_ec2_key *keys;
	size_t nkeys;
	/* NULL-terminated; NULL: eu-west-1a, eu-west-1b, eu-west-1c, us-east-1a */
	const char *const *zones;
	/* borrowed during the call; NULL: a few types of its own */
	const json_t *prices;
	/* 0: 20 s, 30 s, 1 h */
	int64_t pending_ms, ending_ms, gone_ms;
	/* An instance is in another state. */
	void (*on_change)(const struct sim_ec2_instance *i, void *arg);
	void *arg;
};
/* NULL: the prices are not as they have to be. */
struct sim_ec2 *sim_ec2_new(const struct sim_ec2_spec *s, struct err *e);
/* its httpd first */
void sim_ec2_free(struct sim_ec2 *s);
void sim_ec2_routes(struct sim_ec2 *s, struct httpd *d);

/*
 * What goes wrong.
 *
 * Of one request, which `on` names (an action; NULL: any), before anything is done:
 *   Status		HTTP status `value` and no XML		Throttle	503 RequestLimitExceeded, with Retry-After `value` unless 0
 *   Error		the code `name` with status `value` (0: 400)
 * ... done, and then:
 *   StatusAfter	HTTP status `value`			LostReply	the connection breaks
 *   Silent		no answer				Slow		answered `value` ms later
 *   Garbage		answers no XML
 *
 * Of launches, of `type` in `zone` (NULL: any):
 *   Capacity	`value` are there at most		Unsupported	the type is not offered there
 *   SlowPending	pending for `value` ms			Dies		ends `value` ms after the launch, by `name` (NULL: Server.InternalError)
 *   Partial		launches at most `value`, even if MinCount is more
 *   Quota		`value` vCPUs in a region and account	SpotQuota	`value` spot instances in a region and account
 *
 * Of what is told of instances:
 *   Late		not known to `on` until `value` ms old	Stale		as they were `value` ms ago
 *   Pages		at most `value` on a page
 *   Skew		its clock is ahead by `value` ms
 *
 * At once, and never again:
 *   SpotNotice	spot instances of `type` in `zone` that run end in `value` ms (0: 120,000), with `name` that one alone
 *
 * after_ms: it begins then; for_ms: and lasts so long (0: for ever). count: how many requests (0:
 * any number).
 */
struct sim_ec2_fault {
	const char *what, *on, *type, *zone, *name;
	int64_t value, count, after_ms, for_ms;
};
/* copied; -1: there is none such */
int sim_ec2_fault(struct sim_ec2 *s, const struct sim_ec2_fault *f, struct err *e);
void sim_ec2_well(struct sim_ec2 *s);

/* A reservation, or with upfront_micros a capacity block, which ends what runs in it 30 min before
 * its end. The same id again moves its end and its size. Moments by the loop; ends 0: never. */
struct sim_ec2_reservation {
	/* account NULL: SIM_EC2_ACCOUNT */
	const char *id, *type, *zone, *account;
	int64_t count, starts, ends;
	/* -1: no block */
	int64_t upfront_micros;
};
int sim_ec2_reserve(struct sim_ec2 *s, const struct sim_ec2_reservation *r, struct err *e);
#define SIM_EC2_BLOCK_ENDS_MS ((int64_t)30 * 60 * 1000)

/* of everything so far */
int64_t sim_ec2_micros(const struct sim_ec2 *s);
/* pending and running */
size_t sim_ec2_live(const struct sim_ec2 *s);
size_t sim_ec2_launched(const struct sim_ec2 *s);
/* NULL: all */
unsigned sim_ec2_calls(const struct sim_ec2 *s, const char *action);
/* An instance, as it is; false: there is none. */
bool sim_ec2_find(struct sim_ec2 *s, const char *id, struct sim_ec2_instance *out);

#endif
