#include "tests/unit/generated.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/str.h"
#include "base/data/yaml.h"
#include "api/crd.h"

static void the_files_in_deploy_are_what_the_tables_say(void **state)
{
	(void)state;
	for (const struct object_kind *k = object_kinds; k < object_kinds + OBJECT_KINDS; k++) {
		char path[128];
		struct buf b;

		buf_init(&b, 4 * 1024 * 1024);
		crd_write(k, &b);
		assert_true(str_format(path, sizeof(path), "deploy/crds/%s.yaml", k->plural));
		assert_generated(path, &b);
		/* the copy in the Helm chart */
		assert_true(str_format(path, sizeof(path), "deploy/helm/drover/files/crds/%s.yaml",
				       k->plural));
		assert_generated(path, &b);
		buf_done(&b);
	}
}

static void the_reference_page_is_what_the_tables_say(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 4 * 1024 * 1024);
	crds_reference(&b);
	assert_generated("docs/reference.md", &b);
	buf_done(&b);
}

/* Asserts that the schema is structural and that every part has a bound. The API server needs the
 * bounds to estimate the cost of CEL rules. */
static void assert_structural(const json_t *s, const char *path)
{
	const char *type = json_string_value(json_object_get(s, "type")), *key;
	bool open = json_true_at(s, "x-kubernetes-preserve-unknown-fields");
	bool either = json_true_at(s, "x-kubernetes-int-or-string");
	json_t *child;

	if (!type && !open && !either)
		fail_msg("%s has no type", path);
	if (str_eq(type, "string") && !json_object_get(s, "maxLength") &&
	    !json_object_get(s, "enum") && !json_object_get(s, "format"))
		fail_msg("%s has no maxLength", path);
	if (str_eq(type, "array")) {
		char below[512];

		assert_non_null(json_object_get(s, "maxItems"));
		str_format(below, sizeof(below), "%s[]", path);
		assert_structural(json_object_get(s, "items"), below);
		child = json_array_get(json_object_get(s, "x-kubernetes-list-map-keys"), 0);
		if (child && !json_at(s, "items", "properties", json_string_value(child)))
			fail_msg("%s: its key %s is no member", path, json_string_value(child));
	}
	if (json_object_get(s, "additionalProperties")) {
		assert_non_null(json_object_get(s, "maxProperties"));
		assert_structural(json_object_get(s, "additionalProperties"), path);
	}
	json_object_foreach (json_object_get(s, "properties"), key, child) {
		char below[512];

		str_format(below, sizeof(below), "%s.%s", path, key);
		assert_structural(child, below);
		if (!json_str_at(child, "description"))
			fail_msg("%s has no description", below);
	}
}

static void schemas_are_structural_bounded_and_described(void **state)
{
	(void)state;
	for (const struct object_kind *k = object_kinds; k < object_kinds + OBJECT_KINDS; k++) {
		struct buf b;
		struct err e;

		buf_init(&b, 4 * 1024 * 1024);
		crd_write(k, &b);
		OWN_JSON j = yaml_parse(b.data, b.len, &e);
		if (!j)
			fail_msg("%s: %s", k->kind, e.text);
		json_t *v = json_array_get(json_at(j, "spec", "versions"), 0);
		json_t *p = json_at(v, "schema", "openAPIV3Schema", "properties");
		assert_structural(json_at(p, "spec"), "spec");
		assert_true(k->has_status == (json_at(p, "status") != NULL));
		assert_true(k->has_status == (json_at(v, "subresources", "status") != NULL));
		if (k->has_status)
			assert_structural(json_at(p, "status"), "status");
		buf_done(&b);
	}
}

static void all_kinds_come_as_one_stream(void **state)
{
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 4 * 1024 * 1024);
	crds_write(&b);
	OWN_JSON all = yaml_parse_all(b.data, b.len, &e);
	assert_int_equal(json_array_size(all), OBJECT_KINDS);
	assert_string_equal(json_str_at(json_array_get(all, OBJECT_MACHINE), "metadata", "name"),
			    "machines.drover.dev");
	assert_string_equal(json_str_at(json_array_get(all, OBJECT_MACHINE), "spec", "scope"),
			    "Cluster");
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_files_in_deploy_are_what_the_tables_say),
		cmocka_unit_test(the_reference_page_is_what_the_tables_say),
		cmocka_unit_test(schemas_are_structural_bounded_and_described),
		cmocka_unit_test(all_kinds_come_as_one_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
