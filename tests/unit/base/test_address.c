#include "tests/unit/testing.h"

#include "base/address.h"
#include "base/str.h"

static void a_host_is_what_stands_before_the_port(void **state)
{
	static const struct {
		const char *text, *host;
	} t[] = {
		{"10.1.0.17", "10.1.0.17"},
		{"10.1.0.17:5012", "10.1.0.17"},
		{"fd00::17", "fd00::17"},
		{"[fd00::17]:5012", "fd00::17"},
		{"[fd00:0:0::17]", "fd00::17"},
		{"::ffff:10.1.0.17", "10.1.0.17"},
		{"[::ffff:10.1.0.17]:8443", "10.1.0.17"},
		{"rack", ""},
		{"unknown", ""},
		{"[fd00::17", ""},
		{"[fd00::17]5012", ""},
		{"10.1.0", ""},
		{"10.1.0.17.9", ""},
		{"010.1.0.17", ""},
		{"", ""},
		{NULL, ""},
		{"[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]:1", ""},
	};
	char host[ADDRESS_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		assert_int_equal(address_host(t[i].text, host), t[i].host[0] != '\0');
		assert_string_equal(host, t[i].host);
	}
}

static void a_service_has_a_port_from_1(void **state)
{
	static const struct {
		const char *text, *host;
		unsigned port;
	} t[] = {
		{"10.1.0.17", "10.1.0.17", 0},
		{"10.1.0.17:6443", "10.1.0.17", 6443},
		{"fd00::17", "fd00::17", 0},
		{"[fd00::17]", "fd00::17", 0},
		{"[fd00::17]:65535", "fd00::17", 65535},
	};
	static const char *const none[] = {"",
					   "rack:1",
					   "10.1.0.17:",
					   "10.1.0.17:0",
					   "10.1.0.17:65536",
					   "10.1.0.17:x",
					   "[fd00::17]:",
					   "[fd00::17]:0",
					   "10.1.0.0/24",
					   NULL};
	char host[ADDRESS_TEXT] = "as it was";
	uint16_t port = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_false(address_service(none[i], host, &port));
	assert_string_equal(host, "as it was");
	assert_int_equal(port, 7);
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		assert_true(address_service(t[i].text, host, &port));
		assert_string_equal(host, t[i].host);
		assert_int_equal(port, t[i].port);
	}
}

static void the_same_host_is_the_same_whatever_the_port_and_the_spelling(void **state)
{
	(void)state;
	assert_true(address_same("10.1.0.17:5012", "10.1.0.17"));
	assert_true(address_same("[::ffff:10.1.0.17]:1", "10.1.0.17:2"));
	assert_true(address_same("[fd00::1]:1", "fd00:0::1"));
	assert_false(address_same("10.1.0.17", "10.1.0.18"));
	assert_false(address_same("10.1.0.17", NULL));
	assert_false(address_same(NULL, NULL));
	assert_true(address_same("rack", "rack"));
	assert_false(address_same("rack", "rack-2"));
	assert_false(address_same("rack", "10.1.0.17"));
}

static void a_network_holds_its_addresses_alone(void **state)
{
	static const char *const nets[] = {"10.1.0.0/24", "fd00:1::/32", "192.0.2.7/32", "nonsense",
					   "10.1.0.0"};
	static const char *const all[] = {"0.0.0.0/0"};

	(void)state;
	assert_true(address_in("10.1.0.0:1", nets, 5));
	assert_true(address_in("10.1.0.255", nets, 5));
	assert_true(address_in("::ffff:10.1.0.9", nets, 5));
	assert_false(address_in("10.1.1.0", nets, 5));
	assert_false(address_in("10.0.255.255", nets, 5));
	assert_true(address_in("[fd00:1:2::3]:8443", nets, 5));
	assert_false(address_in("fd00:2::3", nets, 5));
	assert_true(address_in("192.0.2.7", nets, 5));
	assert_false(address_in("192.0.2.6", nets, 5));
	assert_false(address_in("nonsense", nets, 5));
	assert_true(address_in("203.0.113.9", all, 1));
	assert_false(address_in("fd00::1", all, 1)); /* all is the IPv4 network 0.0.0.0/0 only */
	assert_false(address_in("10.1.0.1", nets, 0));
}

static void a_network_is_written_without_bits_beyond_its_prefix(void **state)
{
	(void)state;
	assert_true(address_is_network("10.1.0.0/24"));
	assert_true(address_is_network("0.0.0.0/0"));
	assert_true(address_is_network("fd00::/8"));
	assert_true(address_is_network("::1/128"));
	assert_false(address_is_network("10.1.0.1/24"));
	assert_false(address_is_network("10.1.0.0/33"));
	assert_false(address_is_network("10.1.0.0/-1"));
	assert_false(address_is_network("10.1.0.0"));
	assert_false(address_is_network("fd00::/129"));
	assert_false(address_is_network("host/24"));
	assert_false(address_is_network(""));
	assert_false(address_is_network(NULL));
}

static uint64_t seed = 521288629;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(seed >> 33) % n;
}

/* Random IPv4 networks, compared with integer arithmetic. */
static void networks_agree_with_arithmetic(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		const unsigned bits = draw(33);
		const uint32_t mask = bits ? UINT32_MAX << (32 - bits) : 0;
		uint32_t net = draw(UINT32_MAX), host = draw(3) ? net ^ (1u << draw(32)) : net;
		char cidr[32], text[32];
		const char *const list[] = {cidr};

		net = draw(2) ? net & mask : net;
		str_format(cidr, sizeof(cidr), "%u.%u.%u.%u/%u", net >> 24, net >> 16 & 255,
			   net >> 8 & 255, net & 255, bits);
		str_format(text, sizeof(text), "%u.%u.%u.%u%s", host >> 24, host >> 16 & 255,
			   host >> 8 & 255, host & 255, draw(2) ? ":6443" : "");
		assert_int_equal(address_is_network(cidr), (net & ~mask) == 0);
		assert_int_equal(address_in(text, list, 1), (host & mask) == (net & mask));
	}
	assert_false(address_is_network("10.0.0.0/08"));
	assert_false(address_is_network("10.0.0.0/+8"));
	assert_true(address_is_network("0.0.0.0/0"));
}

static void addresses_of_a_family_have_an_order(void **state)
{
	(void)state;
	assert_int_equal(address_order("10.20.0.9", "10.20.0.9"), 0);
	assert_true(address_order("10.20.0.9", "10.20.0.100") < 0);
	assert_true(address_order("10.20.1.0:80", "10.20.0.255") > 0);
	assert_true(address_order("fd00::a", "fd00::10") < 0);
	assert_int_equal(address_order("fd00::a", "10.20.0.1"), 0);
	assert_int_equal(address_order("a", "10.20.0.1"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_is_what_stands_before_the_port),
		cmocka_unit_test(a_service_has_a_port_from_1),
		cmocka_unit_test(the_same_host_is_the_same_whatever_the_port_and_the_spelling),
		cmocka_unit_test(a_network_holds_its_addresses_alone),
		cmocka_unit_test(a_network_is_written_without_bits_beyond_its_prefix),
		cmocka_unit_test(networks_agree_with_arithmetic),
		cmocka_unit_test(addresses_of_a_family_have_an_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
