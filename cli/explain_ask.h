#ifndef CLI_EXPLAIN_ASK_H
#define CLI_EXPLAIN_ASK_H

#include "controller/explain/explain.h"
#include "kube/client.h"

/*
 * explain_ask: reads the objects that an explanation (controller/explain/explain.h) needs.
 * Tests: tests/unit/cli/test_explain.c, tests/world/test_waiting.c
 */

/* Clients and context of explain_ask(). It reaches a tenant's API server with the kubeconfig that
 * the VirtualCluster names, if the caller may read that Secret. */
struct explain_asker {
	struct kube_client *host;
	struct loop *loop;
	struct loop_group *group;
	struct http *http;
	/* drover's own namespace */
	const char *ns;
	/* true: allow http:// for tenants' API servers (tests) */
	bool plain_ok;
};
struct explain_question;
/* Reads the object that target names and explains it. target: TYPE/NAME (api/target.h),
 * TENANT/NAMESPACE/POD, gang/TENANT/NAMESPACE/GANG, or a name alone, which is tried as machine,
 * then as claim, then as the other kinds. Calls done() exactly once, never before explain_ask()
 * returns; answer is valid during done(). Returns the question in progress, which is freed after
 * done().
 *
 * A gang is found by the pods of the namespace. GANG is the name of its PodGroup or Workload, or
 * its key (controller/tenant/gang_names.h). The answer is that for one of its pods, with member
 * `members`.
 *
 * A pod that its tenant's cluster does not have is ERR_NOT_FOUND. If the pod cannot be read, the
 * answer has member `podUnknown` with the cause. */
struct explain_question *explain_ask(const struct explain_asker *with, const char *target,
				     void (*done)(const json_t *answer, const struct err *e,
						  void *arg),
				     void *arg);
/* Drops the question without done(); q may be NULL. Must not be called from done(). */
void explain_ask_cancel(struct explain_question *q);

#endif
