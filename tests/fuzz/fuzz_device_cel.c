#include <stdlib.h>
#include "base/arena.h"
#include "controller/tenant/device_cel.h"

/* Parses the input as a CEL expression of a device request. Asserts that it is either interpreted
 * completely or not at all, and that the derived requirement on a Node is well-formed. */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	OWN(arena) a = arena_new();
	const char *text = arena_strndup(a, size ? (const char *)data : "", size);

	for (int kind = DEVICE_GPU; kind <= DEVICE_CHANNEL; kind++) {
		struct device_wish w = {.never = false};
		const char *why = device_cel(text, (enum device_kind)kind, &w, a);

		must(!why || (why[0] && !w.node.n && !w.pinned && !w.never));
		/* An expression that is interpreted restricts the devices. */
		must(why || w.pinned || w.never || w.node.n);
		for (size_t i = 0; i < w.node.n; i++)
			must(w.node.v[i].key[0] && w.node.v[i].nvalues);
	}
	return 0;
}
