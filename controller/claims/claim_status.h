#ifndef CONTROLLER_CLAIMS_CLAIM_STATUS_H
#define CONTROLLER_CLAIMS_CLAIM_STATUS_H

#include <jansson.h>
#include "controller/core/context.h"

/*
 * claim_status: computes the status of a NodeClaim from the machine that is bound to it.
 * Tests: tests/unit/controller/claims/test_claims.c
 */
struct approval_asks;
struct drift;
struct eta;
struct tenants;
struct underused;

struct claim_status_spec {
	struct context *c;
	const struct tenants *tenants;
	const struct eta *eta;
	/* Requests to the tenants' webhooks; NULL: none are sent */
	struct approval_asks *approval_asks;
	/* Search for underused Nodes; NULL: claims get no condition Consolidatable */
	const struct underused *underused;
	/* Search for drifted claims; NULL: claims get no condition Drifted */
	struct drift *drift;
	/* Returns the number of VolumeAttachments that name the Node of this machine; -1: not
	 * known. */
	int (*volumes_left)(const char *machine, void *arg);
	void *arg;
};

#define CLAIM_FAILING_SIZE 64

/* Returns the new status of claim n; the caller owns the reference. NULL: the status is up to date.
 * failing: set to the failure reason if the new status is the first to report that the claim
 * failed, else to "". */
json_t *claim_status_new(const struct claim_status_spec *in, const struct node_claim *n,
			 char failing[static CLAIM_FAILING_SIZE]);

#endif
