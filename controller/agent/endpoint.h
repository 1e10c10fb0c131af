#ifndef CONTROLLER_AGENT_ENDPOINT_H
#define CONTROLLER_AGENT_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/httpd/httpd.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"
#include "wipe/proto.h"

/*
 * endpoint: the endpoint that drover-agent calls, and the boot media that carry it.
 *
 * A session (struct agent_session) is what the controller keeps for one machine while an agent may
 * call. A step opens it for one operation and boot number, and closes it. Everything that a hello
 * must show is derived from the Secret drover-boot-key, so any leader serves the same ISO and
 * accepts the same agent.
 *
 *   /agent/v1/...                      TLS: hello, order (long poll), report; see wipe/proto.h
 *   /boot/TOKEN/drover-agent.iso       the image with this machine's boot block patched in
 *
 * The boot secret alone opens nothing. A hello is heard only after this boot's Off and On were seen
 * (enum agent_await), from an address that can be the machine's; the first one's address and key
 * are the agent's until the boot is over. Whoever shows the secret besides it is a second caller
 * (agent_session_intruder()).
 *
 * Orders are idempotent by id. All on the loop thread.
 */
struct agent_endpoint;
struct agent_session;

struct agent_endpoint_spec {
	/* path of the ISO; NULL: none */
	const char *image;
	/* as for boot_media_load() */
	const char *image_key;
	/* what the boot block pins */
	const char *ca_pem;
	/* copied */
	const struct secret *boot_key;
};
struct agent_endpoint *agent_endpoint_new(struct loop_group *g);
void agent_endpoint_free(struct agent_endpoint *a);
DEFINE_OWN(agent_endpoint)
/* Keys are in. Again when one of them may have been replaced: with another key or CA all seats
 * close, and are to be opened again (changed() of each is called). ERR_INVALID names what is wrong
 * with the image. */
int agent_endpoint_configure(struct agent_endpoint *a, const struct agent_endpoint_spec *s,
			     struct err *e);
bool agent_endpoint_ready(const struct agent_endpoint *a);
/* Names key and CA that media are made with now, and tells nothing of them. */
#define AGENT_KEY_ID 17
void agent_endpoint_key_id(const struct agent_endpoint *a, char out[static AGENT_KEY_ID]);
/* PEM; NULL: no keys yet */
const char *agent_endpoint_ca(const struct agent_endpoint *a);
/* TLS listener */
void agent_endpoint_api_routes(struct agent_endpoint *a, struct httpd *d);
/* tls: d is a TLS listener.  What is offered as https:// is served by such alone. */
void agent_endpoint_media_routes(struct agent_endpoint *a, struct httpd *d, bool tls);

struct agent_session_spec {
	const char *machine, *uid;
	/* Provider.spec.agent.endpoint */
	const char *endpoint;
	/* Provider.spec.boot.mediaURL: scheme://host:port */
	const char *media_url;
	/* Provider.spec.boot.httpsMediaURL; NULL: none */
	const char *https_media_url;
	/* static address, with its prefix; NULL: DHCP */
	const char *address, *gateway, *mac;
	/* Provider.spec.agent.networks: where agents call from; none: anywhere */
	struct strings agent_networks;
	/* Provider.spec.agent.proxies: addresses that stand for any machine */
	struct strings agent_proxies;
	/* Provider.spec.boot.proxies: ... for any BMC or machine */
	struct strings media_proxies;
	/* hello, result, new progress: look again (deferred by the callee) */
	void (*changed)(void *arg);
	void *arg;
};
struct agent_session *agent_session_new(struct agent_endpoint *a,
					const struct agent_session_spec *s);
void agent_session_free(struct agent_session *s);

/* Accept an agent of this operation and boot. The same again changes nothing; another one ends the
 * session before. */
void agent_session_open(struct agent_session *s, const char *operation, int64_t boot,
			int64_t fence);
/* no call is accepted, the media URL is gone */
void agent_session_close(struct agent_session *s);
/* Its agent has done all: no call is accepted any more, the media URL is gone; but who shows the
 * secret with another key is still noticed, until it is closed or opened for another boot. */
void agent_session_watch(struct agent_session *s);
bool agent_session_is_watching(const struct agent_session *s, const char *operation, int64_t boot);

/* What may be heard of an agent that has not called yet. */
enum agent_await {
	/* nobody was switched on for this boot: whoever shows the secret has stolen it */
	AGENT_NOT_YET,
	/* it may be on, which was not seen yet: nobody is let in */
	AGENT_STARTING,
	/* it was seen off, was switched on, and was seen on */
	AGENT_DUE,
};
/* after opening: NOT_YET */
void agent_session_await(struct agent_session *s, enum agent_await what);
/* Who may fetch the medium. bmc: the BMC's address, which fetches virtual media (NULL: not known:
 * nobody). machine: a boot by HTTP is under way: the machine's own, its static address, or else the
 * first that asks. */
void agent_session_media_for(struct agent_session *s, const char *bmc, bool machine);
/* By which address the medium is offered: media_url, or https_media_url where there is one. What is
 * offered by https:// is served over TLS alone. After opening it is media_url, and either way is
 * served: only a predecessor can have told the token, by either. */
void agent_session_media_over(struct agent_session *s, bool https);
bool agent_session_is_open(const struct agent_session *s, const char *operation, int64_t boot);
/* while open; NULL: closed or no image */
const char *agent_session_media_url(struct agent_session *s);

/* Is this an address of that boot, by either way and whether it is open or not? Nobody else could
 * have made it. */
bool agent_session_makes(const struct agent_session *s, const char *operation, int64_t boot,
			 const char *url);

/* A session that the journal knows from a predecessor: only this boot id and key are its agent. */
void agent_session_restore(struct agent_session *s, const char *boot_id, const char *public_key,
			   struct err *e);

/* The session, NULL or zero before hello. */
struct agent_session_info {
	const char *boot_id, *public_key;
	/* loop_now() */
	int64_t last_seen;
	/* by this process; false: only agent_session_restore() says that it is there */
	bool heard;
	const char *system_uuid, *serial;
	/* enum wipe_trust */
	int trust;
	/* it knows the order probe */
	bool probes;
};
const struct agent_session_info *agent_session_info(const struct agent_session *s);
/* Are you there? Ends the poll that is open: a living agent comes again at once, and last_seen
 * rises. */
void agent_session_knock(struct agent_session *s);
/* Why the last caller was turned away ("another boot id", "second key"); "" if none. */
const char *agent_session_refusal(const struct agent_session *s);
/* Somebody besides the agent showed the secret: with another key, as another boot while the first
 * one lives, before the machine was on, or after its agent was dismissed. */
bool agent_session_intruder(const struct agent_session *s);
/* An agent with another boot id called: it rebooted. */
bool agent_session_rebooted(const struct agent_session *s);

/* Make this the order of the machine (copied); the same id again changes nothing. */
void agent_session_order(struct agent_session *s, const struct proto_order *o);
/* done or failed report of that order; NULL: not yet.  Valid until the next order. */
const struct proto_report *agent_session_result(const struct agent_session *s, const char *id);
/* Last progress of that order; NULL: none. */
const struct proto_report *agent_session_progress(const struct agent_session *s, const char *id);

#endif
