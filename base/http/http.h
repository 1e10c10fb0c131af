#ifndef BASE_HTTP_HTTP_H
#define BASE_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"

/*
 * http: the HTTP client.  Policy is here and the same for both transports:
 * deadline, no-progress limit, byte limits, cancel, Retry-After, concurrency for
 * each peer and for all, flow control.  Below it stands a struct
 * http_transport: libcurl on the loop (http_curl.h) or in-process (http_mem.h).
 *
 * All on the loop thread.  Completion: the request is out of every list, then
 * done() is called exactly once, then its memory goes.  done() may start,
 * cancel and close anything.  No callback ever runs inside http_start(),
 * http_want() or http_cancel().
 *
 * TLS is always verified: by CA bundle, or by the pinned certificate.  There is
 * no switch to skip it.  Plain http:// is allowed only for peers that were made with
 * plain_ok (image and media servers, tests).
 */
struct http;
struct http_peer;
struct http_req;
/* http_transport.h */
struct http_transport;

/* max_in_flight: of all peers together; 0: no limit. */
struct http *http_new(struct loop_group *g, struct http_transport *t /* taken */,
		      unsigned max_in_flight);
/* Cancels what is left; safe inside done(), not inside on_head() or on_data().  Peers are freed by
 * their owners, before or after. */
void http_free(struct http *h);
DEFINE_OWN(http)

/* One server: where, and how it is trusted. Everything is copied; certificates and keys go through
 * pem.h, once. */
struct http_peer_spec {
	/* scheme://host[:port][/prefix]; no user part, no query */
	const char *base_url;
	/* trust these CAs; NULL and no pin: the system's */
	const char *ca_pem;
	/* name to check instead of the host (tls-server-name); see http_is_server_name() */
	const char *server_name;
	/* 64 hex digits: SHA-256 of the server certificate's DER. Replaces CA and name check */
	const char *pin_sha256;
	/* trust on first use: accept the first certificate and report its fingerprint through
	 * http_peer_learned(); every later one must equal it */
	bool learn_pin;
	const char *client_cert_pem;
	const struct secret *client_key_pem;
	/* these three are what pem.h gave, and fit: they are not read once more */
	bool pem_read;
	/* 0: no limit of its own; BMCs: 1 */
	unsigned max_in_flight;
	bool plain_ok;
	/* A name may lead to a loopback or link-local address (http_address.h). Without this each
	 * address is refused when a socket is opened and when a kept connection is used again,
	 * however the name leads there (ERR_DENIED); a base_url that itself names such an address
	 * says that it is wanted. */
	bool local_ok;
	/* Asked with the address alone and the port at the same moments; false: ERR_DENIED. NULL:
	 * every one. */
	bool (*may_reach)(const char *address, int port, void *arg);
	void *may_reach_arg;
	/* NULL: "drover/VERSION" */
	const char *user_agent;
};
struct http_peer *http_peer_new(struct http *h, const struct http_peer_spec *spec, struct err *e);
/* cancels its requests */
void http_peer_free(struct http_peer *p);
/* hex, or NULL */
const char *http_peer_learned(const struct http_peer *p);
/* address that the newest reply came from, without port; NULL: none came */
const char *http_peer_reached(const struct http_peer *p);
/* "https://host:port" */
const char *http_peer_origin(const struct http_peer *p);

struct http_header {
	const char *name, *value;
};

struct http_reply {
	int status;
	/* NUL-terminated; "" when streamed */
	const char *body;
	size_t body_len;
	/* from Retry-After (seconds or date), clamped to 5 min; 0: none */
	uint32_t retry_after_ms;
	const struct http_header *headers;
	size_t nheaders;
};
/* any case; NULL: none */
const char *http_reply_header(const struct http_reply *r, const char *name);

/* IMF-fixdate of RFC 9110 section 5.6.7 ("Sun, 06 Nov 1994 08:49:37 GMT") as Unix ms. False: it is
 * none. */
bool http_date(const char *s, int64_t *wall_ms);

struct http_call {
	/* NULL: GET */
	const char *method;
	/* after the base URL's prefix: "/api/v1/pods?limit=500"; must begin with '/' */
	const char *path;
	/* path replaces the prefix too */
	bool absolute;
	const struct http_header *headers;
	size_t nheaders;
	/* Authorization: Bearer */
	const struct secret *bearer;
	/* with basic_password: Authorization: Basic */
	const char *basic_user;
	const struct secret *basic_password;
	/* a header whose value is secret (X-Auth-Token) */
	const char *secret_header;
	const struct secret *secret_value;
	/* copied */
	const void *body;
	size_t body_len;
	/* NULL with a body: application/json */
	const char *content_type;
	/* whole exchange, waiting for a free place not counted; 0: 30 s */
	uint32_t timeout_ms;
	/* 0: 10 s */
	uint32_t connect_ms;
	/* no byte for so long; 0: none of its own */
	uint32_t idle_ms;
	/* watches: only idle_ms counts */
	bool no_timeout;
	/* 0: 1 MiB, or no limit when streamed; more is ERR_PROTOCOL, nothing of it delivered
	 * after */
	size_t max_body;
	/* Stream the body instead of collecting it. Only the body of a 2xx reply goes to on_data();
	 * any other is collected for done(), so that http_err() has its text. Return -1 with *e set
	 * to end the request with that error. When `paced`, delivery stops after each call until
	 * http_want(); at most 256 KiB are held below. */
	int (*on_head)(const struct http_reply *r, void *arg, struct err *e);
	int (*on_data)(const char *data, size_t len, void *arg, struct err *e);
	bool paced;
	/* Decompresses a body that has a Content-Encoding, although drover never requests one;
	 * max_body limits the decompressed size.  False: delivers the bytes as they were sent. */
	bool unpack;
	/* largest piece, and what the transport keeps for it as long as the call lives: 1 KiB to
	 * 256 KiB; 0: 16 KiB. Thousands of idle watches: 4 KiB; images: 64 KiB */
	size_t piece_bytes;
	/* e is NULL on any HTTP reply, whatever its status.  r is NULL if there was none. */
	void (*done)(const struct http_reply *r, const struct err *e, void *arg);
	void *arg;
};
/* Never fails: a call that cannot be started ends in done() with an error. The handle is valid
 * until done(). */
struct http_req *http_start(struct http_peer *p, const struct http_call *c);
/* done() will not be called; NULL is fine */
void http_cancel(struct http_req *q);
/* paced: ready for the next piece */
void http_want(struct http_req *q);

/* The struct err that a reply with this status means ("404 Not Found: text from the body"): -1; 0
 * for 2xx. */
int http_err(const struct http_reply *r, struct err *e) __attribute__((warn_unused_result));

struct http_stats {
	uint64_t started, done, failed;
	unsigned in_flight, waiting;
};
struct http_stats http_stats(const struct http *h);

/* RFC 3986 percent-encoding of a path segment or query value, appended. */
void http_escape(struct buf *out, const char *s);

#endif
