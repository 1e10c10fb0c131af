#ifndef PROVIDERS_ELASTIC_H
#define PROVIDERS_ELASTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * elastic: the calls of a provider that launch and terminate paid instances, for clouds and for
 * programs that represent clouds.
 *
 * An implementation fills struct provider_elastic_ops and names it in its struct provider_ops. Each
 * call is asynchronous on the loop thread and calls done() exactly once, never inside the starting
 * function, within PROVIDER_CALL_MS of its turn. No done() is called after provider_free(). An
 * implementation takes no decisions and repeats nothing: the controller chooses the offer, the
 * number of attempts and the price limit. Strings passed to done() are valid during that call;
 * strings passed to a call are read inside that call.
 *
 * Errors have an enum err_kind and a scope: ERR_CAPACITY (zone), ERR_QUOTA (account), ERR_PRICE
 * (zone), ERR_UNSUPPORTED (zone: the type does not exist there), ERR_DENIED (account), ERR_INVALID
 * (request: the same request can never succeed), ERR_UNAVAILABLE with retry-after (throttled or not
 * sent: nothing happened), ERR_TIMEOUT (sent, effect unknown: no answer, a broken connection, or a
 * 5xx that does not exclude an effect), ERR_CONFLICT (the token was used with other parameters or
 * for an instance that has ended, or may_act() returned false).
 * Tests: tests/contract/test_elastic.c
 */
struct provider;

enum elastic_market { ELASTIC_ON_DEMAND, ELASTIC_SPOT, ELASTIC_RESERVED };
/* Names of enum elastic_market, by value: OnDemand, Spot, Reserved. */
extern const char *const elastic_market_names[];

/* One kind of instance that can be launched, identified by region, zone, type and market
 * together. */
struct elastic_offer {
	/* zone is NULL if the provider has no zones. */
	const char *region, *zone;
	/* Instance type, as the cloud names it. */
	const char *type;
	/* ID of the reservation if market is Reserved; otherwise NULL. */
	const char *reservation;
	enum elastic_market market;
	/* Price of one instance in millionths of the currency; -1: unknown. */
	int64_t micros_per_hour;
	/* ISO 4217; NULL: unknown. */
	const char *currency;
	/* Number of available instances; -1: not reported by the cloud. */
	int64_t available;
	/* Market Reserved: Unix ms at which the cloud terminates the instances; 0 means never. */
	int64_t ends_at;
};

enum elastic_state {
	ELASTIC_UNKNOWN,
	ELASTIC_PENDING,
	ELASTIC_RUNNING,
	/* shutting down, stopping or stopped: does not run again by itself */
	ELASTIC_ENDING,
	/* observed as terminated: no longer billed */
	ELASTIC_GONE
};
/* Names of enum elastic_state, by value: Unknown, Pending, Running, Ending, Gone. */
extern const char *const elastic_state_names[];

struct elastic_tag {
	const char *key, *value;
};
/* Tag keys that every launch sets; drover finds its instances only by these tags. */
/* UID of the namespace kube-system of the host cluster */
#define ELASTIC_TAG_CLUSTER "drover.dev/cluster"
#define ELASTIC_TAG_MACHINE "drover.dev/machine" /* Name of the Machine. */
#define ELASTIC_TAG_CLAIM "drover.dev/claim"	 /* UID of the NodeClaim. */
#define ELASTIC_TAG_POLICY "drover.dev/policy"	 /* Name of the BurstPolicy; tag absent: none. */
#define ELASTIC_TAG_TENANT "drover.dev/virtual-cluster"

struct elastic_instance {
	/* ID, as the cloud names it. */
	const char *id;
	/* spec.providerID of the Node as the cloud's own controller sets it, for example
	 * aws:///eu-west-1a/i-0123. */
	const char *provider_id;
	const char *region, *zone, *type;
	/* Token of the launch; NULL: not reported. */
	const char *token;
	/* Why the instance is Ending or Gone, as the cloud words it; NULL: not reported. */
	const char *reason;
	/* Private address; NULL: none yet. */
	const char *address;
	enum elastic_state state;
	enum elastic_market market;
	/* Unix ms by the clock of the cloud; 0 means not reported. */
	int64_t launched_at;
	/* ID of the reservation that the instance uses; NULL: none. */
	const char *reservation;
	/* Unix ms at which the cloud terminates the instance, after an interruption notice or at
	 * the end of its reservation; 0 means no end is known. */
	int64_t ends_at;
	const struct elastic_tag *tags;
	size_t ntags;
};

struct elastic_launch {
	/* At most 64 ASCII characters. A repeated launch with the same token returns the same
	 * instances and launches nothing. */
	const char *token;
	struct elastic_offer offer;
	/* NULL: the image configured for the provider. */
	const char *image;
	/* User data for the first boot; contains secrets and must not be logged. */
	const void *user_data;
	size_t user_data_len;
	/* Number of instances; the cloud launches all or none. */
	int64_t count;
	/* Market Spot: highest price; -1: no limit. */
	int64_t max_micros_per_hour;
	const struct elastic_tag *tags;
	size_t ntags;
	/* Called just before the launch request is sent. Returns true while lease, fence and claim
	 * are still valid. False: nothing is sent, ERR_CONFLICT. NULL: always true. */
	bool (*may_act)(void *arg);
	void *may_act_arg;
};

/* With an error, o may still contain the offers that are known. */
typedef void elastic_offers_done(const struct elastic_offer *o, size_t n, const struct err *e,
				 void *arg);
/* With an error, v may still contain instances that are known to run, so that a partial success is
 * not lost. */
typedef void elastic_instances_done(const struct elastic_instance *v, size_t n, const struct err *e,
				    void *arg);

#define ELASTIC_UNLISTED_MS 300000

struct provider_elastic_ops {
	void (*offers)(struct provider *p, elastic_offers_done *done, void *arg);
	void (*launch)(struct provider *p, const struct elastic_launch *l,
		       elastic_instances_done *done, void *arg);
	/* Lists all instances whose tag ELASTIC_TAG_CLUSTER has the value cluster, in every region
	 * and account of the provider, including Gone ones as long as the cloud reports them. With
	 * an error, nothing is known about unlisted instances. Clouds list new instances late: an
	 * instance that the provider launched or saw but the cloud does not list may be reported as
	 * Unknown, and as Gone after ELASTIC_UNLISTED_MS. */
	void (*list_owned)(struct provider *p, const char *cluster, elastic_instances_done *done,
			   void *arg);
	/* Terminates one instance. Success if the instance no longer exists. done() gets this
	 * instance only, with id, region and the state in the answer; Unknown if it does not exist.
	 * Only list_owned() proves the state Gone. */
	void (*terminate)(struct provider *p, const char *region, const char *id,
			  bool (*may_act)(void *arg), elastic_instances_done *done, void *arg);
};

#endif
