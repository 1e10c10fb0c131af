#include "tests/unit/testing.h"

#include <stdio.h>
#include <string.h>
#include "providers/netris_api_path_judge.h"

/* Tests how Netris objects on the network path to a tenant's API server are judged. */
#define VPC 7

static struct netris_backend backends[3];
static struct netris_l4lb lb;
static const char *const wanted[] = {"10.20.0.11:6443", "10.20.0.12:6443", NULL};
static const char *const wanted_3[] = {"10.20.0.11:6443", "10.20.0.12:6443", "10.20.0.13:6443",
				       NULL};
static struct fabric_api_path way;
static char why[NETRIS_API_PATH_WHY];

static struct netris_gateway gateway;
static struct netris_vnet vnet;
static struct netris_member members[2];
static struct netris_cluster cluster;

static int setup(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		backends[i] = (struct netris_backend){.ip = i ? "10.20.0.12" : "10.20.0.11",
						      .port = 6443,
						      .status = "Healthy",
						      .response = ""};
	lb = (struct netris_l4lb){.id = 1,
				  .name = "drover-team-a-api-x",
				  .ip = "10.20.0.50",
				  .port = 6443,
				  .protocol = "tcp",
				  .status = "enable",
				  .label = "",
				  .vpc = {VPC, ""},
				  .backends = {backends, 2, true}};
	way = (struct fabric_api_path){.via = FABRIC_VIA_L4LB, .backends = wanted};
	gateway = (struct netris_gateway){.prefix = "10.20.0.1/24",
					  .dhcp = NETRIS_YES,
					  .dhcp_start = "10.20.0.100",
					  .dhcp_end = "10.20.0.199"};
	vnet = (struct netris_vnet){.id = 3,
				    .name = "drover-team-a-ns",
				    .type = "l2vpn",
				    .gateways = {&gateway, 1, true}};
	members[0] = (struct netris_member){1, "gpu-1", NETRIS_NO};
	members[1] = (struct netris_member){2, "host-1", NETRIS_YES};
	cluster = (struct netris_cluster){.name = "drover-team-a", .servers = {members, 2, true}};
	return 0;
}

static void assert_lb(bool up, const char *reason, const char *text)
{
	struct fabric_api_path_state seen;

	netris_judge_lb(&lb, VPC, &way, &seen, why);
	assert_string_equal(seen.reason, reason);
	assert_int_equal(seen.up, up);
	assert_non_null(strstr(seen.why, text));
}

static void assert_vip(const char *vip, bool up, const char *reason, const char *text)
{
	struct fabric_api_path_state seen;

	netris_judge_vip(&cluster, &vnet, 1, vip, &seen, why);
	assert_string_equal(seen.reason, reason);
	assert_int_equal(seen.up, up);
	assert_non_null(strstr(seen.why, text));
}

static void a_load_balancer_is_up_while_a_backend_is_healthy(void **state)
{
	(void)state;
	assert_lb(true, "Healthy", "all 2 backends");
	backends[0].status = "down";
	backends[0].response = "refused";
	assert_lb(true, "Degraded", "10.20.0.11:6443 is \"down\": refused");
	backends[1].maintenance = NETRIS_YES;
	assert_lb(false, "BackendUnhealthy", "and 1 more");
}

/* One healthy backend is enough, whatever the state of the others, since a load balancer sends
 * traffic to healthy backends only. */
static void one_healthy_backend_of_three_is_enough_and_none_is_not(void **state)
{
	static const char *const bad[] = {"down", "", "blue"};

	(void)state;
	way.backends = wanted_3;
	lb.backends.n = 3;
	for (unsigned ill = 0; ill < 1u << 3; ill++) {
		unsigned healthy = 3 - (unsigned)__builtin_popcount(ill);
		char text[64];

		for (unsigned i = 0; i < 3; i++)
			backends[i] = (struct netris_backend){.ip = i == 0   ? "10.20.0.11"
								    : i == 1 ? "10.20.0.12"
									     : "10.20.0.13",
							      .port = 6443,
							      .status = ill & 1u << i ? bad[i]
										      : "Healthy",
							      .response = ""};
		(void)snprintf(text, sizeof(text), "%u of 3 backends healthy", healthy);
		if (healthy == 0)
			assert_lb(false, "BackendUnhealthy", "and 2 more");
		else if (healthy < 3)
			assert_lb(true, "Degraded", text);
		else
			assert_lb(true, "Healthy", "all 3 backends");
	}
}

static void a_word_that_is_not_known_is_not_health(void **state)
{
	(void)state;
	backends[0].status = backends[1].status = "blue";
	assert_lb(false, "BackendUnhealthy", "is \"blue\"");
	backends[0].status = backends[1].status = "";
	assert_lb(false, "BackendUnhealthy", "reports no health");
}

static void one_that_every_tenant_may_reach_is_not_used(void **state)
{
	(void)state;
	lb.vpc.id = 0;
	assert_lb(false, "VPCNotSaid", "does not report the VPC");
	lb.vpc.id = 8;
	assert_lb(false, "VPCDiffers", "not in the VPC");
}

static void one_that_is_another_than_wanted_is_not_used(void **state)
{
	(void)state;
	assert_false(netris_lb_differs(&lb, &way));
	lb.status = "disable";
	assert_true(netris_lb_differs(&lb, &way));
	assert_lb(false, "NotAsWanted", "\"disable\"");
	lb.status = "enable";
	lb.backends.n = 1;
	assert_lb(false, "NotAsWanted", "and 1 backends");
	lb.backends.n = 2;
	backends[1].port = 6444;
	assert_true(netris_lb_differs(&lb, &way));
	backends[1].port = 6443;
	way.address = "10.20.0.50:6443";
	assert_false(netris_lb_differs(&lb, &way));
	way.address = "10.20.0.51:6443";
	assert_true(netris_lb_differs(&lb, &way));
	way.address = NULL;
	lb.ip = "";
	assert_lb(false, "NoAddress", "no address yet");
}

static void a_vip_is_of_the_subnet_and_nobody_else_s(void **state)
{
	(void)state;
	assert_vip("10.20.0.10", true, "VIP", "drover-team-a-ns");
	assert_vip("10.20.0.1", false, "VIPIsGateway", "is the gateway");
	assert_vip("10.20.0.150", false, "VIPInDHCPRange", "10.20.0.100 to 10.20.0.199");
	assert_vip("10.20.0.199", false, "VIPInDHCPRange", "");
	assert_vip("10.20.0.200", true, "VIP", "");
	assert_vip("10.21.0.10", false, "VIPOutside", "in no subnet");
	gateway.dhcp_start = gateway.dhcp_end = "";
	assert_vip("10.20.0.10", false, "VIPInDHCPRange", "of 10.20.0.1/24");
	gateway.dhcp = NETRIS_NO;
	assert_vip("10.20.0.10", true, "VIP", "");
}

static void a_vip_needs_layer_2_and_the_hosts(void **state)
{
	(void)state;
	vnet.type = "l3vpn";
	assert_vip("10.20.0.10", false, "NotLayer2", "ARP");
	vnet.type = "netris-ufm";
	assert_vip("10.20.0.10", false, "NoVNet", "no Ethernet");
	vnet.type = "l2vpn";
	members[1].shared = NETRIS_NO;
	assert_vip("10.20.0.10", false, "NoHost", "hostServers");
}

static void what_a_release_does_not_say_is_left_to_packets(void **state)
{
	(void)state;
	vnet.gateways.n = 0;
	assert_vip("10.20.0.10", true, "VIPUnchecked", "does not report the subnet");
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_load_balancer_is_up_while_a_backend_is_healthy),
		TEST(one_healthy_backend_of_three_is_enough_and_none_is_not),
		TEST(a_word_that_is_not_known_is_not_health),
		TEST(one_that_every_tenant_may_reach_is_not_used),
		TEST(one_that_is_another_than_wanted_is_not_used),
		TEST(a_vip_is_of_the_subnet_and_nobody_else_s),
		TEST(a_vip_needs_layer_2_and_the_hosts),
		TEST(what_a_release_does_not_say_is_left_to_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
