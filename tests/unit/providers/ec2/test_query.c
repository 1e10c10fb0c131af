#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/ec2/query.h"

static void a_form_is_encoded_and_leaves_out_what_is_not_there(void **state)
{
	struct buf b;

	(void)state;
	query_begin(&b, "RunInstances", "2016-11-15");
	query_add_i64(&b, 3, "MinCount");
	query_add(&b, "drover.dev/claim", "TagSpecification.%d.Tag.%d.Key", 1, 2);
	query_add(&b, "a b+c&d=e", "X");
	query_add(&b, NULL, "KeyName");
	assert_string_equal(b.data,
			    "Action=RunInstances&Version=2016-11-15&MinCount=3"
			    "&TagSpecification.1.Tag.2.Key=drover.dev%2Fclaim&X=a+b%2Bc%26d%3De");
	buf_done(&b);
}

static struct ec2_reply *parse(const char *xml)
{
	struct err e;
	struct ec2_reply *r = ec2_reply_parse(xml, strlen(xml), &e);

	if (!r)
		fail_msg("%s", e.text);
	return r;
}

static void sets_are_walked_and_texts_read(void **state)
{
	OWN(ec2_reply)
	r = parse("<?xml version=\"1.0\"?><R xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">"
		  "<set><item><id> i-1\n</id><s><name>a&amp;b</name></s></item><other/>"
		  "<item><id/></item></set></R>");
	OWN(arena) a = arena_new();
	struct ec2_reply_node root = ec2_reply_root(r), n;

	(void)state;
	assert_true(ec2_reply_is(root, "R"));
	n = ec2_reply_first(root, "set");
	assert_string_equal(ec2_reply_text(n, "id", a), "i-1");
	assert_string_equal(ec2_reply_text(n, "s/name", a), "a&b");
	assert_null(ec2_reply_text(n, "s/names", a));
	n = ec2_reply_next(n);
	assert_non_null(n.at);
	assert_null(ec2_reply_text(n, "id", a));
	assert_null(ec2_reply_next(n).at);
	assert_null(ec2_reply_first(root, "sets").at);
	assert_null(ec2_reply_text(ec2_reply_at(root, "no/way"), "id", a));
}

static void all_shapes_of_errors_are_read(void **state)
{
	static const char *const shapes[] = {
		"<Response><Errors><Error><Code>VcpuLimitExceeded</Code><Message>m</Message>"
		"</Error></Errors><RequestID>x</RequestID></Response>",
		"<ErrorResponse><Errors><Error><Code>VcpuLimitExceeded</Code><Message>m</Message>"
		"</Error></Errors><RequestID>x</RequestID></ErrorResponse>",
		"<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error>"
		"<Type>Sender</Type><Code>VcpuLimitExceeded</Code><Message>m</Message></Error>"
		"</ErrorResponse>",
	};
	OWN(arena) a = arena_new();
	OWN(ec2_reply)
	well = parse("<RunInstancesResponse><Errors><Error/></Errors></RunInstancesResponse>");
	const char *code, *message;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		OWN(ec2_reply) r = parse(shapes[i]);

		assert_true(ec2_reply_error(r, a, &code, &message));
		assert_string_equal(code, "VcpuLimitExceeded");
		assert_string_equal(message, "m");
	}
	assert_false(ec2_reply_error(well, a, &code, &message));
}

static void refused(const char *xml, size_t len)
{
	struct err e;

	assert_null(ec2_reply_parse(xml, len, &e));
	assert_int_equal(e.kind, ERR_PROTOCOL);
}

static void what_is_no_plain_xml_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"<html><p>500</html>",
		"{\"a\":1}",
		"<!DOCTYPE r [<!ENTITY x \"y\">]><r>&x;</r>",
		"<!DOCTYPE r SYSTEM \"file:///etc/passwd\"><r/>",
		"<r>&x;</r>",
		"<a><b></a></b>",
	};
	char *big = mem_alloc(QUERY_MAX_REPLY + 2);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refused(bad[i], strlen(bad[i]));
	memset(big, ' ', QUERY_MAX_REPLY + 1);
	memcpy(big, "<r/>", 4);
	refused(big, QUERY_MAX_REPLY + 1);
	ec2_reply_free(parse("<r/>"));
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_form_is_encoded_and_leaves_out_what_is_not_there),
		cmocka_unit_test(sets_are_walked_and_texts_read),
		cmocka_unit_test(all_shapes_of_errors_are_read),
		cmocka_unit_test(what_is_no_plain_xml_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
