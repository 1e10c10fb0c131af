#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/data/json.h"
#include "kube/trim.h"

static void managed_fields_are_left_out(void **state)
{
	static const char *const cases[][2] = {
		{"{\"a\":1,\"managedFields\":[],\"b\":2}", "{\"a\":1,\"b\":2}"},
		{"{\"managedFields\":[{\"x\":[1,\"]\"]}],\"b\":2}", "{\"b\":2}"},
		{"{\"a\":1,\"managedFields\":[{}]}", "{\"a\":1}"},
		{"{\"managedFields\":[\"\\\"]\",\"\\\\\"]}", "{}"},
		{"{\"m\":{\"n\":\"x\",\"managedFields\":[[[]]]},\"s\":{}}",
		 "{\"m\":{\"n\":\"x\"},\"s\":{}}"},
		/* Only the first, only an array, only as servers write it. */
		{"{\"a\":{\"managedFields\":[]},\"managedFields\":[1]}",
		 "{\"a\":{},\"managedFields\":[1]}"},
		{"{\"managedFields\":{}}", "{\"managedFields\":{}}"},
		{"{ \"managedFields\":[1]}", "{\"managedFields\":[1]}"},
		{"{\"managedFields\": [1]}", "{\"managedFields\":[1]}"},
		/* In a string, or at the end of a longer name, it is none. */
		{"{\"a\":\"{\\\"managedFields\\\":[1]}\"}",
		 "{\"a\":\"{\\\"managedFields\\\":[1]}\"}"},
		{"{\"a\\\"managedFields\":[1]}", "{\"a\\\"managedFields\":[1]}"},
		{"{\"xmanagedFields\":[1]}", "{\"xmanagedFields\":[1]}"},
		{"{}", "{}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e;
		json_t *j = kube_trim_parse(cases[i][0], strlen(cases[i][0]), &e);
		char *text;

		if (!j)
			fail_msg("%s: %s", cases[i][0], e.text);
		text = json_text(j);
		assert_string_equal(text, cases[i][1]);
		free(text);
		json_decref(j);
	}
}

static void what_is_no_json_stays_none(void **state)
{
	static const char *const cases[] = {
		"",
		"{",
		"\"managedFields\":[]",
		"{\"managedFields\":[",
		"{\"managedFields\":[}",
		"{\"managedFields\":[\"",
		"{\"managedFields\":[\"\\",
		"{\"managedFields\":[]",
		"{\"a\":1,\"managedFields\":[]",
		"{,\"managedFields\":[]}x",
		"{\"a\":\"b,\"managedFields\":[]}",
		"{\"managedFields\":[]\"b\":1}",
		"{\"a\":1,\"managedFields\":[],}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {0};
		char *exact = malloc(strlen(cases[i]) + 1);
		json_t *j;

		assert_non_null(exact);
		memcpy(exact, cases[i], strlen(cases[i]));
		j = kube_trim_parse(exact, strlen(cases[i]), &e);
		free(exact);
		if (j)
			fail_msg("accepted: %s", cases[i]);
		assert_int_equal(e.kind, ERR_PROTOCOL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(managed_fields_are_left_out),
		cmocka_unit_test(what_is_no_json_stays_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
