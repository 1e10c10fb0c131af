/*
 * Reads the input as JSON with projection (only wanted members), and compares result and refusals
 * with jansson and a reference projection. The chunk size must not matter. The first byte selects
 * table and mode, the second the chunk size.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "tests/unit/base/data/scan_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct scan_want part[] = {SCAN_PLAIN("a"), SCAN_ALL("b", 100), SCAN_DROP("x"),
					SCAN_REST};
static const struct scan_want deep[] = {SCAN_SOME("a", part), SCAN_SOME_OF("b", part, 150),
					SCAN_PLAIN("c"), SCAN_END};
static const struct scan_want list[] = {SCAN_SOME("metadata", deep), SCAN_EACH("items", deep),
					SCAN_END};
static const struct scan_want *const tables[] = {scan_all, part, deep, list};

/* Returns the items of a list, then the remaining members, as the reference. NULL: jansson refuses
 * the text, or the items are not an array. */
static json_t *reference_list(const char *text, size_t len)
{
	static const struct scan_want head[] = {SCAN_SOME("metadata", deep), SCAN_END};
	struct err e;
	OWN_JSON j = reference_parse(text, len, &e);
	json_t *items = json_object_get(j, "items"), *out, *item;
	size_t i;

	if (!json_is_object(j) || (items && !json_is_array(items) && !json_is_null(items)))
		return NULL;
	out = json_array();
	json_array_foreach (items, i, item)
		json_array_append_new(out, reference_trim(item, deep));
	json_array_append_new(out, reference_trim(j, head));
	return out;
}

/* Returns the value of each line as the reference. An incomplete line is ignored. */
static json_t *reference_lines(const struct scan_want *want, const char *text, size_t len)
{
	json_t *out = json_array();
	const char *nl;

	for (; len && (nl = memchr(text, '\n', len));
	     len -= (size_t)(nl + 1 - text), text = nl + 1) {
		size_t n = (size_t)(nl - text), blank = 0;
		struct err e;

		while (blank < n && strchr(" \t\r", text[blank]) && text[blank])
			blank++;
		if (blank == n)
			continue;
		OWN_JSON j = reference_parse(text, n, &e);

		if (!j) {
			json_decref(out);
			return NULL;
		}
		json_array_append_new(out, reference_trim(j, want));
	}
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e;

	if (size < 2)
		return 0;
	const struct scan_want *want = tables[data[0] & 3];
	bool lines = data[0] & 4 && want != list;
	const char *text = (const char *)data + 2;
	size_t len = size - 2;
	OWN_JSON whole = reference_scan(want, lines, len, text, len, len ? len : 1, &e);
	OWN_JSON parts = reference_scan(want, lines, len, text, len, 1 + data[1] % 32u, &e);
	OWN_JSON theirs = NULL;

	assert(!whole == !parts);
	assert(!whole || reference_same(whole, parts));
	if (want == list) {
		theirs = reference_list(text, len);
		/* Only one direction holds: the scan counts the depth of an item from the item,
		 * jansson from the list. */
		assert(!theirs || whole);
		if (!theirs)
			return 0;
	} else if (lines) {
		theirs = reference_lines(want, text, len);
		/* Only one direction holds: the scan refuses an incomplete line as soon as it can
		 * no longer become a value. */
		assert(!whole || theirs);
		if (!whole)
			return 0;
	} else {
		OWN_JSON j = reference_parse(text, len, &e);

		assert(!j == !whole);
		if (!j)
			return 0;
		theirs = json_array();
		json_array_append_new(theirs, reference_trim(j, want));
	}
	assert(reference_same(whole, theirs));
	return 0;
}
