/* A machine leaves its tenant: powered off and isolated before anything else, even with false
 * reports, dead leaders or unreachable APIs. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/annotations.h"
#include "base/str.h"
#include "controller/steps/requests.h"
#include "tests/world/leaving.h"

#define GROUP "/apis/" OBJECT_API_VERSION
#define LONG_S (12 * 3600)

static void confirm(struct server *b, const char *id)
{
	char path[200];

	str_format(path, sizeof(path), GROUP "/machines/%s", b->name);
	world_do(b->world, &b->world->host, "PATCH", path,
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", REQUEST_CONFIRM_OFF, id));
}

static void bmc_lives(struct server *b, bool alive)
{
	http_mem_serve(b->world->net, b->origin, alive ? b->bmc.httpd : NULL);
}

/* --- off -------------------------------------------------------------------------------------- */

static void a_person_stands_in_for_a_dead_bmc(void **state)
{
	static const char *const states[] = {"stopping", "leaving", "quarantined"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		char id[80], claim[128];

		leaving_alive(&w, 400 + i);
		str_copy(claim, sizeof(claim), b->claim);
		bmc_lives(b, false);
		leaving_begin(&w);
		world_wait_state(b, "stopping", 300);
		str_copy(id, sizeof(id), world_at(b, "status.operation.id"));
		server_power(b, false);
		world_wait_state(b, states[i], 1000);
		world_run(&w, 60000);
		confirm(b, "an-operation-of-yesterday");
		world_run(&w, 60000);
		assert_string_equal(b->state, states[i]);
		assert_string_equal(b->claim, claim);
		assert_true(leaving_has(&w.tenants[0], "nodes", claim));
		assert_string_equal(world_at(b, "status.power.confirmedBy"), "");
		assert_string_equal(world_at(b, "status.operation.id"), id);
		confirm(b, id);
		world_wait_state(b, "dirty", 120);
		assert_string_equal(world_at(b, "status.power.confirmedBy"), id);
		assert_false(leaving_has(&w.tenants[0], "nodes", claim));
		assert_false(leaving_has(&w.host, "nodeclaims.drover.dev", claim));
		assert_int_equal(leaving_events(&w, "OffConfirmed"), 1);
		bmc_lives(b, true);
		world_wait_state(b, "free", LONG_S);
		world_settle(&w);
		world_stop(&w);
	}
}

static void nobody_confirms_off_what_answers_on(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char id[80];

	(void)state;
	leaving_alive(&w, 410);
	b->bmc.power_lie = true;
	leaving_begin(&w);
	world_wait_state(b, "stopping", 300);
	str_copy(id, sizeof(id), world_at(b, "status.operation.id"));
	confirm(b, id);
	world_run(&w, 60000);
	assert_string_equal(b->state, "stopping");
	assert_string_equal(world_at(b, "status.power.confirmedBy"), "");
	assert_true(leaving_events(&w, "OffNotConfirmed") > 0);
	/* The BMC does not answer any more. The operator's confirmation is void nevertheless,
	 * because it was given while the machine was on. */
	bmc_lives(b, false);
	world_wait_state(b, "leaving", 600);
	world_run(&w, 300000);
	assert_string_equal(b->state, "leaving");
	assert_true(b->claim[0]);
	b->bmc.power_lie = false;
	bmc_lives(b, true);
	world_wait_state(b, "free", LONG_S);
	world_settle(&w);
	world_stop(&w);
}

static void a_bmc_that_accepts_off_and_stays_on_is_named(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char path[200];

	(void)state;
	leaving_alive(&w, 416);
	b->bmc.power_lie = true;
	leaving_begin(&w);
	world_wait_state(b, "stopping", 300);
	world_run(&w, 50000); /* a machine may take a moment to switch off */
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "");
	world_run(&w, 30000);
	assert_string_equal(b->state, "stopping");
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "PowerNotConfirmed");
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       world_at(b, "spec.bmc.address")));
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       " accepted power-off (attempt 2) but still reports On"));
	b->bmc.power_lie = false;
	str_format(path, sizeof(path), GROUP "/machines/%s", b->name);
	world_do(&w, &w.host, "PATCH", path,
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", REQUEST_RETRY, "1"));
	world_wait_state(b, "isolating", 30); /* at once, not a minute after the last attempt */
	world_wait_state(b, "free", LONG_S);
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "");
	world_settle(&w);
	world_stop(&w);
}

static void a_bmc_that_says_off_while_kubelet_lives_is_not_believed(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char claim[128];

	(void)state;
	leaving_alive(&w, 411);
	str_copy(claim, sizeof(claim), b->claim);
	b->bmc.power_lie = true;
	leaving_begin(&w);
	world_wait_state(b, "stopping", 300);
	b->bmc.on = false; /* only the BMC's report changes; the machine runs on */
	world_run(&w, 60000);
	assert_string_equal(b->state, "stopping");
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "PowerNotConfirmed");
	assert_string_equal(world_at(b, "status.power.doubted"),
			    world_at(b, "status.operation.id"));
	world_wait_state(b, "leaving", 600); /* the port is isolated anyway */
	assert_string_equal(b->segment, "quarantine");
	world_wait_state(b, "quarantined", 900);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "PowerNotConfirmed");
	assert_string_equal(b->claim, claim);
	assert_true(leaving_has(&w.tenants[0], "nodes", claim));
	b->bmc.on = true;
	b->bmc.power_lie = false;
	world_wait_state(b, "free", LONG_S);
	world_settle(&w);
	world_stop(&w);
}

/* The BMC reports Off while drover's agent writes an image and the claim is withdrawn. */
static void a_bmc_that_says_off_while_the_agent_lives_is_not_believed(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 414, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "imaging", 600);
	assert_int_equal(b->doing, SERVER_AGENT);
	b->bmc.power_lie = true;
	leaving_begin(&w);
	world_wait_state(b, "stopping", 300);
	b->bmc.on = false;
	world_wait_reason(b, "PowerNotConfirmed", 120);
	world_wait_state(b, "quarantined", 1200);
	assert_true(b->claim[0]);
	b->bmc.on = true;
	b->bmc.power_lie = false;
	world_wait_state(b, "free", LONG_S);
	world_settle(&w);
	world_stop(&w);
}

/* The board was replaced, and its BMC refuses the password. An operator confirms that the machine
 * is off. */
static void a_person_stands_in_for_a_bmc_that_lets_nobody_in(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned logins;

	(void)state;
	leaving_alive(&w, 415);
	b->bmc.password = "of the new board";
	fake_bmc_expire(&b->bmc);
	leaving_begin(&w);
	world_wait_state(b, "stopping", 300);
	world_wait_reason(b, "BmcAuthFailed", 120);
	server_power(b, false);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 60000);
	logins = b->bmc.logins;
	assert_true(b->claim[0]);
	confirm(b, world_at(b, "status.operation.id"));
	world_wait_state(b, "dirty", 120);
	assert_string_equal(b->claim, "");
	world_run(&w, 600000);
	assert_int_equal(b->bmc.logins, logins);
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password",
		     "of the new board");
	world_wait_state(b, "free", LONG_S);
	world_settle(&w);
	world_stop(&w);
}

/* The kubelet's last heartbeat may arrive after the power-off. It delays the proof that the machine
 * is off by a few seconds only. */
static void a_machine_that_went_off_is_believed(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t from;

	(void)state;
	leaving_alive(&w, 412);
	leaving_begin(&w);
	world_wait_state(b, "stopping", 300);
	from = loop_now(w.loop);
	world_wait_state(b, "isolating", 30);
	assert_true(loop_now(w.loop) - from < 20000);
	world_wait_state(b, "free", 900);
	assert_string_equal(world_at(b, "status.power.doubted"), "");
	world_settle(&w);
	world_stop(&w);
}

#define OFF_MS 9000 /* time in ms until off is proved: power-off and two reads */

/* Returns the time in state stopping, for a kubelet that renewed its Lease until power-off. */
static int64_t stopped_for(uint64_t seed, int64_t phase_ms)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t began, quiet, due;

	leaving_alive(&w, seed);
	world_run(&w, phase_ms);
	leaving_begin(&w);
	world_wait_state(b, "stopping", 300);
	began = loop_now(w.loop);
	world_wait_state(b, "isolating", 300);
	/* silence after which the kubelet counts as dead */
	quiet = b->beat_at - SERVER_BEAT_MS + 11000;
	due = quiet > began + OFF_MS ? quiet : began + OFF_MS;
	assert_true(loop_now(w.loop) <= due + 1500);
	assert_true(loop_now(w.loop) >= quiet);
	due = loop_now(w.loop) - began;
	world_stop(&w);
	return due;
}

/* The time without heartbeats counts from the kubelet's last heartbeat, even if drover first read
 * the Lease later, in state stopping. */
static void a_kubelet_is_silent_since_its_last_heartbeat(void **state)
{
	int64_t least = INT64_MAX, took;

	(void)state;
	for (int i = 0; i < 4; i++) {
		took = stopped_for(418, 2500 * i);
		if (took < least)
			least = took;
	}
	assert_true(least < OFF_MS + 1500);
}

static void off_lasts_as_long_as_its_type_wants(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t off;

	(void)state;
	world_start(&w, 413, 1);
	world_do(&w, &w.host, "PATCH", GROUP "/providers/rack",
		 json_pack("{s:{s:[{s:s,s:{s:s,s:s,s:s,s:s},s:{s:s},s:s}]}}", "spec",
			   "instanceTypes", "name", "gpu-8", "capacity", "cpu", "4", "memory",
			   "8Gi", "nvidia.com/gpu", "8", "pods", "110", "rootDevice", "model",
			   "ROOT", "minimumOffTime", "90s"));
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_wait_state(b, "serving", 60);
	leaving_begin(&w);
	world_wait_state(b, "stopping", 300);
	while (b->bmc.on)
		world_run(&w, 100);
	off = loop_now(w.loop);
	world_wait_state(b, "isolating", 300);
	assert_true(loop_now(w.loop) - off >= 89000);
	assert_true(loop_now(w.loop) - off < 110000);
	world_wait_state(b, "free", 900);
	world_settle(&w);
	world_stop(&w);
}

/* --- isolation -------------------------------------------------------------------------------- */

static void a_port_that_only_says_it_moved_holds_claim_and_node(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	OWN(arena) a = arena_new();
	char claim[128];

	(void)state;
	leaving_alive(&w, 420);
	str_copy(claim, sizeof(claim), b->claim);
	b->port_stuck = true;
	leaving_begin(&w);
	world_wait_state(b, "quarantined", 1200);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "NetworkNotConfirmed");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "auto");
	assert_non_null(strstr(world_at(b, "status.quarantine.message"),
			       "accepted the move to segment quarantine, but still reports the "
			       "port (MAC address "));
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), ") in tenant/team-a"));
	world_run(&w, 1800 * 1000); /* the move is tried again without success */
	assert_string_equal(b->claim, claim);
	assert_string_equal(b->segment, "tenant/team-a");
	assert_true(leaving_has(&w.tenants[0], "nodes", claim));
	assert_string_equal(leaving_condition(&w, a, claim, "PoweredOff"), "True Observed");
	assert_true(str_starts(leaving_condition(&w, a, claim, "Isolated"), "False"));
	b->port_stuck = false; /* no other change */
	world_wait_state(b, "free", LONG_S);
	assert_false(leaving_has(&w.tenants[0], "nodes", claim));
	world_settle(&w);
	world_stop(&w);
}

static void a_pool_that_wants_no_isolation_does_not_wait_for_its_proof(void **state)
{
	(void)state;
	for (int wanted = 0; wanted < 2; wanted++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 421 + (uint64_t)wanted, 1);
		if (!wanted)
			world_do(&w, &w.host, "PATCH", GROUP "/nodepools/gpus",
				 json_pack("{s:{s:{s:{s:{s:s}}}}}", "spec", "template", "spec",
					   "network", "isolation", "NotRequired"));
		world_replica(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_running(&w, &w.tenants[0], "train", 900);
		world_wait_state(b, "serving", 60);
		b->port_unproved = true;
		leaving_begin(&w);
		world_wait_state(b, "isolating", 300);
		world_run(&w, 50000);
		assert_string_equal(b->state, "isolating");
		world_wait_state(b, wanted ? "quarantined" : "dirty", wanted ? 300 : 30);
		assert_true(!b->claim[0] == !wanted);
		b->port_unproved = false;
		world_wait_state(b, "free", LONG_S);
		world_settle(&w);
		world_stop(&w);
	}
}

/* --- owners ----------------------------------------------------------------------------------- */

static bool cluster_is_gone(void *arg)
{
	struct sim_world *w = arg;

	return !leaving_has(&w->host, "virtualclusters.drover.dev", "team-a");
}

static void a_deleted_tenant_gives_its_machines_back_first(void **state)
{
	for (int away = 0; away < 2; away++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		char claim[128];

		(void)state;
		leaving_alive(&w, 460 + (uint64_t)away);
		str_copy(claim, sizeof(claim), b->claim);
		w.tenants[0].owed = away;
		cluster_away(&w.tenants[0], away);
		world_do(&w, &w.host, "DELETE", GROUP "/virtualclusters/team-a", NULL);
		world_run(&w, 10000);
		assert_false(cluster_is_gone(&w));
		world_wait_state(b, "free", away ? 6000 : 900);
		world_wait(&w, cluster_is_gone, &w, 900, "the VirtualCluster gone");
		assert_true(leaving_has(&w.tenants[0], "nodes", claim) == away);
		assert_int_equal(leaving_events(&w, "DebtWrittenOff"), away);
		world_settle(&w);
		world_stop(&w);
	}
}

static void the_claims_of_a_deleted_pool_leave(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	leaving_alive(&w, 470);
	world_do(&w, &w.host, "DELETE", GROUP "/nodepools/gpus", NULL);
	world_wait_state(b, "free", 900);
	assert_int_equal(leaving_events(&w, "OwnerDeleted"), 1);
	world_settle(&w);
	world_stop(&w);
}

struct going {
	struct sim_world *w;
	unsigned most;
};

/* True if all machines are free; records the largest number that were leaving at the same time. */
static bool all_have_gone(void *arg)
{
	struct going *g = arg;
	unsigned n = 0, done = 0;

	for (unsigned i = 0; i < g->w->nboxes; i++) {
		const struct server *b = &g->w->servers[i];

		n += b->claim[0] && !str_eq(b->state, "serving");
		done += str_eq(b->state, "free");
	}
	if (n > g->most)
		g->most = n;
	return done == g->w->nboxes;
}

/* The pool's disruption limit holds for these claims, however many tenants they belong to. */
static void the_claims_of_a_deleted_pool_leave_one_after_the_other(void **state)
{
	struct sim_world w;
	struct going g = {&w, 0};

	(void)state;
	world_start(&w, 472, 3);
	world_replica(&w);
	for (unsigned i = 0; i < 3; i++) {
		static const char *const pods[] = {"one", "two", "three"};

		world_pod(&w, &w.tenants[i % 2], pods[i]);
		world_wait_running(&w, &w.tenants[i % 2], pods[i], 900);
	}
	world_wait_all(&w, "serving", 60);
	world_do(&w, &w.host, "DELETE", GROUP "/nodepools/gpus", NULL);
	world_wait(&w, all_have_gone, &g, 5400, "all are free");
	assert_int_equal(g.most, 1);
	assert_int_equal(leaving_events(&w, "OwnerDeleted"), 3);
	world_settle(&w);
	world_stop(&w);
}

/* The machines of a deleted pool must all leave, although a Drain without a deadline waits for one
 * of them. */
static void a_pool_deleted_while_a_drain_waits_lets_all_go(void **state)
{
	struct sim_world w;
	struct server *b;

	(void)state;
	world_start(&w, 473, 2);
	world_replica(&w);
	for (unsigned i = 0; i < 2; i++) {
		world_pod(&w, &w.tenants[i], "train");
		world_wait_running(&w, &w.tenants[i], "train", 900);
	}
	world_wait_all(&w, "serving", 60);
	b = world_box_of(&w, &w.tenants[0], "train");
	leaving_budget(&w, "train");
	leaving_drain_of(&w, "fans", b->name, 0, "  then: Quarantine\n");
	leaving_wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	world_do(&w, &w.host, "DELETE", GROUP "/nodepools/gpus", NULL);
	leaving_cordon(b, true);
	/* The pool's terminationGracePeriod of an hour passes first. */
	world_wait_state(b, "quarantined", 3600 + 900);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "QuarantinedByOperator");
	world_wait_state(b == &w.servers[0] ? &w.servers[1] : &w.servers[0], "free", 1800);
	world_settle(&w);
	world_stop(&w);
}

/* Tries each reason for which a machine leaves at once, while the tenant's API server is
 * unreachable. The machine must be off, isolated and wiped, with nothing left over. */
static void all_that_wants_it_to_leave_at_once_lets_it_go(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		char claim[128];

		leaving_alive(&w, 480 + i);
		str_copy(claim, sizeof(claim), b->claim);
		leaving_budget(&w, "train");
		w.tenants[0].owed = true;
		if (i & 1)
			leaving_cordon(b, true);
		leaving_drain(&w, "fans", 1800, i & 2 ? "  then: Hold\n" : "  onDeadline: Stop\n");
		leaving_drain_of(&w, "other", b->name, 600, "  onDeadline: Escalate\n");
		world_do(&w, &w.host, "DELETE", GROUP "/virtualclusters/team-a", NULL);
		world_do(&w, &w.host, "DELETE", GROUP "/nodepools/gpus", NULL);
		world_release(b);
		if (i & 4) {
			world_run(&w, 3000);
			cluster_away(&w.tenants[0], true);
			world_kill(world_leader(&w));
			world_replica(&w);
		}
		world_wait_state(b, "free", 3600 + 900);
		world_wait(&w, cluster_is_gone, &w, 1800, "the VirtualCluster gone");
		assert_false(leaving_has(&w.host, "nodeclaims.drover.dev", claim));
		world_settle(&w);
		world_stop(&w);
	}
}

/* The pools were deleted with their CustomResourceDefinition, and GitOps created both again: the
 * workload must not be stopped. */
static void pools_lost_with_their_definition_take_no_claim_along(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	OWN_JSON crd = NULL;
	OWN_JSON pool = NULL;
	char claim[128];

	(void)state;
	leaving_alive(&w, 471);
	str_copy(claim, sizeof(claim), b->claim);
	crd = cluster_get(&w.host,
			  "customresourcedefinitions.apiextensions.k8s.io/nodepools.drover.dev");
	pool = cluster_get(&w.host, "nodepools.drover.dev/gpus");
	assert_non_null(pool);
	if (!crd)
		crd = cluster_get(&w.host, "customresourcedefinitions/nodepools.drover.dev");
	assert_non_null(crd);
	json_object_del(json_object_get(crd, "metadata"), "resourceVersion");
	json_object_del(json_object_get(pool, "metadata"), "resourceVersion");
	world_do(&w, &w.host, "DELETE",
		 "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools.drover.dev",
		 NULL);
	world_run(&w, 120000);
	assert_string_equal(b->state, "serving");
	world_do(&w, &w.host, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		 json_incref(crd));
	world_run(&w, 120000);
	world_do(&w, &w.host, "POST", GROUP "/nodepools", json_incref(pool));
	world_run(&w, 1800 * 1000);
	assert_string_equal(b->state, "serving");
	assert_string_equal(b->claim, claim);
	assert_true(leaving_events(&w, "OwnerLost") > 0);
	world_settle(&w);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_person_stands_in_for_a_dead_bmc),
		cmocka_unit_test(nobody_confirms_off_what_answers_on),
		cmocka_unit_test(a_bmc_that_accepts_off_and_stays_on_is_named),
		cmocka_unit_test(a_bmc_that_says_off_while_kubelet_lives_is_not_believed),
		cmocka_unit_test(a_bmc_that_says_off_while_the_agent_lives_is_not_believed),
		cmocka_unit_test(a_person_stands_in_for_a_bmc_that_lets_nobody_in),
		cmocka_unit_test(a_machine_that_went_off_is_believed),
		cmocka_unit_test(a_kubelet_is_silent_since_its_last_heartbeat),
		cmocka_unit_test(off_lasts_as_long_as_its_type_wants),
		cmocka_unit_test(a_port_that_only_says_it_moved_holds_claim_and_node),
		cmocka_unit_test(a_pool_that_wants_no_isolation_does_not_wait_for_its_proof),
		cmocka_unit_test(a_deleted_tenant_gives_its_machines_back_first),
		cmocka_unit_test(the_claims_of_a_deleted_pool_leave),
		cmocka_unit_test(the_claims_of_a_deleted_pool_leave_one_after_the_other),
		cmocka_unit_test(a_pool_deleted_while_a_drain_waits_lets_all_go),
		cmocka_unit_test(all_that_wants_it_to_leave_at_once_lets_it_go),
		cmocka_unit_test(pools_lost_with_their_definition_take_no_claim_along),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
