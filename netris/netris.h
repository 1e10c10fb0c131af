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
 * netris: client of one Netris controller.
 *
 * Session (base/http/session.h): POST /api/auth returns the cookie connect.sid. After a refused
 * login every request ends with ERR_DENIED for NETRIS_REFUSED_MS without being sent, so that no
 * account is locked; for another password create another client. Errors contain neither password
 * nor cookie.
 *
 * A request fails on an HTTP error status or on a 200 with isSuccess false; the error's text is the
 * controller's `message`. A request whose result is unknown ends with ERR_TIMEOUT, ERR_UNAVAILABLE
 * or ERR_PROTOCOL. The controller has no idempotency keys, ETags or revisions, so the caller must
 * read the objects after such an error. A redirect is an error that names its target, because a
 * body with a password must not follow a redirect.
 *
 * Bounds: 32 MiB per reply, 8 requests at once, NETRIS_CALL_MS for each exchange.
 *
 * All functions run on the loop thread. done() is called exactly once, never inside the starting
 * function. Sources: netrisai/netriswebapi, netrisai/terraform-provider-netris.
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
	/* URL such as "https://netris.example". The client copies url and all members below. */
	const char *url;
	const char *user;
	const struct secret *password;
	/* PEM of the CAs to trust; NULL without a pin: the system's CAs. */
	const char *ca_pem;
	/* SHA-256 of the certificate, 64 hex digits; NULL: none. */
	const char *pin_sha256;
	/* True: http:// is allowed, for tests and simulations. */
	bool plain_ok;
};
struct netris *netris_new(const struct netris_spec *s, struct err *e);
/* Frees the client. Requests in progress end without done(). */
void netris_free(struct netris *n);
DEFINE_OWN(netris)

struct netris_call {
	/* Called at the end of the request. o: result, valid during the call; NULL if there is an
	 * error *e. To retain the result, take o->arena and set it to NULL. */
	void (*done)(struct netris_objects *o, const struct err *e, void *arg);
	/* As in struct session_call; only for requests that change something. */
	bool (*may_act)(void *arg);
	void *arg;
};
/* Requests all objects of a kind. */
struct netris_request *netris_list(struct netris *n, enum netris_kind kind,
				   const struct netris_call *c);
/* Requests one object by its id: the result has one element, or the error is ERR_NOT_FOUND. */
struct netris_request *netris_get(struct netris *n, enum netris_kind kind, int64_t id,
				  const struct netris_call *c);
/* Requests the only object of a kind without ids (NETRIS_VERSION). */
struct netris_request *netris_read(struct netris *n, enum netris_kind kind,
				   const struct netris_call *c);
/* Sends a POST, PUT or DELETE. id: 0 for POST. Takes ownership of body; NULL: no body. The result
 * has no elements, only the id that the reply contains. */
struct netris_request *netris_change(struct netris *n, const char *method, enum netris_kind kind,
				     int64_t id, json_t *body, const struct netris_call *c);
/* True if *e, the error of a netris_change(), proves that nothing was changed. False: the change
 * may have happened. */
bool netris_refused(const struct err *e);
/* Drops the request without done(); q may be NULL. A request that was already sent may still take
 * effect. */
void netris_cancel(struct netris_request *q);

#endif
