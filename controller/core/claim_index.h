#ifndef CONTROLLER_CORE_CLAIM_INDEX_H
#define CONTROLLER_CORE_CLAIM_INDEX_H

#include "controller/core/context.h"

/*
 * claim_index: finds the NodeClaims of one tenant, Machine or gang, and those that do not serve
 * yet, without a scan over all NodeClaims.
 *
 * The owner of the NodeClaim cache (controller/controller.c) updates the index before it notifies
 * anyone of a change. On the loop thread.
 * Tests: tests/unit/controller/core/test_claim_index.c
 */
enum claim_key {
	/* key: name of the tenant in spec.virtualClusterRef */
	CLAIM_BY_TENANT,
	/* key: name of the Machine in spec.machineRef or status.machineRef */
	CLAIM_BY_MACHINE,
	/* key: UID of the gang in spec.gang.uid */
	CLAIM_BY_GANG,
	/* key: UID of the gang in spec.gang.uid; only claims with spec.approval or
	 * status.approval */
	CLAIM_DECIDED_BY_GANG,
	CLAIM_KEYS,
};

struct claim_index;
struct claim_index *claim_index_new(void);
void claim_index_free(struct claim_index *x);

/* Adds NodeClaim `name` to the index, or updates its entry; n NULL: removes the entry. Returns true
 * if the index has changed. */
bool claim_index_put(struct claim_index *x, const char *name, const struct node_claim *n);

/* Calls fn for each cached NodeClaim that has `value` as its key of this kind, until fn returns
 * false. */
void claim_index_each(const struct context *c, enum claim_key key, const char *value,
		      bool (*fn)(const struct node_claim *n, void *arg), void *arg);
/* Calls fn for each cached NodeClaim that drover created for pods and that has not begun to serve
 * (its condition Initialized is not True), until fn returns false. */
void claim_index_starting(const struct context *c,
			  bool (*fn)(const struct node_claim *n, void *arg), void *arg);
size_t claim_index_count(const struct context *c, enum claim_key key, const char *value);

#endif
