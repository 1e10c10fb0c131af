#ifndef BASE_DATA_SELECTOR_H
#define BASE_DATA_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/data/labels.h"

/*
 * selector: label selectors and node requirements, one form for both.
 *
 * Semantics are those of k8s.io/apimachinery labels.Requirement and the node affinity of
 * kube-scheduler: NotIn and DoesNotExist match when the key is absent; Gt, Lt, Gte and Lte compare
 * decimal integers and never match otherwise. Gte and Lte are Karpenter's (karpenter.sh/v1
 * requirements): no pod has them. What contains a text is asked by CEL selectors of devices alone
 * (controller/tenant/device_cel.h): no name is read as one of these operators. A selector without
 * requirements matches everything.
 */
enum selector_op {
	SELECTOR_IN,
	SELECTOR_NOT_IN,
	SELECTOR_EXISTS,
	SELECTOR_DOES_NOT_EXIST,
	SELECTOR_GT,
	SELECTOR_LT,
	SELECTOR_GTE,
	SELECTOR_LTE,
	/* one of the values is in it */
	SELECTOR_CONTAINS,
	/* the same of the value in lower case (ASCII) */
	SELECTOR_CONTAINS_LOWER
};

struct requirement {
	const char *key;
	enum selector_op op;
	const char **values;
	size_t nvalues;
};
struct selector {
	struct requirement *v;
	size_t n;
};

bool requirement_matches(const struct requirement *r, const struct labels *l);
bool selector_matches(const struct selector *s, const struct labels *l);

/* "In", "NotIn", ...; false for anything else. */
bool selector_op_parse(const char *s, enum selector_op *op);
const char *selector_op_name(enum selector_op op);

/* Text form of query strings: a=b,c!=d,e in (f,g),!h,i>3.  Strings go into the arena. */
struct arena;
int selector_parse(const char *text, struct arena *a, struct selector *out, struct err *e)
	__attribute__((warn_unused_result));

#endif
