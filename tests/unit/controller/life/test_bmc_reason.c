/* Tests which reason drover reports for each error of a BMC. */
#include "tests/unit/testing.h"

#include "controller/life/bmc_reason.h"
#include "controller/rules/identity.h"
#include "providers/provider.h"

static void each_error_is_the_reason_that_its_cause_is(void **state)
{
	static const struct {
		enum err_kind kind;
		int code;
		enum reason reason;
	} cases[] = {
		{ERR_DENIED, 401, REASON_BmcAuthFailed},
		{ERR_DENIED, 403, REASON_BmcAuthFailed},
		{ERR_DENIED, PROVIDER_PASSWORD_CHANGE, REASON_BmcPasswordChange},
		{ERR_INVALID, PROVIDER_ADDRESS, REASON_BmcAddressInvalid},
		{ERR_NOT_FOUND, PROVIDER_ADDRESS, REASON_BmcAddressInvalid},
		{ERR_UNSUPPORTED, PROVIDER_ADDRESS, REASON_BmcAddressInvalid},
		{ERR_NOT_FOUND, 404, REASON_BmcProtocolError},
		{ERR_UNSUPPORTED, 405, REASON_BmcUnsupported},
		{ERR_UNAVAILABLE, 409, REASON_BmcBusy},
		{ERR_UNAVAILABLE, 423, REASON_BmcBusy},
		{ERR_PROTOCOL, 412, REASON_BmcProtocolError},
		{ERR_INVALID, 428, REASON_BmcProtocolError},
		{ERR_UNAVAILABLE, 429, REASON_BmcBusy},
		{ERR_UNAVAILABLE, 503, REASON_BmcBusy},
		{ERR_CAPACITY, 503, REASON_BmcBusy},
		{ERR_UNAVAILABLE, 500, REASON_BmcProtocolError},
		{ERR_UNAVAILABLE, 502, REASON_BmcUnreachable},
		{ERR_UNAVAILABLE, 0, REASON_BmcUnreachable},
		{ERR_TIMEOUT, 0, REASON_BmcUnreachable},
		{ERR_PROTOCOL, 308, REASON_BmcProtocolError},
		{ERR_CONFLICT, 0, REASON_DuplicateIdentity},
		{ERR_UNAVAILABLE, IDENTITY_UNTOLD, REASON_IdentityNotTold},
		{ERR_UNAVAILABLE, PROVIDER_OF_MANAGER, REASON_ManagerUnreachable},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {.kind = cases[i].kind, .code = cases[i].code};

		if (life_bmc_reason(&e) != cases[i].reason)
			fail_msg("%s with %d is %s", err_kind_name(e.kind), e.code,
				 reason_name(life_bmc_reason(&e)));
	}
}

/* A BMC's refusal of a medium is reported as MediaNotMounted. A wrong BMC address is still
 * BmcAddressInvalid. */
static void a_refused_medium_is_told_as_that(void **state)
{
	struct err e = {.kind = ERR_INVALID, .code = 400};

	(void)state;
	assert_int_equal(life_act_reason("insert-media", &e), REASON_MediaNotMounted);
	assert_int_equal(life_act_reason("power-on", &e), REASON_BmcProtocolError);
	e.code = PROVIDER_ADDRESS;
	assert_int_equal(life_act_reason("insert-media", &e), REASON_BmcAddressInvalid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_error_is_the_reason_that_its_cause_is),
		cmocka_unit_test(a_refused_medium_is_told_as_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
