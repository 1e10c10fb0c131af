#ifndef CONTROLLER_TENANT_POD_ENDS_H
#define CONTROLLER_TENANT_POD_ENDS_H

#include "controller/rules/pod_end.h"
#include "controller/tenant/tenant.h"

/*
 * pod_ends: counts how the pods of one tenant that request GPUs ended, for the metric
 * drover_gpu_pods_ended_total.
 *
 * A pod is followed from the time at which the cache has it on a Node until its phase is final, or
 * until it is gone; then it is counted once (rules/pod_end.h) if the Node was that of a claim. The
 * cache does not
 * store most ended pods, so their phase is reported when they are projected. Pods that had ended
 * before this process saw them, and pods that are not read any more, are not counted. Followers
 * follow pods, too, but only the leader counts.
 *
 * On the loop thread. All functions accept f NULL and then do nothing.
 * Tests: tests/unit/controller/tenant/test_pod_ends.c
 */
struct pod_ends;
struct pod_ends *pod_ends_new(struct tenant *t);
void pod_ends_free(struct pod_ends *f);
/* Forgets all pods. Call when the pods will be read again from scratch. */
void pod_ends_forget(struct pod_ends *f);

/* Reports an object whose phase is final, as it was read from the API server. deleted: the object
 * has a deletionTimestamp. */
void pod_ends_ended(struct pod_ends *f, const char *uid, bool succeeded, bool deleted,
		    enum pod_disruption disruption);
/* Reports a change of a cached pod, after pod_ends_ended(). old NULL: added; new_ NULL: no longer
 * cached. */
void pod_ends_pod(struct pod_ends *f, const struct tenant_pod *old, const struct tenant_pod *new_);
/* Reports that the Node was deleted. */
void pod_ends_node_gone(struct pod_ends *f, const char *node);
/* Reports that the pod is not read any more because of a limit (tenant/budget.h). */
void pod_ends_lose(struct pod_ends *f, const char *uid);

/* What became of drover's request to evict or delete a pod. A request that may have taken effect
 * without an answer stays POD_ASK_SENT. */
enum pod_ask { POD_ASK_SENT, POD_ASK_ACCEPTED, POD_ASK_REFUSED };
void pod_ends_asked(struct pod_ends *f, const char *uid, enum pod_ask ask);

#endif
