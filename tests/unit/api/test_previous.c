/* Tests that this version reads what the previous one stored: tests/data/previous/objects.jsonl has
 * an object of each kind, state and phase as that version wrote it (tests/world/object_log.h). */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/kinds.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/money.h"
#include "base/str.h"

#define STORED "tests/data/previous/objects.jsonl"

/* True for a value that fields_encode() omits if it is the default. */
static bool is_empty(const json_t *v)
{
	return json_is_false(v) || (json_is_string(v) && !*json_string_value(v)) ||
	       (json_is_number(v) && !json_integer_value(v)) ||
	       (json_is_array(v) && !json_array_size(v)) ||
	       (json_is_object(v) && !json_object_size(v));
}

/* True if both are texts of the same amount: this version writes "20000.00" for "20000". */
static bool is_same_amount(const json_t *was, const json_t *is)
{
	int64_t a, b;
	struct err e;

	return json_is_string(was) && json_is_string(is) &&
	       money_parse(json_string_value(was), &a, &e) == 0 &&
	       money_parse(json_string_value(is), &b, &e) == 0 && a == b;
}

/* Returns the first member of `was` that is missing or different in `is`, as a path in the arena;
 * NULL: none. Members that only `is` has are defaults of this version. */
static const char *lost(const json_t *was, const json_t *is, const char *at, struct arena *a)
{
	const char *key, *found;
	json_t *v;
	size_t i;

	if (!was)
		return NULL;
	if (json_is_array(was) && json_array_size(was) == json_array_size(is)) {
		json_array_foreach (was, i, v)
			if ((found = lost(v, json_array_get(is, i),
					  arena_printf(a, "%s[%zu]", at, i), a)))
				return found;
		return NULL;
	}
	if (!json_is_object(was) || !json_is_object(is))
		return json_equal(was, is) || is_same_amount(was, is) ? NULL : at;
	json_object_foreach ((json_t *)was, key, v) {
		const json_t *has = json_object_get(is, key);

		if (!has && is_empty(v))
			continue;
		if ((found = lost(v, has, arena_printf(a, "%s.%s", at, key), a)))
			return found;
	}
	return NULL;
}

static void what_the_previous_version_stored_is_read_whole(void **state)
{
	FILE *f = fopen(STORED, "r");
	bool seen[MACHINE_STATES] = {0};
	size_t cap = 0, kinds[OBJECT_KINDS] = {0};
	char *line = NULL;
	struct err e;

	(void)state;
	assert_non_null(f);
	while (getline(&line, &cap, f) > 0) {
		OWN(arena) a = arena_new();
		OWN_JSON o = json_parse(line, strlen(line), &e);
		const char *kind = json_str_at(o, "kind"),
			   *name = json_str_at(o, "metadata", "name"),
			   *s = json_str_at(o, "status", "state"), *path;
		const struct object_kind *k = object_kind_find(str_or(kind, ""));
		void *out;

		assert_non_null(k);
		if (object_decode(k, o, a, &out, &e) < 0 || object_check(k, out, NULL, &e) < 0)
			fail_msg("%s %s: %s", kind, name, e.text);
		OWN_JSON again = fields_encode(k->fields, out);
		path = lost(json_object_get(o, "spec"), json_object_get(again, "spec"), "spec", a);
		if (!path && k->has_status)
			path = lost(json_object_get(o, "status"), json_object_get(again, "status"),
				    "status", a);
		if (path)
			fail_msg("%s %s: this version loses %s", kind, name, path);
		kinds[k - object_kinds]++;
		if (s)
			seen[machine_state_find(s)] = true;
	}
	free(line);
	fclose(f);
	for (int i = 0; i < OBJECT_KINDS; i++)
		assert_true(kinds[i] > 0);
	for (int i = 0; i < MACHINE_STATES; i++)
		if (!seen[i])
			fail_msg(STORED " has no machine in state %s", machine_state_info[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_previous_version_stored_is_read_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
