#ifndef CONTROLLER_EXPLAIN_EXPLAIN_H
#define CONTROLLER_EXPLAIN_EXPLAIN_H

#include "api/kinds.h"
#include "api/machine_states.h"

/*
 * explain: explains what an object waits for, since when, when drover tries again, the last error,
 * and the command that helps. Covers every drover object and the pods of tenants. Input are objects
 * of the host cluster and, for a pod, the Pod in the tenant's cluster.
 *
 * An explanation ("answer") is the JSON object that `drover why -o json` prints and that the view
 * serves (controller/view/view.h). cli/explain_print.h turns it into text for the operator. Times
 * in it are RFC 3339. Unknown values are left out.
 * Tests: tests/unit/cli/test_explain.c, tests/unit/cli/test_why.c
 */

/* Returns the explanation of a Machine, owned by the caller. now: wall ms. d: the Drain named in
 * status.leave of m; NULL: none, or not readable. */
json_t *explain_machine(const struct machine *m, const struct drain *d, int64_t now);
/* Returns the explanation of a NodeClaim, owned by the caller. m, d: the Machine bound to the claim
 * and its Drain; NULL: none, or not readable. now: wall ms. */
json_t *explain_claim(const struct node_claim *n, const struct machine *m, const struct drain *d,
		      int64_t now);
/* Returns the explanation of a pod, owned by the caller, from the VirtualCluster of its tenant.
 * Call explain_pod_claim() afterwards if the pod has a claim. */
json_t *explain_pod(const struct virtual_cluster *vc, const char *ns, const char *pod);
/* True if n is the claim of the pod in answer. For a bound pod, this is the claim of its Node. For
 * any other pod, it is the claim on which the newest plan has placed the pod. If the plan does not
 * list the pod, it is any claim that was made for the pod and has neither ended nor failed. uid:
 * UID of the pod; NULL: unknown. node: Node to which the pod is bound; NULL: not bound. Call after
 * explain_pod_now(). */
bool explain_is_claim_of_pod(const json_t *answer, const struct node_claim *n, const char *uid,
			     const char *node);
/* Adds claim n to the answer for a pod. m: Machine of the claim; NULL: none, or not readable. now:
 * wall ms. */
void explain_pod_claim(json_t *answer, const struct node_claim *n, const struct machine *m,
		       int64_t now);
/* Adds to the answer for a machine, claim or tenant that the tenant vc is asleep, and what the
 * operator can do. Adds nothing if the tenant is awake. m: the machine; may be NULL. */
void explain_tenant(json_t *answer, const struct virtual_cluster *vc, const struct machine *m);
/* Returns what a machine in state s does or waits for: words that continue "the machine is". */
const char *explain_state(enum machine_state s);
/* Adds to the answer for machine m what its state means. In state leaving, while drover waits for
 * the tenant, waitingFor becomes what is waited for and until when, and the deadline of the state,
 * which is later, is removed. now: wall ms. */
void explain_activity(json_t *answer, const struct machine *m, int64_t now);
/* Adds to the answer for machine m that m has been in its state for longer than usual, and, if
 * nothing has failed, what the operator can check. now: wall ms. */
void explain_slow(json_t *answer, const struct machine *m, int64_t now);
/* Adds to the answer for a serving machine with claim n why its Node cannot take pods. If a
 * disruption budget of 0 keeps an empty Node from being released, also adds that, and until when.
 * p: NodePool of the claim; NULL: not readable. now: wall ms. */
void explain_serving(json_t *answer, const struct node_claim *n, const struct node_pool *p,
		     int64_t now);
/* Returns what the operator can do about a tenant whose condition has this reason, a format for
 * answer_help() with the tenant's name; NULL: nothing is known. */
const char *explain_tenant_remedy(const char *reason);
json_t *explain_virtual_cluster(const struct virtual_cluster *vc);
/* Returns the explanation of an object of any kind, owned by the caller. object: the decoded
 * object; no other object is used, so the Machine of a claim and the Drain of a machine are
 * missing. NULL for a WipeRecord, a BurstLedger and an AuditSegment, which wait for nothing. */
json_t *explain_object(enum object_kind_id kind, const void *object, int64_t now);

/* Adds the latest decisions of a BurstPolicy to the list `decisions` of an answer, each with the
 * offers that were compared: only those for this work of a tenant, or, with tenant NULL, all. work:
 * NAMESPACE/NAME of a pod, or the key of a gang. */
void explain_burst_decisions(json_t *answer, const struct burst_policy *p, const char *tenant,
			     const char *work);

/* Adds phase, Node and scheduling message of a Pod to its answer. pod: as read from the tenant's
 * API server. */
void explain_pod_seen(json_t *answer, const json_t *pod);
/* Adds to the answer for a pod that is not bound what the newest plan reports about it
 * (status.waiting of vc), or why the plan does not list it. If the Pod could be read, call
 * explain_pod_seen() first. */
void explain_pod_now(json_t *answer, const struct virtual_cluster *vc, const char *ns,
		     const char *pod);
/* Adds an event on the pod to its answer, if drover sent the event and no event with a later time
 * was added. If the answer has a current reason (from explain_pod_now()) that differs from the
 * event's, the event becomes member `history`; if it has no current reason, member `told`. */
void explain_pod_event(json_t *answer, const json_t *event);
/* Adds to the answer for a pod where to find drover's events on it. Call if the events could not be
 * read. */
void explain_pod_waits(json_t *answer, const char *ns, const char *pod);

#endif
