#include "tests/unit/testing.h"

#include <string.h>
#include "providers/netris_proof.h"

/* A site with gpu-1 and its two ports, in cluster `q`, whose V-net contains both ports. Each case
 * breaks one thing */
struct site {
	struct netris_vnet_port ports[2], other_ports[1];
	struct netris_vnet vnets[2];
	struct netris_ref ref;
	struct netris_cluster cluster;
	struct netris_device switches[2];
	struct netris_snapshot snapshot;
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
	s->snapshot = (struct netris_snapshot){.clusters = &s->cluster,
					       .nclusters = 1,
					       .vnets = s->vnets,
					       .nvnets = 2,
					       .switches = s->switches,
					       .nswitches = 2};
}

static enum fabric_proof prove_in(struct site *s, const struct netris_cluster *c,
				  const char *const *common)
{
	return netris_prove(&s->snapshot, &s->machine, c, common, &s->seen, s->why, sizeof(s->why));
}

/* Returns the proof after a first snapshot, a new report of both switches, and a second
 * snapshot. */
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
	/* The proof stays valid although no switch has reported again. */
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
	s.switches[1].last_seen = 0; /* The switch is no longer reported. */
	assert_int_equal(prove_in(&s, &s.cluster, NULL), FABRIC_PROOF_NONE);
	s.snapshot.nswitches = 1;
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
		{not_in_it, "contains no port"},
		{in_another, "a-ns"},
		{other_unsaid, "does not report"},
		{no_links, "no link of this server"},
		{port_unsaid, "no switch port"},
		{switch_unsaid, "no switch port"},
		{too_many, "more links than"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(spoils) / sizeof(*spoils); i++) {
		struct site s;

		site_init(&s);
		spoils[i].how(&s);
		assert_int_equal(proved(&s), FABRIC_PROOF_NONE);
		if (!strstr(s.why, spoils[i].says))
			fail_msg("case %zu: %s", i, s.why);
		/* Breaks the same thing after the machine was proved to be in the cluster: the
		 * proof is lost. */
		site_init(&s);
		assert_int_equal(proved(&s), FABRIC_PROOF_WEAK);
		spoils[i].how(&s);
		assert_int_equal(prove_in(&s, &s.cluster, NULL), FABRIC_PROOF_NONE);
	}
}

/* A switch report from a time when the state was incomplete does not prove the later, complete
 * state. */
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
	/* The machine should be in no cluster, so no V-net may contain it. */
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

/* --- InfiniBand, NVLink ----------------------------------------------------------------------- */

/* A site whose cluster q has a template with both fabrics, InfiniBand and NVLink. A second cluster
 * also has both fabrics */
struct wide {
	struct site s;
	struct netris_template_vnet kinds[3];
	struct netris_template template_;
	struct netris_vnet vnets[5];
	struct netris_ref refs[3];
	/* Servers in the V-nets of cluster q (in) and of the second cluster (others): [0]
	 * InfiniBand, [1] NVLink */
	struct netris_vnet_server in[2], others[2];
};

static void wide_init(struct wide *w)
{
	static const char *const types[] = {"netris-ufm", "netris-nvlink"};

	site_init(&w->s);
	w->kinds[0] = (struct netris_template_vnet){.postfix = "ns", .type = "l2vpn"};
	w->vnets[0] = w->s.vnets[0];
	w->vnets[1] = w->s.vnets[1];
	w->refs[0] = w->s.ref;
	for (int f = 0; f < 2; f++) {
		w->in[f] = (struct netris_vnet_server){4, "gpu-1", "Active"};
		w->others[f] = (struct netris_vnet_server){5, "gpu-2", "Active"};
		w->kinds[1 + f] = (struct netris_template_vnet){.postfix = "f", .type = types[f]};
		w->vnets[2 + f] = (struct netris_vnet){.id = 81 + f,
						       .name = f ? "q-nvl" : "q-ib",
						       .type = types[f],
						       .state = "active",
						       .status = "Active",
						       .servers = {&w->in[f], 1, true},
						       .ports_count = -1};
		w->refs[1 + f] = (struct netris_ref){81 + f, ""};
	}
	w->vnets[4] = w->vnets[2];
	w->vnets[4].id = 91;
	w->vnets[4].name = "a-ib";
	w->vnets[4].servers.v = w->others;
	w->template_ =
		(struct netris_template){.id = 7, .name = "wide", .vnets = {w->kinds, 3, true}};
	w->s.cluster.template_.id = 7;
	w->s.cluster.vnets.v = w->refs;
	w->s.cluster.vnets.n = 3;
	w->s.snapshot.vnets = w->vnets;
	w->s.snapshot.nvnets = 5;
	w->s.snapshot.templates = &w->template_;
	w->s.snapshot.ntemplates = 1;
}

static void all_fabrics_are_proved_together(void **state)
{
	struct wide w;

	(void)state;
	wide_init(&w);
	assert_int_equal(proved(&w.s), FABRIC_PROOF_WEAK);
	/* Some fabric managers report no status for each server; that is accepted. */
	w.in[0].status = "";
	assert_int_equal(prove_in(&w.s, &w.s.cluster, NULL), FABRIC_PROOF_WEAK);
}

static void not_in_ib(struct wide *w)
{
	w->in[0].id = 6;
}
static void not_in_nvlink(struct wide *w)
{
	w->vnets[3].servers.n = 0;
}
static void not_applied(struct wide *w)
{
	w->in[1].status = "Provisioning";
}
static void ib_down(struct wide *w)
{
	w->vnets[2].status = "Error";
}
static void ib_unsaid(struct wide *w)
{
	w->vnets[2].servers.said = false;
	w->vnets[2].servers.n = 0;
}
/* Gives the InfiniBand V-net an empty list of ports, which shows nothing about its servers. */
static void ib_as_ports(struct wide *w)
{
	ib_unsaid(w);
	w->vnets[2].ports.said = true;
	w->vnets[2].ports_count = 0;
}
static void ib_not_shown(struct wide *w)
{
	w->s.cluster.vnets.n = 1;
	w->vnets[2].servers.n = w->vnets[3].servers.n = 0;
}
static void ib_untyped(struct wide *w)
{
	w->vnets[2].type = "";
}
static void in_another_ib(struct wide *w)
{
	w->others[0].id = 4;
}
static void other_ib_unsaid(struct wide *w)
{
	w->vnets[4].servers.said = false;
	w->vnets[4].servers.n = 0;
	w->vnets[4].ports.said = true;
	w->vnets[4].ports_count = 0;
}

static void one_fabric_that_is_not_proved_is_none(void **state)
{
	static const struct {
		void (*how)(struct wide *w);
		const char *says;
	} spoils[] = {
		{not_in_ib, "q-ib does not contain the server"},
		{not_in_nvlink, "q-nvl does not contain the server"},
		{not_applied, "NVLink V-net q-nvl lists the server as \"Provisioning\""},
		{ib_down, "q-ib has state \"active\" and status \"Error\""},
		{ib_unsaid, "does not report the members of InfiniBand V-net q-ib"},
		{ib_as_ports, "does not report the members of InfiniBand V-net q-ib"},
		{ib_not_shown, "shows 0 InfiniBand V-nets, but its template has 1"},
		{ib_untyped, "cannot be read"},
		{in_another_ib, "InfiniBand V-net a-ib also contains the server"},
		{other_ib_unsaid, "does not report the members of InfiniBand V-net a-ib"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(spoils) / sizeof(*spoils); i++) {
		struct wide w;

		wide_init(&w);
		spoils[i].how(&w);
		assert_int_equal(proved(&w.s), FABRIC_PROOF_NONE);
		if (!strstr(w.s.why, spoils[i].says))
			fail_msg("case %zu: %s", i, w.s.why);
	}
}

/* An isolated machine must be in no fabric of any tenant. */
static void a_segment_without_fabrics_is_in_none_of_others(void **state)
{
	struct wide w;

	(void)state;
	wide_init(&w);
	w.s.cluster.vnets.n = 1;
	w.s.cluster.template_.id = 8; /* The template of this cluster has Ethernet only. */
	assert_int_equal(proved(&w.s), FABRIC_PROOF_NONE);
	assert_non_null(strstr(w.s.why, "q-ib also contains the server"));
	w.in[0].id = w.in[1].id = 6;
	assert_int_equal(proved(&w.s), FABRIC_PROOF_WEAK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_weak_and_stays_so),
		cmocka_unit_test(one_switch_is_not_enough),
		cmocka_unit_test(each_missing_witness_is_named),
		cmocka_unit_test(a_gap_asks_for_a_new_heartbeat),
		cmocka_unit_test(common_vnets_do_not_count_and_none_is_a_place_too),
		cmocka_unit_test(all_fabrics_are_proved_together),
		cmocka_unit_test(one_fabric_that_is_not_proved_is_none),
		cmocka_unit_test(a_segment_without_fabrics_is_in_none_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
