#ifndef TESTS_CONTRACT_FAKE_CLOUD_H
#define TESTS_CONTRACT_FAKE_CLOUD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "tests/simulated/loop_sim.h"

/*
 * fake_cloud: a simulated cloud behind a program of type exec, on the simulated loop. The program
 * is started as FAKE_CLOUD; the instances survive the program. The cloud behaves like a real one:
 * it lists new instances late, loses replies after the effect, has no capacity in one zone, and
 * ends instances by itself.
 */
#define FAKE_CLOUD "/fake/cloud"
#define FAKE_CLOUD_ZONES 4

struct fake_instance {
	struct list link;
	char id[24], zone[32], type[64], token[72];
	const char *region;
	json_t *tags;
	/* User data, decoded */
	char *user_data;
	int64_t launched_at, ended_at, running_at;
	/* Reported as atRiskSince; 0: not reported */
	int64_t at_risk_since;
	bool ending, gone, told;
	struct loop_timer timer;
	struct fake_cloud *cloud;
};

struct fake_cloud {
	struct {
		const char *zone, *type;
		/* NULL: "r1" and "USD" */
		const char *region, *currency;
		/* ID of the reservation, for market Reserved; NULL: the market is OnDemand */
		const char *reservation;
		/* True: the market is Spot */
		bool spot;
		int64_t micros;
		/* Number of instances that can be launched; -1: no limit. */
		int64_t capacity;
	} zones[FAKE_CLOUD_ZONES];
	/* Time in ms until each answer; the effect happens at that time */
	int64_t ms;
	/* Time in ms from a launch until the instance runs */
	int64_t boot_ms;
	/* Time in ms from a termination until the instance has ended */
	int64_t end_ms;
	/* Time in ms from a launch until the instance is listed */
	int64_t visible_ms;
	/* Time in ms for which an ended instance is still listed */
	int64_t told_ms;
	/* Number of instances on a page of a list; 0: all */
	size_t page;
	/* --- faults; a number counts the next requests with the fault ------------------------- */
	/* lose_launches: instances are launched, but the reply never comes. lose_ends: the same for
	 * terminations */
	unsigned lose_launches;
	unsigned lose_ends;
	/* Number of launches whose instances end before they run */
	unsigned dying;
	/* Number of launches whose instances stop before they run. They exist, and are billed,
	 * until they are terminated. */
	unsigned stopping;
	/* True: tokens are ignored, so a repeated launch launches again */
	bool no_tokens;
	/* True: answers only pings; other requests have no effect */
	bool deaf;
	/* Kind of the error with which launches are refused; NULL: none */
	const char *error;
	/* --- counters ------------------------------------------------------------------------- */
	unsigned asked, launched, terminations, lists;
	/* Called when an instance runs, and when it has ended; either may be NULL */
	void (*on_running)(struct fake_instance *i, void *arg);
	void (*on_ended)(struct fake_instance *i, void *arg);
	void *arg;

	struct loop *loop;
	struct loop_group *group;
	/* List of all instances, linked by fake_instance.link */
	struct list instances;
	/* Used by fake_cloud.c only */
	struct list processes;
};

void fake_cloud_init(struct fake_cloud *f, struct loop_group *g);
void fake_cloud_done(struct fake_cloud *f);
/* Ends an instance at once, as a hardware failure does. */
void fake_cloud_kill(struct fake_instance *i);
/* Returns the number of instances that have not ended, and are therefore billed. */
unsigned fake_cloud_alive(const struct fake_cloud *f);
/* Returns the number of instances that have not ended and whose tag drover.dev/claim is
 * claim_uid. */
unsigned fake_cloud_alive_of(const struct fake_cloud *f, const char *claim_uid);

#endif
