#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "providers/ec2/events.h"
#include "providers/ec2/notices.h"

#define NOW INT64_C(1764000060000) /* 2025-11-24T16:01:00Z */
#define EVENT(type, more)                                                                          \
	"{\"version\":\"0\",\"source\":\"aws.ec2\",\"detail-type\":\"" type "\"," more "}"
#define WARNING(more) EVENT("EC2 Spot Instance Interruption Warning", more)
#define ADVICE(more) EVENT("EC2 Instance Rebalance Recommendation", more)
#define OF_I1 "\"detail\":{\"instance-id\":\"i-0a1\",\"instance-action\":\"terminate\"}"

static bool read_one(const char *body, struct ec2_event *out, struct arena *a)
{
	return ec2_event_read(body, strlen(body), NOW, a, out);
}

static void a_warning_is_a_notice_of_two_minutes(void **state)
{
	OWN(arena) a = arena_new();
	struct ec2_event n;

	(void)state;
	assert_true(read_one(WARNING("\"time\":\"2025-11-24T16:00:30Z\"," OF_I1), &n, a));
	assert_string_equal(n.id, "i-0a1");
	assert_int_equal(n.ends_at, NOW - 30000 + EC2_NOTICE_MS);
	assert_int_equal(n.at_risk_since, 0);
	assert_true(read_one(WARNING(OF_I1), &n, a));
	assert_int_equal(n.ends_at, NOW + EC2_NOTICE_MS);
	assert_true(read_one(WARNING("\"time\":\"2026-11-24T16:00:30Z\"," OF_I1), &n, a));
	assert_int_equal(n.ends_at, NOW + EC2_NOTICE_MS);
}

static void a_recommendation_has_no_end(void **state)
{
	OWN(arena) a = arena_new();
	struct ec2_event n;

	(void)state;
	assert_true(read_one(ADVICE("\"time\":\"2025-11-24T16:00:30Z\"," OF_I1), &n, a));
	assert_string_equal(n.id, "i-0a1");
	assert_int_equal(n.ends_at, 0);
	assert_int_equal(n.at_risk_since, NOW - 30000);
	assert_true(read_one(ADVICE("\"time\":\"2026-11-24T16:00:30Z\"," OF_I1), &n, a));
	assert_int_equal(n.at_risk_since, NOW);
}

static void other_messages_are_none(void **state)
{
	static const char *const bodies[] = {
		"",
		"[]",
		"null",
		"{",
		"\"text\"",
		"{}",
		EVENT("EC2 Instance State-change Notification", OF_I1),
		WARNING("\"detail\":[]"),
		WARNING("\"detail\":{\"instance-id\":7}"),
		WARNING("\"detail\":{\"instance-id\":\"\"}"),
		WARNING("\"detail\":{\"instance-id\":\"i-0a1\\u000ax\"}"),
		WARNING("\"detail\":{\"instance-id\":\"i-0123456789012345678901234567890123\"}"),
		"{\"source\":\"mine\",\"detail-type\":\"" EC2_EVENT_WARNING "\"," OF_I1 "}",
	};
	OWN(arena) a = arena_new();
	struct ec2_event n;
	char *big = mem_alloc(70000);

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++)
		if (read_one(bodies[i], &n, a))
			fail_msg("%s", bodies[i]);
	/* A body that is too long is not parsed, although it would be valid. */
	memset(big, ' ', 70000);
	memcpy(big, WARNING(OF_I1), strlen(WARNING(OF_I1)));
	assert_false(ec2_event_read(big, 70000, NOW, a, &n));
	assert_true(ec2_event_read(big, 60000, NOW, a, &n));
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_warning_is_a_notice_of_two_minutes),
		cmocka_unit_test(a_recommendation_has_no_end),
		cmocka_unit_test(other_messages_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
