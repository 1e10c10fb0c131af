#include "tests/unit/testing.h"

#include "base/data/json_path.h"
#include "base/str.h"

static void a_path_finds_members_elements_and_names_with_dots(void **state)
{
	static const struct {
		/* found NULL: the path finds nothing. */
		const char *path, *found;
	} paths[] = {
		{".a.b", "1"},
		{"a.b", "1"},
		{".l[0].v", "x"},
		{".l[1]['v']", "y"},
		{".l[*].v", "x"},
		{".l[?(@.k==\"two\")].v", "y"},
		{".l[?(@.k == 'two')].v", "y"},
		{".l[?(@.k==\"three\")].v", NULL},
		{".m.x\\.y/z", "2"},
		{".m['x.y/z']", "2"},
		{".l[9].v", NULL},
		{".l[-1].v", NULL},
		{".l[", NULL},
		{".l[?(@.k==\"two", NULL},
		{".l[?(@.k)].v", NULL},
		{"..a", NULL},
		{".m['x", NULL},
	};
	struct err e;
	static const char text[] = "{\"a\":{\"b\":\"1\"},\"l\":[{\"k\":\"one\",\"v\":\"x\"},"
				   "{\"k\":\"two\",\"v\":\"y\"}],\"m\":{\"x.y/z\":\"2\"}}";
	OWN_JSON j = json_parse(text, sizeof(text) - 1, &e);

	(void)state;
	assert_non_null(j);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		const json_t *v = json_path(j, paths[i].path);

		if (!paths[i].found != !v || (v && !str_eq(json_string_value(v), paths[i].found)))
			fail_msg("%s found %s", paths[i].path,
				 str_or(json_string_value(v), "nothing"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_finds_members_elements_and_names_with_dots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
