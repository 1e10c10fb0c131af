#ifndef CONTROLLER_HARDWARE_OFFER_REFUSALS_H
#define CONTROLLER_HARDWARE_OFFER_REFUSALS_H

#include "api/provider.h"
#include "controller/core/context.h"

/*
 * offer_refusals: which offers a cloud refused, and until when drover does not try them again.
 *
 *   launch refused --> offer_refusals_add() --> Provider.status.refusals (claims/supply_status.h)
 *   new leader --> reads Provider.status.refusals before it looks for an offer
 *
 * A refusal covers all offers of its scope. Of each scope only the newest is stored, and of each
 * Provider the newest 64. Burst policies remember refusals for longer than this module
 * (planner/burst/burst.h).
 *
 * On the loop thread.
 * Tests: tests/unit/controller/hardware/test_offer_refusals.c, tests/world/test_elastic.c,
 * tests/world/test_burst_enforce.c
 */
struct offer;
struct offer_refusals;

struct offer_refusals *offer_refusals_new(struct context *c);
void offer_refusals_free(struct offer_refusals *r);

/* Records that the cloud refused offer o with error e. Offers in the scope of the error are not
 * tried for some minutes, or until the time that the cloud asked for. */
void offer_refusals_add(struct offer_refusals *r, const char *provider, const struct offer *o,
			const struct err *e);
/* Returns the refusal because of which the offer must not be tried now; NULL: none. Its member
 * `until` is in wall ms. Valid until the next call of offer_refusals_add(). */
const struct provider_object_refusal *offer_refusals_find(struct offer_refusals *r,
							  const char *provider,
							  const struct offer *o);
/* Calls fn for each stored refusal of the Provider, including those that are over. */
void offer_refusals_each(struct offer_refusals *r, const char *provider,
			 void (*fn)(const char *provider, const struct provider_object_refusal *x,
				    void *arg),
			 void *arg);
/* Ends the refusals that cover all instance types: the Provider has another login now. */
void offer_refusals_new_login(struct offer_refusals *r, const char *provider);
/* Sets out->refusals, in arena a. */
void offer_refusals_status(struct offer_refusals *r, const struct provider_object *p,
			   struct arena *a, struct provider_object_status *out);

#endif
