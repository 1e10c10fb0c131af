#include "tests/unit/testing.h"

#include "base/str.h"
#include "providers/ec2/warned.h"

#define NOW INT64_C(1764000060000)

static void put(struct ec2_warned *w, const char *id, int64_t ends_at, int64_t at_risk_since)
{
	ec2_warned_put(w, &(struct ec2_event){id, ends_at, at_risk_since}, NOW);
}

static struct elastic_instance after(const struct ec2_warned *w, const char *id, int64_t ends_at,
				     enum elastic_state state, int64_t now)
{
	struct elastic_instance i = {.id = id, .state = state, .ends_at = ends_at};

	ec2_warned_apply(w, &i, now);
	return i;
}

static void the_earliest_end_and_the_latest_risk_count(void **state)
{
	OWN(ec2_warned) w = ec2_warned_new();
	struct elastic_instance i;

	(void)state;
	put(w, "i-1", NOW + 90000, 0);
	put(w, "i-1", NOW + 80000, 0);
	put(w, "i-1", NOW + 85000, 0);
	put(w, "i-1", 0, NOW - 20);
	put(w, "i-1", 0, NOW - 10);
	put(w, "i-1", 0, NOW - 30);
	i = after(w, "i-1", 0, ELASTIC_RUNNING, NOW);
	assert_int_equal(i.ends_at, NOW + 80000);
	assert_int_equal(i.at_risk_since, NOW - 10);
	assert_int_equal(after(w, "i-1", NOW + 70000, ELASTIC_PENDING, NOW).ends_at, NOW + 70000);
	i = after(w, "i-1", 0, ELASTIC_ENDING, NOW);
	assert_int_equal(i.ends_at, 0);
	assert_int_equal(i.at_risk_since, 0);
	assert_int_equal(after(w, "i-2", 0, ELASTIC_RUNNING, NOW).ends_at, 0);
}

static void an_event_is_forgotten_after_an_hour(void **state)
{
	OWN(ec2_warned) w = ec2_warned_new();

	(void)state;
	put(w, "i-1", 0, NOW);
	assert_int_equal(after(w, "i-1", 0, ELASTIC_RUNNING, NOW + EC2_WARNED_MS).at_risk_since,
			 NOW);
	assert_int_equal(after(w, "i-1", 0, ELASTIC_RUNNING, NOW + EC2_WARNED_MS + 1).at_risk_since,
			 0);
}

/* Events that are past make room for new ones; others are kept, and the new one is dropped. */
static void the_number_of_instances_is_bounded(void **state)
{
	OWN(ec2_warned) w = ec2_warned_new();
	char id[24];

	(void)state;
	put(w, "i-past", 0, NOW - EC2_WARNED_MS - 1);
	for (int i = 1; i < EC2_WARNED_MAX; i++) {
		str_format(id, sizeof(id), "i-%d", i);
		put(w, id, 0, NOW);
	}
	put(w, "i-new", 0, NOW);
	assert_int_equal(after(w, "i-new", 0, ELASTIC_RUNNING, NOW).at_risk_since, NOW);
	assert_int_equal(after(w, "i-1", 0, ELASTIC_RUNNING, NOW).at_risk_since, NOW);
	put(w, "i-dropped", 0, NOW);
	assert_int_equal(after(w, "i-dropped", 0, ELASTIC_RUNNING, NOW).at_risk_since, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_earliest_end_and_the_latest_risk_count),
		cmocka_unit_test(an_event_is_forgotten_after_an_hour),
		cmocka_unit_test(the_number_of_instances_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
