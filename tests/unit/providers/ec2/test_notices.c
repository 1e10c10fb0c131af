#include "tests/unit/testing.h"

#include <string.h>
#include "providers/ec2/notices.h"

#define NOW INT64_C(1764000060000) /* 2025-11-24T16:01:00Z */
#define ITEM(id, status)                                                                           \
	"<R><spotInstanceRequestSet><item>" id "<status>" status                                   \
	"</status></item></spotInstanceRequestSet></R>"
#define ID "<instanceId>i-1</instanceId>"

static bool read_one(const char *xml, struct arena *a, struct ec2_notice *out)
{
	struct err e;
	OWN(ec2_reply) r = ec2_reply_parse(xml, strlen(xml), &e);

	assert_non_null(r);
	return ec2_notice_read(ec2_reply_first(ec2_reply_root(r), "spotInstanceRequestSet"), NOW, a,
			       out);
}

static void what_ec2_takes_back_is_a_notice_of_two_minutes(void **state)
{
	OWN(arena) a = arena_new();
	struct ec2_notice n;

	(void)state;
	assert_true(read_one(ITEM(ID, "<code>marked-for-termination</code>"
				      "<updateTime>2025-11-24T16:00:30Z</updateTime>"),
			     a, &n));
	assert_string_equal(n.id, "i-1");
	assert_int_equal(n.ends_at, NOW - 30000 + EC2_NOTICE_MS);
	assert_true(read_one(ITEM(ID, "<code>instance-terminated-no-capacity</code>"), a, &n));
	assert_int_equal(n.ends_at, NOW + EC2_NOTICE_MS);
	/* The cloud's clock is ahead of this host's, so the time of the notice is in the future.
	 * The end is nevertheless two minutes from now at the latest. */
	assert_true(read_one(ITEM(ID, "<code>marked-for-stop</code>"
				      "<updateTime>2025-11-25T16:00:00Z</updateTime>"),
			     a, &n));
	assert_int_equal(n.ends_at, NOW + EC2_NOTICE_MS);
}

static void what_a_user_ended_or_nobody_is_none(void **state)
{
	OWN(arena) a = arena_new();
	struct ec2_notice n;

	(void)state;
	assert_false(read_one(ITEM(ID, "<code>fulfilled</code>"), a, &n));
	assert_false(read_one(ITEM(ID, "<code>instance-terminated-by-user</code>"), a, &n));
	assert_false(read_one(ITEM(ID, ""), a, &n));
	assert_false(read_one(ITEM("", "<code>marked-for-termination</code>"), a, &n));
}

static void the_form_asks_for_notices_alone(void **state)
{
	struct buf b;

	(void)state;
	ec2_notices_form(&b, "200", "t1");
	assert_non_null(strstr(b.data, "Filter.1.Name=status-code"));
	assert_non_null(strstr(b.data, "Filter.1.Value.1=marked-for-termination"));
	assert_null(strstr(b.data, "by-user"));
	assert_non_null(strstr(b.data, "NextToken=t1"));
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ec2_takes_back_is_a_notice_of_two_minutes),
		cmocka_unit_test(what_a_user_ended_or_nobody_is_none),
		cmocka_unit_test(the_form_asks_for_notices_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
