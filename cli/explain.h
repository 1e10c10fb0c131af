#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "base/buf.h"
#include "api/kinds.h"
#include "kube/client.h"

/*
 * explain: explains what an object waits for, since when, when drover tries again, the last error,
 * and the command that helps. Covers every drover object and the pods of tenants. Input: objects of
 * the host cluster and, for a pod, the Pod in the tenant's cluster.
 *
 * An answer is the JSON of `drover why -o json`; explain_print() turns it into text for the
 * operator. Times in it are RFC 3339. Unknown values are left out.
 */

/* Explains a Machine; the caller owns the returned object. now: wall ms. d: the Drain named in
 * status.leave of m; NULL: none, or not readable. */
json_t *explain_machine(const struct machine *m, const struct drain *d, int64_t now);
/* Explains a NodeClaim; the caller owns the returned object. m, d: the Machine bound to the claim
 * and its Drain; NULL: none, or not readable. now: wall ms. */
json_t *explain_claim(const struct node_claim *n, const struct machine *m, const struct drain *d,
		      int64_t now);
/* Explains a pod from the VirtualCluster of its tenant; the caller owns the returned object. Call
 * explain_pod_claim() for the claim of the pod afterwards. */
json_t *explain_pod(const struct virtual_cluster *vc, const char *ns, const char *pod);
/* True if n is the claim of the pod: the claim of its Node if the pod is bound, else the claim on
 * which the newest plan has placed the pod, else a claim made for the pod that has not ended. Call
 * after explain_pod_now(). uid NULL: unknown. node NULL: pod not bound. */
bool explain_pod_has(const json_t *answer, const struct node_claim *n, const char *uid,
		     const char *node);
/* Adds claim n to the answer for a pod. m: Machine of the claim; NULL: none, or not readable. now:
 * wall ms. */
void explain_pod_claim(json_t *answer, const struct node_claim *n, const struct machine *m,
		       int64_t now);
/* Adds to the answer for a machine or claim that its tenant is asleep, and what follows; adds
 * nothing if the tenant is awake. m: the machine; may be NULL. */
void explain_tenant(json_t *answer, const struct virtual_cluster *vc, const struct machine *m);
/* Adds to the answer for a machine what its state means; for state leaving also until when drover
 * waits for the tenant, unless the answer already has waitingFor. */
void explain_doing(json_t *answer, const struct machine *m);
/* Adds to the answer for a machine what to check, if it has been in its state for longer than usual
 * although nothing has failed. now: wall ms. */
void explain_slow(json_t *answer, const struct machine *m, int64_t now);
/* Adds to the answer for a serving machine why its Node cannot take pods, and whether a disruption
 * budget of 0 keeps an empty Node from being released, and until when. p: NodePool of the claim;
 * NULL: not readable. */
void explain_serving(json_t *answer, const struct node_claim *n, const struct node_pool *p,
		     int64_t now);
/* Returns the remedy for a tenant whose condition has this reason; NULL: none known. */
const char *explain_tenant_remedy(const char *reason);
json_t *explain_virtual_cluster(const struct virtual_cluster *vc);
/* Explains an object of any kind, decoded in object, from that object alone: no Machine of a claim
 * and no Drain of a machine. The caller owns the returned object. NULL for a WipeRecord and a
 * BurstLedger, which wait for nothing. */
json_t *explain_object(enum object_kind_id kind, const void *object, int64_t now);
void explain_print(const json_t *answer, int64_t now, struct buf *out);

/* Clients and context for explain_ask(). A tenant's API server is reached with the kubeconfig that
 * its VirtualCluster names, if the caller may read that Secret. */
struct explain_asker {
	struct kube_client *host;
	struct loop *loop;
	struct loop_group *group;
	struct http *http;
	/* Namespace of drover itself. */
	const char *ns;
	/* Allows http:// for tenants' API servers (tests). */
	bool plain_ok;
};
/* Reads what target names and explains it. target: TYPE/NAME (cli/target.h), TENANT/NAMESPACE/POD,
 * or a name alone, which is looked up as machine, then claim, then the other kinds. Calls done()
 * exactly once, never before explain_ask() returns; answer is valid during done(). A pod missing in
 * its tenant's cluster is ERR_NOT_FOUND. If the pod cannot be read, the answer has `podUnknown`
 * with the cause. */
void explain_ask(const struct explain_asker *with, const char *target,
		 void (*done)(const json_t *answer, const struct err *e, void *arg), void *arg);
/* Adds phase, Node and scheduling message of the Pod read from the tenant's API server. */
void explain_pod_seen(json_t *answer, const json_t *pod);
/* Adds what the newest plan reports about a pod that is not bound (status.waiting of the
 * VirtualCluster), or why the plan does not list the pod. Call after explain_pod_seen() if the Pod
 * could be read. */
void explain_pod_now(json_t *answer, const struct virtual_cluster *vc, const char *ns,
		     const char *pod);
/* Adds an event on the pod if it is the newest one from drover. The event becomes `history` if
 * explain_pod_now() found a current reason that differs from the event's; without a current reason
 * it becomes `told`. */
void explain_pod_event(json_t *answer, const json_t *event);
/* Adds where to find drover's events on the pod, if they could not be read. */
void explain_pod_waits(json_t *answer, const char *ns, const char *pod);

#endif
