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
 * kube_call: one call of a client, inside kube/ only. A call waits for the rate limit and a free
 * concurrency slot, is sent, rests if the server asked for a retry, and ends once. end() reports to
 * its owner; there it may be sent again with another path (the next page of a list), otherwise it
 * is freed.
 *
 *   queued --token, slot--> sent --429, Retry-After--> resting --> queued ...
 *                             '--reply--> end() [--kube_call_again()--> queued]
 *
 * scan.h reads a body as it arrives: of a watch line by line, of a list item by item, and of any
 * other call one object.
 * Tests: tests/unit/kube/test_client.c, tests/unit/kube/test_list.c
 */
enum call_state { CALL_QUEUED, CALL_SENT, CALL_RESTING, CALL_DONE };

/* One server as a config names it. After a reload the old peer lives until its last call has
 * ended. */
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
	/* loop_now() until which sending is delayed, because the bucket is refilling for the next
	 * bunch. */
	int64_t held_until;
	unsigned max_in_flight, in_flight;
	uint32_t timeout_ms, line_ms;
	/* NULL: every call may be sent. */
	int (*may_change)(void *arg, struct err *e);
	void *may_change_arg;
	/* As in kube_client_spec. */
	void (*counted)(const char *method, int status, void *arg);
	void *counted_arg;
	/* Number of calls in queued. */
	size_t in_line;
	/* Queued calls that need no concurrency slot: watches and those of the lease. */
	size_t placeless;
	/* Wall ms. */
	int64_t last_contact;
	/* Date of the last reply, and when it arrived: kube_client_date(). */
	int64_t date, date_at;
	/* Text that `date` was read from; hundreds of replies have the same. */
	char date_text[32];
	/* loop_now() when token_file was read. */
	int64_t token_read_at;
	/* Lists of struct kube_call. queued: waiting for a token or slot; others: the rest. */
	struct list queued, others;
	struct loop_defer pump;
	struct loop_timer pump_timer;
};

struct kube_call {
	struct kube_client *c;
	struct list link;
	enum call_state state;
	/* Occupies one of the client's concurrency slots. */
	bool counted;
	/* Exempt from rate limit and slots: leases. */
	bool urgent;
	bool holds_place;
	/* True while end() runs: kube_call_cancel() then defers the free until end() returns. */
	bool ending;
	/* True inside an item's callback. */
	bool feeding;
	bool cancelled;
	/* Return a 429 at once. */
	bool no_wait;
	/* The wait in the queue counts against timeout_ms, because the decision behind the call
	 * becomes outdated. */
	bool prompt;
	/* An event, which changes nothing that a controller acts on. */
	bool tells;
	/* The reply is text, not JSON. */
	bool plain;
	bool in_line;
	/* Sent at least once since it was started. */
	bool was_sent;

	/* Constants. */
	const char *method, *content_type, *accept;
	char *path;
	char *body;
	size_t body_len;
	/* timeout_ms 0 of a stream: none. */
	uint32_t timeout_ms, idle_ms;
	/* loop_now() at which the wait or the call ends; INT64_MAX: none. */
	int64_t deadline;
	struct http_req *http;
	/* Set while sent. */
	struct kube_peer *peer;
	/* queued: the deadline; resting: the next try. */
	struct loop_timer timer;
	/* Requests the next piece in a later turn. */
	struct loop_defer want;
	/* Why the call cannot be sent. */
	struct err refused;
	/* See kube_call_check(); NULL: no check. */
	int (*holds)(void *arg, struct err *e);
	void *holds_arg;

	/* Set while sent. */
	struct scan *scan;
	/* A watch or a list, if on_item is set. wanted: table for a line, for the list, or for the
	 * single object (NULL: kube_want_all). */
	const struct scan_want *wanted;
	/* Compute scan_digest(). */
	bool digests;
	bool lines;
	size_t max_item;
	/* Called when a 2xx status has arrived; may be NULL. */
	void (*on_open)(struct kube_call *call);
	int (*on_item)(struct kube_call *call, json_t *item, struct err *e);
	/* For a watch, called before on_item() if the line arrived in one piece; may be NULL. True:
	 * on_item() is not called. */
	bool (*is_known)(struct kube_call *call, const struct scan_line *line);
	/* The list without its items. */
	int (*on_meta)(struct kube_call *call, json_t *list, struct err *e);
	/* Reply of a call that is neither watch nor list. */
	json_t *reply;
	/* See kube_call_brief(); NULL: the complete reply is wanted. */
	bool (*knows)(const char *rv, void *arg);
	void *knows_arg;
	/* Text of the reply, kept if it may have to be read again completely. */
	struct buf text;

	void (*end)(struct kube_call *call, json_t *json, const struct err *e);
	/* Frees the owner's state; may be NULL. */
	void (*dispose)(struct kube_call *call);
	kube_done *done;
	void *arg;
};

/* Drops the reference of one call; frees a replaced peer with its last call. */
void kube_peer_release(struct kube_client *c, struct kube_peer *p);

/* Sends the calls that may be sent now; arg is the client. */
void kube_client_pump(void *arg);

/* Creates a call that is not sent yet: fill it, then call kube_call_start(). Takes ownership of
 * path. path NULL: the call is never sent and ends with *why. */
struct kube_call *kube_call_new(struct kube_client *c, const char *method, char *path,
				const struct err *why);
void kube_call_start(struct kube_call *call);
/* As kube_call_new(), for a call that sends body (borrowed, may be NULL) and receives one
 * object. */
struct kube_call *kube_call_json(struct kube_client *c, const char *method, char *path,
				 const json_t *body, const char *content_type,
				 const struct err *why, kube_done *done, void *arg);
/* Sends the same call again with another path, whose ownership it takes. Only from end(). */
void kube_call_again(struct kube_call *call, char *path);

/* Returns "/api/v1/namespaces/ns/pods/name/sub"; NULL with *e set if a part is not a valid path
 * segment. name NULL: the collection; sub NULL: the object itself. */
char *kube_path(const struct kube_resource *r, const char *ns, const char *name, const char *sub,
		struct err *e);
/* Appends ?name=value or &name=value, escaped; nothing for NULL and "". */
void kube_query(struct buf *path, const char *name, const char *value);

/* As kube_list(), with a limit on the bytes of one object. */
struct kube_call *kube_list_bounded(struct kube_client *c, const struct kube_list_spec *s,
				    size_t max_item);

#endif
