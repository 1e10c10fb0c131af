/*
 * fuzz_api_patches: applies patches of every kind.
 *
 * The input is a byte for the kind, an object, a line feed, and a patch. Asserts that the result
 * can be printed and parsed again (which bounds its depth), that applying a merge patch a second
 * time changes nothing, and that a refusal has an error text.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "kube/apiserver/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_readable(const json_t *j)
{
	char *text = json_text(j);
	struct err e;
	OWN_JSON again = json_parse(text, strlen(text), &e);

	assert(again && json_equal(again, j));
	free(text);
}

static void apply(char kind, const json_t *doc, const json_t *patch)
{
	struct fault f = {.text = ""};
	OWN_JSON out = NULL;

	if (kind == 'j') {
		out = json_deep_copy(doc);
		if (jsonpatch_apply(patch, &out, &f) < 0) {
			assert(f.text[0]);
			return;
		}
	} else if (kind == 's' && json_is_object(patch)) {
		out = strategic_apply(doc, patch, &f);
		assert(out || f.text[0]);
	} else {
		out = json_merge_apply(doc, patch);

		OWN_JSON twice = json_merge_apply(out, patch);

		assert(json_equal(out, twice));
	}
	if (out)
		check_readable(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *line = size ? memchr(text, '\n', size) : NULL;
	struct err e;

	if (!line || line == text)
		return 0;

	OWN_JSON doc = json_parse(text + 1, (size_t)(line - text) - 1, &e);
	OWN_JSON patch = json_parse(line + 1, size - (size_t)(line - text) - 1, &e);

	if (json_is_object(doc) && patch)
		apply(text[0], doc, patch);
	return 0;
}
