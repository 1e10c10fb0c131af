/*
 * fuzz_api_schemas: creates definitions with hostile schemas, and objects of their kinds.
 *
 * The input is a schema, a line feed, and the spec of an object. Asserts that an accepted
 * definition works: its object is created or refused, it can be printed as a table row, and an
 * update with the unchanged object changes nothing.
 */
#include <stdint.h>
#include "base/mem.h"
#include "tests/fuzz/apiserver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define THINGS "/apis/example.dev/v1/things"

static int post(struct fuzz_api *f, const char *target, const json_t *obj)
{
	char *text = json_text(obj);
	int status =
		fuzz_api_ask(f, "POST", target, "application/json", NULL, text, strlen(text), NULL);

	free(text);
	return status;
}

static json_t *definition(json_t *schema)
{
	return json_pack(
		"{s:{s:s}, s:{s:s, s:s, s:{s:s, s:s}, s:[{s:s, s:b, s:b, s:{s:O}, s:{s:{}}, "
		"s:[{s:s, s:s, s:s}]}]}}",
		"metadata", "name", "things.example.dev", "spec", "group", "example.dev", "scope",
		"Cluster", "names", "plural", "things", "kind", "Thing", "versions", "name", "v1",
		"served", 1, "storage", 1, "schema", "openAPIV3Schema", schema, "subresources",
		"status", "additionalPrinterColumns", "name", "X", "type", "string", "jsonPath",
		".spec.x");
}

static void use(struct fuzz_api *f, json_t *spec)
{
	OWN_JSON thing = json_pack("{s:{s:s}, s:O}", "metadata", "name", "a", "spec", spec);
	json_t *shown, *again;
	char *text;

	if (post(f, THINGS, thing) != 201)
		return;
	assert(fuzz_api_ask(f, "GET", THINGS "/a", NULL, NULL, "", 0, &shown) == 200);
	text = json_text(shown);
	assert(fuzz_api_ask(f, "PUT", THINGS "/a", "application/json", NULL, text, strlen(text),
			    &again) == 200);
	assert(json_equal(shown, again));
	assert(fuzz_api_ask(f, "GET", THINGS, NULL, "application/json;as=Table;v=v1;g=meta.k8s.io",
			    "", 0, NULL) == 200);
	assert(fuzz_api_ask(f, "GET", "/openapi/v3/apis/example.dev/v1", NULL, NULL, "", 0, NULL) ==
	       200);
	json_decref(shown);
	json_decref(again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *line = size ? memchr(text, '\n', size) : NULL;
	struct fuzz_api f;
	struct err e;

	if (!line)
		return 0;

	OWN_JSON schema = json_parse(text, (size_t)(line - text), &e);
	OWN_JSON spec = json_parse(line + 1, size - (size_t)(line - text) - 1, &e);
	OWN_JSON crd = schema ? definition(schema) : NULL;

	if (!crd || !spec)
		return 0;
	fuzz_api_start(&f);
	if (post(&f, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd) == 201)
		use(&f, spec);
	fuzz_api_check(&f);
	fuzz_api_stop(&f);
	return 0;
}
