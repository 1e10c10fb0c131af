/* Tests S9 itself: which states count as at rest, and that a world which does not come to rest
 * without a fault violates S9. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "tests/world/invariants.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

/* Returns the result of the invariants as if no fault had occurred for ms. */
static bool is_good_after(struct sim_world *w, int64_t ms)
{
	bool good;

	w->calm_at = loop_now(w->loop) - ms;
	good = invariants_look(w);
	w->calm_at = 0;
	return good;
}

static void what_does_not_come_to_rest_is_complained_of(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 600, 1);
	world_media(&w, false);
	world_replica(&w);
	world_wait_state(b, "dirty", 300);
	assert_true(invariants_settle_ms() > 40000 * 1000);
	assert_true(is_good_after(&w, invariants_settle_ms() - 1000));
	assert_false(is_good_after(&w, invariants_settle_ms() + 1000));
	assert_true(str_starts(w.complaint, "S9: nothing has gone wrong for "));
	assert_non_null(strstr(w.complaint, "gpu-1 is dirty"));
	w.complaint[0] = '\0';
	world_media(&w, true);
	world_settle(&w);
	assert_string_equal(b->state, "free");
	assert_true(is_good_after(&w, invariants_settle_ms() + 1000));
	world_stop(&w);
}

static void a_claim_is_at_rest_when_it_is_ready_or_gone(void **state)
{
	struct sim_world w;
	struct server *b;

	(void)state;
	b = leaving_serving(&w, 601);
	world_settle(&w);
	leaving_budget(&w, "train");
	world_release(b);
	world_run(&w, 60000);
	assert_string_equal(b->state, "draining");
	assert_false(invariants_is_settled(&w));
	leaving_lift_budget(&w);
	world_settle(&w);
	assert_string_equal(b->state, "free");
	world_stop(&w);
}

/* A machine that waits for an operator is at rest, with its claim. */
static void what_a_person_decides_is_at_rest(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 602, 1);
	b->wipe_fails = true;
	world_replica(&w);
	world_wait_state(b, "quarantined", 3600);
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	world_settle(&w);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_come_to_rest_is_complained_of),
		cmocka_unit_test(a_claim_is_at_rest_when_it_is_ready_or_gone),
		cmocka_unit_test(what_a_person_decides_is_at_rest),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
