#include "tests/unit/testing.h"

#include "base/data/json.h"
#include "controller/burst/restarts.h"

#define NOW (INT64_C(1790000000000))
#define HOUR INT64_C(3600000)

static json_t *with(const struct burst_ledger *l, const char *work, int64_t decided, int64_t now)
{
	struct node_claim_burst b = {.work = work, .decided_time = decided};
	struct node_claim n = {.spec.virtual_cluster_ref.name = "team-a", .spec.burst = &b};

	return burst_restarts_with(l, &n, now);
}

static int64_t count_of(json_t *list, size_t i)
{
	return json_int_at(json_array_get(list, i), "count");
}

/* The claims of one decision count once, those of the next decision again. */
static void each_decision_counts_once(void **state)
{
	struct burst_ledger_restart v = {"team-a", "train", 3, NOW - HOUR, NOW - 2 * HOUR};
	struct burst_ledger l = {.status.restarts = {&v, 1}};
	json_t *list = with(&l, "train", NOW - 2 * HOUR, NOW);

	(void)state;
	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(count_of(list, 0), 3);
	json_decref(list);
	list = with(&l, "train", NOW - HOUR, NOW);
	assert_int_equal(count_of(list, 0), 4);
	json_decref(list);
	list = with(&l, "eval", NOW - 2 * HOUR, NOW);
	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(count_of(list, 0), 1);
	assert_int_equal(count_of(list, 1), 3);
	json_decref(list);
}

static void what_is_old_or_too_much_is_dropped(void **state)
{
	struct burst_ledger_restart v[BURST_LEDGER_RESTARTS];
	struct burst_ledger l = {.status.restarts = {v, BURST_LEDGER_RESTARTS}};
	json_t *list;

	(void)state;
	for (size_t i = 0; i < BURST_LEDGER_RESTARTS; i++)
		v[i] = (struct burst_ledger_restart){"team-b", "train", (int64_t)i + 1,
						     NOW - (int64_t)i, NOW - HOUR};
	list = with(&l, "train", NOW, NOW);
	assert_int_equal(json_array_size(list), BURST_LEDGER_RESTARTS);
	assert_int_equal(count_of(list, 0), 1);
	assert_int_equal(count_of(list, BURST_LEDGER_RESTARTS - 1), BURST_LEDGER_RESTARTS - 1);
	json_decref(list);
	list = with(&l, "train", NOW, NOW + BURST_RESTARTS_MS);
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
}

/* A move is counted beside the interruptions, and changes none of them. */
static void moves_are_counted_apart(void **state)
{
	struct node_claim_burst b = {.work = "train", .decided_time = NOW};
	const struct node_claim n = {.spec.virtual_cluster_ref.name = "team-a", .spec.burst = &b};
	struct burst_ledger_restart v[] = {{"team-a", "train", 2, NOW - HOUR, NOW - 2 * HOUR},
					   {"team-b", "train", 5, NOW - HOUR, NOW - 2 * HOUR}};
	const struct burst_ledger l = {.status.restarts = {v, 1}, .status.moves = {v, 2}};
	json_t *list = burst_moves_with(&l, &n, NOW);

	(void)state;
	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(count_of(list, 0), 3);
	assert_int_equal(count_of(list, 1), 5);
	json_decref(list);
	list = burst_restarts_with(&l, &n, NOW);
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_decision_counts_once),
		cmocka_unit_test(what_is_old_or_too_much_is_dropped),
		cmocka_unit_test(moves_are_counted_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
