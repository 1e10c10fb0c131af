#ifndef BASE_HTTP_SESSION_H
#define BASE_HTTP_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include "base/data/json.h"
#include "base/err.h"
#include "base/http/http.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "base/secret.h"

/*
 * session: a queue of calls to one server that requires a login.
 *
 *   session_start() --> waiting -- login, free slot, rate, may_act() --> sent --> done()
 *                          ^                                               |
 *                          '----------- session_repeat(), once ------------'
 *
 * The client of a protocol supplies struct session_ops: how to log in, how a request carries the
 * login, what a reply means. The session supplies the rest:
 *
 * - Calls are sent in order, at most max_in_flight at once, no faster than per_s. Further calls
 *   wait here and not in the HTTP client, because may_act() must be called just before its call is
 *   sent.
 * - One login serves all waiting calls. If it fails, all of them end with its error, which names
 *   the server; new calls end with that error as long as the client demands.
 * - A call whose login the server no longer accepts (401, RFC 9110 section 15.5.2) is sent once
 *   more after a fresh login, however many calls met the refusal. It is never sent a third time.
 *
 * The session adds no retry and no time limit: each request, also one of a login, ends at the
 * latest with its HTTP timeout. Calls that were not sent end with ERR_CONFLICT (may_act() forbids
 * it), ERR_UNAVAILABLE (queue full), or the error of the login.
 *
 * Everything runs on the loop thread. ops->done() is called exactly once for each call that is not
 * cancelled, never inside a function below. It may start calls, cancel any call, also its own, and
 * free the session. may_act() and the other functions of ops may not.
 */
struct session;
struct session_call;

/* Highest number of waiting calls, unless session_spec.max_waiting is set. */
#define SESSION_WAITING 10000
/* refuse_ms of session_login_failed(): the session never logs in again. */
#define SESSION_FOREVER (INT64_MAX / 2)

struct session_ops {
	/* Begins a login, which ends, at once or later, with session_logged_in() or
	 * session_login_failed(). Until then login() is not called again. */
	void (*login)(void *client);
	/* True if a call may be sent without a new login. NULL: true from session_logged_in() to
	 * session_repeat(). */
	bool (*ready)(void *client);
	/* Completes the request of q. c has the token of the login in the header Cookie. What c
	 * points to must be valid until sign() is called again. NULL: c is sent unchanged. */
	void (*sign)(void *client, struct session_call *q, struct http_call *c);
	/* Reports the end of q to its owner, or calls session_repeat(). r, e: as in struct
	 * http_call, or e is an error of the session. Afterwards q is freed. */
	void (*done)(void *client, struct session_call *q, const struct http_reply *r,
		     const struct err *e);
};

/* One call: the first member of a zeroed, malloc'd structure of the client. session_start() takes
 * ownership of that structure, and of path, name and body. */
struct session_call {
	/* Constant; NULL means GET. */
	const char *method;
	/* path: as in struct http_call. name: for the client's error texts; NULL: none. */
	char *path, *name;
	/* Text to send; cleared before it is freed. NULL: none. */
	char *body;
	/* Called each time just before the request is sent, also before it is repeated. False: the
	 * call is not sent and ends with ERR_CONFLICT. NULL: always allowed. */
	bool (*may_act)(void *arg);
	void *may_act_arg;
	/* In done(): true if the request was sent, so that it may have had an effect. This member
	 * and those below are written by the session; those below are private. */
	bool sent;
	bool repeated;
	enum { SESSION_WAITS, SESSION_SENT, SESSION_FAILED, SESSION_OVER } state;
	struct session *session;
	struct list link;
	struct http_req *http;
	/* Number of the login with which the call was sent. */
	unsigned login;
	/* Error with which the call ends; NULL: none. */
	struct err *err;
};

struct session_spec {
	struct loop_group *group;
	/* Borrowed; must outlive the session. */
	struct http *http;
	/* The server; copied. */
	struct http_peer_spec peer;
	const struct session_ops *ops;
	/* First argument of the functions of ops. */
	void *client;
	/* Copied; NULL: none. */
	const char *user;
	const struct secret *password;
	/* Limits of each call, as in struct http_call; timeout_ms also of session_ask(). */
	uint32_t timeout_ms;
	size_t max_body;
	/* max_in_flight: highest number of calls in flight, beside a login; at least 1.
	 * max_waiting: highest number of waiting calls; 0 means SESSION_WAITING. */
	unsigned max_in_flight, max_waiting;
	/* Highest number of calls per second, and in one burst; per_s 0 means no limit. */
	double per_s, burst;
};
/* Returns NULL with *e if the server's spec is invalid (http_peer_new()). */
struct session *session_new(const struct session_spec *s, struct err *e);
/* Frees the session, its calls (without done()) and its secrets. NULL is allowed. */
void session_free(struct session *s);

void session_start(struct session *s, struct session_call *q);
/* Drops q without done() and frees it; inside its done() q is freed by the session anyway. A
 * request that was already sent may still take effect. NULL is allowed. */
void session_cancel(struct session_call *q);
/* For done(), if the server does not accept the login of q. True: q will be sent once more after a
 * fresh login; done() must return at once, and will be called again. False: q was repeated before;
 * done() must report the refusal. */
bool session_repeat(struct session_call *q) __attribute__((warn_unused_result));

/* Sends a request of the login, of which one may be in flight. body: text for a POST, copied; NULL:
 * a GET, with user and password as Basic login if there are any. done() gets the client as its
 * argument. The reply is limited to 64 KiB. */
void session_ask(struct session *s, const char *path, const char *body,
		 void (*done)(const struct http_reply *r, const struct err *e, void *client));
/* Sends a POST of the login as session_ask() does. Takes ownership of body and clears its text.
 * NULL, from json_pack(): the login fails, because user or password is not UTF-8. */
void session_ask_json(struct session *s, const char *path, json_t *body,
		      void (*done)(const struct http_reply *r, const struct err *e, void *client));
/* Ends a login. Takes ownership of token; NULL: none. */
void session_logged_in(struct session *s, struct secret *token);
/* Ends a login with an error; puts the server's origin before its text, and removes the password.
 * refuse_ms: time for which new calls end with the same error without a new login. */
void session_login_failed(struct session *s, const struct err *e, int64_t refuse_ms);

const char *session_user(const struct session *s);
const struct secret *session_password(const struct session *s);
/* Replaces password and token in a text from the server by '*', in place (quoted_redact()). */
void session_redact(const struct session *s, char *text);

#endif
