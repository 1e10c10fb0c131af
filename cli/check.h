#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "cli/client.h"
#include "cli/findings.h"

/*
 * check: the parts of `drover check`. Each part asks the host cluster for one thing that an
 * installation needs, and adds its findings. They only read.
 * Tests: tests/unit/cli/test_check.c
 */
struct check {
	struct cli_client *c;
	/* Namespace of drover itself. */
	const char *ns;
	struct findings *f;
	/* True if drover's rights cannot be checked and a finding reports that. */
	bool mute;
};

struct check_right {
	/* Members of ResourceAttributes in a SubjectAccessReview; NULL: not set. */
	const char *group, *resource, *sub, *verb, *ns, *name;
};
/* Adds a finding if drover's ServiceAccount lacks the right r. mend: how to fix it. */
void check_right(struct check *k, const struct check_right *r, const char *mend);

/* Checks the caller's rights to drover's objects, and whether drover's ServiceAccount has the
 * rights of deploy/rbac.yaml. */
void check_rights(struct check *k);
/* Checks drover's own keys, and Providers, VirtualClusters, NodePools, Machines and BurstPolicies:
 * whether they need an operator, and whether the objects that they refer to exist. Reads only the
 * metadata of Secrets. */
void check_objects(struct check *k);

#endif
