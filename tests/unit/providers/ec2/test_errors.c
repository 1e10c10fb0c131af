#include "tests/unit/testing.h"

#include "providers/ec2/errors.h"

static struct err judge(int status, const char *code, bool changes, int64_t skew_ms)
{
	struct ec2_failure f = {.status = status,
				.code = code,
				.message = "why",
				.changes = changes,
				.skew_ms = skew_ms};
	struct err e;

	assert_int_equal(ec2_error(&f, &e), -1);
	return e;
}

static void a_code_has_a_kind_a_scope_and_a_time(void **state)
{
	static const struct {
		int status;
		const char *code;
		enum err_kind kind;
		enum err_scope scope;
		bool waits;
	} cases[] = {
		{500, "InsufficientInstanceCapacity", ERR_CAPACITY, ERR_ZONE, true},
		{400, "UnfulfillableCapacity", ERR_CAPACITY, ERR_ZONE, true},
		{400, "VcpuLimitExceeded", ERR_QUOTA, ERR_ACCOUNT, true},
		{400, "MaxSpotInstanceCountExceeded", ERR_QUOTA, ERR_ACCOUNT, true},
		{400, "SpotMaxPriceTooLow", ERR_PRICE, ERR_ZONE, true},
		{400, "Unsupported", ERR_UNSUPPORTED, ERR_ZONE, true},
		{503, "RequestLimitExceeded", ERR_UNAVAILABLE, ERR_ACCOUNT, true},
		{401, "AuthFailure", ERR_DENIED, ERR_ACCOUNT, false},
		{403, "UnauthorizedOperation", ERR_DENIED, ERR_ACCOUNT, false},
		{400, "InvalidInstanceID.NotFound", ERR_NOT_FOUND, ERR_REQUEST, false},
		{400, "InvalidAMIID.NotFound", ERR_INVALID, ERR_REQUEST, false},
		{400, "InvalidParameterValue", ERR_INVALID, ERR_REQUEST, false},
		{400, "IdempotentParameterMismatch", ERR_CONFLICT, ERR_REQUEST, false},
		{429, NULL, ERR_UNAVAILABLE, ERR_PROVIDER, true},
		{403, NULL, ERR_DENIED, ERR_REQUEST, false},
		{200, NULL, ERR_PROTOCOL, ERR_REQUEST, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct err e = judge(cases[i].status, cases[i].code, true, 0);

		if (e.kind != cases[i].kind || e.scope != cases[i].scope ||
		    !!e.retry_after_ms != cases[i].waits)
			fail_msg("%s: %s", cases[i].code, err_kind_name(e.kind));
	}
}

static void what_the_header_says_of_time_comes_first(void **state)
{
	struct ec2_failure f = {
		.status = 503, .code = "RequestLimitExceeded", .retry_after_ms = 77000};
	struct err e;

	(void)state;
	(void)!ec2_error(&f, &e);
	assert_int_equal(e.retry_after_ms, 77000);
}

static void a_failing_service_may_have_changed_something(void **state)
{
	(void)state;
	assert_int_equal(judge(500, "InternalError", true, 0).kind, ERR_TIMEOUT);
	assert_int_equal(judge(503, "Unavailable", true, 0).kind, ERR_TIMEOUT);
	assert_int_equal(judge(502, NULL, true, 0).kind, ERR_TIMEOUT);
	assert_int_equal(judge(500, "InternalError", false, 0).kind, ERR_UNAVAILABLE);
	/* These error codes prove that nothing was launched. */
	assert_int_equal(judge(500, "InsufficientInstanceCapacity", true, 0).kind, ERR_CAPACITY);
	assert_int_equal(judge(503, "RequestLimitExceeded", true, 0).kind, ERR_UNAVAILABLE);
}

static void a_wrong_clock_is_found_before_the_signature_is_blamed(void **state)
{
	struct err e = judge(401, "AuthFailure", true, 900000);

	(void)state;
	assert_int_equal(e.kind, ERR_UNAVAILABLE);
	assert_int_equal(e.scope, ERR_PROVIDER);
	assert_non_null(strstr(e.text, "clock is 900 s behind the cloud's"));
	e = judge(403, "SignatureDoesNotMatch", true, -900000);
	assert_non_null(strstr(e.text, "clock is 900 s ahead of the cloud's"));
	assert_int_equal(judge(400, "RequestExpired", true, 900000).kind, ERR_UNAVAILABLE);
	assert_int_equal(judge(403, NULL, true, 900000).kind, ERR_UNAVAILABLE);
	/* A wrong clock does not explain these error codes. */
	assert_int_equal(judge(401, "AuthFailure", true, EC2_SKEW_MS).kind, ERR_DENIED);
	assert_int_equal(judge(403, "UnauthorizedOperation", true, 900000).kind, ERR_DENIED);
	assert_int_equal(judge(400, "VcpuLimitExceeded", true, 900000).kind, ERR_QUOTA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_code_has_a_kind_a_scope_and_a_time),
		cmocka_unit_test(what_the_header_says_of_time_comes_first),
		cmocka_unit_test(a_failing_service_may_have_changed_something),
		cmocka_unit_test(a_wrong_clock_is_found_before_the_signature_is_blamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
