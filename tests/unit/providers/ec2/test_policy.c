#include "tests/unit/testing.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/ec2/query.h"
#include "providers/elastic.h"

/* Checks that examples/ec2/policy.json has exactly the permissions that the code in providers/ec2
 * needs, and that docs/providers/ec2.md mentions each. */
#define POLICY "examples/ec2/policy.json"
#define CALL "query_begin("

static char *read_all(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *data = calloc(1, 1 << 18);

	assert_non_null(f);
	assert_true(fread(data, 1, (1 << 18) - 1, f) > 0);
	fclose(f);
	return data;
}

static void add(struct map *to, const char *service, const char *action, size_t len)
{
	char name[100];

	str_format(name, sizeof(name), "%s:%.*s", service, (int)len, action);
	map_put(to, name, to);
}

/* Adds to `to` each action that the source in text requests by query_begin(BUFFER, "ACTION",
 * EC2_VERSION). */
static void add_calls(struct map *to, const char *text)
{
	for (const char *at = strstr(text, CALL); at; at = strstr(at + 1, CALL)) {
		const char *end = strchr(at, ';'), *from = strchr(at, '"'), *till;

		if (!from || from > end)
			continue;
		till = strchr(from + 1, '"');
		if (strstr(till, "EC2_VERSION") && strstr(till, "EC2_VERSION") < end)
			add(to, "ec2", from + 1, (size_t)(till - from - 1));
	}
	/* RunInstances needs these further permissions if it has these parameters. */
	if (strstr(text, "TagSpecification."))
		add(to, "ec2", "CreateTags", 10);
	if (strstr(text, "IamInstanceProfile."))
		add(to, "iam", "PassRole", 8);
}

static struct map *needed(void)
{
	struct map *to = map_new(NULL);
	glob_t g;

	assert_int_equal(glob("providers/ec2/*.c", 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		char *text = read_all(g.gl_pathv[i]);

		add_calls(to, text);
		free(text);
	}
	globfree(&g);
	return to;
}

static json_t *policy(void)
{
	char *text = read_all(POLICY);
	json_t *p = json_loads(text, 0, NULL), *s;

	free(text);
	assert_non_null(p);
	s = json_incref(json_object_get(p, "Statement"));
	json_decref(p);
	return s;
}

static void add_actions(struct map *to, const json_t *statement)
{
	const json_t *a = json_object_get(statement, "Action");
	json_t *v;
	size_t i;

	if (json_is_string(a))
		map_put(to, json_string_value(a), to);
	json_array_foreach (a, i, v)
		map_put(to, json_string_value(v), to);
}

static void check_within(const struct map *some, const struct map *all, const char *why)
{
	struct map_iter it;

	map_for_each (it, some)
		if (!map_has(all, it.key))
			fail_msg("%s: %s", it.key, why);
}

static void it_has_each_right_that_is_needed_and_no_other(void **state)
{
	struct map *need = needed(), *have = map_new(NULL);
	char *doc = read_all("docs/providers/ec2.md"), row[120];
	json_t *statements = policy(), *s;
	struct map_iter it;
	size_t i;

	(void)state;
	json_array_foreach (statements, i, s)
		add_actions(have, s);
	assert_true(map_size(need) >= 6);
	check_within(need, have, "not in " POLICY);
	check_within(have, need, "in " POLICY ", and nothing needs it");
	map_for_each (it, have) {
		str_format(row, sizeof(row), "\n| `%s` |", it.key);
		if (!strstr(doc, row))
			fail_msg("docs/providers/ec2.md has no row of %s", it.key);
	}
	free(doc);
	map_free(need);
	map_free(have);
	json_decref(statements);
}

static void check_bound(const json_t *statements, const char *sid, const char *action,
			const char *condition)
{
	json_t *s;
	size_t i;

	json_array_foreach (statements, i, s) {
		if (!str_eq(json_str_at(s, "Sid"), sid))
			continue;
		assert_string_equal(json_str_at(s, "Action"), action);
		assert_non_null(json_str_at(s, "Condition", "StringEquals", condition));
		return;
	}
	fail_msg("no statement %s", sid);
}

/* Every action that changes an instance is allowed only for instances with drover's own tag. */
static void what_changes_is_bound_to_drovers_own_tag(void **state)
{
	json_t *statements = policy(), *s;
	size_t i, changing = 0;

	(void)state;
	check_bound(statements, "LaunchTagged", "ec2:RunInstances",
		    "aws:RequestTag/" ELASTIC_TAG_CLUSTER);
	check_bound(statements, "EndOwn", "ec2:TerminateInstances",
		    "aws:ResourceTag/" ELASTIC_TAG_CLUSTER);
	check_bound(statements, "TagAtLaunch", "ec2:CreateTags", "ec2:CreateAction");
	check_bound(statements, "GiveProfile", "iam:PassRole", "iam:PassedToService");
	json_array_foreach (statements, i, s) {
		char *resource = json_dumps(json_object_get(s, "Resource"), JSON_ENCODE_ANY);

		if (json_object_get(s, "Condition") == NULL &&
		    !str_eq(json_str_at(s, "Sid"), "Look")) {
			assert_string_equal(json_str_at(s, "Sid"), "LaunchFrom");
			assert_null(strstr(resource, "instance/"));
			assert_null(strstr(resource, "\"*\""));
			changing++;
		}
		free(resource);
	}
	assert_int_equal(changing, 1);
	json_decref(statements);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_each_right_that_is_needed_and_no_other),
		cmocka_unit_test(what_changes_is_bound_to_drovers_own_tag),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
