#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "api/kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Decodes the input as an object; its first byte selects the kind. Asserts that a decoded object
 * which is encoded decodes to the same value. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	OWN(arena) a = arena_new();
	const struct object_kind *k;
	struct err e;
	void *object;

	if (!size)
		return 0;
	k = &object_kinds[data[0] % OBJECT_KINDS];
	OWN_JSON j = json_parse((const char *)data + 1, size - 1, &e);
	if (!j || object_decode(k, j, a, &object, &e) < 0)
		return 0;
	(void)!object_check(k, object, NULL, &e);
	OWN_JSON once = fields_encode(k->fields, object);
	if (object_decode(k, once, a, &object, &e) == 0) {
		OWN_JSON twice = fields_encode(k->fields, object);

		assert(json_equal(once, twice));
	}
	return 0;
}
