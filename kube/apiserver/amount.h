#ifndef KUBE_APISERVER_AMOUNT_H
#define KUBE_APISERVER_AMOUNT_H

#include <stdbool.h>

/*
 * amount: quantities ("1.5Gi"), apart because base/data/quantity.h has a struct resource of its
 * own.
 * Tests: tests/unit/kube/apiserver/test_strict.c
 */
bool amount_is_valid(const char *text);
/* Both valid. */
bool amount_exceeds(const char *text, const char *limit);

#endif
