#include "tests/unit/testing.h"

#include "base/str.h"
#include "controller/life/life.h"

/*
 * Checks the table in api/machine_states.def: its safety properties must hold on every path through
 * the states, whatever the steps (functions that run a state) do.
 */
#define BIT(s) (1u << (s))

static const unsigned classes[] = {MACHINE_CLASS_HARDWARE, MACHINE_CLASS_MANAGED,
				   MACHINE_CLASS_ELASTIC};

/* True if a machine of this class may change from one state to the other. Only elastic machines
 * (cloud instances), which are not in drover's network, skip isolation. */
static bool may(unsigned class, int from, int to)
{
	if (from == MACHINE_STOPPING && to == MACHINE_LEAVING && class != MACHINE_CLASS_ELASTIC)
		return false;
	return machine_state_info[from].next & BIT(to) &&
	       machine_state_info[from].classes & class && machine_state_info[to].classes & class;
}

/* Returns the set of states that a machine of this class can reach from `from` without entering a
 * state in the set `shut`. */
static unsigned reach(unsigned class, int from, unsigned shut)
{
	unsigned seen = 0, next = BIT(from);

	while (next & ~seen) {
		seen |= next;
		for (int s = 0; s < MACHINE_STATES; s++)
			for (int to = 0; to < MACHINE_STATES; to++)
				if (seen & BIT(s) && may(class, s, to) && !(shut & BIT(to)))
					next |= BIT(to);
	}
	return seen;
}

/* True if there is a path from `from` to `goal` that does not pass the n states of `order` in this
 * order. */
static bool has_short_cut(unsigned class, int from, int goal, const int *order, int n)
{
	bool seen[MACHINE_STATES][16] = {0}, grown = true;
	int done = from == order[0];

	seen[from][done] = true;
	while (grown) {
		grown = false;
		for (int s = 0; s < MACHINE_STATES; s++)
			for (int k = 0; k <= n; k++)
				for (int to = 0; seen[s][k] && to < MACHINE_STATES; to++) {
					int next = k < n && to == order[k] ? k + 1 : k;

					if (!may(class, s, to) || seen[to][next])
						continue;
					/* Follows no path beyond the goal: if the goal is FREE, the
					 * machine begins a new life there, for which the states
					 * passed before do not count. */
					if (s == goal)
						continue;
					seen[to][next] = grown = true;
				}
	}
	for (int k = 0; k < n; k++)
		if (seen[goal][k])
			return true;
	return false;
}

static void names_round_trip_and_no_two_are_alike(void **state)
{
	(void)state;
	for (int s = 0; s < MACHINE_STATES; s++) {
		assert_int_equal(machine_state_find(machine_state_info[s].name), s);
		assert_int_not_equal(machine_state_info[s].classes, 0);
	}
	assert_int_equal(machine_state_find("nonsense"), MACHINE_STATE_NONE);
	assert_int_equal(machine_state_find(""), MACHINE_STATE_NONE);
	assert_int_equal(machine_state_find(NULL), MACHINE_STATE_NONE);
}

static void a_state_with_a_limit_may_go_where_the_limit_sends_it(void **state)
{
	(void)state;
	for (int s = 0; s < MACHINE_STATES; s++) {
		const struct machine_state_info *i = &machine_state_info[s];

		if (!i->limit_s)
			assert_int_equal(i->on_limit, s);
		else if (!(i->next & BIT(i->on_limit)))
			fail_msg("%s may not go to %s", i->name,
				 machine_state_info[i->on_limit].name);
	}
}

static void only_states_in_which_nothing_is_awaited_have_no_limit(void **state)
{
	const unsigned without = BIT(MACHINE_KNOWN) | BIT(MACHINE_FREE) | BIT(MACHINE_SERVING) |
				 BIT(MACHINE_QUARANTINED) | BIT(MACHINE_RETIRED) |
				 BIT(MACHINE_GONE);

	(void)state;
	for (int s = 0; s < MACHINE_STATES; s++)
		if (!machine_state_info[s].limit_s != !!(without & BIT(s)))
			fail_msg("%s", machine_state_info[s].name);
}

static void nothing_leads_to_itself_and_all_but_the_last_lead_on(void **state)
{
	(void)state;
	for (int s = 0; s < MACHINE_STATES; s++) {
		assert_false(machine_state_info[s].next & BIT(s));
		assert_int_equal(machine_state_info[s].next == 0, s == MACHINE_GONE);
	}
}

static void every_state_of_a_class_is_reachable_from_known_and_has_a_way_out(void **state)
{
	(void)state;
	for (size_t c = 0; c < 3; c++)
		for (int s = 0; s < MACHINE_STATES; s++) {
			bool out = false;

			/* Elastic machines start in claimed, so a state must be reachable from
			 * known or from claimed. */
			if (!(machine_state_info[s].classes & classes[c]))
				continue;
			if (!((reach(classes[c], MACHINE_KNOWN, 0) |
			       reach(classes[c], MACHINE_CLAIMED, 0)) &
			      BIT(s)))
				fail_msg("%s is not reachable for class %u",
					 machine_state_info[s].name, classes[c]);
			for (int to = 0; to < MACHINE_STATES; to++)
				out |= may(classes[c], s, to);
			if (!out && s != MACHINE_GONE)
				fail_msg("%s has no way out for class %u",
					 machine_state_info[s].name, classes[c]);
		}
}

static void from_everywhere_a_machine_can_come_to_rest_and_serve_again(void **state)
{
	(void)state;
	for (size_t c = 0; c < 2; c++)
		for (int s = 0; s < MACHINE_STATES; s++)
			if (machine_state_info[s].classes & classes[c]) {
				assert_true(reach(classes[c], s, 0) & BIT(MACHINE_FREE));
				assert_true(reach(classes[c], s, 0) & BIT(MACHINE_SERVING));
			}
	for (int s = 0; s < MACHINE_STATES; s++)
		if (machine_state_info[s].classes & MACHINE_CLASS_ELASTIC)
			assert_true(reach(MACHINE_CLASS_ELASTIC, s, 0) & BIT(MACHINE_GONE));
}

static void a_used_machine_is_never_free_before_it_was_off_cut_wiped_and_verified(void **state)
{
	static const int order[] = {MACHINE_STOPPING, MACHINE_ISOLATING,  MACHINE_LEAVING,
				    MACHINE_DIRTY,    MACHINE_INSPECTING, MACHINE_WIPING,
				    MACHINE_VERIFYING};
	static const int used[] = {MACHINE_IMAGING,  MACHINE_ATTACHING,	  MACHINE_BOOTING,
				   MACHINE_JOINING,  MACHINE_GATING,	  MACHINE_SERVING,
				   MACHINE_DRAINING, MACHINE_QUARANTINED, MACHINE_KNOWN,
				   MACHINE_RETIRED};

	(void)state;
	for (size_t c = 0; c < 2; c++)
		for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
			if (has_short_cut(classes[c], used[i], MACHINE_FREE, order, 7))
				fail_msg("%s has a short cut to free",
					 machine_state_info[used[i]].name);
	assert_false(reach(MACHINE_CLASS_ELASTIC, MACHINE_KNOWN, 0) & BIT(MACHINE_FREE));
}

static void each_stage_of_cleaning_alone_bars_the_way_to_free(void **state)
{
	static const int stages[] = {MACHINE_STOPPING, MACHINE_ISOLATING, MACHINE_LEAVING,
				     MACHINE_WIPING, MACHINE_VERIFYING};

	(void)state;
	for (size_t c = 0; c < 2; c++)
		for (size_t i = 0; i < 5; i++)
			assert_false(reach(classes[c], MACHINE_SERVING, BIT(stages[i])) &
				     BIT(MACHINE_FREE));
}

static void only_a_claim_that_wrote_nothing_goes_straight_back_to_free(void **state)
{
	(void)state;
	for (int s = 0; s < MACHINE_STATES; s++)
		assert_int_equal(!!(machine_state_info[s].next & BIT(MACHINE_FREE)),
				 s == MACHINE_CLAIMED || s == MACHINE_VERIFYING);
}

static void whatever_fails_between_claim_and_serving_goes_to_stopping(void **state)
{
	(void)state;
	for (int s = MACHINE_CLAIMED; s <= MACHINE_DRAINING; s++) {
		assert_true(machine_state_info[s].next & BIT(MACHINE_STOPPING));
		assert_false(machine_state_info[s].next & BIT(MACHINE_QUARANTINED));
		if (s != MACHINE_SERVING)
			assert_int_equal(machine_state_info[s].on_limit, MACHINE_STOPPING);
	}
}

static void whatever_fails_while_cleaning_goes_to_quarantine(void **state)
{
	(void)state;
	for (int s = MACHINE_ISOLATING; s <= MACHINE_VERIFYING; s++) {
		assert_true(machine_state_info[s].next & BIT(MACHINE_QUARANTINED));
		assert_int_equal(machine_state_info[s].on_limit, MACHINE_QUARANTINED);
	}
	/* Even after its deadline, a stopping machine is isolated before anything else. */
	assert_int_equal(machine_state_info[MACHINE_STOPPING].on_limit, MACHINE_ISOLATING);
}

static void an_elastic_machine_ends_by_leaving_and_touches_no_hardware_state(void **state)
{
	const unsigned hardware = BIT(MACHINE_FREE) | BIT(MACHINE_IMAGING) |
				  BIT(MACHINE_ATTACHING) | BIT(MACHINE_ISOLATING) |
				  BIT(MACHINE_DIRTY) | BIT(MACHINE_INSPECTING) |
				  BIT(MACHINE_WIPING) | BIT(MACHINE_VERIFYING);

	(void)state;
	for (int s = 0; s < MACHINE_STATES; s++) {
		assert_int_equal(!(machine_state_info[s].classes & MACHINE_CLASS_ELASTIC),
				 !!(hardware & BIT(s)));
		if (s != MACHINE_LEAVING)
			assert_false(machine_state_info[s].next & BIT(MACHINE_GONE));
	}
	assert_int_equal(machine_state_info[MACHINE_GONE].classes, MACHINE_CLASS_ELASTIC);
	/* An instance that cannot be stopped waits for an operator. */
	assert_true(may(MACHINE_CLASS_ELASTIC, MACHINE_STOPPING, MACHINE_QUARANTINED));
	assert_false(reach(MACHINE_CLASS_ELASTIC, MACHINE_SERVING, BIT(MACHINE_LEAVING)) &
		     BIT(MACHINE_GONE));
	assert_false(reach(MACHINE_CLASS_ELASTIC, MACHINE_SERVING, BIT(MACHINE_STOPPING)) &
		     BIT(MACHINE_GONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_round_trip_and_no_two_are_alike),
		cmocka_unit_test(a_state_with_a_limit_may_go_where_the_limit_sends_it),
		cmocka_unit_test(only_states_in_which_nothing_is_awaited_have_no_limit),
		cmocka_unit_test(nothing_leads_to_itself_and_all_but_the_last_lead_on),
		cmocka_unit_test(every_state_of_a_class_is_reachable_from_known_and_has_a_way_out),
		cmocka_unit_test(from_everywhere_a_machine_can_come_to_rest_and_serve_again),
		cmocka_unit_test(
			a_used_machine_is_never_free_before_it_was_off_cut_wiped_and_verified),
		cmocka_unit_test(each_stage_of_cleaning_alone_bars_the_way_to_free),
		cmocka_unit_test(only_a_claim_that_wrote_nothing_goes_straight_back_to_free),
		cmocka_unit_test(whatever_fails_between_claim_and_serving_goes_to_stopping),
		cmocka_unit_test(whatever_fails_while_cleaning_goes_to_quarantine),
		cmocka_unit_test(an_elastic_machine_ends_by_leaving_and_touches_no_hardware_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
