#include "tests/unit/testing.h"

#include "base/quoted.h"
#include "base/str.h"

struct says {
	const char *text, *left;
};

/* A peer quotes the password that it was sent, in some encoding. */
static void a_known_secret_is_struck_out_however_it_is_written(void **state)
{
	static const struct says cases[] = {
		{"login admin:Pa55 w/rd% refused", "login admin:********** refused"},
		{"bad form: Pa55%20w%2Frd%25", "bad form: ****************"},
		{"twice Pa55%2520w%252frd%2525.", "twice **********************."},
		{"\\\"Pa55\\\" \\\"w/rd%\\\"", "\\\"**************\\\""},
		{"{'Pa' 'ss': 'Pa5' '5 w/r' 'd%'}", "{'Pa' 'ss': '****************'}"},
		{"Pa55\\u0020w\\/rd&#x25;", "*********************"},
		/* base64 of admin:PASSWORD */
		{"Basic YWRtaW46UGE1NSB3L3JkJQ==", "Basic YWRtaW46*************Q=="},
		/* base64 of root:PASSWORD */
		{"Basic cm9vdDpQYTU1IHcvcmQl", "Basic cm9vdDp*************"},
		{"Basic dTpQYTU1IHcvcmQl", "Basic dTp*************"}, /* base64 of u:PASSWORD */
		{"hex 5061353520772F726425", "hex ********************"},
		{"cut: Pa55 w", "cut: ******"},
		{"Pa55", "****"},
		{"Pa5 and Pa55 words", "Pa5 and Pa55 words"},
	};
	OWN(secret) s = secret_from_str("Pa55 w/rd%");
	OWN(secret) small = secret_from_str("abc");
	char text[256];
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		str_copy(text, sizeof(text), cases[i].text);
		quoted_redact(text, s);
		assert_string_equal(text, cases[i].left);
	}
	str_copy(text, sizeof(text), "abc stays: Pa55 w/rd%");
	quoted_redact(text, small);
	quoted_redact(text, NULL);
	assert_string_equal(text, "abc stays: Pa55 w/rd%");
	err_note(&e, ERR_DENIED, 401, "it says \"%s\"", text);
	quoted_redact_err(&e, NULL, s);
	assert_string_equal(e.text, "it says \"abc stays: **********\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_known_secret_is_struck_out_however_it_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
