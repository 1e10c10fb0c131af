#ifndef CONTROLLER_HARDWARE_POWER_PACING_H
#define CONTROLLER_HARDWARE_POWER_PACING_H

#include "controller/core/context.h"

/*
 * power_pacing: decides which machine may be switched on now, because the fuses and the boot
 * network of a hall cannot take all machines at once. Provider.spec.limits.powerOnPerMinute spaces
 * power-ons evenly. perDomain limits how many machines of one rack or power feed (one value of its
 * label) are coming up. A machine is coming up from its call until it is seen on, at most 3 min
 * after it was switched on.
 *
 * First come, first served, per Provider. A machine asks once and is then queued, whether it asks
 * again or not. It is called when its turn comes and must ask again within 2 min, after a fresh
 * observation of its BMC. Meanwhile others are called, at most as many as are switched on in a
 * minute. An unused turn is lost, and the machine may queue again. So a machine that no longer
 * wants to be switched on costs the queue one turn at most.
 *
 * Kept in memory. A new leader keeps the spacing after power-ons that it finds in the journals as
 * just begun. (The drivers enforce concurrentOperations and requestsPerSecond.)
 */
struct power_pacing;
struct power_pacing *power_pacing_new(struct context *c);
void power_pacing_free(struct power_pacing *p);

struct power_pacing_wait {
	/* Number of machines ahead in the queue, at most */
	int64_t before;
	/* Estimate of the shortest wait until its turn, in ms */
	int64_t at_least;
	/* The domain (rack or feed) that is full; NULL: only the Provider's spacing delays. Valid
	 * until the next call */
	const char *domain;
};
/* True: the machine may be switched on now and in the next 30 s. False: *w describes the wait; the
 * machine is queued, or was called but another power-on was too recent. It is notified when it
 * should ask again. p NULL: always true. */
bool power_pacing_power_on(struct power_pacing *p, const struct machine *m,
			   struct power_pacing_wait *w);

/* Position of a machine in the queue of its Provider. */
enum power_place {
	POWER_PLACE_NONE,
	/* Waiting; it is notified when its turn comes */
	POWER_PLACE_QUEUED,
	/* Its turn has come: call power_pacing_power_on() again */
	POWER_PLACE_CALLED,
};
/* Returns the position of m in the current state of its current operation, without queueing it. *w:
 * the wait until its turn. p NULL: POWER_PLACE_NONE. */
enum power_place power_pacing_place(const struct power_pacing *p, const struct machine *m,
				    struct power_pacing_wait *w);

#endif
