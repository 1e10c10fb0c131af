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
	/* name of the caller, as the API server knows it; "": unknown */
	char user[254];
	/* rights that drover lacks: [{group, resource, ns, name, verbs}]; check_rights_report()
	 * empties the list */
	json_t *missing;
};

struct check_right {
	/* members of ResourceAttributes in a SubjectAccessReview; NULL: not set. sub:
	 * subresource. */
	const char *group, *resource, *sub, *verb, *ns, *name;
};
/* Asks whether drover's ServiceAccount has the right *r. If it has not, adds *r to k->missing. */
void check_right(struct check *k, const struct check_right *r);
/* Adds a finding for each entry of k->missing, with the missing rule as YAML, and empties the list.
 * mend: how to get the right otherwise. */
void check_rights_report(struct check *k, const char *mend);

/* Checks the caller's own rights to drover's objects, and sets k->user. Returns false if the API
 * server does not accept the caller's credentials, so that no other check can run. */
bool check_caller(struct check *k);
/* Checks whether drover's ServiceAccount has the rights of deploy/rbac.yaml. */
void check_rights(struct check *k);
/* Checks that the admission policies of deploy/rbac.yaml are installed and in force. */
void check_policies(struct check *k);
/* Checks that each Service which drover leads to its leader (controller/core/leader_service.h) has
 * no selector and leads to the holder of the Lease alone; says nothing if there is none. */
void check_service(struct check *k);
/* Checks the Deployment of the controller: whether its replicas are ready, and which image they
 * run. */
void check_deployment(struct check *k);
/* Connects from here to the BMCs, agent endpoints, managers and API servers that Providers,
 * Machines and VirtualClusters name. Sends no credentials. */
void check_reach(struct check *k);
/* Checks drover's keys, and all Providers, VirtualClusters, NodePools, Machines and BurstPolicies:
 * whether an operator must act, and whether the objects to which they refer exist. Reads only the
 * metadata of Secrets. */
void check_objects(struct check *k);

#endif
