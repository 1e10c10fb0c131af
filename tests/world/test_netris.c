#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/netris.h"

/* Machines whose ports a Netris controller moves, through their whole cycle. */

static void the_whole_way(uint64_t seed, int64_t latency_ms, bool loose)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	world_start(&w, seed, 2);
	world_netris_start(&n, &w, latency_ms, loose);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	b = world_box_of(&w, &w.tenants[0], "train");
	assert_string_equal(sim_netris_where(n.sim, b->name), "drover-team-a");
	assert_string_equal(world_at(b, "status.network.proof"), "Weak");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "wiping", 1800);
	assert_string_equal(sim_netris_where(n.sim, b->name), "quarantine");
	world_wait_all(&w, "free", 1800);
	assert_string_equal(sim_netris_where(n.sim, b->name), "provisioning");
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	world_netris_stop(&n);
}

static void a_machine_goes_round_by_server_clusters(void **state)
{
	(void)state;
	the_whole_way(201, 20, false);
}

static void a_machine_goes_round_with_a_slow_controller(void **state)
{
	(void)state;
	the_whole_way(202, 3000, false);
}

static void a_machine_goes_round_with_loosely_typed_answers(void **state)
{
	(void)state;
	the_whole_way(203, 50, true);
}

/* Every change takes effect, but its answer never arrives. */
static void changes_that_time_out_after_they_worked_lose_nobody(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 204, 2);
	world_netris_start(&n, &w, 20, false);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	sim_netris_fault(n.sim, "Silent", "PUT /api/v2/server-cluster", NULL, 0, 3);
	sim_netris_fault(n.sim, "LostReply", "POST /api/v2/", NULL, 0, 2);
	world_pod(&w, &w.tenants[0], "train");
	world_pod(&w, &w.tenants[1], "infer");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_wait_running(&w, &w.tenants[1], "infer", 1800);
	assert_string_equal(sim_netris_where(n.sim, world_box_of(&w, &w.tenants[0], "train")->name),
			    "drover-team-a");
	assert_string_equal(sim_netris_where(n.sim, world_box_of(&w, &w.tenants[1], "infer")->name),
			    "drover-team-b");
	world_netris_stop(&n);
}

/* The port still appears in the tenant's segment: the claim does not end, and the machine reports
 * why. */
static void a_switch_that_is_dead_keeps_the_claim(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b;

	(void)state;
	world_start(&w, 205, 1);
	world_netris_start(&n, &w, 20, false);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	b = &w.servers[0];
	sim_netris_fault(n.sim, "SwitchDead", NULL, "leaf-1", 0, 0);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_reason(b, "NetworkNotConfirmed", 1800);
	world_run(&w, 60000);
	assert_string_equal(b->segment, "tenant/team-a");
	assert_true(world_at(b, "status.claimRef.name")[0] != '\0');
	sim_netris_well(n.sim);
	world_wait_state(b, "free", 3600);
	world_netris_stop(&n);
}

static void infiniband_and_nvlink_go_with_the_front_end(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 211, 1);
	world_netris_start(&n, &w, 50, true);
	world_netris_fabrics(&w);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_string_equal(b->infiniband, "tenant/team-a");
	assert_string_equal(b->nvlink, "tenant/team-a");
	assert_string_equal(world_at(b, "status.network.proof"), "Weak");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "wiping", 1800);
	assert_string_equal(b->infiniband, "");
	assert_string_equal(b->nvlink, "");
	world_wait_state(b, "free", 1800);
	/* A pod of the next tenant follows. */
	world_pod(&w, &w.tenants[1], "infer");
	world_wait_running(&w, &w.tenants[1], "infer", 1800);
	assert_string_equal(b->infiniband, "tenant/team-b");
	world_netris_stop(&n);
}

/* The Ethernet port has left the tenant's segment, but the InfiniBand PKey stays. The claim must
 * not end; once the PKey is removed, the machine continues without an operator. */
static void a_pkey_that_stays_keeps_the_claim(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 212, 1);
	world_netris_start(&n, &w, 20, false);
	world_netris_fabrics(&w);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	sim_netris_fault(n.sim, "SwitchDead", NULL, "ufm-1", 0, 0);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "quarantined", 1800);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "NetworkNotConfirmed");
	assert_string_equal(b->segment, "quarantine");
	assert_string_equal(b->infiniband, "tenant/team-a");
	assert_true(world_at(b, "status.claimRef.name")[0] != '\0');
	assert_non_null(strstr(w.log, "drover-team-a-ib also contains the server"));
	sim_netris_well(n.sim);
	world_wait_state(b, "free", 8 * 3600);
	world_netris_stop(&n);
}

/* The machine is not switched on while only a part of its tenant's network is attached. */
static void a_fabric_that_does_not_come_keeps_the_machine_off(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 213, 1);
	world_netris_start(&n, &w, 20, false);
	world_netris_fabrics(&w);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	sim_netris_fault(n.sim, "SwitchDead", NULL, "nmx-1", 0, 0);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "attaching", 1800);
	world_wait_reason(b, "NetworkNotConfirmed", 600);
	world_run(&w, 60000);
	assert_string_equal(b->infiniband, "tenant/team-a");
	assert_int_equal(b->doing, SERVER_OFF);
	assert_string_equal(b->state, "attaching");
	sim_netris_well(n.sim);
	world_wait_running(&w, &w.tenants[0], "train", 4 * 3600);
	world_netris_stop(&n);
}

static void a_release_that_does_not_say_who_is_in_a_fabric_proves_nothing(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 214, 1);
	world_netris_start(&n, &w, 20, false);
	world_netris_fabrics(&w);
	sim_netris_fault(n.sim, "NoServers", NULL, NULL, 0, 0);
	world_replica(&w);
	world_wait_state(b, "free", 1800); /* no V-net of a fabric exists yet */
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "attaching", 1800);
	world_wait_reason(b, "NetworkNotConfirmed", 600);
	world_run(&w, 60000);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "does not report the members of"));
	assert_int_equal(b->doing, SERVER_OFF);
	world_netris_stop(&n);
}

/* Leaders die between the two halves of a move, again and again; each time the next leader
 * continues. */
static void leaders_that_die_in_the_middle_lose_nobody(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 206, 3);
	world_netris_start(&n, &w, 700, false);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_pod(&w, &w.tenants[1], "infer");
	for (int i = 0; i < 6; i++) {
		world_run(&w, 17000 + i * 1300);
		world_kill(&w.replicas[w.nreplicas - 1]);
		world_replica(&w);
	}
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	world_wait_running(&w, &w.tenants[1], "infer", 3600);
	world_netris_stop(&n);
}

static bool vc_is_gone(void *arg)
{
	struct sim_world *w = arg;
	OWN_JSON o = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");

	return !o;
}

/* Deleting a tenant deletes its VPC and server cluster, even if the controller is slow. */
static void a_deleted_tenant_leaves_nothing_in_netris(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 208, 1);
	world_netris_start(&n, &w, 20, false);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_true(sim_netris_has(n.sim, "drover-team-a"));
	sim_netris_fault(n.sim, "Status", "DELETE /api/v2/", NULL, 503, 3);
	world_do(&w, &w.host, "DELETE", "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a",
		 NULL);
	world_wait_state(&w.servers[0], "wiping", 1800);
	world_wait(&w, vc_is_gone, &w, 600, "team-a is gone");
	assert_false(sim_netris_has(n.sim, "drover-team-a"));
	world_wait_state(&w.servers[0], "free", 1800);
	world_netris_stop(&n);
}

/* An unreachable controller must not keep a tenant forever. */
static void a_tenant_goes_without_the_controller_and_it_is_said(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 209, 1);
	world_netris_start(&n, &w, 20, false);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	sim_netris_fault(n.sim, "Status", NULL, NULL, 503, 0);
	world_do(&w, &w.host, "DELETE", "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a",
		 NULL);
	world_run(&w, 300000);
	assert_false(vc_is_gone(&w));
	world_wait(&w, vc_is_gone, &w, 900, "team-a is gone");
	leaving_wait_event(&w, &w.host, "SegmentLeft", "tenant/team-a");
	world_netris_stop(&n);
}

static bool says_incident(void *arg)
{
	struct sim_world *w = arg;
	OWN_JSON o = cluster_get(&w->host, "providers.drover.dev/rack");
	const json_t *list = json_at(o, "status", "conditions"), *c;
	size_t i;

	json_array_foreach (list, i, c)
		if (str_eq(json_str_at(c, "type"), "Isolating") &&
		    str_eq(json_str_at(c, "reason"), "NetworkIncident"))
			return strstr(json_str_at(c, "message"), "drover-team-a") != NULL;
	return false;
}

static const char *isolating_of(struct sim_world *w, char text[static 300])
{
	OWN_JSON o = cluster_get(&w->host, "providers.drover.dev/rack");
	const json_t *list = json_at(o, "status", "conditions"), *c;
	size_t i;

	text[0] = '\0';
	json_array_foreach (list, i, c)
		if (str_eq(json_str_at(c, "type"), "Isolating"))
			str_format(text, 300, "%s %s", json_str_at(c, "status"),
				   json_str_at(c, "message"));
	return text;
}

static bool says_none(void *arg)
{
	return !says_incident(arg);
}

/* Another writer removed a server from a cluster. drover then makes no change to that cluster,
 * reports the incident on Provider and Machine, and continues once the server is in a cluster
 * again. */
static void what_another_writer_dropped_is_named_in_status(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *a, *b;
	char text[300];

	(void)state;
	world_start(&w, 210, 2);
	world_netris_start(&n, &w, 20, false);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	a = world_box_of(&w, &w.tenants[0], "train");
	b = a == &w.servers[0] ? &w.servers[1] : &w.servers[0];
	world_wait_state(b, "free", 1800);
	assert_false(says_incident(&w));
	assert_string_equal(isolating_of(&w, text), "True netris, release 4.14.0");
	sim_netris_fault(n.sim, "OtherRemoves",
			 "GET /api/v2/server-cluster/20000006" /* team-a's cluster */, a->name, 0,
			 2);
	world_pod(&w, &w.tenants[0], "more");
	world_wait_running(&w, &w.tenants[0], "more", 1800);
	assert_null(sim_netris_wanted(n.sim, a->name));
	world_release(b);
	world_wait(&w, says_incident, &w, 1800, "the Provider says it");
	assert_string_equal(world_at(b, "status.operation.lastError.reason"),
			    "NetworkNotConfirmed");
	assert_string_equal(sim_netris_wanted(n.sim, b->name), "drover-team-a");
	world_release(a);
	world_wait(&w, says_none, &w, 1800, "the Provider says it no more");
	world_netris_stop(&n);
}

static void the_secret_says_where_its_password_may_go(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 207, 1);
	world_netris_start(&n, &w, 20, false);
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:{s:s}}}}", "spec", "network", "netris", "endpoint",
			   "https://elsewhere"));
	world_replica(&w);
	world_wait_reason(&w.servers[0], "ProviderNotReady", 120);
	assert_int_equal(sim_netris_logins(n.sim), 0);
	assert_non_null(strstr(w.log, "the login may not be sent there"));
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:{s:{s:s}}}}", "spec", "network", "netris", "endpoint",
			   WORLD_NETRIS));
	world_wait_state(&w.servers[0], "free", 1800);
	world_netris_stop(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_goes_round_by_server_clusters),
		cmocka_unit_test(a_machine_goes_round_with_a_slow_controller),
		cmocka_unit_test(a_machine_goes_round_with_loosely_typed_answers),
		cmocka_unit_test(changes_that_time_out_after_they_worked_lose_nobody),
		cmocka_unit_test(a_switch_that_is_dead_keeps_the_claim),
		cmocka_unit_test(infiniband_and_nvlink_go_with_the_front_end),
		cmocka_unit_test(a_pkey_that_stays_keeps_the_claim),
		cmocka_unit_test(a_fabric_that_does_not_come_keeps_the_machine_off),
		cmocka_unit_test(a_release_that_does_not_say_who_is_in_a_fabric_proves_nothing),
		cmocka_unit_test(leaders_that_die_in_the_middle_lose_nobody),
		cmocka_unit_test(a_deleted_tenant_leaves_nothing_in_netris),
		cmocka_unit_test(a_tenant_goes_without_the_controller_and_it_is_said),
		cmocka_unit_test(what_another_writer_dropped_is_named_in_status),
		cmocka_unit_test(the_secret_says_where_its_password_may_go),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
