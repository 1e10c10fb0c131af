#include "tests/unit/testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include "base/http/http_address.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const local4[] = {"127.0.0.1", "127.255.255.255", "0.0.0.0",
				     "0.1.2.3",	  "169.254.169.254", "224.0.0.1",
				     "239.1.2.3", "255.255.255.255"};
static const char *const far4[] = {"10.0.0.1", "128.0.0.1", "169.253.0.1", "192.168.0.1",
				   "223.255.255.255"};
static const char *const local6[] = {
	"::",
	"::1",
	"fe80::1",
	"febf::1",
	"ff02::1",
	"::ffff:127.0.0.1",
	"::ffff:169.254.1.1",
	"::7f00:1",
	"64:ff9b::127.0.0.1",
	"64:ff9b:1::7f00:1",
	"::ffff:0:7f00:1",
	"2002:7f00:1::",
	"2002:a9fe:a9fe::1",
	"fd00:ec2::254",
};
static const char *const far6[] = {"2001:db8::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1",
				   "2002:a00:1::1"};

static void check(const char *const *texts, size_t n, bool local)
{
	for (size_t i = 0; i < n; i++)
		if (http_address_text_is_local(texts[i]) != local)
			fail_msg("%s", texts[i]);
}

static void addresses_of_this_machine_and_its_link_are_local(void **state)
{
	(void)state;
	check(local4, COUNT(local4), true);
	check(far4, COUNT(far4), false);
	check(local6, COUNT(local6), true);
	check(far6, COUNT(far6), false);
	/* "" stands for an address of an unknown family */
	assert_true(http_address_text_is_local(""));
	assert_true(http_address_text_is_local("fe80::1%eth0"));
	assert_true(http_address_text_is_local("neither"));
}

static void hosts_are_read_as_resolvers_read_them(void **state)
{
	static const char *const local[] = {"127.1",	  "0x7f000001",	 "2130706433",
					    "0177.0.0.1", "0",		 "localhost",
					    "LOCALHOST.", "x.localhost", "127.0.0.1."};
	static const char *const far[] = {"localhost.example", "10.1", "api.example", "168427521"};

	(void)state;
	for (size_t i = 0; i < COUNT(local); i++)
		if (!http_host_is_local(local[i], false))
			fail_msg("%s", local[i]);
	for (size_t i = 0; i < COUNT(far); i++)
		if (http_host_is_local(far[i], false))
			fail_msg("%s", far[i]);
	assert_true(http_host_is_local("::1", true));
	assert_false(http_host_is_local("2001:db8::1", true));
}

static void a_server_name_has_one_reading(void **state)
{
	static const char *const fine[] = {"api.example", "kubernetes", "10.0.0.1", "127.0.0.1",
					   "a_b.Example", "1.example",	"x1"};
	static const char *const wrong[] = {"",	   "127.1", "0x7f.0.0.1", "2130706433", "a..b",
					    ".a",  "a.",    "a b",	  "::1",	"a.0x7f.1",
					    "a/b", "a:b",   "0177.0.0.1", "1.2.3.4.5"};
	char label[66];

	(void)state;
	for (size_t i = 0; i < COUNT(fine); i++)
		if (!http_is_server_name(fine[i]))
			fail_msg("%s", fine[i]);
	for (size_t i = 0; i < COUNT(wrong); i++)
		if (http_is_server_name(wrong[i]))
			fail_msg("%s", wrong[i]);
	memset(label, 'a', 64);
	label[64] = '\0';
	assert_false(http_is_server_name(label));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_of_this_machine_and_its_link_are_local),
		cmocka_unit_test(hosts_are_read_as_resolvers_read_them),
		cmocka_unit_test(a_server_name_has_one_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
