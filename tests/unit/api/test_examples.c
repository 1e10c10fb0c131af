#include "tests/unit/testing.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/data/yaml.h"
#include "api/crd.h"
#include "api/kinds.h"
#include "tests/unit/kube/apiserver/api_rig.h"

/* Tests that every object in examples/ is valid as it is. */
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

static void find_all(glob_t *g)
{
	assert_int_equal(glob("examples/*.yaml", 0, NULL, g), 0);
	assert_int_equal(glob("examples/ec2/*.yaml", GLOB_APPEND, NULL, g), 0);
	assert_int_equal(glob("examples/burst/*.yaml", GLOB_APPEND, NULL, g), 0);
	assert_int_equal(glob("examples/exec-provider/*/*.yaml", GLOB_APPEND, NULL, g), 0);
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
	find_all(&g);
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
	assert_true(kinds >= OBJECT_KINDS);
	globfree(&g);
}

/* --- with an API server that has drover's definitions ----------------------------------------- */

static void post(struct api *r, const char *path, const json_t *o)
{
	char *text = json_text(o);

	api_raw(r, "POST", path, "application/json", text);
	if (r->status != 201)
		fail_msg("%s: %d %s", text, r->status, r->text);
	free(text);
}

/* Asserts that every member that was sent is in the stored object, so that none was unknown and
 * pruned. */
static void check_kept(const char *where, const json_t *sent, const json_t *got)
{
	const char *key;
	json_t *v;
	size_t i;

	if (!got)
		fail_msg("%s was pruned", where);
	json_object_foreach ((json_t *)sent, key, v)
		check_kept(key, v, json_object_get(got, key));
	json_array_foreach (sent, i, v)
		check_kept(where, v, json_array_get(got, i));
}

static void every_example_can_be_applied_to_a_server(void **state)
{
	const struct apiserver_spec spec = {.schemas = true};
	struct buf crds;
	struct api r;
	struct err e;
	glob_t g;
	OWN_JSON definitions = NULL;
	json_t *o;
	size_t k;

	(void)state;
	api_start(&r, &spec, 1000);
	buf_init(&crds, 1 << 20);
	crds_write(&crds);
	definitions = yaml_parse_all(crds.data, crds.len, &e);
	buf_done(&crds);
	json_array_foreach (definitions, k, o)
		post(&r, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", o);
	find_all(&g);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		size_t len;
		char *text = read_all(g.gl_pathv[i], &len), path[100];
		OWN_JSON docs = yaml_parse_all(text, len, &e);

		free(text);
		json_array_foreach (docs, k, o) {
			const struct object_kind *kind = object_kind_find(json_str_at(o, "kind"));

			str_format(path, sizeof(path), "/apis/%s/%s", OBJECT_API_VERSION,
				   kind->plural);
			post(&r, path, o);
			check_kept(g.gl_pathv[i], json_at(o, "spec"), json_at(r.j, "spec"));
		}
	}
	globfree(&g);
	api_stop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_example_is_accepted),
		cmocka_unit_test(every_example_can_be_applied_to_a_server),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
