/* Calls to BMCs wait in their Provider's queue. drover must not count the time in the queue as the
 * BMC's. */
#include "api/reasons.h"
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/world.h"

static void limit(struct sim_world *w, json_t *limits)
{
	world_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:o}}", "spec", "limits", limits));
}

struct watch {
	struct sim_world *w;
	/* The first `silent` BMCs do not answer. */
	unsigned silent;
	bool paced;
};

/* Checks that no BMC that answers at once is reported as silent, slow or busy. */
static bool look(void *arg)
{
	struct watch *s = arg;
	unsigned there = 0;

	for (unsigned i = s->silent; i < s->w->nboxes; i++) {
		struct server *b = &s->w->servers[i];
		enum reason r = reason_find(world_at(b, "status.operation.lastError.reason"));

		if (r == REASON_BmcUnreachable || r == REASON_BmcSlow || r == REASON_BmcBusy)
			fail_msg("%s: %s", b->name, reason_name(r));
		s->paced |= r == REASON_CallsPaced;
		there += str_eq(b->state, "free");
	}
	return there == s->w->nboxes - s->silent;
}

/* The Provider has one concurrency slot, which BMCs that do not answer occupy. The calls to the
 * other BMCs are queued for longer than a BMC may be silent, and for longer than a state's
 * deadline. */
static void a_line_that_is_longer_than_a_deadline_makes_it_slow_and_nothing_else(void **state)
{
	struct sim_world w;
	struct watch s = {.w = &w, .silent = 20};

	(void)state;
	world_start(&w, 716, 40);
	limit(&w, json_pack("{s:i, s:i, s:i}", "powerOnPerMinute", 600, "requestsPerSecond", 1,
			    "concurrentOperations", 1));
	for (unsigned i = 0; i < s.silent; i++)
		http_mem_hang(w.net, w.servers[i].origin, true);
	world_replica(&w);
	world_wait(&w, look, &s, 6 * 3600, "all that answer are free");
	assert_true(s.paced);
	for (unsigned i = s.silent; i < w.nboxes; i++)
		assert_int_equal(
			json_array_size(json_at(w.servers[i].object, "status", "failures")), 0);
	for (unsigned i = 0; i < s.silent; i++)
		http_mem_hang(w.net, w.servers[i].origin, false);
	world_wait_all(&w, "free", 6 * 3600);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_line_that_is_longer_than_a_deadline_makes_it_slow_and_nothing_else),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
