#include <assert.h>
#include <stdint.h>
#include "base/mem.h"
#include "netris/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Decodes the member `data` of a Netris controller's answer. The first byte of the input selects
 * the kind of objects, the rest is the text of `data`. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	OWN(arena) a = NULL;
	OWN_JSON j = NULL;
	struct netris_objects o = {0};
	struct err e;
	enum netris_kind kind;

	if (size < 2)
		return 0;
	kind = (enum netris_kind)(data[0] % NETRIS_KINDS);
	j = json_parse((const char *)data + 1, size - 1, &e);
	if (!j)
		return 0;
	a = arena_new();
	(void)netris_truth(j);
	if (netris_decode(kind, j, a, &o, &e) < 0)
		return 0;
	if (kind == NETRIS_CLUSTER)
		for (size_t i = 0; i < o.n; i++) {
			assert(o.cluster[i].id > 0 && *o.cluster[i].name);
			for (size_t k = 0; k < o.cluster[i].servers.n; k++)
				assert(o.cluster[i].servers.v[k].id > 0);
		}
	return 0;
}
