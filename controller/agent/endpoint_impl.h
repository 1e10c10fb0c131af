#ifndef CONTROLLER_AGENT_ENDPOINT_IMPL_H
#define CONTROLLER_AGENT_ENDPOINT_IMPL_H

#include "base/address.h"
#include "base/arena.h"
#include "base/map.h"
#include "controller/agent/boot_media.h"
#include "controller/agent/endpoint.h"

/*
 * endpoint_impl: structures shared by endpoint.c (routes) and session.c (sessions). Not included
 * elsewhere.
 * Tests: tests/unit/controller/agent/test_endpoint.c, tests/unit/controller/agent/test_callers.c
 */
struct agent_endpoint {
	struct loop_group *group;
	/* Machine name -> struct agent_session; the sessions are not owned */
	struct map *seats;
	struct boot_media *media;
	char *ca_pem;
	struct secret *boot_key;
};

struct agent_session {
	struct agent_endpoint *agents;
	char *machine, *uid, *endpoint, *media_base, *https_base, *address, *gateway, *mac;
	struct arena *lists;
	struct strings agent_networks, agent_proxies, media_proxies;
	void (*changed)(void *arg);
	void *arg;

	/* open: an agent may call. watching: no agent may call, but second callers are detected. At
	 * most one of the two is true. */
	bool open, watching;
	enum agent_await await;
	char *operation;
	int64_t boot, fence;
	char secret[65];
	struct boot_media_item *item;
	char *url;
	/* Address of the BMC that may fetch the medium; "": unknown */
	char bmc[ADDRESS_TEXT];
	/* True: the machine itself may fetch the medium, because it boots over HTTP */
	bool by_machine;
	/* Address from which the machine first fetched the medium; "": none yet */
	char fetcher[ADDRESS_TEXT];
	/* True: a refused fetch of the present medium was logged. Then no further refusal is
	 * logged. */
	bool told_fetch;

	/* The agent of the current boot; its strings are in session_arena */
	struct agent_session_info session;
	struct arena *session_arena;
	struct crypto_key *key;
	/* Address from which the agent calls, in session_arena; NULL: no call yet, or only through
	 * a proxy */
	char *from;
	bool intruder, rebooted;
	/* True: the agent was ordered to power off and should not call again */
	bool dismissed;
	/* loop_now() when an agent with another boot id first called. At that moment the first
	 * agent's poll was ended to see whether the first agent is alive. 0: no such call */
	int64_t suspect_at;
	char refusal[200];
	/* True: refusal says that the machine's agent has a different protocol (PROTO_VERSION) */
	bool other_protocol;

	int64_t seq;
	char *order_id, *order_text;
	/* True: this process has sent the current order to an agent */
	bool handed;
	/* The agent's open poll for an order; NULL: none */
	struct httpd_req *poll;
	struct loop_timer poll_timer;
	struct arena *report_arena, *progress_arena;
	struct proto_report *report, *progress;
};

/* Ends the agent's open poll by sending `order`; order NULL: replies 204 (no order). No effect if
 * no poll is open. */
void agent_session_answer(struct agent_session *s, const char *order);
bool agent_among(const char *address, const struct strings *networks);
/* True if the machine may call from this address. A machine with a static address may call only
 * from that address. Any other machine may call from the agents' networks, or from any address if
 * no networks are configured. */
bool agent_session_can_be_at(const struct agent_session *s, const char *address);

#endif
