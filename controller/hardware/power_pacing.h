#ifndef CONTROLLER_HARDWARE_POWER_PACING_H
#define CONTROLLER_HARDWARE_POWER_PACING_H

#include "controller/core/context.h"

/*
 * power_pacing: which machine may be switched on now. The fuses and the boot network of a hall do
 * not take all machines at once. Provider.spec.limits.powerOnPerMinute spaces power-ons evenly.
 * perDomain bounds how many machines of one rack or feed (the value of that label) are coming up:
 * called, and not yet seen to be on, for 3 min after they were switched on at most.
 *
 * First come, first served, for each provider. A machine asks once and then stands in the queue,
 * whether it asks again or not: with a thousand BMCs it may be long until it can. It is called when
 * its turn comes, and has 2 min to ask again, which is when its BMC was looked at freshly; others
 * are called meanwhile, a minute's worth at most. A turn that was not taken is lost, and the
 * machine may queue again. So each place is given up in bounded time: what no longer wants to be
 * switched on costs one turn at most.
 *
 * Kept in memory, but for a power-on that the journals show just begun, so a new leader keeps the
 * distance. (concurrentOperations and requestsPerSecond are kept by the drivers.)
 */
struct power_pacing;
struct power_pacing *power_pacing_new(struct context *c);
void power_pacing_free(struct power_pacing *p);

struct power_pacing_wait {
	/* machines that come first, at most */
	int64_t before;
	/* ms until it may be its turn, about */
	int64_t at_least;
	/* full; NULL: it is the provider's distance alone. Valid until the next call */
	const char *domain;
};
/* True: it may be switched on now, and for 30 s. False: it stands in the queue, or was called and
 * another is being switched on just now; it is kicked in time. p NULL: always. */
bool power_pacing_power_on(struct power_pacing *p, const struct machine *m,
			   struct power_pacing_wait *w);

/* Where it stands in this state of this operation, without asking. */
enum power_place {
	POWER_PLACE_NONE,
	/* nothing is to be done for it until it is kicked */
	POWER_PLACE_QUEUED,
	/* it is to ask */
	POWER_PLACE_CALLED,
};
/* p NULL: none; w: when it is its turn. */
enum power_place power_pacing_place(const struct power_pacing *p, const struct machine *m,
				    struct power_pacing_wait *w);

#endif
