#include "tests/unit/testing.h"

#include <string.h>
#include "base/err.h"
#include "base/redact.h"
#include "base/str.h"

#define T32 "0123456789abcdef0123456789ABCDEF"
#define TOKEN T32 T32
#define STARS32 "********************************"

struct says {
	const char *text, *left;
};

static void what_opens_something_is_struck_out(void **state)
{
	static const struct says cases[] = {
		{"cannot mount http://d:8080/boot/" TOKEN "/drover-agent.iso",
		 "cannot mount http://d:8080/boot/" STARS32 STARS32 "/drover-agent.iso"},
		{"http%3A%2F%2Fd%3A8080%2Fboot%2F" TOKEN "%2Fdrover",
		 "http%3A%2F%2Fd%3A8080%2Fboot%2F" STARS32 STARS32 "%2Fdrover"},
		{"%252Fboot%252F" TOKEN, "%252Fboot%252F" STARS32 STARS32},
		{"HTTP:\\/\\/D\\/BOOT\\/ABCDEF12", "HTTP:\\/\\/D\\/BOOT\\/********"},
		{"&#x2f;boot&#47;abc1&#x2f;x", "&#x2f;boot&#47;****&#x2f;x"},
		{"\\u002fboot\\u002Fabc1 x", "\\u002fboot\\u002F**** x"},
		{"/bo%6ft/%61bc", "/bo%6ft/*****"}, /* escaped hex digits count, too */
		{TOKEN, STARS32 STARS32},
		{"'" T32 "%61"
		 "'",
		 "'" STARS32 "***'"},
		{"/boot/abc", "/boot/***"}, /* truncated */
		{"https://user:word@host/a?X-Sig=1&b=2 is gone",
		 "https://*********@host/a?*********** is gone"},
		{"https%3a//u%40x%40host", "https%3a//*****%40host"},
		{"token \"abcdef.0123456789abcdef\" is known",
		 "token \"abcdef.****************\" is known"},
		{"Bearer eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrIn0.abc_-",
		 "Bearer ******************************************"},
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		str_copy(text, sizeof(text), cases[i].text);
		redact(text);
		assert_string_equal(text, cases[i].left);
	}
}

static void what_tells_things_apart_stays(void **state)
{
	static const char *const cases[] = {
		"",
		"%",
		"%2",
		"\\u00",
		"&#",
		"&#x",
		"100% of it, a/b?c=d",
		"machine 4c4c4544-0035-3410-8050-c6c04f314733, drive "
		"eui.36344730528000590025384500000001",
		"want sha256:" TOKEN,
		"POST /redfish/v1/Systems/1/VirtualMedia/Cd: 400 PropertyValueError",
		"https://10.0.8.17/redfish/v1 does not answer",
		"secrets \"bootstrap-token-abcdef\" already exists",
		"abcdef.0123456789abcde",
		"/boot/vmlinuz",
		"eyJust a word",
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		str_copy(text, sizeof(text), cases[i]);
		redact(text);
		assert_string_equal(text, cases[i]);
	}
}

static void no_error_holds_it(void **state)
{
	struct err e;

	(void)state;
	err_note(&e, ERR_INVALID, 0, "the BMC says: %s", TOKEN);
	assert_null(strstr(e.text, T32));
	str_copy(e.text, sizeof(e.text), TOKEN); /* set without err_set() */
	err_note_wrap(&e, "/boot/%s", "abc123");
	assert_string_equal(e.text, "/boot/******: " STARS32 STARS32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_opens_something_is_struck_out),
		cmocka_unit_test(what_tells_things_apart_stays),
		cmocka_unit_test(no_error_holds_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
