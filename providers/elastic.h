#ifndef PROVIDERS_ELASTIC_H
#define PROVIDERS_ELASTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/market.h"
#include "base/err.h"

/*
 * elastic: the calls of a provider that launch and terminate paid instances. Implemented by clouds,
 * and by programs that represent clouds.
 *
 * An implementation fills struct provider_elastic_ops and names it in its struct provider_ops. Each
 * call is asynchronous on the loop thread and calls done() exactly once, never inside the starting
 * function, within PROVIDER_CALL_MS after its turn in the provider's queue came. No done() is
 * called after provider_free(). An implementation makes no decisions and repeats no calls: the
 * controller chooses the offer, the number of attempts and the price limit. Strings passed to
 * done() are valid during that call; strings passed to a call are read inside that call.
 *
 * Errors, with the scope in which the same request would fail:
 *
 * - ERR_CAPACITY (zone): the cloud has no such instance now.
 * - ERR_QUOTA (account): a limit of the account is reached.
 * - ERR_PRICE (zone): the price is above the limit.
 * - ERR_UNSUPPORTED (zone): the type does not exist in the zone.
 * - ERR_DENIED (account): the cloud refused the credentials or the permission.
 * - ERR_INVALID (request): the same request can never succeed.
 * - ERR_UNAVAILABLE with retry-after: throttled or not sent, so nothing happened.
 * - ERR_TIMEOUT: sent, effect unknown (no answer, a broken connection, or a 5xx that does not
 *   exclude an effect).
 * - ERR_CONFLICT: the token was used with other parameters or for an instance that has ended, or
 *   may_act() returned false.
 *
 * Tests: tests/contract/test_elastic.c
 */
struct provider;

enum elastic_state {
	ELASTIC_UNKNOWN,
	ELASTIC_PENDING,
	ELASTIC_RUNNING,
	/* shutting down, stopping, stopped, or failed to start: the instance does not run again by
	 * itself, but may be billed until it is terminated */
	ELASTIC_ENDING,
	/* terminated, as the cloud reported: the instance is no longer billed */
	ELASTIC_TERMINATED
};
/* Names of enum elastic_state, by value: Unknown, Pending, Running, Ending, Gone. */
extern const char *const elastic_state_names[];

struct elastic_tag {
	const char *key, *value;
};
/* Tag keys that every launch sets. drover finds its instances only by these tags. */
/* UID of the namespace kube-system of the host cluster */
#define ELASTIC_TAG_CLUSTER "drover.dev/cluster"
#define ELASTIC_TAG_MACHINE "drover.dev/machine" /* Name of the Machine. */
#define ELASTIC_TAG_CLAIM "drover.dev/claim"	 /* UID of the NodeClaim. */
#define ELASTIC_TAG_POLICY "drover.dev/policy"	 /* Name of the BurstPolicy; tag absent: none. */
#define ELASTIC_TAG_TENANT "drover.dev/virtual-cluster"

struct elastic_instance {
	/* ID of the instance, as the cloud names it */
	const char *id;
	/* Value that the cloud's own controller writes to spec.providerID of the Node, for example
	 * aws:///eu-west-1a/i-0123 */
	const char *provider_id;
	const char *region, *zone, *type;
	/* Token of the launch (elastic_launch.token); NULL: not reported */
	const char *token;
	/* Why the instance is Ending or Gone, in the cloud's words; NULL: not reported */
	const char *reason;
	/* Private IP address; NULL: none yet */
	const char *address;
	enum elastic_state state;
	enum market market;
	/* Unix ms of the launch by the cloud's clock; 0: not reported */
	int64_t launched_at;
	/* ID of the reservation that the instance uses; NULL: none. */
	const char *reservation;
	/* Unix ms at which the cloud will terminate the instance, after an interruption notice or
	 * at the end of its reservation; 0: no end is known */
	int64_t ends_at;
	/* Unix ms since which the cloud expects to interrupt the instance soon; 0: it does not, or
	 * the provider cannot know. A time in the future has no effect yet. */
	int64_t at_risk_since;
	const struct elastic_tag *tags;
	size_t ntags;
};

struct elastic_launch {
	/* Idempotency key, at most 64 ASCII characters. A repeated launch with the same token
	 * returns the same instances and launches nothing. */
	const char *token;
	struct offer offer;
	/* Image ID; NULL: the image configured for the provider */
	const char *image;
	/* User data for the first boot; contains secrets and must not be logged. */
	const void *user_data;
	size_t user_data_len;
	/* Number of instances to launch; the cloud launches all of them or none */
	int64_t count;
	/* Market MARKET_SPOT: highest price per instance and hour, in millionths of the currency;
	 * -1: no limit */
	int64_t max_micros_per_hour;
	const struct elastic_tag *tags;
	size_t ntags;
	/* Called just before the launch request is sent. Must return true while lease, fence and
	 * claim are still valid. False: nothing is sent, and the call ends with ERR_CONFLICT. NULL:
	 * always true. */
	bool (*may_act)(void *arg);
	void *may_act_arg;
};

/* Callback with n offers. If e is not NULL, o contains only the offers that could be read, possibly
 * none. */
typedef void elastic_offers_done(const struct offer *o, size_t n, const struct err *e, void *arg);
/* Callback with n instances. If e is not NULL, v may still contain instances that are known to run;
 * the caller must use them, so that a partial success is not lost. */
typedef void elastic_instances_done(const struct elastic_instance *v, size_t n, const struct err *e,
				    void *arg);

#define ELASTIC_UNLISTED_MS 300000

struct provider_elastic_ops {
	void (*offers)(struct provider *p, elastic_offers_done *done, void *arg);
	void (*launch)(struct provider *p, const struct elastic_launch *l,
		       elastic_instances_done *done, void *arg);
	/* Lists all instances whose tag ELASTIC_TAG_CLUSTER has the value `cluster`, in every
	 * region and account of the provider, including Gone ones as long as the cloud reports
	 * them. If the call ends with an error, nothing is known about instances that are not in
	 * the list. Clouds list new instances late. So an instance that this provider launched or
	 * saw, but that the cloud does not list, may be reported as Unknown, and as Gone after
	 * ELASTIC_UNLISTED_MS. */
	void (*list_owned)(struct provider *p, const char *cluster, elastic_instances_done *done,
			   void *arg);
	/* Terminates one instance. Success if the instance no longer exists. done() gets only this
	 * instance, with id, region and the state that the cloud answered (Unknown if it does not
	 * exist). Only list_owned() proves the state Gone. */
	void (*terminate)(struct provider *p, const char *region, const char *id,
			  bool (*may_act)(void *arg), elastic_instances_done *done, void *arg);
};

/* These functions make the calls above. False: this type launches no instances, and done() is not
 * called. */
bool provider_offers(struct provider *p, elastic_offers_done *done, void *arg);
bool provider_launch(struct provider *p, const struct elastic_launch *l,
		     elastic_instances_done *done, void *arg);
bool provider_list_owned(struct provider *p, const char *cluster, elastic_instances_done *done,
			 void *arg);
bool provider_terminate(struct provider *p, const char *region, const char *id,
			bool (*may_act)(void *arg), elastic_instances_done *done, void *arg);

#endif
