#ifndef CONTROLLER_AGENTS_H
#define CONTROLLER_AGENTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/httpd.h"
#include "base/loop.h"
#include "base/own.h"
#include "base/secret.h"
#include "wipe/proto.h"

/*
 * agents: the endpoint that drover-agent calls, and the boot media that carry it.
 *
 * A seat is what the controller keeps for one machine while an agent may call:
 * opened by a lifecycle step for one operation and boot number, closed by it.
 * Everything that a hello must show is derived from the Secret drover-boot-key,
 * so any leader serves the same ISO and accepts the same agent.
 *
 *	/agent/v1/...                      TLS: hello, order (long poll), report; see wipe/proto.h
 *	/boot/TOKEN/drover-agent.iso       the image with this machine's boot block patched in
 *
 * Orders are idempotent by id.  All on the loop thread.
 */
struct agents;
struct agents_seat;

struct agents_spec {
	const char *image;	       /* path of the ISO; NULL: none */
	const char *ca_pem;	       /* what the boot block pins */
	const struct secret *boot_key; /* copied */
};
struct agents *agents_new(struct loop_group *g);
void agents_free(struct agents *a);
DEFINE_OWN(agents)
/* Keys are in; may be called again.  ERR_INVALID names what is wrong with the image. */
int agents_configure(struct agents *a, const struct agents_spec *s, struct err *e);
bool agents_ready(const struct agents *a);
void agents_api_routes(struct agents *a, struct httpd *d);   /* TLS listener */
void agents_media_routes(struct agents *a, struct httpd *d); /* media listener */

struct agents_seat_spec {
	const char *machine, *uid;
	const char *endpoint;		     /* Provider.spec.agent.endpoint */
	const char *media_url;		     /* Provider.spec.boot.mediaURL: scheme://host:port */
	const char *address, *gateway, *mac; /* static address; NULL: DHCP */
	void (*changed)(
		void *arg); /* hello, result, new progress: look again (deferred by the callee) */
	void *arg;
};
struct agents_seat *agents_seat_new(struct agents *a, const struct agents_seat_spec *s);
void agents_seat_free(struct agents_seat *s);

/* Accept an agent of this operation and boot.  The same again changes nothing; another one ends the session before. */
void agents_open(struct agents_seat *s, const char *operation, int64_t boot, int64_t fence);
void agents_close(struct agents_seat *s); /* no call is accepted, the media URL is gone */
bool agents_is_open(const struct agents_seat *s, const char *operation, int64_t boot);
const char *agents_media_url(struct agents_seat *s); /* while open; NULL: closed or no image */

/* Is this the address of that boot, whether it is open or not?  Nobody else could have made it. */
bool agents_makes(const struct agents_seat *s, const char *operation, int64_t boot,
		  const char *url);

/* A session that the journal knows from a predecessor: only this boot id and key are its agent. */
void agents_restore(struct agents_seat *s, const char *boot_id, const char *public_key,
		    struct err *e);

/* The session, NULL or zero before hello. */
struct agents_session {
	const char *boot_id, *public_key;
	int64_t last_seen; /* loop_now() */
	bool heard;	   /* by this process; false: only agents_restore() says that it is there */
	const char *system_uuid, *serial;
	int trust; /* enum wipe_trust */
};
const struct agents_session *agents_session(const struct agents_seat *s);
/* Are you there?  Ends the poll that is open: a living agent comes again at once, and last_seen rises. */
void agents_knock(struct agents_seat *s);
/* Why the last caller was turned away ("another boot id", "second key"); "" if none. */
const char *agents_refusal(const struct agents_seat *s);
/* Another key called while the first agent was alive. */
bool agents_intruder(const struct agents_seat *s);
/* An agent with another boot id called: it rebooted. */
bool agents_rebooted(const struct agents_seat *s);

/* Make this the order of the machine (copied); the same id again changes nothing. */
void agents_order(struct agents_seat *s, const struct proto_order *o);
/* done or failed report of that order; NULL: not yet.  Valid until the next order. */
const struct proto_report *agents_result(const struct agents_seat *s, const char *id);
/* Last progress of that order; NULL: none. */
const struct proto_report *agents_progress(const struct agents_seat *s, const char *id);

#endif
