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
 * client: calls of NVIDIA Base Command Manager's daemon, CMDaemon, on one head node (port 8081).
 *
 *   POST /json  {"service": S, "call": C, "args": [...]}  ->  the plain result, no envelope
 *
 * Sources: BCM 10 and 11 Administrator and Developer manuals (port, certificates and their
 * profiles, "errormessage", /rest/v1/version); shapes recorded by others against BCM 11 (login
 * cookie, arguments, results of writes). What only they tell is looked at when it is used, and
 * refused when it is otherwise.
 *
 * Before the first call the version is read: below 10.25.3 nothing is called (ERR_UNSUPPORTED);
 * above 11 that is logged. A client certificate is the login where there is one, and no password is
 * ever sent then. Else user and password buy a cookie; when that is not taken any more, there is
 * one new login and the call goes out again, since what was denied had no effect. A refused login
 * is remembered: every further call ends with ERR_DENIED (code 401) without a request; for other
 * credentials make a new client.
 *
 * A reply is a result only if it is 2xx, JSON, and no object with an "errormessage". Kinds of
 * errors:
 *
 *   ERR_DENIED	 the certificate or its profile does not allow this call (code 403), or the login (401)
 *   ERR_UNSUPPORTED	 there is no such call in this version
 *   ERR_NOT_FOUND	 null where something was asked for by name, or BCM says so
 *   ERR_INVALID	 a write that BCM's validation refuses
 *   ERR_PROTOCOL	 any other surprise, with BCM's text
 *   ERR_TIMEOUT, ERR_UNAVAILABLE	as of http.h; a change may have happened
 *
 * Bodies are bounded (BCM_MAX_REPLY), calls take 30 s at most. All on the loop thread; done() comes
 * exactly once, never inside the starting function.
 * Tests: tests/unit/providers/bcm/test_client.c, tests/fuzz/fuzz_bcm.c
 */
#define BCM_MAX_REPLY (32u << 20) /* all devices of a site: 4,000 at 8 KiB */

struct bcm;
struct bcm_request;

struct bcm_spec {
	/* https://head:8081 */
	const char *endpoint;
	const char *ca_pem, *pin_sha256;
	/* with its key: the login */
	const char *cert_pem;
	const struct secret *key_pem;
	const char *user;
	const struct secret *password;
	/* 0: 4 */
	unsigned concurrent;
	bool plain_ok;
};
struct bcm *bcm_new(struct loop_group *g, struct http *h, const struct bcm_spec *s, struct err *e);
/* its calls end without done() */
void bcm_free(struct bcm *b);
/* as BCM writes it; NULL: not read yet */
DEFINE_OWN(bcm)

const char *bcm_version(const struct bcm *b);

/* result: lives during done(). null: of a call that answers null for what is not there; else null
 * is ERR_PROTOCOL. */
/* Strikes the login of the client out of an error whose text quotes a result of BCM. */
void bcm_redact(const struct bcm *b, struct err *e);
/* Returns a copy of a text of BCM without the login of the client, in the arena; NULL for NULL. */
const char *bcm_redacted(const struct bcm *b, const char *text, struct arena *a);

struct bcm_call {
	const char *service, *call;
	/* JSON list; copied */
	const char *args;
	/* null: ERR_NOT_FOUND */
	bool null_is_none;
	void (*done)(struct exact result, const struct err *e, void *arg);
	void *arg;
};
struct bcm_request *bcm_call(struct bcm *b, const struct bcm_call *c);
/* A resource below /rest/v1/, read by GET. */
struct bcm_request *bcm_get(struct bcm *b, const char *resource,
			    void (*done)(struct exact result, const struct err *e, void *arg),
			    void *arg);
/* no done(); NULL is fine */
void bcm_cancel(struct bcm_request *q);

/* The result of a write says that it was done: success is true and no entry of its validation an
 * error. */
int bcm_written(struct exact result, struct err *e) __attribute__((warn_unused_result));

/* "10.25.03" against "10.25.3", part by part, as numbers; absent parts are 0. False: no version. */
bool bcm_version_parts(const char *text, int64_t out[static 3]);

#endif
