#include "kube/apiserver/amount.h"

#include "base/data/quantity.h"

bool amount_is_valid(const char *text)
{
	struct quantity q;
	struct err e;

	return quantity_parse(text, &q, &e) == 0;
}

bool amount_exceeds(const char *text, const char *limit)
{
	struct quantity q, max;
	struct err e;

	return quantity_parse(text, &q, &e) == 0 && quantity_parse(limit, &max, &e) == 0 &&
	       quantity_cmp(q, max) > 0;
}
