#include "tests/unit/testing.h"

#include "netris/release.h"

static void each_release_is_judged_by_its_number(void **state)
{
	static const struct {
		const char *build;
		enum netris_release want;
		const char *says;
	} rows[] = {
		{NULL, NETRIS_RELEASE_UNTOLD, "cannot be read"},
		{"", NETRIS_RELEASE_UNTOLD, "cannot be read"},
		{"main-9f2c", NETRIS_RELEASE_UNTOLD, "main-9f2c"},
		{"4", NETRIS_RELEASE_UNTOLD, "not confirmed"},
		{"4.99999999", NETRIS_RELEASE_UNTOLD, "not confirmed"},
		{"3.9.2", NETRIS_RELEASE_OLD, "older than 4.5.3"},
		{"4.5", NETRIS_RELEASE_OLD, "older than 4.5.3"},
		{"4.5.2.041", NETRIS_RELEASE_OLD, "upgrade"},
		{"4.5.3", NETRIS_RELEASE_COVERED, "release 4.5.3"},
		{"v4.6.0-rc1", NETRIS_RELEASE_COVERED, "v4.6.0-rc1"},
		{"4.12.1", NETRIS_RELEASE_TROUBLED, "time out"},
		{"4.13", NETRIS_RELEASE_TROUBLED, "L3VPN"},
		{"4.14.0.7", NETRIS_RELEASE_COVERED, "4.14.0.7"},
		{"4.15.9", NETRIS_RELEASE_TROUBLED, "spec.network.probe"},
		{"4.16.0", NETRIS_RELEASE_NEW, "newer than 4.15"},
		{"5.0", NETRIS_RELEASE_NEW, "not confirmed"},
	};
	char text[NETRIS_RELEASE_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (netris_release_of(rows[i].build, text) != rows[i].want ||
		    !strstr(text, rows[i].says))
			fail_msg("%s: %s", rows[i].build ? rows[i].build : "(none)", text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_release_is_judged_by_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
