#ifndef TESTS_CONTRACT_FAKE_CLOUD_H
#define TESTS_CONTRACT_FAKE_CLOUD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "base/loop/loop_sim.h"

/*
 * fake_cloud: a cloud behind a program of type exec, for the simulated loop, started as FAKE_CLOUD.
 * Its instances survive the program. It behaves like a real cloud: lists new instances late, loses
 * replies after the effect, has no capacity in one zone, ends instances by itself.
 */
#define FAKE_CLOUD "/fake/cloud"
#define FAKE_CLOUD_ZONES 4

struct fake_instance {
	struct list link;
	char id[24], zone[32], type[64], token[72];
	json_t *tags;
	/* Decoded. */
	char *user_data;
	int64_t launched_at, ended_at, running_at;
	bool ending, gone, told;
	struct loop_timer timer;
	struct fake_cloud *cloud;
};

struct fake_cloud {
	struct {
		const char *zone, *type;
		/* ID of the reservation for market Reserved; NULL: OnDemand. */
		const char *reservation;
		int64_t micros;
		/* Number of instances that can be launched; -1: no limit. */
		int64_t capacity;
	} zones[FAKE_CLOUD_ZONES];
	/* Time until each answer; the effect happens at that time. */
	int64_t ms;
	/* Time from launch to running. */
	int64_t boot_ms;
	/* Time from terminate to gone. */
	int64_t end_ms;
	/* Time from launch until the instance is listed. */
	int64_t visible_ms;
	/* Time for which a gone instance is listed. */
	int64_t told_ms;
	/* Instances per page of a list; 0 means all. */
	size_t page;
	/* --- faults; a number counts the requests that follow --------------------------------- */
	/* The instances are launched, but the reply never comes. */
	unsigned lose_launches;
	unsigned lose_ends;
	/* Launched instances end before they run. */
	unsigned dying;
	/* Tokens are ignored: a repeated launch launches again. */
	bool no_tokens;
	/* Answers only pings, without any effect. */
	bool deaf;
	/* Error kind with which launches are refused; NULL: none. */
	const char *error;
	/* --- counters ------------------------------------------------------------------------- */
	unsigned asked, launched, terminations, lists;
	/* May be NULL. */
	void (*on_running)(struct fake_instance *i, void *arg);
	void (*on_ended)(struct fake_instance *i, void *arg);
	void *arg;

	struct loop *loop;
	struct loop_group *group;
	/* List of fake_instance.link. */
	struct list instances;
	/* Private to fake_cloud.c. */
	struct list processes;
};

void fake_cloud_init(struct fake_cloud *f, struct loop_group *g);
void fake_cloud_done(struct fake_cloud *f);
/* Ends an instance at once, as a hardware failure does. */
void fake_cloud_kill(struct fake_instance *i);
/* Returns the number of instances that are not gone, so billed. */
unsigned fake_cloud_alive(const struct fake_cloud *f);
/* Like fake_cloud_alive(), only for instances whose tag drover.dev/claim is claim_uid. */
unsigned fake_cloud_alive_of(const struct fake_cloud *f, const char *claim_uid);

#endif
