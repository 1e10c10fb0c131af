#ifndef WIPE_AGENT_H
#define WIPE_AGENT_H

#include "base/http/http.h"
#include "base/loop/loop.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * agent: one machine's session with drover: hello, then orders by long poll, reports back.
 *
 * A lost connection is tried again for ever, with jitter: the agent never gives up, reboots or
 * invents work by itself. It ends in one of two ways: the order `poweroff`, or ten minutes in which
 * drover answered nothing but 401 and 403.
 *
 * Where it hears nothing from drover for a minute, it lets its network begin anew: a card that
 * stands still and a lease that ran out look like that. It does so after a minute, two, four, up to
 * an hour apart, as a controller that is away looks no different.
 *
 * Orders: the same id gets the same result, without being carried out twice; a fence lower than the
 * highest seen is refused (StaleFence); an order that comes while another runs waits, the newest
 * one only. Results are delivered in order and kept until drover took them; progress is sent at
 * most once a second and may be lost.
 */
struct agent;

struct agent_config {
	struct loop_group *group;
	/* outlives the agent */
	struct http *http;
	const struct host *host;
	/* outlives the agent */
	const struct proto_boot *boot;
	/* copied */
	const char *boot_id, *version;
	/* enum wipe_trust */
	int trust;
	/* may return (tests): nothing is done after it */
	void (*power_off)(void *arg);
	/* drover's clock, from its welcome */
	void (*set_clock)(int64_t wall_ms, void *arg);
	/* may block for some seconds */
	void (*renew_network)(void *arg);
	/* for the log; detail, e: may be NULL */
	void (*say)(const char *what, const char *detail, const struct err *e, void *arg);
	void *arg;
};
struct agent *agent_new(const struct agent_config *c, struct err *e);
void agent_start(struct agent *a);
void agent_free(struct agent *a);

#endif
