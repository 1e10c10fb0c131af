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
 * Session: POST /api/auth returns the cookie connect.sid. The first request logs in. After a 401
 * the client logs in once, however many requests met the 401, and each of them is sent once more.
 * After a refused login every request ends with ERR_DENIED for NETRIS_REFUSED_MS without being
 * sent, so that no account is locked; for another password create another client. Errors contain
 * neither password nor cookie.
 *
 * Errors follow the status, or a 200 with isSuccess false; the text is the controller's `message`.
 * A request whose result is unknown ends with ERR_TIMEOUT, ERR_UNAVAILABLE or ERR_PROTOCOL. The
 * controller has no idempotency keys, ETags or revisions, so the caller must read the objects after
 * such an error. A redirect is an error that names its target, because a body with a password must
 * not follow one.
 *
 * Bounds: 32 MiB per reply, 8 requests at once, NETRIS_CALL_MS for each exchange.
 *
 * On the loop thread; done() exactly once, never inside the call. Sources: netrisai/netriswebapi,
 * netrisai/terraform-provider-netris.
 */
#define NETRIS_CALL_MS 15000
#define NETRIS_REFUSED_MS 600000
/* err.code of a refused login, with ERR_DENIED. */
#define NETRIS_LOGIN_REFUSED 401

struct netris;
struct netris_request;

struct netris_spec {
	struct loop_group *group;
	/* Borrowed; must outlive the client. */
	struct http *http;
	/* "https://netris.example"; copied, like all members below. */
	const char *url;
	const char *user;
	const struct secret *password;
	/* NULL without a pin: the system's CAs. */
	const char *ca_pem;
	/* SHA-256 of the certificate, 64 hex digits; NULL: none. */
	const char *pin_sha256;
	/* Allows http:// for tests and simulations. */
	bool plain_ok;
};
struct netris *netris_new(const struct netris_spec *s, struct err *e);
/* Ends requests in progress without done(). */
void netris_free(struct netris *n);
DEFINE_OWN(netris)

struct netris_call {
	/* o: NULL with e; valid during the call. To retain its contents, take o->arena and set it
	 * to NULL. */
	void (*done)(struct netris_objects *o, const struct err *e, void *arg);
	/* Called just before a request that changes something is sent, first or again; false: it
	 * ends with ERR_CONFLICT, unsent. NULL: always allowed. */
	bool (*may_act)(void *arg);
	void *arg;
};
/* Reads all objects of a kind. */
struct netris_request *netris_list(struct netris *n, enum netris_kind kind,
				   const struct netris_call *c);
/* Reads one object: one element, or ERR_NOT_FOUND. */
struct netris_request *netris_get(struct netris *n, enum netris_kind kind, int64_t id,
				  const struct netris_call *c);
/* Reads a single object without an id: NETRIS_VERSION. */
struct netris_request *netris_read(struct netris *n, enum netris_kind kind,
				   const struct netris_call *c);
/* Sends POST, PUT or DELETE. id: 0 for POST. Takes ownership of body; NULL: none. The result has no
 * elements, only the id from the reply. */
struct netris_request *netris_change(struct netris *n, const char *method, enum netris_kind kind,
				     int64_t id, json_t *body, const struct netris_call *c);
/* True if this error of a change proves that it did not happen; otherwise it may have happened. */
bool netris_refused(const struct err *e);
/* NULL is allowed. A request that was already sent may still take effect. */
void netris_cancel(struct netris_request *q);

#endif
