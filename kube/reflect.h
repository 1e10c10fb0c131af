#ifndef KUBE_REFLECT_H
#define KUBE_REFLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kube/client.h"

/*
 * kube_reflect: keeps a list and its watch running, for kube/cache.c.
 *
 * It handles every way in which a list or watch ends, and decides when to begin again; it does not
 * store objects. A list is reported as list_begin(), list_item() ..., list_end(). If list_begin()
 * is called again without a list_end() before it, all items since the last list_begin() are void.
 * All callbacks come from the loop. The caller must not call kube_reflect_free() inside them,
 * because some run while the HTTP transport delivers data.
 */
struct kube_reflect;
struct kube_reflect_ops {
	void (*list_begin)(void *arg);
	/* Called for each object of a list. digest: see event(). */
	void (*list_item)(json_t *object, uint64_t digest, void *arg);
	/* Called at the end of a list. -1 with *e: the list is refused, and is read again later. */
	int (*list_end)(const char *rv, void *arg, struct err *e);
	/* Called for each event of the watch. digest: hash of the wanted members of the object
	 * except its name, namespace and version; computed only if same is set. */
	void (*event)(bool deleted, json_t *object, uint64_t digest, void *arg);
	/* Called for an object that was added or changed, before it is built, because the majority
	 * of the events of some resources report this client's own writes. True: version rv of the
	 * object is stored; event() and same() are not called. NULL: not asked. */
	bool (*stored)(const char *ns, const char *name, const char *rv, void *arg);
	/* Called for a changed object with its digest, before the object is built. True: the object
	 * is equal to the stored one; event() is not called, and the version is recorded. NULL:
	 * every event is reported. */
	bool (*same)(const char *ns, const char *name, const char *rv, uint64_t digest, void *arg);
	/* Called with the error when list or watch fail. Called with e NULL when the watch opens
	 * for the first time or opens again. */
	void (*health)(const struct err *e, void *arg);
};
struct kube_reflect_spec {
	struct kube_client *client;
	const struct kube_resource *resource;
	/* Restrictions of list and watch, copied; NULL: none. */
	const char *ns, *label_selector, *field_selector;
	/* Table of the wanted members; NULL: kube_want_all. */
	const struct scan_want *want;
	size_t max_item;
	const struct kube_reflect_ops *ops;
	void *arg;
};
struct kube_reflect *kube_reflect_new(struct loop_group *g, const struct kube_reflect_spec *s);
void kube_reflect_free(struct kube_reflect *r);

/* Reads the list again as soon as possible. Must not be called from the callbacks. */
void kube_reflect_again(struct kube_reflect *r);

/* Returns the resourceVersion up to which all changes were reported; NULL: no list yet. */
const char *kube_reflect_rv(const struct kube_reflect *r);

/* True if a and b are numbers and a is below b. Versions that are not numbers have no order. Since
 * Kubernetes 1.35 (KEP-5504) clients may compare the versions of one resource as numbers. */
bool kube_rv_older(const char *a, const char *b);
bool kube_rv_is_number(const char *rv);

#endif
