#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "redfish/link.h"

#define ORIGIN "https://10.0.8.17"

static void links_on_the_same_server_give_their_path(void **state)
{
	static const struct {
		const char *link, *path;
	} good[] = {
		{"/redfish/v1/Systems/1", "/redfish/v1/Systems/1"},
		{"/redfish/v1/systems/1/bios/settings/", "/redfish/v1/systems/1/bios/settings/"},
		{"/redfish/v1/Systems?$skip=75", "/redfish/v1/Systems?$skip=75"},
		{"/redfish/v1/Systems/1#/Boot", "/redfish/v1/Systems/1"},
		{"/redfish/v1/Chassis/a%20b", "/redfish/v1/Chassis/a%20b"},
		{"/redfish/v1/x...y/.hidden", "/redfish/v1/x...y/.hidden"},
		{"/redfish/v1/x?next=../..", "/redfish/v1/x?next=../.."},
		{"https://10.0.8.17/redfish/v1", "/redfish/v1"},
		{"HTTPS://10.0.8.17:443/redfish/v1", "/redfish/v1"},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		char *path = link_path(ORIGIN, good[i].link, &e);

		if (!path)
			fail_msg("%s: %s", good[i].link, e.text);
		assert_string_equal(path, good[i].path);
		free(path);
	}
}

static void other_links_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"redfish/v1",
		"//10.6.6.6/redfish/v1",
		"https://10.6.6.6/redfish/v1",
		"http://10.0.8.17/redfish/v1",
		"https://10.0.8.17:8443/redfish/v1",
		"https://10.0.8.171/redfish/v1",
		"https://10.0.8.17@10.6.6.6/x",
		"https://u:p@10.0.8.17/x",
		"https://10.0.8.17",
		"https://10.0.8.17//x",
		"/redfish/../etc",
		"/redfish/..",
		"/redfish/./x",
		"/redfish/%2e%2e/x",
		"/redfish/.%2E/x",
		"/redfish/..?x",
		"/redfish/a%2fb",
		"/redfish/a%5cb",
		"/redfish/a%00b",
		"/redfish/a%0ab",
		"/redfish/a b",
		"/redfish/a\nb",
		"/redfish/a\r\nX-Y: z",
		"/redfish/a\\b",
		"/redfish/\xc3\xa4",
		"/redfish/%",
		"/redfish/%4",
		"/redfish/%zz",
		"ftp://10.0.8.17/x",
		"https:///x",
		"https://[::1/x",
		"https://:443/x",
		"https://10.0.8.17:/x",
		"https://10.0.8.17:44x/x",
		"javascript:alert(1)",
	};
	struct err e;
	char *path = mem_alloc(4096);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (link_path(ORIGIN, bad[i], &e))
			fail_msg("%s was taken", bad[i]);
		assert_int_equal(e.kind, ERR_PROTOCOL);
	}
	memset(path, 'a', 4095);
	path[0] = '/';
	assert_null(link_path(ORIGIN, path, &e));
	assert_null(link_path(ORIGIN, NULL, &e));
	free(path);
}

static void a_location_may_be_relative_to_what_was_asked_for(void **state)
{
	static const struct {
		/* path NULL: the location is refused. */
		const char *location, *path;
	} cases[] = {
		{"/redfish/v1/b", "/redfish/v1/b"},
		{"https://10.0.8.17/redfish/v1/b", "/redfish/v1/b"},
		{"b", "/redfish/v1/b"},
		{"./b/", "/redfish/v1/b/"},
		{"b?x=1", "/redfish/v1/b?x=1"},
		{"?x=1", "/redfish/v1/a?x=1"},
		{"", NULL},
		{NULL, NULL},
		{"../b", NULL},
		{"b/../../c", NULL},
		{"//10.6.6.6/b", NULL},
		{"https://10.6.6.6/b", NULL},
		{"http://10.0.8.17/b", NULL},
		{"https:b", NULL},
		{"javascript:b", NULL},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *path = link_from(ORIGIN, "/redfish/v1/a?y=2/3", cases[i].location, &e);

		if (!path != !cases[i].path)
			fail_msg("%s", cases[i].location);
		if (path)
			assert_string_equal(path, cases[i].path);
		else
			assert_int_equal(e.kind, ERR_PROTOCOL);
		free(path);
	}
}

static void an_address_is_split_into_server_and_path(void **state)
{
	static const struct {
		const char *url, *origin, *path;
	} good[] = {
		{"https://10.0.8.17", "https://10.0.8.17", ""},
		{"https://bmc-1.example:8443/redfish/v1/Systems/1", "https://bmc-1.example:8443",
		 "/redfish/v1/Systems/1"},
		{"https://[fd00::17]:443/", "https://[fd00::17]:443", "/"},
	};
	const char *path;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		char *origin = link_origin(good[i].url, &path, &e);

		assert_non_null(origin);
		assert_string_equal(origin, good[i].origin);
		assert_string_equal(path, good[i].path);
		free(origin);
	}
	assert_null(link_origin(NULL, &path, &e));
	assert_int_equal(e.kind, ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_on_the_same_server_give_their_path),
		cmocka_unit_test(other_links_are_refused),
		cmocka_unit_test(a_location_may_be_relative_to_what_was_asked_for),
		cmocka_unit_test(an_address_is_split_into_server_and_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
