#ifndef CONTROLLER_CLAIMS_CLAIM_STATUS_H
#define CONTROLLER_CLAIMS_CLAIM_STATUS_H

#include <jansson.h>
#include "controller/core/context.h"

/*
 * claim_status: the status of a NodeClaim, derived from the machine that holds it.
 * Tests: tests/unit/controller/claims/test_claims.c
 */
struct drift;
struct eta;
struct tenants;
struct underused;

struct claim_status_spec {
	struct context *c;
	const struct tenants *tenants;
	const struct eta *eta;
	/* NULL: no Node is */
	const struct underused *underused;
	/* NULL: no Node does */
	struct drift *drift;
	/* VolumeAttachments that name the Node of this machine; -1: nobody has looked. */
	int (*volumes_left)(const char *machine, void *arg);
	void *arg;
};

#define CLAIM_FAILING_SIZE 64

/* Members of status that bring it in line; gives, NULL: it is. failing: the reason when they say
 * for the first time that the claim failed, else "". */
json_t *claim_status_new(const struct claim_status_spec *in, const struct node_claim *n,
			 char failing[static CLAIM_FAILING_SIZE]);

#endif
