#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/data/selector.h"

/* Parses the input as a selector. Asserts that parsed requirements are valid, and that matching
 * them ends. */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

static void check(const struct requirement *r)
{
	struct label own = {r->key, r->nvalues ? r->values[0] : ""};
	struct labels with = {&own, 1}, without = {NULL, 0};
	bool matches = requirement_matches(r, &with), absent = requirement_matches(r, &without);

	must(r->key[0] != '\0' && selector_op_name(r->op) != NULL);
	switch (r->op) {
	case SELECTOR_IN:
		must(r->nvalues >= 1 && matches && !absent);
		break;
	case SELECTOR_NOT_IN:
		must(r->nvalues >= 1 && !matches && absent);
		break;
	case SELECTOR_EXISTS:
		must(r->nvalues == 0 && matches && !absent);
		break;
	case SELECTOR_DOES_NOT_EXIST:
		must(r->nvalues == 0 && !matches && absent);
		break;
	case SELECTOR_GT:
	case SELECTOR_LT:
		/* No number is greater or less than itself. */
		must(r->nvalues == 1 && !matches && !absent);
		break;
	case SELECTOR_GTE:
	case SELECTOR_LTE:
	case SELECTOR_CONTAINS:
	case SELECTOR_CONTAINS_LOWER:
		must(false); /* No text of a selector has this operator. */
		break;
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	OWN(arena) a = arena_new();
	char *text = arena_strndup(a, size ? (const char *)data : "", size);
	struct selector s;
	struct err e;

	if (selector_parse(text, a, &s, &e) < 0) {
		must(e.kind == ERR_INVALID && e.text[0]);
		return 0;
	}
	for (size_t i = 0; i < s.n; i++)
		check(&s.v[i]);
	return 0;
}
