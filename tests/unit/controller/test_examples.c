#include "tests/unit/testing.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/yaml.h"
#include "controller/objects.h"

/* What stands in examples/ is accepted as it is. */
static char *read_all(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *data = malloc(1 << 20);

	assert_non_null(f);
	*len = fread(data, 1, (1 << 20) - 1, f);
	data[*len] = '\0';
	fclose(f);
	return data;
}

static void check_document(const char *path, const json_t *doc)
{
	OWN(arena) a = arena_new();
	const struct object_kind *k = object_kind_find(str_or(json_str_at(doc, "kind"), ""));
	struct err e = {0};
	void *o = NULL;

	if (!k)
		fail_msg("%s: kind %s", path, str_or(json_str_at(doc, "kind"), "(none)"));
	if (object_decode(k, doc, a, &o, &e) < 0 || object_check(k, o, NULL, &e) < 0)
		fail_msg("%s: %s", path, e.text);
}

static void every_example_is_accepted(void **state)
{
	glob_t g;
	size_t kinds = 0;

	(void)state;
	assert_int_equal(glob("examples/*.yaml", 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		size_t len, k;
		char *text = read_all(g.gl_pathv[i], &len);
		struct err e = {0};
		OWN_JSON docs = yaml_parse_all(text, len, &e);
		json_t *doc;

		if (!docs)
			fail_msg("%s: %s", g.gl_pathv[i], e.text);
		json_array_foreach (docs, k, doc) {
			check_document(g.gl_pathv[i], doc);
			kinds++;
		}
		free(text);
	}
	assert_true(kinds >= 4);
	globfree(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_example_is_accepted),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
