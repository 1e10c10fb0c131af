#include "base/market.h"

#include <stddef.h>

const char *const market_names[] = {"OnDemand", "Spot", "Reserved", NULL};

struct offer offer_copy(const struct offer *o, struct arena *a)
{
	struct offer to = *o;

	to.region = arena_strdup(a, o->region);
	to.zone = arena_strdup(a, o->zone);
	to.type = arena_strdup(a, o->type);
	to.reservation = arena_strdup(a, o->reservation);
	to.currency = arena_strdup(a, o->currency);
	return to;
}
