/* Probes: packets that prove in which segment a port is, in addition to the switches' reports. */
#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/netris.h"

#define GROUP "/apis/" OBJECT_API_VERSION

static void name_tenant(struct sim_world *w, const char *tenant, const char *address)
{
	char path[200];

	str_format(path, sizeof(path), GROUP "/virtualclusters/%s", tenant);
	world_do(w, &w->host, "PATCH", path,
		 json_pack("{s:{s:{s:[s]}}}", "spec", "network", "probe", address));
}

static void name_ours(struct sim_world *w, const char *quarantine, const char *provisioning)
{
	world_do(w, &w->host, "PATCH", GROUP "/providers/rack",
		 json_pack("{s:{s:{s:{s:[s], s:[s]}}}}", "spec", "network", "probe", "quarantine",
			   quarantine, "provisioning", provisioning));
}

/* Sets the probe address of each segment to that of the segment's gateway, which answers only in
 * that segment. */
static void name_gates(struct sim_world *w)
{
	name_ours(w, SERVER_QUARANTINE_GATE, SERVER_PROVISIONING_GATE);
	name_tenant(w, "team-a", SERVER_TEAM_A_GATE);
	name_tenant(w, "team-b", SERVER_TEAM_B_GATE);
}

static void packets_prove_what_switches_only_say(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 301, 1);
	world_netris_start(&n, &w, 20, false);
	name_gates(&w);
	world_replica(&w);
	world_wait_state(b, "wiping", 1800);
	assert_string_equal(world_at(b, "status.network.segment"), "quarantine");
	assert_string_equal(world_at(b, "status.network.proof"), "Strong");
	assert_string_equal(world_at(b, "status.network.probe.message"), "");
	world_wait_state(b, "free", 1800);
	assert_string_equal(world_at(b, "status.network.proof"), "Weak");
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "imaging", 1800);
	assert_string_equal(world_at(b, "status.network.segment"), "provisioning");
	assert_string_equal(world_at(b, "status.network.proof"), "Strong");
	/* The next leader does not repeat the probe, but knows its result. */
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_string_equal(world_at(b, "status.network.segment"), "tenant/team-a");
	assert_string_equal(world_at(b, "status.network.proof"), "Strong");
	assert_string_equal(world_at(b, "status.network.probe.message"), "");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "inspecting", 1800);
	assert_string_equal(world_at(b, "status.network.proof"), "Strong");
	world_wait_state(b, "free", 1800);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	world_netris_stop(&n);
}

/* A machine in quarantine reaches a tenant's network: the switch has a rule against this and does
 * not enforce it. The switch's configuration does not show the leak; only a probe does. */
static void a_machine_that_reaches_a_tenant_from_quarantine_stays_there(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 302, 1);
	name_gates(&w);
	b->leaks = "tenant/team-b";
	world_replica(&w);
	world_wait_state(b, "quarantined", 1800);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "NetworkLeak");
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), SERVER_TEAM_B_GATE
			       " answered, which only segment tenant/team-b should reach"));
	assert_string_equal(world_at(b, "status.network.proof"), "None");
	assert_string_equal(world_at(b, "status.network.probe.leak"), SERVER_TEAM_B_GATE);
	assert_null(strstr(w.log, "wiping"));
	world_run(&w, 60000);
	assert_int_equal(b->doing, SERVER_OFF);
	/* The probe is repeated without an operator. */
	b->leaks = NULL;
	world_wait_state(b, "free", 8 * 3600);
	world_stop(&w);
}

/* A tenant's machine that reaches another tenant runs no pods and leaves. */
static void a_node_that_reaches_another_tenant_never_serves(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 306, 1);
	name_gates(&w);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "booting", 1800);
	b->leaks = "tenant/team-b";
	world_wait_reason(b, "NetworkLeak", 1800);
	assert_non_null(strstr(w.log, SERVER_TEAM_B_GATE
			       " answered, which only segment tenant/team-b should reach"));
	assert_null(strstr(w.log, "serving"));
	b->leaks = NULL;
	world_wait_running(&w, &w.tenants[0], "train", 12 * 3600);
	world_stop(&w);
}

static void what_a_tenant_s_api_server_changes_proves_nothing(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 307, 1);
	world_netris_start(&n, &w, 20, false);
	name_gates(&w);
	b->says_proved = true;
	/* No machine gets an answer from this address, but the forged label on the Node reports
	 * "proved". */
	name_tenant(&w, "team-a", "10.90.9.9");
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_string_equal(world_at(b, "status.network.proof"), "Weak");
	assert_non_null(
		strstr(world_at(b, "status.network.probe.message"), "not written by its image"));
	world_netris_stop(&n);
}

/* The controller and its switches report provisioning, but the port never left quarantine. */
static void a_switch_that_lies_about_a_port_gets_no_tenant_s_bytes(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 303, 1);
	world_netris_start(&n, &w, 20, false);
	name_gates(&w);
	sim_netris_fault(n.sim, "PortLie", NULL, "leaf-1", 0, 0);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	assert_string_equal(world_at(b, "status.network.segment"), "provisioning");
	assert_string_equal(b->segment, "quarantine");
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "NetworkLeak", 1800);
	assert_int_equal(b->tenancy, json_int_at(b->object, "status", "lastWipe", "tenancy"));
	sim_netris_well(n.sim);
	world_wait_running(&w, &w.tenants[0], "train", 12 * 3600);
	world_netris_stop(&n);
}

static void an_answer_that_is_missing_leaves_the_proof_weak_and_is_said(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 304, 1);
	world_netris_start(&n, &w, 20, false);
	name_gates(&w);
	name_ours(&w, "10.90.9.9", SERVER_PROVISIONING_GATE);
	world_replica(&w);
	world_wait_state(b, "wiping", 1800);
	assert_string_equal(world_at(b, "status.network.proof"), "Weak");
	assert_string_equal(world_at(b, "status.network.probe.message"),
			    "10.90.9.9 of segment quarantine did not answer");
	world_wait_state(b, "free", 1800);
	world_netris_stop(&n);
}

static void an_agent_of_before_is_not_asked(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 305, 1);
	world_netris_start(&n, &w, 20, false);
	name_gates(&w);
	b->probes_not = true;
	world_replica(&w);
	world_wait_state(b, "wiping", 1800);
	assert_string_equal(world_at(b, "status.network.proof"), "Weak");
	assert_non_null(strstr(world_at(b, "status.network.probe.message"), "too old"));
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_string_equal(world_at(b, "status.network.proof"), "Weak");
	assert_non_null(strstr(world_at(b, "status.network.probe.message"), "its image"));
	world_netris_stop(&n);
}

static void demand(struct sim_world *w, const char *tenant, const char *proof)
{
	char path[200];

	str_format(path, sizeof(path), GROUP "/virtualclusters/%s", tenant);
	world_do(w, &w->host, "PATCH", path,
		 json_pack("{s:{s:{s:s}}}", "spec", "network", "requireProof", proof));
}

static void a_tenant_that_demands_a_proof_gets_it(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 308, 1);
	world_netris_start(&n, &w, 20, false);
	name_gates(&w);
	demand(&w, "team-a", "Strong");
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	assert_string_equal(world_at(&w.servers[0], "status.network.proof"), "Strong");
	world_netris_stop(&n);
}

/* Two cases in which the tenant requires a proof of isolation that is impossible: the agent cannot
 * run probes (later 0); or the tenant has no probe address, and begins to require a strong proof
 * after the claim exists (later 1). In both no image is written to the machine. */
static void what_cannot_be_proved_is_not_begun(void **state)
{
	(void)state;
	for (int later = 0; later < 2; later++) {
		struct sim_world w;
		struct world_netris n;
		struct server *b = &w.servers[0];

		world_start(&w, 309 + (unsigned)later, 1);
		world_netris_start(&n, &w, 20, false);
		if (later) {
			name_ours(&w, SERVER_QUARANTINE_GATE, SERVER_PROVISIONING_GATE);
			name_tenant(&w, "team-b", SERVER_TEAM_B_GATE);
		} else {
			name_gates(&w);
			b->probes_not = true;
			demand(&w, "team-a", "Strong");
		}
		world_replica(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_state(b, "claimed", 1800);
		demand(&w, "team-a", "Strong");
		world_wait_reason(b, "NetworkProofWeak", 1800);
		assert_string_equal(b->state, "claimed");
		world_run(&w, 300000);
		assert_null(strstr(w.log, "imaging"));
		demand(&w, "team-a", "Weak");
		world_wait_running(&w, &w.tenants[0], "train", 6 * 3600);
		world_netris_stop(&n);
	}
}

static void put_team_b(struct sim_world *w, const char *segment)
{
	world_do(w, &w->host, "PATCH", GROUP "/virtualclusters/team-b",
		 json_pack("{s:{s:{s:s, s:[s]}}}", "spec", "network", "segment", segment, "probe",
			   SERVER_TEAM_A_GATE));
}

/* A probe address that one VirtualCluster names for a segment counts for every tenant in that
 * segment, until the VirtualCluster moves to another segment. */
static void an_address_counts_at_once_for_whoever_shares_the_segment(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 316, 1);
	world_netris_start(&n, &w, 20, false);
	name_ours(&w, SERVER_QUARANTINE_GATE, SERVER_PROVISIONING_GATE);
	demand(&w, "team-a", "Strong");
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	leaving_wait_event(&w, &w.tenants[0], "NetworkProofWeak", "set spec.network.probe");
	put_team_b(&w, "team-a");
	world_wait_state(b, "claimed", 20);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 900);
	put_team_b(&w, "elsewhere");
	world_pod(&w, &w.tenants[0], "next");
	world_run(&w, 60000);
	assert_string_equal(b->state, "free");
	world_netris_stop(&n);
}

static bool count_claim(const json_t *o, void *arg)
{
	(void)o;
	++*(unsigned *)arg;
	return true;
}

/* Checks that a pod gets an event with `text`, which names the network with the insufficient proof,
 * and that no machine is claimed. */
static void refused_to(struct sim_world *w, const char *text)
{
	struct server *b = &w->servers[0];
	unsigned claims = 0;
	int64_t tenancy;

	world_wait_state(b, "free", 1800);
	tenancy = b->tenancy;
	world_pod(w, &w->tenants[0], "train");
	leaving_wait_event(w, &w->tenants[0], "NetworkProofWeak", text);
	world_run(w, 3600000);
	cluster_each(&w->host, "nodeclaims.drover.dev/", count_claim, &claims);
	assert_int_equal(claims, 0);
	assert_string_equal(b->state, "free");
	assert_int_equal(b->tenancy, tenancy);
}

static void no_claim_is_opened_where_too_little_can_ever_be_proved(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 313, 1);
	world_netris_start(&n, &w, 20, false);
	name_ours(&w, SERVER_QUARANTINE_GATE, SERVER_PROVISIONING_GATE);
	name_tenant(&w, "team-b", SERVER_TEAM_B_GATE);
	demand(&w, "team-a", "Strong");
	world_replica(&w);
	refused_to(&w,
		   "pool gpus: tenant team-a requires network proof Strong, the network of "
		   "provider rack proves only Weak: for a proof by packets, set spec.network.probe "
		   "of the tenant");
	name_tenant(&w, "team-a", SERVER_TEAM_A_GATE);
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_netris_stop(&n);
}

/* The Node reports no proof of its segment, so it never gets pods. */
static void a_node_proved_less_than_demanded_never_serves(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 311, 1);
	world_netris_start(&n, &w, 20, false);
	name_gates(&w);
	demand(&w, "team-a", "Strong");
	b->says_proved = true;
	name_tenant(&w, "team-a", "10.90.9.9"); /* this address does not answer */
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "NetworkProofWeak", 3600);
	assert_non_null(strstr(w.log, "tenant team-a requires Strong"));
	assert_null(strstr(w.log, "serving"));
	name_tenant(&w, "team-a", SERVER_TEAM_A_GATE);
	b->says_proved = false;
	world_wait_running(&w, &w.tenants[0], "train", 12 * 3600);
	world_netris_stop(&n);
}

/* A machine without a fabric has no proof of its segment. */
static void no_fabric_is_no_proof(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 312, 1);
	world_do(&w, &w.host, "PATCH", GROUP "/providers/rack",
		 json_pack("{s:{s:{s:s, s:n}}}", "spec", "network", "type", "none", "exec"));
	world_do(&w, &w.host, "PATCH", GROUP "/nodepools/gpus",
		 json_pack("{s:{s:{s:{s:{s:s}}}}}", "spec", "template", "spec", "network",
			   "isolation", "NotRequired"));
	demand(&w, "team-a", "Weak");
	world_replica(&w);
	refused_to(&w, "the network of provider rack proves only None");
	demand(&w, "team-a", "None");
	world_wait_state(&w.servers[0], "claimed", 1800);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_prove_what_switches_only_say),
		cmocka_unit_test(a_machine_that_reaches_a_tenant_from_quarantine_stays_there),
		cmocka_unit_test(a_node_that_reaches_another_tenant_never_serves),
		cmocka_unit_test(what_a_tenant_s_api_server_changes_proves_nothing),
		cmocka_unit_test(a_switch_that_lies_about_a_port_gets_no_tenant_s_bytes),
		cmocka_unit_test(an_answer_that_is_missing_leaves_the_proof_weak_and_is_said),
		cmocka_unit_test(an_agent_of_before_is_not_asked),
		cmocka_unit_test(a_tenant_that_demands_a_proof_gets_it),
		cmocka_unit_test(what_cannot_be_proved_is_not_begun),
		cmocka_unit_test(no_claim_is_opened_where_too_little_can_ever_be_proved),
		cmocka_unit_test(an_address_counts_at_once_for_whoever_shares_the_segment),
		cmocka_unit_test(a_node_proved_less_than_demanded_never_serves),
		cmocka_unit_test(no_fabric_is_no_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
