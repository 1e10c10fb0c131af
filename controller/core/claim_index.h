#ifndef CONTROLLER_CORE_CLAIM_INDEX_H
#define CONTROLLER_CORE_CLAIM_INDEX_H

#include "controller/core/context.h"

/*
 * claim_index: the NodeClaims of one tenant, or of one Machine: for what would otherwise be a look
 * at all of them, by each of all tenants and machines.
 *
 * Kept in step with the cache of NodeClaims by whoever reads that (controller/controller.c): a
 * claim is put before anybody else hears of its change. On the loop thread.
 * Tests: tests/unit/controller/core/test_claim_index.c
 */
enum claim_key {
	/* spec.virtualClusterRef.name */
	CLAIM_BY_TENANT,
	/* spec.machineRef.name and status.machineRef.name */
	CLAIM_BY_MACHINE,
	CLAIM_KEYS,
};

struct claim_index;
struct claim_index *claim_index_new(void);
void claim_index_free(struct claim_index *x);

/* It is this by now; n NULL: it has gone. */
void claim_index_put(struct claim_index *x, const char *name, const struct node_claim *n);

/* Those in the cache of which this is true, until fn says false. */
void claim_index_each(const struct context *c, enum claim_key key, const char *value,
		      bool (*fn)(const struct node_claim *n, void *arg), void *arg);
size_t claim_index_count(const struct context *c, enum claim_key key, const char *value);

#endif
