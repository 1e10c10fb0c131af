#ifndef KUBE_APISERVER_AMOUNT_H
#define KUBE_APISERVER_AMOUNT_H

#include <stdbool.h>

/*
 * amount: checks of quantities ("1.5Gi"). Separate from the files that include server.h, because
 * base/data/quantity.h and server.h each define a struct resource.
 * Tests: tests/unit/kube/apiserver/test_strict.c
 */
bool amount_is_valid(const char *text);
/* True if the quantity text is larger than limit. Both texts must be valid quantities. */
bool amount_exceeds(const char *text, const char *limit);

#endif
