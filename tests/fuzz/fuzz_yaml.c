#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/data/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parses the input as YAML. Asserts that accepted YAML prints to YAML that parses to the same
 * value. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e;
	OWN_JSON j = yaml_parse((const char *)data, size, &e);

	if (j) {
		struct buf b;

		buf_init(&b, 16 * 1024 * 1024);
		yaml_print(j, &b);
		if (!b.over) {
			OWN_JSON back = yaml_parse(b.data, b.len, &e);

			/* libyaml refuses a key of more than 1,024 bytes unless '?' is written
			 * before it. */
			assert(back ? json_equal(j, back)
				    : strstr(e.text, "simple key") ||
					       strstr(e.text, "mapping values"));
		}
		buf_done(&b);
	}
	return 0;
}
