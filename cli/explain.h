#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "base/buf.h"
#include "api/kinds.h"
#include "kube/client.h"

/*
 * explain: what is stuck, since when, waiting for what, when it is tried next, the
 * last error, and the one verb that helps; for any object of drover's or a
 * tenant's pod, from the host cluster's objects and that pod.
 *
 * Answers are JSON (drover why -o json); explain_print() makes the text for people
 * from the same.  Times in them are RFC 3339; what is unknown is absent.
 */

/* They give. now: wall ms. d: the Drain that status.leave of m names; NULL: none, or it could not
 * be read. */
json_t *explain_machine(const struct machine *m, const struct drain *d, int64_t now);
/* m: that holds it, may be NULL */
json_t *explain_claim(const struct node_claim *n, const struct machine *m, const struct drain *d,
		      int64_t now);
/* add its claim with explain_pod_claim() */
json_t *explain_pod(const struct virtual_cluster *vc, const char *ns, const char *pod);
/* True if the claim is the pod's: that of the Node to which it is bound, else the one on which the
 * newest plan has a seat for it, else one that was made for it. After explain_pod_now(). uid, node:
 * NULL: not known, not bound. */
bool explain_pod_has(const json_t *answer, const struct node_claim *n, const char *uid,
		     const char *node);
/* m: the claim's; NULL: it has none, or it could not be read. */
void explain_pod_claim(json_t *answer, const struct node_claim *n, const struct machine *m,
		       int64_t now);
/* To the answer for a machine or a claim: that this tenant sleeps, if it does, and what then. m:
 * may be NULL. */
void explain_tenant(json_t *answer, const struct virtual_cluster *vc, const struct machine *m);
/* To the answer for a machine: what its state means, and what it comes to where nothing else says
 * so. */
void explain_doing(json_t *answer, const struct machine *m);
/* To the answer for a machine: that it takes longer than most, and what to look at, though nothing
 * has failed. */
void explain_slow(json_t *answer, const struct machine *m, int64_t now);
/* To the answer for a machine that serves: that its Node is no place for pods, until when that is
 * waited for, and that a budget of 0 keeps empty Nodes. p: the claim's pool; NULL: it could not be
 * read. */
void explain_serving(json_t *answer, const struct node_claim *n, const struct node_pool *p,
		     int64_t now);
/* What helps a tenant with this reason in a condition; NULL: nothing that is known. */
const char *explain_tenant_remedy(const char *reason);
json_t *explain_virtual_cluster(const struct virtual_cluster *vc);
/* The same of any kind by itself, as decoded; of a machine or claim what others say of it is not in
 * it. NULL: a WipeRecord waits for nothing. */
json_t *explain_object(enum object_kind_id kind, const void *object, int64_t now);
void explain_print(const json_t *answer, int64_t now, struct buf *out);

/* Whom explain_ask() asks with. Tenants are asked for their pods with the kubeconfig that their
 * VirtualCluster names, as far as the caller may read that Secret. */
struct explain_asker {
	struct kube_client *host;
	struct loop *loop;
	struct loop_group *group;
	struct http *http;
	/* drover's own namespace */
	const char *ns;
	/* tenants by http:// (tests) */
	bool plain_ok;
};
/* target: TYPE/NAME (of cli/target.h), TENANT/NAMESPACE/POD, or a name: of a machine, else of a
 * claim, else of any kind. done comes once, never from inside; the answer is borrowed. A pod that
 * its tenant does not have is ERR_NOT_FOUND; of one that cannot be asked for the answer has
 * `podUnknown`, which says why. */
void explain_ask(const struct explain_asker *with, const char *target,
		 void (*done)(const json_t *answer, const struct err *e, void *arg), void *arg);
/* Adds phase, Node and scheduling message of the Pod read from the tenant's API. */
void explain_pod_seen(json_t *answer, const json_t *pod);
/* Adds what the newest plan says of a pod that is not bound (VirtualCluster.status.waiting), or why
 * it says nothing. After explain_pod_seen(), if the Pod could be read. */
void explain_pod_now(json_t *answer, const struct virtual_cluster *vc, const char *ns,
		     const char *pod);
/* Adds an event on the pod if it is drover's newest: as what was so before, if explain_pod_now()
 * found what is so now and the event has another reason; else as what drover said last. */
void explain_pod_event(json_t *answer, const json_t *event);
/* Adds where to look for events that could not be read. */
void explain_pod_waits(json_t *answer, const char *ns, const char *pod);

#endif
