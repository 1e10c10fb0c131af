#ifndef BASE_MARKET_H
#define BASE_MARKET_H

#include <stdint.h>
#include "base/arena.h"

/*
 * market: what a cloud offers, with its price. An offer keeps this form on the whole way from the
 * cloud's reply to the launch: providers/elastic.h reports it, planner/burst/burst.h decides on it,
 * spec.burst of the NodeClaim records it, and providers/elastic.h launches it.
 * Tests: tests/unit/base/test_market.c
 */

/* Ways in which an instance is bought. */
enum market { MARKET_ON_DEMAND, MARKET_SPOT, MARKET_RESERVED };
/* Names of enum market, NULL-terminated: OnDemand, Spot, Reserved. */
extern const char *const market_names[];

/* One kind of instance that can be launched. Region, zone, type, market and reservation together
 * identify it. */
struct offer {
	/* Region and zone in which the instance would run; zone NULL: the provider has no zones */
	const char *region, *zone;
	/* Instance type, as the cloud names it. */
	const char *type;
	/* ID of the capacity reservation if market is MARKET_RESERVED; otherwise NULL */
	const char *reservation;
	enum market market;
	/* Price of one instance for one hour in millionths of the currency; -1: unknown */
	int64_t micros_per_hour;
	/* ISO 4217 code of the currency; NULL: unknown */
	const char *currency;
	/* Number of available instances; -1: not reported by the cloud. */
	int64_t available;
	/* For MARKET_RESERVED: Unix ms at which the cloud terminates the instances; 0: never */
	int64_t ends_at;
};

/* Returns a copy of the offer whose texts are in the arena. */
struct offer offer_copy(const struct offer *o, struct arena *a);

#endif
