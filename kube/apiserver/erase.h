#ifndef KUBE_APISERVER_ERASE_H
#define KUBE_APISERVER_ERASE_H

#include "kube/apiserver/server.h"

/*
 * erase: deletes objects. Separate from remove.c, which answers requests, because the collector
 * deletes too.
 *
 * An object with finalizers stays, with a deletionTimestamp, until the last finalizer is removed. A
 * namespace or definition deletes its contents, and stays, with a deletionTimestamp, until its last
 * object is deleted.
 * Tests: tests/unit/kube/apiserver/test_remove.c, tests/unit/kube/apiserver/test_collect.c
 */

/* What happens to the object's dependents. */
enum policy { POLICY_DEFAULT, POLICY_BACKGROUND, POLICY_FOREGROUND, POLICY_ORPHAN };
#define FINALIZER_FOREGROUND "foregroundDeletion"
#define FINALIZER_ORPHAN "orphan"
/* Deletes an object on behalf of the server itself, without a reply. */
void object_delete(struct request *rq, const char *key, json_t *obj, enum policy policy);
/* True if nothing is left in this namespace or definition; true for all other kinds. */
bool object_is_emptied(struct request *rq, const struct resource *r, const char *name);
/* Deletes the contents of a namespace or definition, and the namespace or definition itself
 * together with the last of its objects. */
void object_empty(struct request *rq, const struct resource *r, const char *name);
/* Removes an object that has no finalizers, then whatever was waiting for its removal. Replies with
 * c; NULL: no reply. */
void remove_object(struct request *rq, const struct resource *r, const char *key, const json_t *obj,
		   struct answer *c);

/* Options of a deletion. */
struct wish {
	/* Grace period in seconds. Negative, only for erase_under(): each object's own grace
	 * period. */
	int64_t grace_s;
	enum policy policy;
};
/* Returns the grace period of the object's deletion, in seconds; only pods have one. */
int64_t erase_grace(const struct request *rq, const json_t *obj);
/* Deletes one object by its key. Replies with what answer() returns; answer NULL: no reply. */
void erase_object(struct request *rq, const struct resource *r, const char *key, json_t *obj,
		  const struct wish *wish,
		  struct answer *(*answer)(struct request *rq, const json_t *obj));
/* Deletes each object whose key begins with prefix and that the filter only matches (NULL: all of
 * them). Sends no reply. */
void erase_under(struct request *rq, const struct resource *r, const char *prefix,
		 const struct wish *wish, const struct filter *only);

#endif
