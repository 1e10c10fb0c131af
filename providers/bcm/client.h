#ifndef PROVIDERS_BCM_CLIENT_H
#define PROVIDERS_BCM_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/data/exact.h"
#include "base/err.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"

/*
 * client: calls of CMDaemon, the daemon of NVIDIA Base Command Manager, on one head node (port
 * 8081).
 *
 *   POST /json  {"service": S, "call": C, "args": [...]}  ->  the plain result, no envelope
 *
 * Sources: BCM 10 and 11 Administrator and Developer manuals (port, certificates and their
 * profiles, "errormessage", /rest/v1/version); requests and replies that other users recorded with
 * BCM 11 (login cookie, arguments, results of writes). A reply whose form is known only from the
 * recordings is checked at each use, and refused if it differs.
 *
 * The version is read before the first call: below 10.25.3 no call is sent (ERR_UNSUPPORTED); above
 * 11 the calls are sent and a warning is logged. With a client certificate, the certificate is the
 * login and no password is ever sent. Otherwise user and password are exchanged for a cookie. A
 * call whose cookie BCM no longer accepts is repeated once (base/http/session.h); that is safe,
 * because a denied call had no effect. A refused password is remembered: every further call ends
 * with ERR_DENIED (code 401) without a request; create a new client for other credentials.
 *
 * A reply is a result only if it is 2xx, JSON, and not an object with an "errormessage". Kinds of
 * errors:
 *
 *   ERR_DENIED	 the certificate or its profile does not allow this call (code 403), or
 *   		 the login is refused (401)
 *   ERR_UNSUPPORTED	 there is no such call in this version
 *   ERR_NOT_FOUND	 null where an object was asked for by name, or BCM reports it missing
 *   ERR_INVALID	 a write that BCM's validation refuses
 *   ERR_CONFLICT	 may_act() forbids the call; it was not sent
 *   ERR_PROTOCOL	 any other unexpected reply, with BCM's text
 *   ERR_TIMEOUT, ERR_UNAVAILABLE	as in http.h; a change may have happened
 *
 * Replies are limited to BCM_MAX_REPLY, calls to 30 s. Everything runs on the loop thread; done()
 * is called exactly once, never inside the starting function.
 * Tests: tests/unit/providers/bcm/test_client.c, tests/fuzz/fuzz_bcm.c
 */
/* Enough for all devices of a site: 4,000 devices of 8 KiB each. */
#define BCM_MAX_REPLY (32u << 20)

struct bcm;
struct bcm_request;

struct bcm_spec {
	/* URL of the head node, e.g. https://head:8081 */
	const char *endpoint;
	const char *ca_pem, *pin_sha256;
	/* Client certificate with its key, used as the login; NULL: user and password are the
	 * login */
	const char *cert_pem;
	const struct secret *key_pem;
	const char *user;
	const struct secret *password;
	/* Highest number of concurrent calls; 0 means the default, 4 */
	unsigned concurrent;
	bool plain_ok;
};
struct bcm *bcm_new(struct loop_group *g, struct http *h, const struct bcm_spec *s, struct err *e);
/* Ends all calls without done(). */
void bcm_free(struct bcm *b);
DEFINE_OWN(bcm)

/* Returns the version as BCM reports it; NULL: the version was not read yet. */
const char *bcm_version(const struct bcm *b);

/* Removes the client's password and cookie from the text of an error that quotes a reply of BCM. */
void bcm_redact(const struct bcm *b, struct err *e);
/* Returns a copy of a text from BCM in the arena, without the client's password and cookie; NULL
 * for NULL. */
const char *bcm_redacted(const struct bcm *b, const char *text, struct arena *a);

struct bcm_call {
	const char *service, *call;
	/* JSON list; copied */
	const char *args;
	/* True: the call answers null if no such object exists, and null is reported as
	 * ERR_NOT_FOUND. False: null is reported as ERR_PROTOCOL. */
	bool null_is_none;
	/* As in struct session_call */
	bool (*may_act)(void *arg);
	void *may_act_arg;
	/* result: BCM's reply, valid during done(); empty if e is not NULL */
	void (*done)(struct exact result, const struct err *e, void *arg);
	void *arg;
};
struct bcm_request *bcm_call(struct bcm *b, const struct bcm_call *c);
/* Reads the resource /rest/v1/RESOURCE by GET. */
struct bcm_request *bcm_get(struct bcm *b, const char *resource,
			    void (*done)(struct exact result, const struct err *e, void *arg),
			    void *arg);
/* Cancels without done(). NULL is allowed. */
void bcm_cancel(struct bcm_request *q);

/* Checks the result of a write. Returns 0 if its member success is true and no entry of its
 * validation is an error. Otherwise ERR_INVALID (validation) or ERR_PROTOCOL (no success). */
int bcm_written(struct exact result, struct err *e) __attribute__((warn_unused_result));

/* Parses a version such as "10.25.3" into three numbers, so that "10.25.03" equals "10.25.3".
 * Absent parts are 0. False: text is not a version. */
bool bcm_version_parts(const char *text, int64_t out[static 3]);

#endif
