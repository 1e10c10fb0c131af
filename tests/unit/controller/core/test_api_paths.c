#include "tests/unit/testing.h"

#include "controller/core/api_paths.h"

static void what_is_known_is_of_one_way(void **state)
{
	struct api_paths *w = api_paths_new();
	struct api_path_state seen = {.up = true, .reason = "Healthy", .why = "all"};

	(void)state;
	assert_null(api_paths_get(w, "team-a", "k"));
	assert_true(api_paths_put(w, "team-a", "k", &seen));
	assert_false(api_paths_put(w, "team-a", "k", &seen));
	assert_true(api_paths_get(w, "team-a", "k")->up);
	assert_null(api_paths_get(w, "team-a", "another"));
	assert_null(api_paths_get(w, "team-b", "k"));
	seen.why[0] = 'A';
	assert_true(api_paths_put(w, "team-a", "k", &seen));
	assert_true(api_paths_put(w, "team-a", "another", &seen));
	assert_null(api_paths_get(w, "team-a", "k"));
	api_paths_forget(w, "team-a");
	assert_null(api_paths_get(w, "team-a", "another"));
	api_paths_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_is_of_one_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
