#include <stdlib.h>
#include <string.h>
#include "base/data/quantity.h"

/*
 * Parses the input as a quantity. Asserts that a parsed value is within the range. Its canonical
 * text must parse to the same value, and be its own canonical text.
 */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const __int128 max = INT64_MAX * (__int128)1000000000;
	char *text = malloc(size + 1), out[QUANTITY_TEXT], again[QUANTITY_TEXT];
	struct quantity q, back;
	struct err e;

	must(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (quantity_parse(text, &q, &e) < 0) {
		must(e.kind == ERR_INVALID && e.text[0]);
		free(text);
		return 0;
	}
	free(text);
	must(q.nano >= -max && q.nano <= max);
	must(strlen(quantity_format(q, out)) < QUANTITY_TEXT);
	must(quantity_parse(out, &back, &e) == 0 && quantity_cmp(q, back) == 0);
	must(strcmp(quantity_format(back, again), out) == 0);

	must(quantity_floor(q) <= quantity_ceil(q) && quantity_ceil(q) - quantity_floor(q) <= 1);
	must(quantity_milli_floor(q) <= quantity_milli_ceil(q));
	must(quantity_sub(q, q).nano == 0);
	must(quantity_cmp(quantity_sub(quantity_of(0), q), (struct quantity){-q.nano}) == 0);
	return 0;
}
