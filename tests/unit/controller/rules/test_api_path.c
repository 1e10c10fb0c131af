#include "tests/unit/testing.h"

#include "controller/rules/api_path.h"

static struct object_name_ref hall = {"hall-a"};
static const char *backends[] = {"10.20.0.11:6443"};
static struct virtual_cluster_api_path found;
static struct virtual_cluster_api_server way;
static struct virtual_cluster vc;

static int setup(void **state)
{
	(void)state;
	way = (struct virtual_cluster_api_server){
		.via = VIA_L4LB, .backends = {backends, 1}, .provider_ref = &hall};
	found = (struct virtual_cluster_api_path){"10.20.0.50:6443", "hall-a"};
	vc = (struct virtual_cluster){.meta = {.name = "team-a", .uid = "5d1c"},
				      .spec = {.network = {.api_server = &way}},
				      .status = {.api_server = &found}};
	return 0;
}

static void without_a_way_there_is_no_address(void **state)
{
	(void)state;
	vc.spec.network.api_server = NULL;
	assert_null(api_path_address(&vc));
	assert_null(api_path_own_address(&vc));
	assert_null(api_path_balancer(&vc));
}

static void an_address_is_what_spec_says_or_what_was_found(void **state)
{
	(void)state;
	assert_string_equal(api_path_address(&vc), "10.20.0.50:6443");
	assert_string_equal(api_path_balancer(&vc), "hall-a");
	way.address = "10.20.0.51:6443";
	assert_string_equal(api_path_address(&vc), "10.20.0.51:6443");
	way.address = NULL;
	/* The address in status was found at another Provider, so it does not count. */
	found.provider = "hall-b";
	assert_null(api_path_address(&vc));
	vc.status.api_server = NULL;
	assert_null(api_path_address(&vc));
}

static void an_address_that_may_be_for_all_judges_nobody(void **state)
{
	(void)state;
	way.address = "10.20.0.51:6443";
	assert_string_equal(api_path_own_address(&vc), way.address);
	way.via = VIA_VIP;
	assert_string_equal(api_path_own_address(&vc), way.address);
	assert_null(api_path_balancer(&vc));
	way.via = VIA_ADDRESS;
	assert_null(api_path_own_address(&vc));
	assert_string_equal(api_path_address(&vc), way.address);
}

static void another_way_has_another_key(void **state)
{
	OWN(arena) a = arena_new();
	const char *key = api_path_key(&vc, a);

	(void)state;
	assert_string_equal(api_path_key(&vc, a), key);
	backends[0] = "10.20.0.12:6443";
	assert_string_not_equal(api_path_key(&vc, a), key);
	backends[0] = "10.20.0.11:6443";
	vc.meta.uid = "77aa";
	assert_string_not_equal(api_path_key(&vc, a), key);
	vc.meta.uid = "5d1c";
	way.via = VIA_VIP;
	assert_string_not_equal(api_path_key(&vc, a), key);
	way.via = VIA_L4LB;
	vc.spec.network.segment = "other";
	assert_string_not_equal(api_path_key(&vc, a), key);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_way_there_is_no_address),
		TEST(an_address_is_what_spec_says_or_what_was_found),
		TEST(an_address_that_may_be_for_all_judges_nobody),
		TEST(another_way_has_another_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
