#ifndef KUBE_APISERVER_ERASE_H
#define KUBE_APISERVER_ERASE_H

#include "kube/apiserver/server.h"

/*
 * erase: deleting objects, whoever asks. Apart from remove.c, which answers the requests, because
 * the collector deletes too.
 *
 * An object with finalizers stays, marked, until the last of them goes. A namespace and a
 * definition take with them what is in them, and stay, marked, until the last of that is gone.
 * Tests: tests/unit/kube/apiserver/test_remove.c, tests/unit/kube/apiserver/test_collect.c
 */

/* What happens to those that it owns. */
enum policy { POLICY_DEFAULT, POLICY_BACKGROUND, POLICY_FOREGROUND, POLICY_ORPHAN };
#define FINALIZER_FOREGROUND "foregroundDeletion"
#define FINALIZER_ORPHAN "orphan"
/* For the server itself, without an answer. */
void object_delete(struct request *rq, const char *key, json_t *obj, enum policy policy);
/* Is nothing left in this namespace or definition?  True for all else. */
bool object_is_emptied(struct request *rq, const struct resource *r, const char *name);
/* Delete what is in it, and it with the last of that. */
void object_empty(struct request *rq, const struct resource *r, const char *name);
/* Remove an object that may go, then what was waiting for that. */
void remove_object(struct request *rq, const struct resource *r, const char *key, const json_t *obj,
		   struct answer *c);

/* How it is to be deleted. */
struct wish {
	/* negative, for erase_under(): as each object has it */
	int64_t grace_s;
	enum policy policy;
};
/* Pods have a grace period of their own; nothing else waits. */
int64_t erase_grace(const struct request *rq, const json_t *obj);
/* One object, by its key.  Answers only where `answer` says how. */
void erase_object(struct request *rq, const struct resource *r, const char *key, json_t *obj,
		  const struct wish *wish,
		  struct answer *(*answer)(struct request *rq, const json_t *obj));
/* Each object under a prefix of keys that the filter (NULL: none) matches; nothing is answered. */
void erase_under(struct request *rq, const struct resource *r, const char *prefix,
		 const struct wish *wish, const struct filter *only);

#endif
