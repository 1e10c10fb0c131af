#ifndef CONTROLLER_HARDWARE_POWER_PACING_H
#define CONTROLLER_HARDWARE_POWER_PACING_H

#include "controller/core/context.h"

/*
 * power_pacing: which machine may be switched on now.  The fuses and the boot network of a hall do not take
 * all machines at once.  Provider.spec.limits.powerOnPerMinute spaces power-ons evenly.  perDomain bounds how
 * many machines of one rack or feed (the value of that label) are coming up: granted a power-on, and not yet
 * seen to be on, for 3 min at most.
 *
 * First come, first served, for each provider.  Kept in memory, but for a power-on that the journals show just
 * begun, so a new leader keeps the distance.  (concurrentOperations and requestsPerSecond are kept by the drivers.)
 */
struct power_pacing;
struct power_pacing *power_pacing_new(struct context *c);
void power_pacing_free(struct power_pacing *p);

struct power_pacing_wait {
	int64_t before;	  /* machines that come first */
	int64_t at_least; /* ms until it may be its turn */
	const char *
		domain; /* full; NULL: it is the provider's distance alone.  Valid until the next call */
};
/* True: its turn, for 30 s.  False: it stands in the queue as long as it asks again within 15 s, and is kicked in
 * time.  p NULL: always. */
bool power_pacing_power_on(struct power_pacing *p, const struct machine *m,
			   struct power_pacing_wait *w);

#endif
