#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "kube/apiserver/messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Decodes the input as a Kubernetes object in protobuf. The first byte selects the envelope of a
 * kind, or no envelope; the rest is the content. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const kinds[] = {
		"\x0a\x09\x0a\x02v1\x12\x03Pod",
		"\x0a\x0c\x0a\x02v1\x12\x06Secret",
		"\x0a\x15\x0a\x07"
		"apps/v1\x12\x0a"
		"Deployment",
	};
	char *text = mem_alloc(size + 64);
	size_t len = size, n = size ? data[0] : 0;
	struct fault f;
	json_t *j;

	if (size && n < sizeof(kinds) / sizeof(*kinds) && size < 128) {
		memcpy(text, "k8s", 4);
		len = 4 + strlen(kinds[n]);
		memcpy(text + 4, kinds[n], strlen(kinds[n]));
		text[len++] = 0x12; /* Tag of the envelope's field raw. */
		text[len++] = (char)(size - 1);
		memcpy(text + len, data + 1, size - 1);
		len += size - 1;
	} else {
		memcpy(text, data, size);
	}
	j = protobuf_decode(text, len, &f);
	if (j && !json_is_object(j))
		abort();
	json_decref(j);
	free(text);
	return 0;
}
