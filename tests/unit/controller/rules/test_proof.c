#include "tests/unit/testing.h"

#include "controller/rules/proof.h"

static void a_network_shows_no_more_than_it_can_know(void **state)
{
	struct provider_object p = {.spec.network.type = FABRIC_NONE};

	(void)state;
	assert_int_equal(proof_of_network(&p), VIRTUAL_CLUSTER_PROOF_NONE);
	p.spec.network.type = FABRIC_NETRIS;
	assert_int_equal(proof_of_network(&p), VIRTUAL_CLUSTER_PROOF_WEAK);
	p.spec.network.type = FABRIC_EXEC;
	assert_int_equal(proof_of_network(&p), VIRTUAL_CLUSTER_PROOF_STRONG);
}

static void packets_show_more_where_somebody_is_named_who_answers(void **state)
{
	const char *gate[] = {"10.1.1.1"};
	struct virtual_cluster_api_server way = {.via = VIA_ADDRESS, .address = "10.20.0.10:6443"};
	struct provider_object p = {.spec.network.type = FABRIC_NETRIS};
	struct virtual_cluster vc = {0};

	(void)state;
	assert_false(proof_by_packets(&p));
	p.spec.network.probe.provisioning = (struct strings){gate, 1};
	assert_true(proof_by_packets(&p));
	p.spec.network.type = FABRIC_NONE; /* a network of type none isolates nothing */
	assert_false(proof_by_packets(&p));
	assert_false(proof_is_probed(&vc));
	vc.spec.network.api_server = &way;
	assert_true(proof_is_probed(&vc));
	vc.spec.network.api_server = NULL;
	vc.spec.network.probe = (struct strings){gate, 1};
	assert_true(proof_is_probed(&vc));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_network_shows_no_more_than_it_can_know),
		cmocka_unit_test(packets_show_more_where_somebody_is_named_who_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
