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
 * kube_call: one call of a client, inside kube/ only.  A call waits for the
 * rate limit and a free place, is sent, rests when the server asked for it,
 * and ends once.  Its owner is told by end(); there it may be sent again with
 * another path (the next page of a list), otherwise it is freed.
 *
 *	queued --token, place--> sent --429, Retry-After--> resting --> queued ...
 *	                           '--reply--> end() [--kube_call_again()--> queued]
 *
 * A body is read by scan.h as it arrives: of a watch line by line, of a list item by item, and of any
 * other call one object.
 * Tests: tests/unit/kube/test_client.c, tests/unit/kube/test_list.c
 */
enum call_state { CALL_QUEUED, CALL_SENT, CALL_RESTING, CALL_DONE };

/* A server as some config names it.  After a reload the old one lives until its last call has ended. */
struct kube_peer {
	struct list link; /* of the client's peers */
	struct http_peer *http;
	unsigned calls;
};

struct kube_client {
	struct loop_group *group;
	struct http *http;
	struct list peers;
	struct kube_peer *peer; /* the one for new calls */
	struct kube_config *config;
	char *name;
	bool plain_ok;
	bool (*may_reach)(const char *address, int port, void *arg);
	void *may_reach_arg;
	struct bucket bucket;
	int64_t held_until; /* loop_now(): the bucket was empty, and fills for the next bunch */
	unsigned max_in_flight, in_flight;
	uint32_t timeout_ms, line_ms;
	int (*may_change)(void *arg, struct err *e); /* NULL: not asked */
	void *may_change_arg;
	void (*counted)(const char *method, int status, void *arg); /* as in the spec */
	void *counted_arg;
	size_t in_line;	       /* calls in queued */
	size_t placeless;      /* ... of them that need no place: watches, and the lease's */
	int64_t last_contact;  /* wall */
	int64_t date, date_at; /* of its last reply: kube_client_date() */
	char date_text[32];    /* that `date` was read from: hundreds of replies have the same */
	int64_t token_read_at; /* loop_now(); of token_file */
	struct list queued,
		others; /* of struct kube_call: waiting for a token or place; the rest */
	struct loop_defer pump;
	struct loop_timer pump_timer;
};

struct kube_call {
	struct kube_client *c;
	struct list link;
	enum call_state state;
	bool counted; /* takes one of the client's places */
	bool urgent;  /* neither rate limit nor places: leases */
	bool holds_place;
	bool ending;  /* in end(): cancel means free afterwards */
	bool feeding; /* in an item's callback */
	bool cancelled;
	bool no_wait; /* give a 429 back at once */
	bool prompt;  /* waiting in line counts as well: what was decided on grows old */
	bool tells;   /* an event: it changes nothing that anybody acts on */
	bool plain;   /* the reply is text, and no JSON */
	bool in_line;
	bool was_sent; /* since it was started */

	const char *method, *content_type, *accept; /* constants */
	char *path;
	char *body;
	size_t body_len;
	uint32_t timeout_ms, idle_ms; /* timeout_ms 0 of a stream: none */
	int64_t deadline;	      /* loop_now(), of the line or of the call; INT64_MAX: none */
	struct http_req *http;
	struct kube_peer *peer;			/* while sent */
	struct loop_timer timer;		/* queued: the deadline; resting: the next try */
	struct loop_defer want;			/* ask for the next piece in a turn of its own */
	struct err refused;			/* what makes it impossible to send */
	int (*holds)(void *arg, struct err *e); /* kube_call_check(); NULL: nothing was said */
	void *holds_arg;

	struct scan *scan; /* while sent */
	/* A watch or a list, when on_item is set; wanted: of a line, of the list, or of the one object (NULL: kube_want_all). */
	const struct scan_want *wanted;
	bool digests; /* scan_digest() is asked */
	bool lines;
	size_t max_item;
	void (*on_open)(struct kube_call *call); /* 2xx has come; may be NULL */
	int (*on_item)(struct kube_call *call, json_t *item, struct err *e);
	/* Of a watch, before on_item and only where the line came in one piece; may be NULL.  True: no on_item. */
	bool (*is_known)(struct kube_call *call, const struct scan_line *line);
	int (*on_meta)(struct kube_call *call, json_t *list, struct err *e); /* without its items */
	json_t *reply;							     /* of any other call */
	bool (*knows)(const char *rv,
		      void *arg); /* kube_call_brief(); NULL: the reply is wanted whole */
	void *knows_arg;
	struct buf text; /* of the reply, where that may be wanted whole after all */

	void (*end)(struct kube_call *call, json_t *json, const struct err *e);
	void (*dispose)(struct kube_call *call); /* frees owner's state; may be NULL */
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
