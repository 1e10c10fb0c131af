#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "cli/client.h"
#include "cli/findings.h"

/*
 * check: the parts of `drover check`. Each part asks the host cluster for one thing that an
 * installation needs, and adds what it found as findings (cli/findings.h). No part writes anything.
 * Tests: tests/unit/cli/test_check.c
 */
struct check {
	struct cli_client *c;
	/* drover's own namespace */
	const char *ns;
	struct findings *f;
	/* holder of the Lease, owned by cli_do_check(); NULL: no holder, or not read */
	char *leader;
	/* true: drover's rights cannot be checked, a finding reports this, and check_right() does
	 * nothing */
	bool mute;
};

struct check_right {
	/* members of ResourceAttributes in a SubjectAccessReview; NULL: not set. sub:
	 * subresource. */
	const char *group, *resource, *sub, *verb, *ns, *name;
};
/* Adds a finding if drover's ServiceAccount lacks the right *r. mend: text that tells how to fix
 * it. */
void check_right(struct check *k, const struct check_right *r, const char *mend);

/* Checks the caller's own rights to drover's objects, and whether drover's ServiceAccount has the
 * rights of deploy/rbac.yaml. */
void check_rights(struct check *k);
/* Checks that each Service which drover leads to its leader (controller/core/leader_service.h) has
 * no selector and leads to the holder of the Lease alone; says nothing if there is none. */
void check_service(struct check *k);
/* Checks drover's keys, and all Providers, VirtualClusters, NodePools, Machines and BurstPolicies:
 * whether an operator must act, and whether the objects to which they refer exist. Reads only the
 * metadata of Secrets. */
void check_objects(struct check *k);

#endif
