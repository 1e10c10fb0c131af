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
 * endpoint: HTTP endpoint for drover-agent (the program that inspects and wipes a machine), and for
 * the boot media that contain the agent.
 *
 * A session (struct agent_session) is the controller's state for one machine while an agent may
 * call. A step opens the session for one operation and boot number, and closes it. Everything that
 * an agent's hello must prove is derived from the Secret drover-boot-key. Therefore any leader
 * serves the same ISO and accepts the same agent.
 *
 *   /agent/v1/...                      TLS: hello, order (long poll), report; see wipe/proto.h
 *   /boot/TOKEN/drover-agent.iso       the image with this machine's boot block patched in
 *
 * The boot secret in the medium alone is not sufficient. A hello is accepted only after the machine
 * was seen off and then on for this boot (enum agent_await), and only from an address that can be
 * the machine's. The address and key of the first accepted hello identify the agent until the boot
 * is over. Any other caller that presents the secret is a second caller (agent_session_intruder()).
 *
 * Orders are idempotent by id. Everything runs on the loop thread.
 */
struct agent_endpoint;
struct agent_session;

struct agent_endpoint_spec {
	/* Path of the ISO; NULL: none */
	const char *image;
	/* Public key of the image's signer, as for boot_media_load() */
	const char *image_key;
	/* CA certificate that the boot block pins */
	const char *ca_pem;
	/* Content of the Secret drover-boot-key; copied */
	const struct secret *boot_key;
};
struct agent_endpoint *agent_endpoint_new(struct loop_group *g);
void agent_endpoint_free(struct agent_endpoint *a);
DEFINE_OWN(agent_endpoint)
/* Sets image, CA and boot key. Call again when image, CA or boot key may have been replaced. If the
 * CA or the boot key changed, closes all sessions and calls changed() of each session, so that the
 * session's owner opens it again. Returns -1 with *e if the image cannot be loaded, with the errors
 * of boot_media_load(). */
int agent_endpoint_configure(struct agent_endpoint *a, const struct agent_endpoint_spec *s,
			     struct err *e);
bool agent_endpoint_ready(const struct agent_endpoint *a);
/* Writes an identifier of the current boot key and CA to out. Neither the key nor the CA can be
 * derived from the identifier. */
#define AGENT_KEY_ID 17
void agent_endpoint_key_id(const struct agent_endpoint *a, char out[static AGENT_KEY_ID]);
/* Returns the CA certificate in PEM; NULL: the endpoint is not configured yet. */
const char *agent_endpoint_ca(const struct agent_endpoint *a);
/* Adds the agent's routes to d, which must be a TLS listener. */
void agent_endpoint_api_routes(struct agent_endpoint *a, struct httpd *d);
/* Adds the route of the boot media to d. tls: d is a TLS listener. A medium whose URL begins with
 * https:// is served by TLS listeners only. */
void agent_endpoint_media_routes(struct agent_endpoint *a, struct httpd *d, bool tls);

struct agent_session_spec {
	const char *machine, *uid;
	/* Provider.spec.agent.endpoint: address at which the agent calls drover */
	const char *endpoint;
	/* Provider.spec.boot.mediaURL: scheme://host:port */
	const char *media_url;
	/* Provider.spec.boot.httpsMediaURL; NULL: none */
	const char *https_media_url;
	/* address: static address of the machine, with prefix length; NULL: DHCP. gateway: default
	 * gateway that goes with the static address. mac: MAC address of the boot interface; NULL:
	 * the first interface with a link. */
	const char *address, *gateway, *mac;
	/* Provider.spec.agent.networks: networks from which agents call; empty: any address */
	struct strings agent_networks;
	/* Provider.spec.agent.proxies: addresses from which any machine's agent may call */
	struct strings agent_proxies;
	/* Provider.spec.boot.proxies: addresses from which any BMC or machine may fetch media */
	struct strings media_proxies;
	/* Called when the session has something new for its owner: a hello, a final report,
	 * progress, a refused address, a second caller, a reboot, or closing by
	 * agent_endpoint_configure(). changed() must only schedule work for later. */
	void (*changed)(void *arg);
	void *arg;
};
struct agent_session *agent_session_new(struct agent_endpoint *a,
					const struct agent_session_spec *s);
void agent_session_free(struct agent_session *s);

/* From now on accepts an agent that was booted for this operation and boot number. If the session
 * is already open for the same operation and boot number, only the fence is updated. A session that
 * is open for another operation or boot number is closed first. */
void agent_session_open(struct agent_session *s, const char *operation, int64_t boot,
			int64_t fence);
/* Closes the session: accepts no calls from now on, forgets the agent, and makes the media URL
 * invalid. */
void agent_session_close(struct agent_session *s);
/* Ends the work of an agent whose orders are all done: accepts no calls from now on, and makes the
 * media URL invalid. Callers that present the secret with another key are still detected, until the
 * session is closed or opened for another boot. */
void agent_session_watch(struct agent_session *s);
bool agent_session_is_watching(const struct agent_session *s, const char *operation, int64_t boot);

/* Whether the first hello of a boot is accepted */
enum agent_await {
	/* Refused as an attack: the machine was not switched on for this boot yet, so a caller that
	 * has the secret has stolen it */
	AGENT_NOT_YET,
	/* Refused, but not as an attack: the machine may be on, which was not observed yet */
	AGENT_STARTING,
	/* Accepted: the machine was seen off, was switched on, and was seen on */
	AGENT_DUE,
};
/* Sets how the first hello of the boot is treated. agent_session_close() sets AGENT_NOT_YET
 * again. */
void agent_session_await(struct agent_session *s, enum agent_await what);
/* Sets who may fetch the medium. bmc: address of the BMC, which fetches virtual media; NULL:
 * unknown, no BMC may fetch. machine: true if a boot over HTTP is in progress. Then the machine
 * itself may fetch, from its static address or, without one, from the first address that asks. */
void agent_session_media_for(struct agent_session *s, const char *bmc, bool machine);
/* Selects the URL of the medium: https_media_url if `https` is true and https_media_url is set,
 * else media_url. A medium with an https:// URL is served over TLS only. After agent_session_open()
 * the URL is media_url, but the medium is served under both URLs, because an earlier leader may
 * have passed either of them to the BMC. */
void agent_session_media_over(struct agent_session *s, bool https);
bool agent_session_is_open(const struct agent_session *s, const char *operation, int64_t boot);
/* Returns the URL of the medium; NULL: the session is closed, or there is no image. */
const char *agent_session_media_url(struct agent_session *s);

/* True if url is the media URL of that operation and boot, over HTTP or HTTPS, whether the session
 * is open or not. Only drover can have created such a URL, because the token in it is derived from
 * the boot key. */
bool agent_session_makes(const struct agent_session *s, const char *operation, int64_t boot,
			 const char *url);

/* Restores the agent that an earlier leader recorded in the journal: from now on only an agent with
 * this boot id and key is accepted. No effect if the session is closed or knows an agent already.
 * *e is set if public_key cannot be used; then nothing is restored. */
void agent_session_restore(struct agent_session *s, const char *boot_id, const char *public_key,
			   struct err *e);

/* The agent of the current boot; members are NULL or zero before its hello. */
struct agent_session_info {
	const char *boot_id, *public_key;
	/* loop_now() of the agent's last call, or of agent_session_restore() */
	int64_t last_seen;
	/* True: the agent has called this process. False: the agent is known only from
	 * agent_session_restore(). */
	bool heard;
	const char *system_uuid, *serial;
	/* enum wipe_trust */
	int trust;
	/* True: the agent supports the order probe (test packets) */
	bool probes;
};
const struct agent_session_info *agent_session_info(const struct agent_session *s);
/* Checks whether the agent is alive: ends its open poll for an order. A living agent polls again at
 * once, which updates last_seen. */
void agent_session_check_alive(struct agent_session *s);
/* Returns why the last caller was refused (e.g. "bad signature"); "" if none was. */
const char *agent_session_refusal(const struct agent_session *s);
/* True if the last caller was the agent of this boot and was refused, because its PROTO_VERSION
 * (wipe/proto.h) is not drover's; agent_session_refusal() names both. Only a boot from another
 * medium helps. */
bool agent_session_has_other_protocol(const struct agent_session *s);
/* True if a second caller presented the boot secret: with a different key, as another boot while
 * the first agent is alive, before the machine was on, or after the agent was ordered to power
 * off. */
bool agent_session_intruder(const struct agent_session *s);
/* True if the machine rebooted: an agent with another boot id called, and the first agent is
 * silent. */
bool agent_session_rebooted(const struct agent_session *s);

/* Sets the agent's current order to a copy of *o. No effect if o->id is the id of the current
 * order. */
void agent_session_order(struct agent_session *s, const struct proto_order *o);
/* Returns the final report (done or failed) of order id; NULL: none yet. Valid until the next
 * order. */
const struct proto_report *agent_session_result(const struct agent_session *s, const char *id);
/* Returns the last progress report of order id; NULL: none. */
const struct proto_report *agent_session_progress(const struct agent_session *s, const char *id);

#endif
