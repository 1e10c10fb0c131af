#include "wipe/dhcp.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include "tests/unit/testing.h"
#include "wipe/net.h"

static const uint8_t mac[6] = {0x52, 0x54, 0, 0x12, 0x34, 0x56};
#define XID 0x11223344u

/* Builds a DHCP reply in the format of RFC 2131; returns its length. */
static size_t make_reply(uint8_t *p, const uint8_t *options, size_t n)
{
	uint32_t xid = XID;

	memset(p, 0, 240);
	p[0] = 2;
	p[1] = 1;
	p[2] = 6;
	memcpy(p + 4, &xid, 4);
	memcpy(p + 16, (uint8_t[]){10, 0, 2, 15}, 4);
	memcpy(p + 28, mac, 6);
	memcpy(p + 236, (uint8_t[]){99, 130, 83, 99}, 4);
	memcpy(p + 240, options, n);
	return 240 + n;
}

static const uint8_t offer[] = {53, 1,	2, 0, 54, 4, 10, 0,  2, 2, 1, 4, 255, 255, 255, 0,  3,
				4,  10, 0, 2, 2,  6, 8,	 10, 0, 2, 3, 8, 8,   8,   8,	255};

static void an_offer_is_understood(void **state)
{
	uint8_t p[600];
	struct dhcp_lease l;

	(void)state;
	assert_int_equal(dhcp_parse(p, make_reply(p, offer, sizeof(offer)), mac, XID, &l),
			 DHCP_OFFER);
	assert_int_equal(l.address, inet_addr("10.0.2.15"));
	assert_int_equal(l.mask, inet_addr("255.255.255.0"));
	assert_int_equal(l.router, inet_addr("10.0.2.2"));
	assert_int_equal(l.server, inet_addr("10.0.2.2"));
	assert_int_equal(l.dns[0], inet_addr("10.0.2.3"));
	assert_int_equal(l.dns[1], inet_addr("8.8.8.8"));
}

static void what_is_not_for_us_is_ignored(void **state)
{
	uint8_t p[600], other[6] = {1, 2, 3, 4, 5, 6};
	struct dhcp_lease l;
	size_t n = make_reply(p, offer, sizeof(offer));

	(void)state;
	assert_int_equal(dhcp_parse(p, n, mac, XID + 1, &l), 0);
	assert_int_equal(dhcp_parse(p, n, other, XID, &l), 0);
	p[0] = 1;
	assert_int_equal(dhcp_parse(p, n, mac, XID, &l), 0);
	p[0] = 2;
	p[236] = 0;
	assert_int_equal(dhcp_parse(p, n, mac, XID, &l), 0);
}

static void a_cut_reply_is_no_reply_at_any_length(void **state)
{
	uint8_t p[600];
	struct dhcp_lease l;
	size_t n = make_reply(p, offer, sizeof(offer));

	(void)state;
	for (size_t i = 0; i < n - 1; i++) {
		/* An allocation of exactly this size, so that a sanitizer detects a read beyond the
		 * end. */
		uint8_t *cut = malloc(i ? i : 1);
		int type;

		memcpy(cut, p, i);
		type = dhcp_parse(cut, i, mac, XID, &l);
		/* A reply is accepted only if it has at least the first options; whole options may
		 * be missing at the end. */
		if (type)
			assert_true(i >= 240 + 10);
		free(cut);
	}
}

static void a_request_names_what_was_offered(void **state)
{
	uint8_t p[DHCP_SIZE];
	struct dhcp_lease l = {.address = inet_addr("10.0.2.15"), .server = inet_addr("10.0.2.2")};

	(void)state;
	dhcp_build(p, DHCP_REQUEST, mac, XID, &l);
	assert_int_equal(p[0], 1);
	assert_int_equal(p[10], 0x80);
	assert_memory_equal(p + 28, mac, 6);
	assert_memory_equal(p + 240, "\65\1\3", 3);
	assert_memory_equal(p + 252, "\62\4\12\0\2\17\66\4\12\0\2\2", 12);
}

static void an_address_with_its_prefix_is_parsed_strictly(void **state)
{
	uint32_t address, mask;

	(void)state;
	assert_true(net_parse_cidr("10.1.0.17/24", &address, &mask));
	assert_int_equal(address, inet_addr("10.1.0.17"));
	assert_int_equal(mask, inet_addr("255.255.255.0"));
	assert_true(net_parse_cidr("10.1.0.17/32", &address, &mask));
	assert_int_equal(mask, 0xffffffff);
	assert_false(net_parse_cidr("10.1.0.17", &address, &mask));
	assert_false(net_parse_cidr("10.1.0.17/33", &address, &mask));
	assert_false(net_parse_cidr("10.1.0.17/0", &address, &mask));
	assert_false(net_parse_cidr("10.1.0/24", &address, &mask));
	assert_false(net_parse_cidr("10.1.0.17/24x", &address, &mask));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_offer_is_understood),
		cmocka_unit_test(what_is_not_for_us_is_ignored),
		cmocka_unit_test(a_cut_reply_is_no_reply_at_any_length),
		cmocka_unit_test(a_request_names_what_was_offered),
		cmocka_unit_test(an_address_with_its_prefix_is_parsed_strictly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
