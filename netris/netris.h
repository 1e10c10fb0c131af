#ifndef NETRIS_NETRIS_H
#define NETRIS_NETRIS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/data/json.h"
#include "base/err.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"
#include "netris/object.h"

/*
 * netris: the client of one Netris controller.
 *
 * Session: POST /api/auth gives the cookie connect.sid. The first request logs in; a 401 in the
 * middle logs in once, however many requests met it, and each of them is sent once more. A login
 * that is refused stands for NETRIS_REFUSED_MS, in which every request ends with ERR_DENIED and
 * nothing is sent, so that no account is locked; another password is another client. The password
 * and the cookie are in no error.
 *
 * Errors: of the status, or of a 200 that says isSuccess false; the text is the controller's
 * `message`. A request that the controller may have acted on without our hearing of it ends with
 * ERR_TIMEOUT, ERR_UNAVAILABLE or ERR_PROTOCOL: there are no idempotency keys, ETags or revisions,
 * so whoever changes something reads afterwards what became of it. A redirect is an error that
 * names its target: a body with a password does not follow one.
 *
 * Bounds: 32 MiB a reply, 8 requests at once, NETRIS_CALL_MS for each exchange.
 *
 * On the loop thread; done() exactly once, never inside the call. Sources: netrisai/netriswebapi,
 * netrisai/terraform-provider-netris.
 */
#define NETRIS_CALL_MS 15000
#define NETRIS_REFUSED_MS 600000
/* err.code of a refused login; with ERR_DENIED. */
#define NETRIS_LOGIN_REFUSED 401

struct netris;
struct netris_request;

struct netris_spec {
	struct loop_group *group;
	/* borrowed; outlives the client */
	struct http *http;
	/* "https://netris.example"; copied, as everything */
	const char *url;
	const char *user;
	const struct secret *password;
	/* NULL and no pin: the system's CAs */
	const char *ca_pem;
	/* of the certificate, 64 hex digits; NULL: none */
	const char *pin_sha256;
	/* http://: tests and simulations */
	bool plain_ok;
};
struct netris *netris_new(const struct netris_spec *s, struct err *e);
/* what is under way ends without done() */
void netris_free(struct netris *n);
DEFINE_OWN(netris)

struct netris_call {
	/* o: NULL with e. Valid during the call; to keep what it has, take o->arena and set it to
	 * NULL. */
	void (*done)(struct netris_objects *o, const struct err *e, void *arg);
	/* Asked just before a request that changes something leaves, first time and again: false
	 * ends it with ERR_CONFLICT, unsent. NULL: always. */
	bool (*may_act)(void *arg);
	void *arg;
};
/* All objects of a kind. */
struct netris_request *netris_list(struct netris *n, enum netris_kind kind,
				   const struct netris_call *c);
/* One of them: one element, or ERR_NOT_FOUND. */
struct netris_request *netris_get(struct netris *n, enum netris_kind kind, int64_t id,
				  const struct netris_call *c);
/* What there is one of: NETRIS_VERSION. */
struct netris_request *netris_read(struct netris *n, enum netris_kind kind,
				   const struct netris_call *c);
/* POST, PUT or DELETE. id: 0 for POST. body: taken; NULL: none. Answers no elements, but the id
 * that was told. */
struct netris_request *netris_change(struct netris *n, const char *method, enum netris_kind kind,
				     int64_t id, json_t *body, const struct netris_call *c);
/* Did this error of a change keep it from happening?  If not, it may have happened. */
bool netris_refused(const struct err *e);
/* NULL is fine; what was sent may have its effect */
void netris_cancel(struct netris_request *q);

#endif
