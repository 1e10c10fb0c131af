#ifndef KUBE_APISERVER_ERASE_H
#define KUBE_APISERVER_ERASE_H

#include "kube/apiserver/server.h"

/*
 * erase: deletes objects. Separate from remove.c, which answers requests, because the garbage
 * collector deletes objects too.
 *
 * An object with finalizers stays, with a deletionTimestamp, until the last finalizer is removed.
 * The deletion of a namespace or CustomResourceDefinition deletes its contents first; the namespace
 * or definition stays, with a deletionTimestamp, until the last of these objects is deleted.
 * Tests: tests/unit/kube/apiserver/test_remove.c, tests/unit/kube/apiserver/test_collect.c
 */

/* What a deletion does with the object's dependents (propagationPolicy). */
enum policy { POLICY_DEFAULT, POLICY_BACKGROUND, POLICY_FOREGROUND, POLICY_ORPHAN };
#define FINALIZER_FOREGROUND "foregroundDeletion"
#define FINALIZER_ORPHAN "orphan"
/* Deletes an object on behalf of the server itself, without a reply. */
void object_delete(struct request *rq, const char *key, json_t *obj, enum policy policy);
/* True if no object is left in this namespace or CustomResourceDefinition; true for all other
 * kinds. */
bool object_is_emptied(struct request *rq, const struct resource *r, const char *name);
/* Deletes the contents of a namespace or CustomResourceDefinition. Then deletes the namespace or
 * definition itself if it is empty; otherwise the deletion of its last object does so. */
void object_empty(struct request *rq, const struct resource *r, const char *name);
/* Removes an object that has no finalizers. Then removes its namespace or CustomResourceDefinition
 * if that was only waiting for this object. Replies with c; c NULL: no reply. */
void remove_object(struct request *rq, const struct resource *r, const char *key, const json_t *obj,
		   struct answer *c);

/* Options of a deletion. */
struct wish {
	/* Grace period in seconds. Negative, only for erase_under(): each object's own grace
	 * period. */
	int64_t grace_s;
	enum policy policy;
};
/* Returns the grace period of the object's deletion in seconds; 0 except for pods of a server with
 * graceful_pods. */
int64_t erase_grace(const struct request *rq, const json_t *obj);
/* Deletes the object obj, which is stored under key. Replies with the result of answer(); answer
 * NULL: no reply. */
void erase_object(struct request *rq, const struct resource *r, const char *key, json_t *obj,
		  const struct wish *wish,
		  struct answer *(*answer)(struct request *rq, const json_t *obj));
/* Deletes each object whose key begins with prefix and that the filter `only` matches (NULL: every
 * object). Sends no reply. */
void erase_under(struct request *rq, const struct resource *r, const char *prefix,
		 const struct wish *wish, const struct filter *only);

#endif
