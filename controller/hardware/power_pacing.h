#ifndef CONTROLLER_HARDWARE_POWER_PACING_H
#define CONTROLLER_HARDWARE_POWER_PACING_H

#include "controller/core/context.h"

/*
 * power_pacing: decides which machine may be switched on now, because the fuses and the boot
 * network of a hall cannot take all machines at once. Provider.spec.limits.powerOnPerMinute spaces
 * power-ons evenly. perDomain limits how many machines of one domain (a rack or power feed:
 * machines with the same value of a label) are coming up. A machine is coming up from the moment
 * its turn comes until it is observed on, at most until 3 min after it was switched on.
 *
 * First come, first served, per Provider, but machines that a claim waits for come before those
 * that are inspected or wiped, because pods wait for them. While both wait, every fourth turn is
 * for the latter, so that machines become free.
 *
 * A machine asks once and is then queued, whether it asks again or not. When its turn comes, the
 * machine is called: it is notified and must ask again within 2 min, after a fresh observation of
 * its BMC. Meanwhile others are called too, up to one more than are switched on in a minute. A turn
 * that is not used in time is lost, and the machine may queue again. So a machine that no longer
 * wants to be switched on costs the queue one turn at most.
 *
 * Kept in memory. A new leader also spaces its first power-ons from those that the Machines' status
 * shows as just begun. (The drivers enforce concurrentOperations and requestsPerSecond.)
 */
struct power_pacing;
struct power_pacing *power_pacing_new(struct context *c);
void power_pacing_free(struct power_pacing *p);

struct power_pacing_wait {
	/* maximum number of machines ahead of this one in the queue */
	int64_t before;
	/* shortest possible wait until the machine's turn, in ms */
	int64_t at_least;
	/* label value of the domain (rack or power feed) that is full; NULL: only the spacing of
	 * the Provider delays. Valid until the next call. */
	const char *domain;
};
/* Asks to switch on machine m. True: it may be switched on now and in the next 30 s (always if p is
 * NULL). False: m is queued, or was called but another power-on was too recent; *w describes the
 * wait, and m is notified when it should ask again. */
bool power_pacing_power_on(struct power_pacing *p, const struct machine *m,
			   struct power_pacing_wait *w);

/* Position of a machine in the queue of its Provider. NONE: not queued, or already permitted to be
 * switched on. */
enum power_position {
	POWER_PLACE_NONE,
	/* the machine waits; it is notified when its turn comes */
	POWER_PLACE_QUEUED,
	/* the machine's turn has come: it must call power_pacing_power_on() again */
	POWER_PLACE_CALLED,
};
/* Returns the position of m in the queue, without queueing it. Counts only a request from the
 * current state and operation of m. *w: the wait until its turn. p NULL: POWER_PLACE_NONE. */
enum power_position power_pacing_place(const struct power_pacing *p, const struct machine *m,
				       struct power_pacing_wait *w);

#endif
