#ifndef KUBE_CACHE_H
#define KUBE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/data/json.h"
#include "base/own.h"
#include "kube/client.h"
#include "kube/want.h"

/*
 * kube_cache: list and watch of one resource of one cluster, kept as typed
 * projections, never as JSON trees.
 *
 * project() turns what is wanted of one object (kube/want.h) into the caller's
 * struct in the arena given; the entry owns that arena.  Every way in
 * which a server ends or refuses a watch is handled here: bookmarks, 410 as
 * status and as ERROR event inside 200, other errors, partial last line,
 * silence (own timer), EOF, an event larger than max_item.  After a relist the
 * store is replaced atomically and deletes are synthesised.  A stored
 * resourceVersion never falls: a list older than what was seen is refused ten
 * times (health says so) before it is taken for a restored cluster.
 *
 * Callbacks come on the loop, one at a time.  In on_change old and new stay
 * valid during the call; afterwards only what kube_cache_get() gives, until the next
 * turn of the loop.
 */
struct kube_cache;

struct kube_entry {
	/* ns "" when cluster-scoped */
	const char *ns, *name, *uid, *rv;
	/* what project() gave */
	void *object;
};

/* What a relist did not have any more. */
struct kube_loss {
	size_t before, gone;
	/* the same for the same objects, in any order */
	uint64_t which;
};

struct kube_cache_spec {
	struct kube_client *client;
	const struct kube_resource *resource;
	/* copied; NULL: all */
	const char *ns, *label_selector, *field_selector;
	/* What project() reads, KUBE_WANT_META among it: nothing else of an object is built. NULL:
	 * kube_want_all. */
	const struct scan_want *want;
	/* project() gives nothing of metadata.resourceVersion: a change after which it would give
	 * the same is not told, only the entry's rv is new. The rv of an entry then stays where it
	 * is, and its text changes. */
	bool same_untold;
	/* NULL without *e: leave this object out. NULL with ERR_CAPACITY: it has no room (see
	 * below). NULL with another e->kind: on_bad is told and the last good projection, if any,
	 * is kept. */
	void *(*project)(const json_t *object, struct arena *a, void *arg, struct err *e);
	/* old NULL: added; new NULL: deleted. The first list is told as it arrives, before
	 * on_sync. */
	void (*on_change)(const struct kube_entry *old, const struct kube_entry *new_, void *arg);
	/* first complete list */
	void (*on_sync)(void *arg);
	void (*on_bad)(const json_t *object, const struct err *e, void *arg);
	/* Health: e NULL when the watch works (again). */
	void (*on_health)(const struct err *e, void *arg);
	/* Asked at each relist, also where nothing was lost: false keeps the old ones and asks
	 * again later (0.5 to 30 s). NULL: always true. */
	bool (*accept_loss)(const struct kube_loss *loss, void *arg);
	/* bytes of one object; 0: 3 MiB */
	size_t max_item;
	/* Room for projections: of one, of all, and how many; 0: no limit. What does not fit is
	 * left out, a changed object that fits no more as well, and on_over is told of it. While
	 * anything is left out all is listed anew every five minutes; object NULL: now all is in
	 * again. */
	size_t max_each, max_bytes, max_objects;
	void (*on_over)(const json_t *object, void *arg);
	void *arg;
};
struct kube_cache *kube_cache_new(struct loop_group *g, const struct kube_cache_spec *s);
/* not from inside its callbacks: defer it */
void kube_cache_free(struct kube_cache *c);
DEFINE_OWN(kube_cache)

bool kube_cache_synced(const struct kube_cache *c);
bool kube_cache_healthy(const struct kube_cache *c);
/* something is left out for want of room */
bool kube_cache_over(const struct kube_cache *c);
size_t kube_cache_size(const struct kube_cache *c);
const struct kube_entry *kube_cache_get(const struct kube_cache *c, const char *ns,
					const char *name);
void kube_cache_each(const struct kube_cache *c, bool (*fn)(const struct kube_entry *e, void *arg),
		     void *arg);
#define KUBE_CACHE_GET(c, type, ns, name)                                                          \
	({                                                                                         \
		const struct kube_entry *kce_ = kube_cache_get((c), (ns), (name));                 \
		kce_ ? (struct type *)kce_->object : NULL;                                         \
	})

/* Put the reply of our own write in at once (read your writes); ignored when the watch has passed
 * its version, when that is no number, and, where selectors choose, for an object that is not here
 * yet. */
void kube_cache_learn(struct kube_cache *c, const json_t *object);
/* The watch has passed this version. */
bool kube_cache_passed(const struct kube_cache *c, const char *rv);

#endif
