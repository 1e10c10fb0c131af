#include "tests/unit/testing.h"

#include "controller/core/reserved.h"

static void a_bmc_is_reserved_on_every_port_however_it_is_written(void **state)
{
	OWN(reserved) r = reserved_new(NULL);

	(void)state;
	reserved_put(r, "the BMC of machine gpu-1", "https://10.0.8.17/redfish/v1/Systems/1",
		     false);
	reserved_put(r, "the BMC of machine gpu-2", "https://[FD00::8:0]:8443", false);
	reserved_put(r, "the BMC of machine gpu-3", "https://BMC-3.Example.com./redfish", false);
	assert_string_equal(reserved_owner(r, "10.0.8.17", 443), "the BMC of machine gpu-1");
	assert_non_null(reserved_owner(r, "10.0.8.17", 22));
	assert_non_null(reserved_owner(r, "::ffff:10.0.8.17", 443));
	assert_non_null(reserved_owner(r, "fd00:0:0:0::8:0", 6443));
	assert_non_null(reserved_owner_of(r, "https://bmc-3.example.com:6443/x"));
	assert_non_null(reserved_owner_of(r, "https://[fd00::8:0]"));
	assert_null(reserved_owner(r, "10.0.8.18", 443));
	assert_null(reserved_owner_of(r, "https://team-a.example.com:6443"));
	assert_null(reserved_owner(r, "", 443));
}

static void an_endpoint_is_reserved_on_its_own_port(void **state)
{
	OWN(reserved) r = reserved_new(NULL);

	(void)state;
	reserved_put(r, "agent", "https://10.1.0.5:8443", true);
	reserved_put(r, "media", "http://10.1.0.5", true);
	reserved_put(r, "plain", "https://drover.example", true);
	assert_string_equal(reserved_owner(r, "10.1.0.5", 8443), "agent");
	assert_string_equal(reserved_owner(r, "10.1.0.5", 80), "media");
	assert_null(reserved_owner(r, "10.1.0.5", 6443));
	assert_non_null(reserved_owner_of(r, "https://DROVER.example/"));
	assert_null(reserved_owner_of(r, "https://drover.example:6443"));
}

static void one_host_of_several_stays_until_the_last_has_gone(void **state)
{
	OWN(reserved) r = reserved_new(NULL);

	(void)state;
	reserved_put(r, "a", "https://10.0.8.1/1", false);
	reserved_put(r, "b", "https://10.0.8.1/2", false);
	reserved_put(r, "a", "https://10.0.8.2", false);
	reserved_put(r, "a", "https://10.0.8.2", false);
	assert_non_null(reserved_owner(r, "10.0.8.1", 1));
	reserved_put(r, "b", NULL, false);
	assert_null(reserved_owner(r, "10.0.8.1", 1));
	reserved_put(r, "never", NULL, false);
	reserved_put(r, "a", "", false);
	assert_null(reserved_owner(r, "10.0.8.2", 1));
}

static void a_network_is_reserved_whole(void **state)
{
	static const char *const networks[] = {"10.0.8.0/24", "fd00:8::/32", NULL};
	OWN(reserved) r = reserved_new(networks);

	(void)state;
	assert_string_equal(reserved_owner(r, "10.0.8.200", 443),
			    "an address of --management-network");
	assert_non_null(reserved_owner(r, "fd00:8::1", 443));
	assert_null(reserved_owner(r, "10.0.9.1", 443));
	assert_null(reserved_owner(r, "name.example", 443));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bmc_is_reserved_on_every_port_however_it_is_written),
		cmocka_unit_test(an_endpoint_is_reserved_on_its_own_port),
		cmocka_unit_test(one_host_of_several_stays_until_the_last_has_gone),
		cmocka_unit_test(a_network_is_reserved_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
