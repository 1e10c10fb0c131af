#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "base/buf.h"
#include "api/kinds.h"
#include "kube/client.h"

/*
 * explain: what is stuck, since when, waiting for what, when it is tried next, the
 * last error, and the one verb that helps; for a Machine, a claim or a
 * tenant's pod, from the host cluster's objects alone.
 *
 * Answers are JSON (drover why -o json); explain_print() makes the text for people
 * from the same.  Times in them are RFC 3339; what is unknown is absent.
 */

/* They give.  now: wall ms. */
json_t *explain_machine(const struct machine *m, int64_t now);
json_t *explain_claim(const struct node_claim *n, const struct machine *m,
		      int64_t now); /* m: that holds it, may be NULL */
json_t *explain_pod(const struct virtual_cluster *vc, const char *ns,
		    const char *pod); /* add claims with explain_pod_claim() */
void explain_pod_claim(json_t *answer, const struct node_claim *n);
/* To the answer for a machine or a claim: that this tenant sleeps, if it does, and what then.  m: may be NULL. */
void explain_tenant(json_t *answer, const struct virtual_cluster *vc, const struct machine *m);
void explain_print(const json_t *answer, int64_t now, struct buf *out);

/* target: a machine, a claim, or TENANT/NAMESPACE/POD.  done comes once, never from inside; the answer is borrowed. */
void explain_ask(struct kube_client *host, struct loop *l, const char *target,
		 void (*done)(const json_t *answer, const struct err *e, void *arg), void *arg);

#endif
