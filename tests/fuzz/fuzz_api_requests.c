/*
 * fuzz_api_requests: sends requests to an API server, from the request target to the store.
 *
 * The input is requests with an empty line between them, each
 *
 *   METHOD TARGET CONTENT-TYPE ACCEPT
 *   body
 *
 * Asserts that each request gets exactly one answer, never 500; that an answer of type JSON is
 * JSON; and that every object stored afterwards can be read under its name.
 */
#include <stdint.h>
#include "base/mem.h"
#include "tests/fuzz/apiserver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_REQUESTS 6

static void ask(struct fuzz_api *f, char *text)
{
	char *head = strsep(&text, "\n");
	const char *method = strsep(&head, " "), *target = strsep(&head, " "),
		   *type = strsep(&head, " "), *body = text ? text : "";

	if (target)
		(void)fuzz_api_ask(f, method, target, type, head, body, strlen(body), NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_alloc(size + 1), *rest = text;
	struct fuzz_api f;

	memcpy(text, data, size);
	text[size] = '\0';
	fuzz_api_start(&f);
	for (int i = 0; rest && i < MAX_REQUESTS; i++) {
		char *one = rest, *gap = strstr(rest, "\n\n");

		rest = gap ? gap + 2 : NULL;
		if (gap)
			*gap = '\0';
		ask(&f, one);
	}
	fuzz_api_check(&f);
	fuzz_api_stop(&f);
	free(text);
	return 0;
}
