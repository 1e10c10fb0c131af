#ifndef PROVIDERS_EXEC_ELASTIC_H
#define PROVIDERS_EXEC_ELASTIC_H

#include "providers/elastic.h"

/*
 * exec_elastic: a cloud by a program of the operator's own: offers, launch, list-owned, terminate
 * (docs/provider-protocol.md).
 *
 * A list that is longer than a line comes in pages. Errors get the scope of their kind: capacity is
 * of the zone, quota and denied of the account.
 * Tests: tests/contract/test_elastic.c
 */
extern const struct provider_elastic_ops exec_elastic_ops;

/* before helper_close(): no done() any more */
void exec_elastic_drop(struct provider *p);

#endif
