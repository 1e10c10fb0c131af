#ifndef KUBE_APISERVER_AMOUNT_H
#define KUBE_APISERVER_AMOUNT_H

#include <stdbool.h>

/*
 * amount: checks of quantities ("1.5Gi"). A module of its own, because base/data/quantity.h defines
 * a struct resource that conflicts with the one in server.h.
 * Tests: tests/unit/kube/apiserver/test_strict.c
 */
bool amount_is_valid(const char *text);
/* True if the quantity text is larger than limit. Both must be valid. */
bool amount_exceeds(const char *text, const char *limit);

#endif
