/* Tests how `drover explain` finds the fields of objects, and what it says about them. */
#include "tests/unit/testing.h"

#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "cli/explain_field.h"

static struct arena *a;

static int setup(void **state)
{
	(void)state;
	a = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

static struct explain_field find(const char *path)
{
	struct explain_field f;

	if (!explain_field_find(path, a, &f))
		fail_msg("%s: not found", path);
	if (f.unknown)
		fail_msg("%s: unknown: %s", path, f.unknown);
	return f;
}

static void a_path_may_be_written_in_all_forms_of_the_api(void **state)
{
	static const char *const paths[] = {
		"nodepool.spec.disruption.budgets",
		"nodepools.spec.disruption.budgets",
		"pool.spec.disruption.budgets",
		"NodePool.spec.disruption.budgets[]",
		"nodepools.drover.dev.spec.disruption.budgets[0]",
		"nodepools.v1alpha1.drover.dev.spec.disruption.budgets.",
		"nodepool.SPEC.disruption.Budgets",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct explain_field f = find(paths[i]);

		assert_string_equal(f.path, "nodepool.spec.disruption.budgets");
		assert_string_equal(f.row->name, "budgets");
	}
	assert_string_equal(find("pool.spec.disruption.budgets[2].nodes").path,
			    "nodepool.spec.disruption.budgets.nodes");
}

static void the_text_is_that_of_the_table(void **state)
{
	struct explain_field f = find("nodepool.spec.disruption.consolidationPolicy");
	OWN_JSON leaf = explain_field_json(&f);

	(void)state;
	assert_string_equal(json_str_at(leaf, "kind"), "NodePool");
	assert_string_equal(json_str_at(leaf, "apiVersion"), OBJECT_API_VERSION);
	assert_string_equal(json_str_at(leaf, "type"), "enum");
	assert_string_equal(json_str_at(leaf, "default"), "\"WhenEmpty\"");
	assert_string_equal(json_str_at(leaf, "allowed"), "WhenEmpty, WhenEmptyOrUnderutilized");
	assert_non_null(strstr(json_str_at(leaf, "meaning"), "only nodes without pods"));
	assert_null(json_at(leaf, "fields"));

	f = find("nodepool.spec.disruption.budgets");
	OWN_JSON list = explain_field_json(&f);
	assert_string_equal(json_str_at(list, "type"), "list");
	assert_string_equal(json_str_at(json_array_get(json_at(list, "fields"), 0), "name"),
			    "nodes");
	assert_string_equal(json_string_value(json_array_get(json_at(list, "rules"), 0)),
			    "schedule and duration must be set together");
}

static void an_object_lists_spec_and_status(void **state)
{
	struct explain_field f = find("Machine");
	OWN_JSON o = explain_field_json(&f);
	const json_t *below = json_at(o, "fields");

	(void)state;
	assert_int_equal(json_array_size(below), 2);
	assert_string_equal(json_str_at(json_array_get(below, 0), "name"), "spec");
	assert_string_equal(json_str_at(json_array_get(below, 1), "name"), "status");
	assert_string_equal(json_str_at(o, "meaning"), object_kinds[OBJECT_MACHINE].doc);
}

static void an_unknown_name_is_returned_with_the_fields_beside_it(void **state)
{
	struct explain_field f;

	(void)state;
	assert_true(explain_field_find("nodepool.spec.disruptoin.budgets", a, &f));
	assert_string_equal(f.unknown, "disruptoin");
	assert_string_equal(f.path, "nodepool.spec");
	assert_true(explain_field_find("nodepool..spec", a, &f));
	assert_string_equal(f.unknown, "");
	assert_true(explain_field_find("nodepool.spec.paused.x", a, &f));
	assert_string_equal(f.unknown, "x");
	assert_true(explain_field_find("nodepool.metadata", a, &f));
	assert_string_equal(f.unknown, "metadata");
	assert_false(explain_field_find("podnool.spec", a, &f));
	assert_false(explain_field_find("", a, &f));
	assert_false(explain_field_find(".spec", a, &f));
}

/* Asserts that each field of a table is found by its path and has a description. */
static void assert_table(const struct field *table, const char *path)
{
	for (const struct field *row = table; row->name; row++) {
		const char *to = arena_printf(a, "%s.%s", path, row->name);
		struct explain_field f;

		if (!explain_field_shown(row))
			continue;
		f = find(to);
		assert_string_equal(f.path, to);
		assert_ptr_equal(f.row, row);
		OWN_JSON o = explain_field_json(&f);
		assert_non_null(json_str_at(o, "type"));
		if (!json_str_at(o, "meaning") && strchr(strchr(to, '.') + 1, '.'))
			fail_msg("%s has no description", to);
		if (row->sub && !row->refused)
			assert_table(row->sub, to);
	}
}

static void every_field_of_every_kind_is_found(void **state)
{
	(void)state;
	for (int k = 0; k < OBJECT_KINDS; k++)
		assert_table(object_kinds[k].fields, object_kinds[k].singular);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_may_be_written_in_all_forms_of_the_api),
		cmocka_unit_test(the_text_is_that_of_the_table),
		cmocka_unit_test(an_object_lists_spec_and_status),
		cmocka_unit_test(an_unknown_name_is_returned_with_the_fields_beside_it),
		cmocka_unit_test(every_field_of_every_kind_is_found),
	};

	mem_init();
	return cmocka_run_group_tests(tests, setup, teardown);
}
