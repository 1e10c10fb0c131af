#ifndef CONTROLLER_HARDWARE_FLEET_H
#define CONTROLLER_HARDWARE_FLEET_H

#include "controller/hardware/driver.h"

/*
 * fleet: offers and instances of the elastic Providers. Each Provider has one list of the instances
 * that carry this cluster's tag; all its Machines share the list, and each Machine states how fresh
 * the list must be.
 *
 *   NodeClaim with spec.providerRef
 *       --> a Machine of the claim's name, whose steps (steps/elastic.c) launch and end the instance
 *   instance listed, but neither its Machine nor its claim exists in the API
 *       --> the instance is terminated (S4)
 *
 * An instance that is missing in a list is not proved gone: clouds list a new instance with delay.
 * On the loop thread.
 * Tests: tests/world/test_elastic.c
 */
/* Upper bound from the first list that shows an instance without an owner until the instance is
 * terminated. In ms. */
#define FLEET_REAP_MS (5 * 60 * 1000)

struct fleet;
struct fleet *fleet_new(struct context *c, struct drivers *ds);
void fleet_free(struct fleet *f);
/* A claim, a Machine or a Provider changed: runs a scan within 50 ms. */
void fleet_kick(struct fleet *f);
void fleet_closing(struct fleet *f, const struct driver *s);

/* Returns the UID of the host cluster's namespace kube-system; instances of this cluster carry it
 * as a tag. NULL: not read yet. */
const char *fleet_cluster(const struct fleet *f);

/* True if a list exists that was requested at or after `since` (loop_now()). False: requests a
 * list, and notifies the Provider's Machines when it has come. */
bool fleet_ensure_listed(struct fleet *f, const char *provider, int64_t since);
/* Returns why the Provider launches nothing: the last error of its cloud, or the cloud has not
 * answered for minutes. NULL: no known problem. Reset when its driver closes. f NULL: returns
 * NULL. */
const struct err *fleet_trouble(const struct fleet *f, const char *provider);
/* Returns the instance from the newest list: with this id, or, if id is empty, with this claim's
 * tag and not ending. NULL: none. */
const struct elastic_instance *fleet_find(const struct fleet *f, const char *provider,
					  const char *claim_uid, const char *id);

/* Returns the cheapest on-demand offer of the type that has a known price and is neither refused
 * nor sold out. NULL: why contains the reason; call again later. */
const struct elastic_offer *fleet_offer(struct fleet *f, const char *provider, const char *type,
					char *why, size_t size);
/* Returns why no offer of the type can be had now, by the last list and the refusals since. NULL:
 * an offer can be had, or nothing is known. *until: Unix ms at which a refused offer is tried
 * again; 0: unknown. Sends no request. f may be NULL. */
const char *fleet_no_offer(const struct fleet *f, const char *provider, const char *type,
			   int64_t *until);
/* The offer that a burst decision chose, and the highest price that the decision allows. */
struct fleet_want {
	const char *region, *zone, *type, *currency;
	enum elastic_market market;
	/* Highest price; -1: any */
	int64_t micros_per_hour;
};
/* Returns the offer that w names, from a list less than a minute old, unless it is refused, sold
 * out, or dearer than w allows. NULL: why contains the reason. *no_offer: true if the list is fresh,
 * so that NULL means that the offer cannot be had; false while the list is being read. */
const struct elastic_offer *fleet_offer_of(struct fleet *f, const char *provider,
					   const struct fleet_want *w, bool *no_offer, char *why,
					   size_t size);
/* Returns all offers of the last list. *at: wall ms of that list; 0: no list yet. *answered: a
 * request has succeeded or failed. Requests a new list if the last answer is older than a minute.
 * Valid until the next loop turn. */
const struct elastic_offer *fleet_offers(struct fleet *f, const char *provider, size_t *n,
					 int64_t *at, bool *answered);
/* The cloud refused offer o with e: it is not requested again for a while, nor is any offer within
 * the error's scope. */
void fleet_cool(struct fleet *f, const char *provider, const struct elastic_offer *o,
		const struct err *e);

/* One refusal since this replica started. The last 64 of each Provider are kept. */
struct fleet_refusal {
	/* NULL in region, zone or type: any */
	const char *provider, *region, *zone, *type;
	bool quota;
	/* wall ms */
	int64_t at;
};
/* Calls fn for each refusal. */
void fleet_refusals(const struct fleet *f, void (*fn)(const struct fleet_refusal *x, void *arg),
		    void *arg);

#endif
