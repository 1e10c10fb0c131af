#ifndef TESTS_UNIT_KUBE_FOLLOWED_H
#define TESTS_UNIT_KUBE_FOLLOWED_H

#include "base/buf.h"
#include "kube/cache.h"
#include "tests/unit/kube/fake_api.h"

/*
 * A cache of Nodes and the server it follows.  `list` is what the server
 * lists ("name=value@rv ..."); the test drives the watch.  Every change is
 * written to `changes`: "+a=1" added, "a=1>2" changed, "-a=2" gone.
 */
struct followed {
	struct fake_api f;
	struct kube_cache *cache;
	const char *list, *list_rv;
	/* answer watches with this status; 0: open them */
	int watch_status;
	bool watch_hangs, list_fails;
	char watch_query[256];
	int64_t watch_at[64], list_at[64];
	size_t lists;

	char changes[4096];
	unsigned syncs, bads, ill, well, asked;
	struct err bad, last_ill;
	/* of the last two losses */
	uint64_t which[2];
	bool accept;
	size_t before, gone;
	json_t *learn_in_change;
	/* before it begins */
	size_t max_each, max_bytes, max_objects;
	unsigned overs, fit_again;
	/* before it begins */
	bool same_untold;
	unsigned projected;
};

struct node {
	const char *value;
};

/* The cache begins, and ms pass. */
void followed_begin(struct followed *r, const char *list, int64_t ms);
/* The cache is synced and watches. */
void followed_start(struct followed *r, const char *list);
void followed_stop(struct followed *r);
/* "name=value@rv" */
void followed_send_event(struct followed *r, const char *type, const char *spec);
void followed_send_text(struct followed *r, const char *text);
/* An ERROR event of a watch. */
#define FOLLOWED_EXPIRED                                                                           \
	"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}}\n"

/* since the last call: fails when they differ */
void followed_changes(struct followed *r, const char *want);
/* type NULL: the object alone */
void followed_object(struct buf *b, const char *type, const char *spec);

#endif
