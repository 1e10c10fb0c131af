#ifndef PROVIDERS_ELASTIC_H
#define PROVIDERS_ELASTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * elastic: the part of a provider that makes machines for money and ends them: clouds, and programs
 * that speak for them.
 *
 * An implementation fills struct provider_elastic_ops and names it in its struct provider_ops.
 * Every call is asynchronous on the loop thread and completes exactly once, never inside the
 * starting function, within PROVIDER_CALL_MS of its turn; there is no done() after provider_free().
 * Nothing here decides or repeats: which offer, how many attempts and what it may cost is the
 * controller's. Strings given to done() are valid during the call; strings given to a call are read
 * inside it.
 *
 * Errors are of enum err_kind, and of a scope: ERR_CAPACITY (zone), ERR_QUOTA (account), ERR_PRICE
 * (zone), ERR_UNSUPPORTED (zone: it does not have the type), ERR_DENIED (account), ERR_INVALID
 * (request: the same request never helps), ERR_UNAVAILABLE with retry-after (throttled, or not
 * asked: nothing happened), ERR_TIMEOUT (sent, and whether it happened is not known: no answer, a
 * broken connection, a 5xx that does not say), ERR_CONFLICT (the token was used with other
 * parameters, or for what has ended; or may_act() said no).
 * Tests: tests/contract/test_elastic.c
 */
struct provider;

enum elastic_market { ELASTIC_ON_DEMAND, ELASTIC_SPOT, ELASTIC_RESERVED };
/* OnDemand, Spot, Reserved */
extern const char *const elastic_market_names[];

/* What can be asked for.  Region, zone, type and market together name it. */
struct elastic_offer {
	/* zone NULL: the provider has none */
	const char *region, *zone;
	/* instance type, as the cloud names it */
	const char *type;
	/* of market Reserved; NULL */
	const char *reservation;
	enum elastic_market market;
	/* millionths of the currency, for one instance; -1: not known */
	int64_t micros_per_hour;
	/* ISO 4217; NULL: not known */
	const char *currency;
	/* instances that the cloud says are there; -1: it does not say */
	int64_t available;
	/* Reserved: Unix ms at which the cloud ends its instances; 0: never */
	int64_t ends_at;
};

enum elastic_state {
	ELASTIC_UNKNOWN,
	ELASTIC_PENDING,
	ELASTIC_RUNNING,
	/* shutting down, stopping or stopped: it does not come back by itself */
	ELASTIC_ENDING,
	/* observed terminated: nothing is billed any more */
	ELASTIC_GONE
};
/* Unknown, Pending, Running, Ending, Gone */
extern const char *const elastic_state_names[];

struct elastic_tag {
	const char *key, *value;
};
/* Keys that every launch carries and by which alone what is owned is found again. */
#define ELASTIC_TAG_CLUSTER "drover.dev/cluster" /* UID of the host cluster's kube-system */
#define ELASTIC_TAG_MACHINE "drover.dev/machine" /* name of the Machine */
#define ELASTIC_TAG_CLAIM "drover.dev/claim"	 /* UID of the NodeClaim */
#define ELASTIC_TAG_POLICY "drover.dev/policy"	 /* name of the BurstPolicy; absent: none */
#define ELASTIC_TAG_TENANT "drover.dev/virtual-cluster"

struct elastic_instance {
	/* as the cloud names it */
	const char *id;
	/* of the Node, as the cloud's own controller would say it: aws:///eu-west-1a/i-0123 */
	const char *provider_id;
	const char *region, *zone, *type;
	/* that it was launched with; NULL: not told */
	const char *token;
	/* why it is Ending or Gone, in the cloud's words; NULL: not told */
	const char *reason;
	/* private; NULL: none yet */
	const char *address;
	enum elastic_state state;
	enum elastic_market market;
	/* Unix ms by the cloud's clock; 0: not told */
	int64_t launched_at;
	/* that it runs in; NULL: none */
	const char *reservation;
	/* Unix ms at which the cloud ends it: a notice of interruption, or the end of its
	 * reservation; 0: not known to. */
	int64_t ends_at;
	const struct elastic_tag *tags;
	size_t ntags;
};

struct elastic_launch {
	/* at most 64 ASCII characters; the same token again: the same instances, nothing new */
	const char *token;
	struct elastic_offer offer;
	/* NULL: the provider's own */
	const char *image;
	/* of the first boot; holds secrets: in no log */
	const void *user_data;
	size_t user_data_len;
	/* all of them or none */
	int64_t count;
	/* spot: the highest bid; -1: none */
	int64_t max_micros_per_hour;
	const struct elastic_tag *tags;
	size_t ntags;
	/* Asked just before the request that launches goes out: lease, fence and claim still good?
	 * False: nothing is sent, ERR_CONFLICT. NULL: yes. */
	bool (*may_act)(void *arg);
	void *may_act_arg;
};

/* With an error o may still hold what is known. */
typedef void elastic_offers_done(const struct elastic_offer *o, size_t n, const struct err *e,
				 void *arg);
/* With an error v may still hold what is known to run: partial success is told. */
typedef void elastic_instances_done(const struct elastic_instance *v, size_t n, const struct err *e,
				    void *arg);

#define ELASTIC_UNLISTED_MS 300000

struct provider_elastic_ops {
	void (*offers)(struct provider *p, elastic_offers_done *done, void *arg);
	void (*launch)(struct provider *p, const struct elastic_launch *l,
		       elastic_instances_done *done, void *arg);
	/* All that carry ELASTIC_TAG_CLUSTER with that value, in every region and account of the
	 * provider, gone ones too while the cloud tells of them. An error: nothing is known of what
	 * is not listed. What the provider launched or saw itself and the cloud does not list may
	 * be told as Unknown, and as Gone once that has lasted ELASTIC_UNLISTED_MS: clouds show
	 * late what they launched. */
	void (*list_owned)(struct provider *p, const char *cluster, elastic_instances_done *done,
			   void *arg);
	/* Target state Gone for that one. Not there any more: fine. done() has it alone, with id,
	 * region and the state that the answer told, Unknown where it is not there: only
	 * list_owned() says Gone for sure. */
	void (*terminate)(struct provider *p, const char *region, const char *id,
			  bool (*may_act)(void *arg), elastic_instances_done *done, void *arg);
};

#endif
