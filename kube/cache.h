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
 * kube_cache: lists and watches one resource of one cluster, and stores typed projections (the
 * caller's structs), never JSON trees.
 *
 * project() converts the wanted members of an object (kube/want.h) to the caller's struct in the
 * given arena, which the entry owns. The cache handles every way in which a server ends or refuses
 * a watch: bookmarks, 410 as HTTP status and as ERROR event inside a 200, other errors, a partial
 * last line, silence (own timer), EOF, an event larger than max_item. After a relist the store is
 * replaced atomically, and on_change() reports objects missing from the list as deleted. A stored
 * resourceVersion never decreases: a list older than an earlier one is refused ten times
 * (on_health() reports it); after that the cache assumes that the cluster was restored from a
 * backup, and accepts the list.
 *
 * Callbacks come on the loop, one at a time. In on_change() the entries old and new_ are valid
 * during the call. A result of kube_cache_get() is valid until the next turn of the loop.
 */
struct kube_cache;

struct kube_entry {
	/* ns: "" for cluster-scoped objects. */
	const char *ns, *name, *uid, *rv;
	/* Result of project(). */
	void *object;
};

/* Counts of a relist. before: objects stored before the relist; gone: how many of these objects the
 * new list lacks. */
struct kube_loss {
	size_t before, gone;
	/* Hash of the missing objects, independent of their order. */
	uint64_t which;
};

struct kube_cache_spec {
	struct kube_client *client;
	const struct kube_resource *resource;
	/* Copied; NULL: no restriction. */
	const char *ns, *label_selector, *field_selector;
	/* Table of the members that project() reads; it must begin with KUBE_WANT_META, or
	 * have SCAN_REST. No other member of an object is parsed into JSON. NULL:
	 * kube_want_all. */
	const struct scan_want *want;
	/* True: project() does not depend on metadata.resourceVersion. A change that would yield an
	 * equal projection is then not reported; only the text of the entry's rv is replaced in
	 * place. */
	bool same_untold;
	/* Returns the projection of object, in the arena a. NULL with *e unchanged: the object is
	 * left out. NULL with ERR_CAPACITY: the object is beyond the limits (max_each, max_bytes,
	 * max_objects). NULL with another kind: on_bad() is called and the last good projection, if
	 * any, stays. */
	void *(*project)(const json_t *object, struct arena *a, void *arg, struct err *e);
	/* old NULL: added; new_ NULL: deleted. Objects of the first list are reported as they
	 * arrive, before on_sync(). */
	void (*on_change)(const struct kube_entry *old, const struct kube_entry *new_, void *arg);
	/* Called once, when the first list is complete. */
	void (*on_sync)(void *arg);
	void (*on_bad)(const json_t *object, const struct err *e, void *arg);
	/* Called with the error when list or watch fail. Called with e NULL when the watch works
	 * for the first time or works again. */
	void (*on_health)(const struct err *e, void *arg);
	/* Called at the end of each relist, even if no object is missing. False: the old objects
	 * stay and the list is read again later (after 0.5 to 30 s). NULL: every loss is
	 * accepted. */
	bool (*accept_loss)(const struct kube_loss *loss, void *arg);
	/* Largest object in bytes; 0 means 3 MiB. */
	size_t max_item;
	/* Limits of the projections, 0: no limit. max_each: bytes of one projection; max_bytes:
	 * bytes of all; max_objects: their number. An object beyond a limit is left out, and so is
	 * a stored object whose changed version no longer fits; on_over() is called for each. While
	 * any object is left out, everything is listed again every five minutes. on_over() with
	 * object NULL: no object is left out any more. */
	size_t max_each, max_bytes, max_objects;
	void (*on_over)(const json_t *object, void *arg);
	void *arg;
};
struct kube_cache *kube_cache_new(struct loop_group *g, const struct kube_cache_spec *s);
/* Frees the cache. Must not be called from one of its callbacks: defer the call. */
void kube_cache_free(struct kube_cache *c);
DEFINE_OWN(kube_cache)

bool kube_cache_synced(const struct kube_cache *c);
bool kube_cache_healthy(const struct kube_cache *c);
/* True while an object is left out because of the limits. */
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

/* Stores the reply to the caller's own write at once, so that the caller reads its own writes. The
 * reply is ignored in three cases: the watch has passed the reply's version, the version is not a
 * number, or the cache has selectors and does not contain the object. */
void kube_cache_learn(struct kube_cache *c, const json_t *object);
/* True if the watch has reached or passed version rv. */
bool kube_cache_passed(const struct kube_cache *c, const char *rv);

#endif
