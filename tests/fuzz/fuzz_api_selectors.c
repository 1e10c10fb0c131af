/*
 * fuzz_api_selectors: lists objects with any query parameters.
 *
 * The input is labelSelector, fieldSelector, continue, limit and resourceVersion, on a line each.
 * Asserts that the result is a subset of the list without parameters. A refusal must be 400 or 422,
 * or 410 or 504 for a resourceVersion that is too old or not reached yet.
 */
#include <stdint.h>
#include "base/http/http.h"
#include "base/mem.h"
#include "tests/fuzz/apiserver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PODS "/api/v1/pods"

static void put_pods(struct fuzz_api *f)
{
	static const char *const pods[] = {
		"{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{\"name\":\"c\","
		"\"image\":\"i\"}]}}",
		"{\"metadata\":{\"name\":\"b\",\"labels\":{\"x\":\"1\",\"example.dev/y\":\"\"}},"
		"\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
		"{\"metadata\":{\"name\":\"c\",\"labels\":{\"x\":\"2\",\"tier\":\"front\"}},"
		"\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
	};

	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods); i++)
		assert(fuzz_api_ask(f, "POST", "/api/v1/namespaces/default/pods",
				    "application/json", NULL, pods[i], strlen(pods[i]),
				    NULL) == 201);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"labelSelector", "fieldSelector", "continue", "limit",
					    "resourceVersion"};
	static struct fuzz_api f;
	char *text = mem_strndup((const char *)data, size), *rest = text;
	const char *one;
	struct buf target;
	json_t *list;
	int status;

	if (!f.a) {
		fuzz_api_start(&f);
		put_pods(&f);
	}
	buf_init(&target, SIZE_MAX);
	buf_puts(&target, PODS);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && (one = strsep(&rest, "\n")); i++) {
		buf_printf(&target, "%c%s=", i ? '&' : '?', names[i]);
		http_escape(&target, one);
	}
	status = fuzz_api_ask(&f, "GET", target.data, NULL, NULL, "", 0, &list);
	assert(status == 200 || (status >= 400 && status < 500) || status == 504);
	if (status == 200)
		assert(json_array_size(json_at(list, "items")) <= 3 &&
		       json_is_array(json_at(list, "items")));
	else
		assert(json_at(list, "message") || status == 414 || json_at(list, "error"));
	json_decref(list);
	buf_done(&target);
	free(text);
	return 0;
}
