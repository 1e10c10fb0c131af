#ifndef KUBE_CALL_H
#define KUBE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/http/http.h"
#include "base/data/scan.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "base/retry.h"
#include "base/secret.h"
#include "kube/client.h"

/*
 * kube_call: one call of a client; for use inside kube/ only. A call waits for the rate limit and a
 * free concurrency slot, is sent, rests if the server asked for a retry, and ends once. The
 * function end() reports the result to the call's owner. Inside end() the owner may send the call
 * again with another path (the next page of a list); otherwise the call is freed when end()
 * returns.
 *
 *   queued --token, slot--> sent --429, Retry-After--> resting --> queued ...
 *                             '--reply--> end() [--kube_call_again()--> queued]
 *
 * base/data/scan.h parses a body as it arrives: a watch line by line, a list item by item, any
 * other reply as one object.
 * Tests: tests/unit/kube/test_client.c, tests/unit/kube/test_list.c
 */
enum call_state { CALL_QUEUED, CALL_SENT, CALL_RESTING, CALL_DONE };

/* Connections to one API server, with the address and credentials of one version of the config.
 * After a reload the old peer lives until its last call has ended. */
struct kube_peer {
	/* Link in the client's peers. */
	struct list link;
	struct http_peer *http;
	unsigned calls;
};

struct kube_client {
	struct loop_group *group;
	struct http *http;
	struct list peers;
	/* The peer for new calls. */
	struct kube_peer *peer;
	struct kube_config *config;
	char *name;
	bool plain_ok;
	bool (*may_reach)(const char *address, int port, void *arg);
	void *may_reach_arg;
	struct bucket bucket;
	/* loop_now() until which nothing is sent, because the token bucket refills for the next
	 * bunch of calls. */
	int64_t held_until;
	unsigned max_in_flight, in_flight;
	uint32_t timeout_ms, queue_ms;
	/* Copy of the member of kube_client_spec; NULL: every call may be sent. */
	int (*may_change)(void *arg, struct err *e);
	void *may_change_arg;
	/* Copy of the member of kube_client_spec; NULL: requests are not counted. */
	void (*counted)(const char *method, int status, int64_t ms, void *arg);
	void *counted_arg;
	/* Number of calls in the list queued. */
	size_t in_line;
	/* Number of queued calls that need no concurrency slot: watches, and calls of leases. */
	size_t placeless;
	/* Wall ms of the last received data. */
	int64_t last_contact;
	/* For kube_client_date(): Date header of the last reply, and loop_now() at its arrival. */
	int64_t date, date_at;
	/* Text of the last Date header, so that equal headers of hundreds of replies are parsed
	 * once. */
	char date_text[32];
	/* loop_now() at which token_file was last read. */
	int64_t token_read_at;
	/* Lists of struct kube_call. queued: calls that wait for a token or slot; others: all other
	 * calls. */
	struct list queued, others;
	struct loop_defer pump;
	struct loop_timer pump_timer;
};

struct kube_call {
	struct kube_client *c;
	struct list link;
	enum call_state state;
	/* True: the call needs one of the client's concurrency slots. holds_slot: the call has a
	 * slot now. */
	bool counted;
	/* True: the call waits neither for the rate limit nor for a concurrency slot (calls of
	 * leases, watches). */
	bool urgent;
	bool holds_slot;
	/* True while end() runs: kube_call_cancel() then defers the free until end() returns. */
	bool ending;
	/* True while the HTTP client delivers data of the reply, which may run callbacks of the
	 * owner: kube_call_cancel() then defers the free. */
	bool feeding;
	bool cancelled;
	/* True: a 429 or 503 with Retry-After ends the call at once instead of a retry. */
	bool no_wait;
	/* True: the time in the queue counts against timeout_ms, because the decision behind the
	 * call (a deletion or eviction) becomes outdated. */
	bool prompt;
	/* True: the call writes an Event, which changes nothing that a controller acts on, so
	 * may_change() is not called. */
	bool tells;
	/* Number of bytes of replies so far. */
	uint64_t received;
	/* Size of the transport's buffer (http_call.piece_bytes); 0: the default. */
	size_t piece_bytes;
	/* True: the reply is text, not JSON. */
	bool plain;
	bool in_line;
	/* True: the call was sent at least once since it was started. */
	bool was_sent;
	/* loop_now() when the request left the queue last */
	int64_t sent_at;

	/* Static texts, not freed. */
	const char *method, *content_type, *accept;
	char *path;
	char *body;
	size_t body_len;
	/* timeout_ms: limit of the exchange; 0 (only for watches) means no limit. idle_ms: longest
	 * time without a received byte. */
	uint32_t timeout_ms, idle_ms;
	/* Limit in ms for connecting; 0: the default of the HTTP client. */
	uint32_t connect_ms;
	/* Header with a secret value (kube_get_path_with()), owned by the call; NULL: none. */
	const char *secret_header;
	struct secret *secret_value;
	/* Bearer token that is sent instead of the client's, owned by the call, which then has a
	 * peer of its own and no_wait; NULL: the client's credentials. */
	struct secret *bearer;
	/* loop_now() at which the call fails, in the queue or while sent; INT64_MAX: never. */
	int64_t deadline;
	struct http_req *http;
	/* Peer to which the call was sent; set while the call is sent. For a call with a bearer
	 * token of its own, set from the start. */
	struct kube_peer *peer;
	/* Runs until the deadline while the call is queued, and until the next try while it
	 * rests. */
	struct loop_timer timer;
	/* Requests the next piece of the body in a later turn of the loop. */
	struct loop_defer want;
	/* Error with which the call ends without being sent; kind ERR_NONE: the call may be
	 * sent. */
	struct err refused;
	/* Check set by kube_call_check(); NULL: no check. */
	int (*holds)(void *arg, struct err *e);
	void *holds_arg;

	/* Parser of the reply; set while the call is sent. */
	struct scan *scan;
	/* Table of the members to parse from a watch line, a list or a single object. NULL:
	 * kube_want_all. on_item is set for watches and lists only. */
	const struct scan_want *wanted;
	/* True: compute scan_digest() of each line of a watch. */
	bool digests;
	bool lines;
	size_t max_item;
	/* Called when a 2xx status has arrived; may be NULL. */
	void (*on_open)(struct kube_call *call);
	int (*on_item)(struct kube_call *call, json_t *item, struct err *e);
	/* For a watch, called before on_item() if the line arrived in one piece; may be NULL. True:
	 * the line changes nothing, so on_item() is not called. */
	bool (*is_known)(struct kube_call *call, const struct scan_line *line);
	/* Called with the list object without its items. */
	int (*on_meta)(struct kube_call *call, json_t *list, struct err *e);
	/* Reply of a call that is neither watch nor list. */
	json_t *reply;
	/* Check set by kube_call_brief(); NULL: the complete reply is wanted. */
	bool (*knows)(const char *rv, void *arg);
	void *knows_arg;
	/* Text of the reply, kept for a plain call, and for a kube_call_brief() call whose reply
	 * may have to be parsed again completely. */
	struct buf text;

	/* Observer set by kube_call_watch(); .ended NULL: none. */
	struct kube_call_watch watch;

	void (*end)(struct kube_call *call, json_t *json, const struct err *e);
	/* Frees the owner's state; may be NULL. */
	void (*dispose)(struct kube_call *call);
	kube_done *done;
	void *arg;
};

/* Returns a new peer of the client for the server of k; NULL with *e. */
struct kube_peer *kube_peer_new(struct kube_client *c, const struct kube_config *k, struct err *e);
void kube_peer_free(struct kube_peer *p);
/* Drops the reference that one call has to the peer. Frees p if it was the last one and a reload
 * has replaced p. */
void kube_peer_release(struct kube_client *c, struct kube_peer *p);

/* Sends the queued calls that may be sent now; arg is the client. */
void kube_client_pump(void *arg);

/* Creates a call that is not sent yet: set its members, then call kube_call_start(). Takes
 * ownership of path. path NULL: the call is never sent and ends with *why. */
struct kube_call *kube_call_new(struct kube_client *c, const char *method, char *path,
				const struct err *why);
void kube_call_start(struct kube_call *call);
/* Creates a call that receives one object. path and why as for kube_call_new(). */
struct kube_call *kube_call_json(struct kube_client *c, const char *method, char *path,
				 const struct err *why, kube_done *done, void *arg);
/* Sets the body that the call sends, before kube_call_start(). body: copied; NULL: none.
 * content_type: a static text. */
void kube_call_body(struct kube_call *call, const json_t *body, const char *content_type);
/* Sends the call again with another path; takes ownership of path. For use inside end() only. */
void kube_call_again(struct kube_call *call, char *path);

/* Returns a path like "/api/v1/namespaces/ns/pods/name/sub", malloc'd; NULL with *e if a part is
 * not a valid path segment. name NULL: path of the collection; sub NULL: path of the object
 * itself. */
char *kube_path(const struct kube_resource *r, const char *ns, const char *name, const char *sub,
		struct err *e);
/* Appends ?name=value, or &name=value if the path has a query already, escaped. Appends nothing if
 * value is NULL or "". */
void kube_query(struct buf *path, const char *name, const char *value);

/* Lists as kube_list() does, with a limit on the bytes of one object. */
struct kube_call *kube_list_bounded(struct kube_client *c, const struct kube_list_spec *s,
				    size_t max_item);

#endif
