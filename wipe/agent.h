#ifndef WIPE_AGENT_H
#define WIPE_AGENT_H

#include "base/http/http.h"
#include "base/loop/loop.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * agent: one machine's session with drover: hello, then orders by long poll, and reports.
 *
 * A lost connection is retried forever, with jitter: the agent never gives up, reboots or starts
 * work by itself. The session ends in one of two ways: the order `poweroff`, or ten minutes in
 * which drover answered only with 401 and 403.
 *
 * If nothing is received from drover for a minute, the agent restarts its network, because a hung
 * NIC or an expired DHCP lease may be the cause. The interval between restarts doubles (1, 2, 4
 * minutes, up to an hour), because drover may be down instead.
 *
 * Orders: an order with a known id gets the same result and is not carried out twice. An order
 * whose fence is lower than the highest fence seen is refused (StaleFence). An order that arrives
 * while another runs is queued; only the newest queued order is retained. Results are delivered in
 * order and retained until drover has accepted them; progress is sent at most once a second and may
 * be lost.
 */
struct agent;

struct agent_config {
	struct loop_group *group;
	/* Must outlive the agent. */
	struct http *http;
	const struct host *host;
	/* Must outlive the agent. */
	const struct proto_boot *boot;
	/* Identity and release that hello reports; copied by agent_new(). */
	const char *boot_id, *version;
	/* What the agent's identity rests on; value of enum wipe_trust. */
	int trust;
	/* Called when the session has ended. If the callback returns (in tests only), the agent
	 * does nothing more. */
	void (*power_off)(void *arg);
	/* Sets the machine's clock to wall_ms, drover's time from its answer to hello. */
	void (*set_clock)(int64_t wall_ms, void *arg);
	/* Restarts the machine's network. May block for some seconds. */
	void (*renew_network)(void *arg);
	/* Writes the message `what` to the log; detail and e may be NULL. */
	void (*say)(const char *what, const char *detail, const struct err *e, void *arg);
	void *arg;
};
struct agent *agent_new(const struct agent_config *c, struct err *e);
void agent_start(struct agent *a);
void agent_free(struct agent *a);

#endif
