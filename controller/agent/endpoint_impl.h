#ifndef CONTROLLER_AGENT_ENDPOINT_IMPL_H
#define CONTROLLER_AGENT_ENDPOINT_IMPL_H

#include "base/address.h"
#include "base/arena.h"
#include "base/map.h"
#include "controller/agent/boot_media.h"
#include "controller/agent/endpoint.h"

/*
 * endpoint_impl: what endpoint.c (the routes) and session.c (the sessions) share; nobody else
 * includes it.
 * Tests: tests/unit/controller/agent/test_endpoint.c, tests/unit/controller/agent/test_callers.c
 */
struct agent_endpoint {
	struct loop_group *group;
	/* machine -> struct agent_session */
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

	/* one of them, or neither */
	bool open, watching;
	enum agent_await await;
	char *operation;
	int64_t boot, fence;
	char secret[65];
	struct boot_media_item *item;
	char *url;
	/* that may fetch it; "": not known */
	char bmc[ADDRESS_TEXT];
	/* the machine may */
	bool by_machine;
	/* which address that is, by its first fetch; "": none yet */
	char fetcher[ADDRESS_TEXT];
	/* of a fetch that was refused */
	bool told_fetch;

	/* strings are in session_arena */
	struct agent_session_info session;
	struct arena *session_arena;
	struct crypto_key *key;
	/* the agent's address; NULL: not heard yet. In session_arena */
	char *from;
	bool intruder, rebooted;
	/* it was told to power off: it does not come again */
	bool dismissed;
	/* loop_now(): another boot called, and the first was not heard since; 0: none */
	int64_t suspect_at;
	char refusal[96];

	int64_t seq;
	char *order_id, *order_text;
	/* the order went out to an agent, by this process */
	bool handed;
	/* the agent waits for an order */
	struct httpd_req *poll;
	struct loop_timer poll_timer;
	struct arena *report_arena, *progress_arena;
	struct proto_report *report, *progress;
};

/* Answer the agent that waits: with the order, or (NULL) that there is none. */
void agent_session_answer(struct agent_session *s, const char *order);
bool agent_among(const char *address, const struct strings *networks);
/* Whether the machine can be what calls from there, as far as that is known. */
bool agent_session_can_be_at(const struct agent_session *s, const char *address);

#endif
