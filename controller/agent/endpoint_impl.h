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
	/* machine name -> struct agent_session */
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

	/* At most one of them is true */
	bool open, watching;
	enum agent_await await;
	char *operation;
	int64_t boot, fence;
	char secret[65];
	struct boot_media_item *item;
	char *url;
	/* Address of the BMC that may fetch the medium; "": unknown */
	char bmc[ADDRESS_TEXT];
	/* The machine itself may fetch the medium */
	bool by_machine;
	/* Address from which the machine first fetched the medium; "": none yet */
	char fetcher[ADDRESS_TEXT];
	/* A refused fetch was logged */
	bool told_fetch;

	/* Its strings are in session_arena */
	struct agent_session_info session;
	struct arena *session_arena;
	struct crypto_key *key;
	/* Address of the agent, in session_arena; NULL: no call yet */
	char *from;
	bool intruder, rebooted;
	/* It was told to power off and should not call again */
	bool dismissed;
	/* loop_now() when another boot called and the first agent was checked for life; 0: no such
	 * call */
	int64_t suspect_at;
	char refusal[96];

	int64_t seq;
	char *order_id, *order_text;
	/* This process has sent the order to an agent */
	bool handed;
	/* The agent's open poll for an order; NULL: none */
	struct httpd_req *poll;
	struct loop_timer poll_timer;
	struct arena *report_arena, *progress_arena;
	struct proto_report *report, *progress;
};

/* Answers the open poll with order; NULL: with "no order". No effect without a poll. */
void agent_session_answer(struct agent_session *s, const char *order);
bool agent_among(const char *address, const struct strings *networks);
/* True if the machine may call from this address, as far as its static address or the agents'
 * networks are known. */
bool agent_session_can_be_at(const struct agent_session *s, const char *address);

#endif
