#ifndef PROVIDERS_EXEC_ELASTIC_H
#define PROVIDERS_EXEC_ELASTIC_H

#include "providers/elastic.h"

/*
 * exec_elastic: launches cloud instances through a program of the operator, with the requests
 * offers, launch, list-owned and terminate (docs/provider-protocol.md).
 *
 * A list that is too long for one line comes in several replies (pages). The scope of an error
 * follows from its kind: ERR_CAPACITY concerns the zone, ERR_QUOTA and ERR_DENIED concern the
 * account.
 * Tests: tests/contract/test_elastic.c
 */
extern const struct provider_elastic_ops exec_elastic_ops;

/* Drops all pending cloud calls of p without done(). Call before helper_close(). */
void exec_elastic_drop(struct provider *p);

#endif
