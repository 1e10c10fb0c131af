#ifndef CONTROLLER_HARDWARE_FLEET_H
#define CONTROLLER_HARDWARE_FLEET_H

#include "base/market.h"
#include "controller/hardware/driver.h"
#include "controller/hardware/offer_refusals.h"
#include "providers/elastic.h"

/*
 * fleet: offers and instances of the elastic Providers (clouds). An offer is one instance type in
 * one zone, with a price. Each Provider has one list of the instances that carry this cluster's
 * tag. All Machines of the Provider share this list, and each Machine states how fresh the list
 * must be.
 *
 *   NodeClaim with spec.providerRef
 *       --> a Machine of the claim's name; its steps (steps/elastic.c) launch and end the instance
 *   instance listed, but neither its Machine nor its claim exists in the API
 *       --> the instance is terminated (invariant S4)
 *
 * An instance that is missing in a list is not proved gone: clouds list a new instance with delay.
 * On the loop thread.
 * Tests: tests/world/test_elastic.c
 */
/* Longest time in ms from the first list that shows an instance without an owner until the instance
 * is terminated. */
#define FLEET_REAP_MS (5 * 60 * 1000)

struct fleet;
struct fleet *fleet_new(struct context *c, struct drivers *ds);
void fleet_free(struct fleet *f);
/* Schedules a scan within 50 ms. Call when a claim, a Machine or a Provider has changed. */
void fleet_kick(struct fleet *f);
void fleet_closing(struct fleet *f, const struct driver *s);

/* Returns the UID of the host cluster's namespace kube-system, by which the instances of this
 * cluster are tagged. NULL: not read yet. */
const char *fleet_cluster(const struct fleet *f);

/* True if the newest list of instances was requested at or after `since` (loop_now()). If false,
 * requests a list, and notifies the Provider's Machines when the list has come. */
bool fleet_ensure_listed(struct fleet *f, const char *provider, int64_t since);
/* Returns the last error of the Provider's cloud; while there is one, the caller must launch
 * nothing. A timeout or an unavailable cloud counts only if there is no list of instances from
 * the last 5 min. NULL: no error, or f is NULL. The error is reset when the Provider's driver
 * closes. */
const struct err *fleet_trouble(const struct fleet *f, const char *provider);
/* Returns an instance from the newest list. If id is not empty: the instance with this id. If id is
 * empty: the instance that has the tag of claim_uid and is not being terminated. NULL: the list has
 * no such instance. */
const struct elastic_instance *fleet_find(const struct fleet *f, const char *provider,
					  const char *claim_uid, const char *id);

/* Returns the cheapest on-demand offer of the type with a known price, except offers that the cloud
 * has refused lately or has no capacity for. Returns NULL with the reason in `why`; a later call
 * may succeed. */
const struct offer *fleet_offer(struct fleet *f, const char *provider, const char *type, char *why,
				size_t size);
/* Returns why no offer of the type is available now, judged by the last list of offers and the
 * refusals since. NULL: an offer is available, or nothing is known. *until: wall ms at which a
 * refused offer is tried again; 0: unknown. Sends no request. f may be NULL. */
const char *fleet_no_offer(const struct fleet *f, const char *provider, const char *type,
			   int64_t *until);
/* Returns the offer with the region, zone, type and market of w, from a list less than a minute
 * old. w->micros_per_hour is the highest price that is accepted; -1: any. Returns NULL with the
 * reason in `why` if the offer is refused, has no capacity or is dearer than w allows, or if the
 * list is too old. *no_offer: true if the list is recent, so that NULL means that the offer is not
 * available; false while the list is being read. */
const struct offer *fleet_offer_of(struct fleet *f, const char *provider, const struct offer *w,
				   bool *no_offer, char *why, size_t size);
/* Returns the *n offers of the last list. *at: wall ms of that list; 0: no list yet. *answered:
 * true once a request has succeeded or failed. Requests a new list if the last answer is older than
 * a minute. The result is valid until the next loop turn. */
const struct offer *fleet_offers(struct fleet *f, const char *provider, size_t *n, int64_t *at,
				 bool *answered);
/* Returns the offers that clouds have refused. Valid until fleet_free(). */
struct offer_refusals *fleet_refusals(const struct fleet *f);

#endif
