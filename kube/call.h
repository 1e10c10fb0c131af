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
 * place, is sent, rests when the server asked for it, and ends once. Its owner is told by end();
 * there it may be sent again with another path (the next page of a list), otherwise it is freed.
 *
 *   queued --token, place--> sent --429, Retry-After--> resting --> queued ...
 *                              '--reply--> end() [--kube_call_again()--> queued]
 *
 * A body is read by scan.h as it arrives: of a watch line by line, of a list item by item, and of
 * any other call one object.
 * Tests: tests/unit/kube/test_client.c, tests/unit/kube/test_list.c
 */
enum call_state { CALL_QUEUED, CALL_SENT, CALL_RESTING, CALL_DONE };

/* A server as some config names it. After a reload the old one lives until its last call has
 * ended. */
struct kube_peer {
	/* of the client's peers */
	struct list link;
	struct http_peer *http;
	unsigned calls;
};

struct kube_client {
	struct loop_group *group;
	struct http *http;
	struct list peers;
	/* the one for new calls */
	struct kube_peer *peer;
	struct kube_config *config;
	char *name;
	bool plain_ok;
	bool (*may_reach)(const char *address, int port, void *arg);
	void *may_reach_arg;
	struct bucket bucket;
	/* loop_now(): the bucket was empty, and fills for the next bunch */
	int64_t held_until;
	unsigned max_in_flight, in_flight;
	uint32_t timeout_ms, line_ms;
	/* NULL: not asked */
	int (*may_change)(void *arg, struct err *e);
	void *may_change_arg;
	/* as in the spec */
	void (*counted)(const char *method, int status, void *arg);
	void *counted_arg;
	/* calls in queued */
	size_t in_line;
	/* ... of them that need no place: watches, and the lease's */
	size_t placeless;
	/* wall */
	int64_t last_contact;
	/* of its last reply: kube_client_date() */
	int64_t date, date_at;
	/* that `date` was read from: hundreds of replies have the same */
	char date_text[32];
	/* loop_now(); of token_file */
	int64_t token_read_at;
	/* of struct kube_call: waiting for a token or place; the rest */
	struct list queued, others;
	struct loop_defer pump;
	struct loop_timer pump_timer;
};

struct kube_call {
	struct kube_client *c;
	struct list link;
	enum call_state state;
	/* takes one of the client's places */
	bool counted;
	/* neither rate limit nor places: leases */
	bool urgent;
	bool holds_place;
	/* in end(): cancel means free afterwards */
	bool ending;
	/* in an item's callback */
	bool feeding;
	bool cancelled;
	/* give a 429 back at once */
	bool no_wait;
	/* waiting in line counts as well: what was decided on grows old */
	bool prompt;
	/* an event: it changes nothing that anybody acts on */
	bool tells;
	/* the reply is text, and no JSON */
	bool plain;
	bool in_line;
	/* since it was started */
	bool was_sent;

	/* constants */
	const char *method, *content_type, *accept;
	char *path;
	char *body;
	size_t body_len;
	/* timeout_ms 0 of a stream: none */
	uint32_t timeout_ms, idle_ms;
	/* loop_now(), of the line or of the call; INT64_MAX: none */
	int64_t deadline;
	struct http_req *http;
	/* while sent */
	struct kube_peer *peer;
	/* queued: the deadline; resting: the next try */
	struct loop_timer timer;
	/* ask for the next piece in a turn of its own */
	struct loop_defer want;
	/* what makes it impossible to send */
	struct err refused;
	/* kube_call_check(); NULL: nothing was said */
	int (*holds)(void *arg, struct err *e);
	void *holds_arg;

	/* while sent */
	struct scan *scan;
	/* A watch or a list, when on_item is set; wanted: of a line, of the list, or of the one
	 * object (NULL: kube_want_all). */
	const struct scan_want *wanted;
	/* scan_digest() is asked */
	bool digests;
	bool lines;
	size_t max_item;
	/* 2xx has come; may be NULL */
	void (*on_open)(struct kube_call *call);
	int (*on_item)(struct kube_call *call, json_t *item, struct err *e);
	/* Of a watch, before on_item and only where the line came in one piece; may be NULL. True:
	 * no on_item. */
	bool (*is_known)(struct kube_call *call, const struct scan_line *line);
	/* without its items */
	int (*on_meta)(struct kube_call *call, json_t *list, struct err *e);
	/* of any other call */
	json_t *reply;
	/* kube_call_brief(); NULL: the reply is wanted whole */
	bool (*knows)(const char *rv, void *arg);
	void *knows_arg;
	/* of the reply, where that may be wanted whole after all */
	struct buf text;

	void (*end)(struct kube_call *call, json_t *json, const struct err *e);
	/* frees owner's state; may be NULL */
	void (*dispose)(struct kube_call *call);
	kube_done *done;
	void *arg;
};

/* One call less; a peer that was replaced goes with its last one. */
void kube_peer_release(struct kube_client *c, struct kube_peer *p);

/* Sends what may be sent now; arg is the client. */
void kube_client_pump(void *arg);

/* A call that is not sent yet: fill it, then kube_call_start().  path is taken; when it is NULL the
 * call is never sent and ends with *why. */
struct kube_call *kube_call_new(struct kube_client *c, const char *method, char *path,
				const struct err *why);
void kube_call_start(struct kube_call *call);
/* The same for a call that sends body (borrowed, may be NULL) and gets one object. */
struct kube_call *kube_call_json(struct kube_client *c, const char *method, char *path,
				 const json_t *body, const char *content_type,
				 const struct err *why, kube_done *done, void *arg);
/* From end(): the same call again for another path (taken). */
void kube_call_again(struct kube_call *call, char *path);

/* "/api/v1/namespaces/ns/pods/name/sub"; NULL with *e set if a part cannot be a part of a path.
 * name, sub: NULL for the collection, the object itself. */
char *kube_path(const struct kube_resource *r, const char *ns, const char *name, const char *sub,
		struct err *e);
/* ?name=value or &name=value, escaped; nothing for NULL and "". */
void kube_query(struct buf *path, const char *name, const char *value);

/* kube_list() with a limit on the bytes of one object. */
struct kube_call *kube_list_bounded(struct kube_client *c, const struct kube_list_spec *s,
				    size_t max_item);

#endif
