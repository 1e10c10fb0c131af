#ifndef TESTS_UNIT_KUBE_FOLLOWED_H
#define TESTS_UNIT_KUBE_FOLLOWED_H

#include "base/buf.h"
#include "kube/cache.h"
#include "tests/unit/kube/fake_api.h"

/*
 * followed: a cache of Nodes and the server that it follows. `list` is the server's list
 * ("name=value@rv ..."); the test drives the watch. Every change is appended to `changes`: "+a=1"
 * added, "a=1>2" changed, "-a=2" deleted.
 */
struct followed {
	struct fake_api f;
	struct kube_cache *cache;
	const char *list, *list_rv;
	/* Status with which watches are answered; 0: they are opened. */
	int watch_status;
	bool watch_hangs, list_fails;
	char watch_query[256];
	int64_t watch_at[64], list_at[64];
	size_t lists;

	char changes[4096];
	unsigned syncs, bads, ill, well, asked;
	struct err bad, last_ill;
	/* Identities (kube_loss.which) of the last two losses. */
	uint64_t which[2];
	bool accept;
	size_t before, gone;
	json_t *learn_in_change;
	/* Limits of the cache; set before followed_begin(). */
	size_t max_each, max_bytes, max_objects;
	unsigned overs, fit_again;
	/* Set before followed_begin(). */
	bool same_untold;
	unsigned projected;
};

struct node {
	const char *value;
};

/* Creates the cache and runs for ms. */
void followed_begin(struct followed *r, const char *list, int64_t ms);
/* Creates the cache and waits until it is synced and watches. */
void followed_start(struct followed *r, const char *list);
void followed_stop(struct followed *r);
/* spec: "name=value@rv". */
void followed_send_event(struct followed *r, const char *type, const char *spec);
void followed_send_text(struct followed *r, const char *text);
/* An ERROR event of a watch. */
#define FOLLOWED_EXPIRED                                                                           \
	"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,"                        \
	"\"reason\":\"Expired\"}}\n"

/* Checks the changes since the last call. */
void followed_changes(struct followed *r, const char *want);
/* Appends an object, or with type a watch event. spec: "name=value@rv" or "name=value@rv/uid". type
 * NULL: only the object. */
void followed_object(struct buf *b, const char *type, const char *spec);

#endif
