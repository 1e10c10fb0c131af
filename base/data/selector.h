#ifndef BASE_DATA_SELECTOR_H
#define BASE_DATA_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/data/labels.h"

/*
 * selector: label selectors and node requirements in one form.
 *
 * The semantics are those of labels.Requirement in k8s.io/apimachinery and of node affinity in
 * kube-scheduler: NotIn and DoesNotExist match if the key is absent; Gt, Lt, Gte and Lte compare
 * decimal integers and never match other values. Gte and Lte exist only in Karpenter's
 * karpenter.sh/v1 requirements, not in pods. The Contains operators are produced only by CEL
 * selectors of devices (controller/tenant/device_cel.h); selector_op_parse() does not know them. A
 * selector without requirements matches everything.
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
	/* The value contains one of the given texts. */
	SELECTOR_CONTAINS,
	/* Like SELECTOR_CONTAINS, but the value is first converted to lower case (ASCII). */
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

/* Reads an operator's name ("In", "NotIn" and so on); false for any other text. */
bool selector_op_parse(const char *s, enum selector_op *op);
const char *selector_op_name(enum selector_op op);

/* Parses the text form used in query strings: a=b,c!=d,e in (f,g),!h,i>3. Strings are allocated in
 * the arena. */
struct arena;
int selector_parse(const char *text, struct arena *a, struct selector *out, struct err *e)
	__attribute__((warn_unused_result));

#endif
