#include "tests/unit/testing.h"

#include <string.h>
#include "providers/netris_proof.h"

/* gpu-1 with two ports, in the cluster `q`, whose V-net has both; each case spoils one thing. */
struct site {
	struct netris_vnet_port ports[2], other_ports[1];
	struct netris_vnet vnets[2];
	struct netris_ref ref;
	struct netris_cluster cluster;
	struct netris_device switches[2];
	struct netris_look look;
	struct netris_machine machine;
	struct netris_seen seen;
	char why[200];
};

static void site_init(struct site *s)
{
	*s = (struct site){
		.ports = {{11, "swp1@leaf-1", "Active"}, {12, "swp1@leaf-2", "Active"}},
		.other_ports = {{99, "swp9@leaf-1", "Active"}},
		.ref = {71, "q-ns"},
		.switches = {{.id = 1, .name = "leaf-1", .last_seen = 100},
			     {.id = 2, .name = "leaf-2", .last_seen = 200}},
		.machine = {.id = 4, .wires = {{11, "leaf-1"}, {12, "leaf-2"}}, .n = 2},
	};
	s->vnets[0] = (struct netris_vnet){.id = 71,
					   .name = "q-ns",
					   .state = "active",
					   .status = "Active",
					   .ports = {s->ports, 2, true},
					   .ports_count = 2};
	s->vnets[1] = (struct netris_vnet){.id = 72,
					   .name = "a-ns",
					   .state = "active",
					   .status = "Active",
					   .ports = {s->other_ports, 1, true},
					   .ports_count = 1};
	s->cluster = (struct netris_cluster){
		.id = 31, .name = "q", .status = "Active", .vnets = {&s->ref, 1, true}};
	s->look = (struct netris_look){.clusters = &s->cluster,
				       .nclusters = 1,
				       .vnets = s->vnets,
				       .nvnets = 2,
				       .switches = s->switches,
				       .nswitches = 2};
}

static enum fabric_proof prove_in(struct site *s, const struct netris_cluster *c,
				  const char *const *common)
{
	return netris_prove(&s->look, &s->machine, c, common, &s->seen, s->why, sizeof(s->why));
}

/* The first look, a heartbeat of both switches, the second one. */
static enum fabric_proof proved(struct site *s)
{
	(void)prove_in(s, &s->cluster, NULL);
	s->switches[0].last_seen++;
	s->switches[1].last_seen++;
	return prove_in(s, &s->cluster, NULL);
}

static void all_of_it_is_weak_and_stays_so(void **state)
{
	struct site s;

	(void)state;
	site_init(&s);
	assert_int_equal(prove_in(&s, &s.cluster, NULL), FABRIC_PROOF_NONE);
	assert_int_equal(proved(&s), FABRIC_PROOF_WEAK);
	assert_string_equal(s.why, "");
	/* Without another heartbeat. */
	assert_int_equal(prove_in(&s, &s.cluster, NULL), FABRIC_PROOF_WEAK);
}

static void one_switch_is_not_enough(void **state)
{
	struct site s;

	(void)state;
	site_init(&s);
	(void)prove_in(&s, &s.cluster, NULL);
	s.switches[0].last_seen += 1000;
	assert_int_equal(prove_in(&s, &s.cluster, NULL), FABRIC_PROOF_NONE);
	assert_non_null(strstr(s.why, "leaf-2"));
	s.switches[1].last_seen = 0; /* it does not say any more */
	assert_int_equal(prove_in(&s, &s.cluster, NULL), FABRIC_PROOF_NONE);
	s.look.nswitches = 1;
	assert_int_equal(prove_in(&s, &s.cluster, NULL), FABRIC_PROOF_NONE);
}

struct spoil {
	void (*how)(struct site *s);
	const char *says;
};

static void not_active(struct site *s)
{
	s->cluster.status = "Provisioning";
}
static void unknown_status(struct site *s)
{
	s->vnets[0].status = "Degraded";
}
static void disabled(struct site *s)
{
	s->vnets[0].state = "disabled";
}
static void no_vnet(struct site *s)
{
	s->cluster.vnets.n = 0;
}
static void vnet_unread(struct site *s)
{
	s->ref.id = 77;
}
static void not_in_it(struct site *s)
{
	s->ports[0].id = s->ports[1].id = 55;
}
static void in_another(struct site *s)
{
	s->other_ports[0].id = 12;
}
static void other_unsaid(struct site *s)
{
	s->vnets[1].ports.said = false;
	s->vnets[1].ports.n = 0;
	s->vnets[1].ports_count = -1;
}
static void no_links(struct site *s)
{
	s->machine.n = 0;
}
static void port_unsaid(struct site *s)
{
	s->machine.wires[1].port = 0;
}
static void switch_unsaid(struct site *s)
{
	s->machine.wires[1].switch_ = NULL;
}
static void too_many(struct site *s)
{
	s->machine.more = true;
}

static void each_missing_witness_is_named(void **state)
{
	static const struct spoil spoils[] = {
		{not_active, "Provisioning"},
		{unknown_status, "Degraded"},
		{disabled, "disabled"},
		{no_vnet, "no V-net"},
		{vnet_unread, "cannot be read"},
		{not_in_it, "none of its ports"},
		{in_another, "a-ns"},
		{other_unsaid, "does not say"},
		{no_links, "none of its links"},
		{port_unsaid, "which port"},
		{switch_unsaid, "which port"},
		{too_many, "more than"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(spoils) / sizeof(*spoils); i++) {
		struct site s;

		site_init(&s);
		spoils[i].how(&s);
		assert_int_equal(proved(&s), FABRIC_PROOF_NONE);
		if (!strstr(s.why, spoils[i].says))
			fail_msg("case %zu: %s", i, s.why);
		/* And when it is spoilt later. */
		site_init(&s);
		assert_int_equal(proved(&s), FABRIC_PROOF_WEAK);
		spoils[i].how(&s);
		assert_int_equal(prove_in(&s, &s.cluster, NULL), FABRIC_PROOF_NONE);
	}
}

/* What was heard while it was not so is no witness of its being so. */
static void a_gap_asks_for_a_new_heartbeat(void **state)
{
	struct site s;

	(void)state;
	site_init(&s);
	assert_int_equal(proved(&s), FABRIC_PROOF_WEAK);
	s.other_ports[0].id = 12;
	assert_int_equal(prove_in(&s, &s.cluster, NULL), FABRIC_PROOF_NONE);
	s.other_ports[0].id = 99;
	assert_int_equal(prove_in(&s, &s.cluster, NULL), FABRIC_PROOF_NONE);
	assert_int_equal(prove_in(&s, &s.cluster, NULL), FABRIC_PROOF_NONE);
	assert_int_equal(proved(&s), FABRIC_PROOF_WEAK);
}

static void common_vnets_do_not_count_and_none_is_a_place_too(void **state)
{
	static const char *const common[] = {"bmc", "a-ns", NULL};
	struct site s;

	(void)state;
	site_init(&s);
	s.other_ports[0].id = 12;
	for (int i = 0; i < 2; i++) {
		(void)prove_in(&s, &s.cluster, common);
		s.switches[0].last_seen++;
		s.switches[1].last_seen++;
	}
	assert_int_equal(prove_in(&s, &s.cluster, common), FABRIC_PROOF_WEAK);
	/* In no cluster: no V-net may have it. */
	(void)prove_in(&s, NULL, common);
	assert_non_null(strstr(s.why, "q-ns"));
	s.ports[0].id = s.ports[1].id = 55;
	for (int i = 0; i < 2; i++) {
		(void)prove_in(&s, NULL, common);
		s.switches[0].last_seen++;
		s.switches[1].last_seen++;
	}
	assert_int_equal(prove_in(&s, NULL, common), FABRIC_PROOF_WEAK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_weak_and_stays_so),
		cmocka_unit_test(one_switch_is_not_enough),
		cmocka_unit_test(each_missing_witness_is_named),
		cmocka_unit_test(a_gap_asks_for_a_new_heartbeat),
		cmocka_unit_test(common_vnets_do_not_count_and_none_is_a_place_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
