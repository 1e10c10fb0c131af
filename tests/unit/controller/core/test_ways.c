#include "tests/unit/testing.h"

#include "controller/core/ways.h"

static void what_is_known_is_of_one_way(void **state)
{
	struct ways *w = ways_new();
	struct way_seen seen = {.up = true, .reason = "Healthy", .why = "all"};

	(void)state;
	assert_null(ways_get(w, "team-a", "k"));
	assert_true(ways_put(w, "team-a", "k", &seen));
	assert_false(ways_put(w, "team-a", "k", &seen));
	assert_true(ways_get(w, "team-a", "k")->up);
	assert_null(ways_get(w, "team-a", "another"));
	assert_null(ways_get(w, "team-b", "k"));
	seen.why[0] = 'A';
	assert_true(ways_put(w, "team-a", "k", &seen));
	assert_true(ways_put(w, "team-a", "another", &seen));
	assert_null(ways_get(w, "team-a", "k"));
	ways_forget(w, "team-a");
	assert_null(ways_get(w, "team-a", "another"));
	ways_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_is_of_one_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
