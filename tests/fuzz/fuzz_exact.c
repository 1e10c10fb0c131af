#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/exact.h"
#include "base/data/json.h"

/* Parses the input as JSON text that is kept exactly. Asserts that an accepted text can be
 * walked, that a change can be read back, and that every text which jansson reads as one value
 * is accepted. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

static void walk(struct exact v, struct arena *a, int depth)
{
	struct exact_iter it;
	int64_t n;

	(void)exact_str(v, a);
	(void)exact_i64(v, &n);
	if (depth < 64)
		exact_for_each(it, v) walk(it.value, a, depth + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy without further bytes, so that AddressSanitizer detects a read beyond its end. */
	char *text = malloc(size + 1);
	OWN(arena) a = arena_new();
	struct exact v, w;
	struct err e;
	OWN_JSON j = NULL;
	const char *with, *without;

	memcpy(text, data, size);
	j = json_parse(text, size, &e);
	if (exact_read(text, size, &v, &e) < 0) {
		must(!v.at &&
		     /* Only jansson accepts a NUL byte after a number. */
		     (!j || memchr(text, '\0', size)));
		free(text);
		return 0;
	}
	walk(v, a, 0);
	must(exact_same(v, v));
	with = exact_kind(v) == EXACT_OBJECT ? exact_with(v, "new", "[1.50]", a, &e) : NULL;
	if (with) {
		must(exact_read(with, strlen(with), &w, &e) == 0);
		must(exact_same(exact_member(w, "new"), (struct exact){"[1.50]", 6}));
		without = exact_without(w, "new", a, &e);
		must(without && exact_read(without, strlen(without), &w, &e) == 0);
		must(!exact_member(w, "new").at);
		if (!exact_member(v, "new").at)
			must(exact_same(v, w));
	}
	free(text);
	return 0;
}
