#ifndef TESTS_CONTRACT_FAKE_CLOUD_H
#define TESTS_CONTRACT_FAKE_CLOUD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "base/loop/loop_sim.h"

/*
 * fake_cloud: a cloud behind a program of type exec, for the simulated loop, found as FAKE_CLOUD.
 * It keeps its instances whatever becomes of the program, and does what clouds do: shows late what
 * was launched, loses replies after the effect, has no capacity in one zone, ends instances by
 * itself.
 */
#define FAKE_CLOUD "/fake/cloud"
#define FAKE_CLOUD_ZONES 4

struct fake_instance {
	struct list link;
	char id[24], zone[32], type[64], token[72];
	json_t *tags;
	/* decoded */
	char *user_data;
	int64_t launched_at, ended_at, running_at;
	bool ending, gone, told;
	struct loop_timer timer;
	struct fake_cloud *cloud;
};

struct fake_cloud {
	struct {
		const char *zone, *type;
		/* of market Reserved; NULL: OnDemand */
		const char *reservation;
		int64_t micros;
		/* what it can launch; -1: as many as are asked for */
		int64_t capacity;
	} zones[FAKE_CLOUD_ZONES];
	/* each answer takes so long; the effect comes with it */
	int64_t ms;
	/* from launched to running */
	int64_t boot_ms;
	/* from terminated to gone */
	int64_t end_ms;
	/* from launched until it is listed */
	int64_t visible_ms;
	/* so long a gone one is listed */
	int64_t told_ms;
	/* instances in one line of a list; 0: all */
	size_t page;
	/* misdeeds, for so many requests that follow */
	/* launched, and the reply never comes */
	unsigned lose_launches;
	unsigned lose_ends;
	/* what is launched ends by itself before it runs */
	unsigned dying;
	/* the token is not looked at: what is asked twice is there twice */
	bool no_tokens;
	/* does nothing and answers nothing but pings */
	bool deaf;
	/* kind that launches are refused with; NULL: none */
	const char *error;
	/* what happened */
	unsigned asked, launched, terminations, lists;
	/* May be NULL. */
	void (*on_running)(struct fake_instance *i, void *arg);
	void (*on_ended)(struct fake_instance *i, void *arg);
	void *arg;

	struct loop *loop;
	struct loop_group *group;
	/* of fake_instance.link */
	struct list instances;
	/* of fake_cloud.c */
	struct list processes;
};

void fake_cloud_init(struct fake_cloud *f, struct loop_group *g);
void fake_cloud_done(struct fake_cloud *f);
/* It ends now, as hardware does. */
void fake_cloud_kill(struct fake_instance *i);
/* not gone: billed */
unsigned fake_cloud_alive(const struct fake_cloud *f);
/* ... of one claim: value of the tag drover.dev/claim. */
unsigned fake_cloud_alive_of(const struct fake_cloud *f, const char *claim_uid);

#endif
