/* The path from a tenant's machines to its API server, over Netris (condition APIServerWay). */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/netris.h"

#define GROUP "/apis/" OBJECT_API_VERSION
#define TEAM_A GROUP "/virtualclusters/team-a"
#define BACKEND "10.20.0.11:6443"

static void set_way(struct sim_world *w, const char *tenant, json_t *way)
{
	char path[200];

	str_format(path, sizeof(path), GROUP "/virtualclusters/%s", tenant);
	world_do(w, &w->host, "PATCH", path,
		 json_pack("{s:{s:n, s:{s:o}}}", "spec", "joinEndpoint", "network", "apiServer",
			   way));
}

static json_t *balanced(const char *address)
{
	return json_pack("{s:s, s:s?, s:[s], s:{s:s}}", "via", "l4lb", "address", address,
			 "backends", BACKEND, "providerRef", "name", "rack");
}

static void balance(struct sim_world *w)
{
	set_way(w, "team-a", balanced(NULL));
}

/* Returns "STATUS REASON MESSAGE" of team-a's condition APIServerWay. */
static const char *said(struct sim_world *w, struct arena *a)
{
	OWN_JSON o = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");
	const json_t *list = json_at(o, "status", "conditions"), *c;
	size_t i;

	json_array_foreach (list, i, c)
		if (str_eq(json_str_at(c, "type"), "APIServerWay"))
			return arena_printf(a, "%s %s %s", json_str_at(c, "status"),
					    json_str_at(c, "reason"), json_str_at(c, "message"));
	return "";
}

struct wanted {
	struct sim_world *w;
	const char *text;
};

static bool says(void *arg)
{
	const struct wanted *x = arg;
	OWN(arena) a = arena_new();

	return str_starts(said(x->w, a), x->text);
}

static void wait_said(struct sim_world *w, const char *text, int64_t limit_s)
{
	struct wanted x = {w, text};

	world_wait(w, says, &x, limit_s, text);
}

static bool vc_is_gone(void *arg)
{
	struct sim_world *w = arg;
	OWN_JSON o = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");

	return !o;
}

static bool none_is_left(void *arg)
{
	return sim_netris_balancers(((struct world_netris *)arg)->sim) == 0;
}

/* A lost answer must not create a second load balancer. The machine proves the path by its probe,
 * and everything is deleted with the tenant. */
static void machines_join_by_a_load_balancer_that_drover_makes(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 401, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	balance(&w);
	sim_netris_fault(n.sim, "LostReply", "POST /api/v2/l4lb", NULL, 0, 1);
	world_replica(&w);
	wait_said(&w, "True Healthy", 120);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_int_equal(sim_netris_balancers(n.sim), 1);
	assert_true(json_true_at(b->object, "status", "network", "probe", "apiServer"));
	{
		OWN_JSON o = cluster_get(&w.host, "virtualclusters.drover.dev/team-a");

		assert_string_equal(json_str_at(o, "status", "apiServer", "address"),
				    SERVER_TEAM_A_GATE);
		assert_string_equal(json_str_at(o, "status", "apiServer", "provider"), "rack");
	}
	sim_netris_fault(n.sim, "Status", "DELETE /api/v2/l4lb", NULL, 503, 3);
	world_do(&w, &w.host, "DELETE", TEAM_A, NULL);
	world_wait(&w, vc_is_gone, &w, 1800, "team-a is gone");
	assert_int_equal(sim_netris_balancers(n.sim), 0);
	assert_false(sim_netris_has(n.sim, "drover-team-a"));
	world_netris_stop(&n);
}

/* While no backend is healthy, no machine is claimed; pod and tenant get the reason. */
static void no_machine_joins_while_no_backend_is_healthy(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];
	int64_t tenancy;

	(void)state;
	world_start(&w, 402, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	balance(&w);
	sim_netris_fault(n.sim, "BackendDown", NULL, "10.20.0.11", 0, 0);
	world_replica(&w);
	wait_said(&w, "False BackendUnhealthy load balancer drover-team-a-api-", 120);
	world_wait_state(b, "free", 1800);
	tenancy = b->tenancy;
	world_pod(&w, &w.tenants[0], "train");
	leaving_wait_event(&w, &w.tenants[0], "NodesNotTaken", BACKEND " is \"down\"");
	world_run(&w, 300000);
	assert_string_equal(b->state, "free");
	assert_int_equal(b->tenancy, tenancy);
	sim_netris_well(n.sim);
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	/* Machines that already serve stay, whatever happens to the path. */
	sim_netris_fault(n.sim, "BackendDown", NULL, "10.20.0.11", 0, 0);
	wait_said(&w, "False BackendUnhealthy", 120);
	world_run(&w, 300000);
	assert_string_equal(b->state, "serving");
	world_netris_stop(&n);
}

/* One healthy backend is enough: the load balancer forwards to it, and the machine proves that. */
static void a_machine_joins_while_one_backend_of_two_is_healthy(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 414, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	set_way(&w, "team-a",
		json_pack("{s:s, s:[s,s], s:{s:s}}", "via", "l4lb", "backends", BACKEND,
			  "10.20.0.12:6443", "providerRef", "name", "rack"));
	sim_netris_fault(n.sim, "BackendDown", NULL, "10.20.0.12", 0, 0);
	world_replica(&w);
	wait_said(&w, "True Degraded", 120);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_true(json_true_at(w.servers[0].object, "status", "network", "probe", "apiServer"));
	world_netris_stop(&n);
}

static void a_machine_on_its_way_waits_for_the_way(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 403, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	balance(&w);
	world_replica(&w);
	wait_said(&w, "True Healthy", 120);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "attaching", 1800);
	sim_netris_fault(n.sim, "SwitchDead", NULL, "leaf-1", 0, 0);
	sim_netris_fault(n.sim, "BackendDown", NULL, NULL, 0, 0);
	wait_said(&w, "False BackendUnhealthy", 60);
	assert_string_equal(b->state, "attaching");
	sim_netris_well(n.sim);
	sim_netris_fault(n.sim, "BackendDown", NULL, NULL, 0, 0);
	world_wait_state(b, "booting", 600);
	world_run(&w, 60000);
	assert_int_equal(b->doing, SERVER_OFF);
	assert_string_equal(b->state, "booting");
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "NodesNotTaken");
	sim_netris_well(n.sim);
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_netris_stop(&n);
}

/* While the network cannot be read, the last known state of the path stays valid for some time.
 * After that, the path counts as unknown. */
static void what_was_seen_of_a_way_holds_for_a_while(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 410, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	balance(&w);
	world_replica(&w);
	wait_said(&w, "True Healthy", 120);
	sim_netris_fault(n.sim, "Status", "GET /api/v2/l4lb", NULL, 503, 0);
	world_run(&w, 60000);
	wait_said(&w, "True Healthy", 1);
	wait_said(&w, "False NotAnswered", 120);
	sim_netris_well(n.sim);
	wait_said(&w, "True Healthy", 60);
	world_netris_stop(&n);
}

static void never_serves(uint64_t seed, bool old_image)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	world_start(&w, seed, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	balance(&w);
	b->unanswered = !old_image;
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	b->probes_not = old_image;
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "APIServerNotReached", 1800);
	assert_null(strstr(w.log, "serving"));
	b->unanswered = b->probes_not = false;
	world_wait_running(&w, &w.tenants[0], "train", 12 * 3600);
	world_netris_stop(&n);
}

/* Whatever state the load balancer reports, the machine's own packets decide. */
static void a_machine_that_the_way_does_not_answer_never_serves(void **state)
{
	(void)state;
	never_serves(404, false);
}

static void an_image_that_does_not_ask_never_serves(void **state)
{
	(void)state;
	never_serves(405, true);
}

/* No probe address is configured. The API server addresses of the tenants are probed instead, and
 * show the leak. */
static void a_machine_that_reaches_another_tenant_s_way_never_serves(void **state)
{
	struct sim_world w;
	struct world_netris n;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 406, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	set_way(&w, "team-a", balanced(SERVER_TEAM_A_GATE));
	set_way(&w, "team-b", balanced(SERVER_TEAM_B_GATE));
	world_replica(&w);
	wait_said(&w, "True Healthy", 120);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "booting", 1800);
	b->leaks = "tenant/team-b";
	world_wait_reason(b, "NetworkLeak", 1800);
	assert_non_null(strstr(w.log, SERVER_TEAM_B_GATE
			       " answered, which only segment tenant/team-b should reach"));
	assert_null(strstr(w.log, "serving"));
	b->leaks = NULL;
	world_wait_running(&w, &w.tenants[0], "train", 12 * 3600);
	world_netris_stop(&n);
}

static void another_way_takes_the_load_balancer_away(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 407, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	balance(&w);
	world_replica(&w);
	wait_said(&w, "True Healthy", 120);
	set_way(&w, "team-a",
		json_pack("{s:s, s:s, s:n, s:n}", "via", "address", "address", SERVER_TEAM_A_GATE,
			  "backends", "providerRef"));
	wait_said(&w, "True Address", 120);
	world_wait(&w, none_is_left, &n, 120, "no load balancer is left");
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	set_way(&w, "team-a",
		json_pack("{s:s, s:s, s:{s:s}}", "via", "vip", "address", "10.20.0.150:6443",
			  "providerRef", "name", "rack"));
	wait_said(&w, "False VIPInDHCPRange", 120);
	set_way(&w, "team-a", json_pack("{s:s}", "address", "10.20.0.10:6443"));
	wait_said(&w, "True VIP ", 120);
	world_netris_stop(&n);
}

/* The leader dies while it creates the load balancer, again and again. */
static void leaders_that_die_make_one(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 408, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 1500, false);
	balance(&w);
	world_replica(&w);
	for (int i = 0; i < 6; i++) {
		world_run(&w, 9000 + i * 2300);
		world_kill(&w.replicas[w.nreplicas - 1]);
		world_replica(&w);
	}
	wait_said(&w, "True Healthy", 300);
	assert_int_equal(sim_netris_balancers(n.sim), 1);
	world_do(&w, &w.host, "DELETE", TEAM_A, NULL);
	world_wait(&w, vc_is_gone, &w, 900, "team-a is gone");
	assert_int_equal(sim_netris_balancers(n.sim), 0);
	world_netris_stop(&n);
}

/* The Provider's network is a program that only moves ports. So no load balancer is created, and a
 * VIP is checked only by the machine's own packets. */
static void another_network_makes_no_load_balancer(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 412, 1);
	w.reasons_have_pages = true;
	balance(&w);
	world_replica(&w);
	wait_said(&w, "False NotSupported", 120);
	world_wait_state(b, "free", 1800);
	set_way(&w, "team-a",
		json_pack("{s:s, s:s, s:n, s:{s:s}}", "via", "vip", "address", SERVER_TEAM_A_GATE,
			  "backends", "providerRef", "name", "nobody"));
	wait_said(&w, "False NoProvider Provider nobody does not exist", 120);
	set_way(&w, "team-a", json_pack("{s:{s:s}}", "providerRef", "name", "rack"));
	wait_said(&w, "True VIPUnchecked", 120);
	b->unanswered = true;
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "APIServerNotReached", 1800);
	b->unanswered = false;
	world_wait_running(&w, &w.tenants[0], "train", 12 * 3600);
	assert_true(json_true_at(b->object, "status", "network", "probe", "apiServer"));
	world_stop(&w);
}

static bool one_is_made(void *arg)
{
	return sim_netris_balancers(((struct world_netris *)arg)->sim) == 1;
}

/* The leader creates the load balancer and dies before the reply; afterwards the load balancer is
 * no longer wanted. The next leader removes it, because the intent was recorded before the
 * request. */
static void one_that_only_a_dead_leader_asked_for_is_removed(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 411, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	balance(&w);
	sim_netris_fault(n.sim, "Silent", "POST /api/v2/l4lb", NULL, 0, 1);
	world_replica(&w);
	world_wait(&w, one_is_made, &n, 120, "a load balancer");
	world_kill(&w.replicas[0]);
	set_way(&w, "team-a",
		json_pack("{s:s, s:s, s:n, s:n}", "via", "address", "address", SERVER_TEAM_A_GATE,
			  "backends", "providerRef"));
	world_replica(&w);
	world_wait(&w, none_is_left, &n, 300, "no load balancer is left");
	world_netris_stop(&n);
}

static void a_controller_that_is_gone_keeps_no_tenant(void **state)
{
	struct sim_world w;
	struct world_netris n;

	(void)state;
	world_start(&w, 409, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	balance(&w);
	world_replica(&w);
	wait_said(&w, "True Healthy", 120);
	sim_netris_fault(n.sim, "Status", NULL, NULL, 503, 0);
	world_do(&w, &w.host, "DELETE", TEAM_A, NULL);
	world_run(&w, 300000);
	assert_false(vc_is_gone(&w));
	world_wait(&w, vc_is_gone, &w, 900, "team-a is gone");
	leaving_wait_event(&w, &w.host, "WayLeft", "Provider rack");
	world_netris_stop(&n);
}

/* Creates team-a again with its original spec and a new UID. */
static void make_again(struct sim_world *w, const json_t *was)
{
	OWN_JSON spec = json_deep_copy(json_at(was, "spec"));
	OWN_JSON o = json_pack("{s:s, s:s, s:{s:s}, s:O}", "apiVersion", OBJECT_API_VERSION, "kind",
			       "VirtualCluster", "metadata", "name", "team-a", "spec", spec);

	world_do(w, &w->host, "POST", GROUP "/virtualclusters", json_incref(o));
}

/* A tenant is deleted and created again with the same name. If a load balancer has to be left
 * behind, this is reported for each of the two tenants. */
static void one_made_again_under_its_name_begins_anew(void **state)
{
	struct sim_world w;
	struct world_netris n;
	json_t *was;

	(void)state;
	world_start(&w, 413, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	balance(&w);
	world_replica(&w);
	wait_said(&w, "True Healthy", 120);
	was = cluster_get(&w.host, "virtualclusters.drover.dev/team-a");
	sim_netris_fault(n.sim, "Status", "DELETE ", NULL, 503, 0);
	world_do(&w, &w.host, "DELETE", TEAM_A, NULL);
	w.refused = "virtualclusters/team-a";
	world_run(&w, 900000);
	assert_int_equal(leaving_events(&w, "WayLeft"), 1);
	w.refused = NULL;
	cluster_ask(&w.host, "PATCH", TEAM_A, json_pack("{s:{s:n}}", "metadata", "finalizers"),
		    NULL, NULL);
	world_wait(&w, vc_is_gone, &w, 10, "the first team-a is gone");
	make_again(&w, was);
	wait_said(&w, "True Healthy", 120);
	world_do(&w, &w.host, "DELETE", TEAM_A, NULL);
	world_wait(&w, vc_is_gone, &w, 1800, "team-a is gone");
	assert_int_equal(leaving_events(&w, "WayLeft"), 2);
	json_decref(was);
	world_netris_stop(&n);
}

/* The tenant is deleted by force while a request to the network is in flight. The answer to that
 * request is dropped, and a new tenant of the same name waits until the request has ended. */
static void one_that_goes_while_its_network_is_asked_is_forgotten(void **state)
{
	struct sim_world w;
	struct world_netris n;
	json_t *was;

	(void)state;
	world_start(&w, 414, 1);
	w.reasons_have_pages = true;
	world_netris_start(&n, &w, 20, false);
	balance(&w);
	world_replica(&w);
	wait_said(&w, "True Healthy", 120);
	was = cluster_get(&w.host, "virtualclusters.drover.dev/team-a");
	sim_netris_fault(n.sim, "Slow", "GET /api/v2/l4lb", NULL, 20000, 0);
	world_run(&w, 35000);
	world_do(&w, &w.host, "DELETE", TEAM_A, NULL);
	world_do(&w, &w.host, "PATCH", TEAM_A, json_pack("{s:{s:n}}", "metadata", "finalizers"));
	assert_true(vc_is_gone(&w));
	world_run(&w, 1000);
	make_again(&w, was);
	world_run(&w, 30000);
	sim_netris_well(n.sim);
	wait_said(&w, "True Healthy", 300);
	json_decref(was);
	world_netris_stop(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_join_by_a_load_balancer_that_drover_makes),
		cmocka_unit_test(no_machine_joins_while_no_backend_is_healthy),
		cmocka_unit_test(a_machine_joins_while_one_backend_of_two_is_healthy),
		cmocka_unit_test(a_machine_on_its_way_waits_for_the_way),
		cmocka_unit_test(what_was_seen_of_a_way_holds_for_a_while),
		cmocka_unit_test(a_machine_that_the_way_does_not_answer_never_serves),
		cmocka_unit_test(an_image_that_does_not_ask_never_serves),
		cmocka_unit_test(a_machine_that_reaches_another_tenant_s_way_never_serves),
		cmocka_unit_test(another_way_takes_the_load_balancer_away),
		cmocka_unit_test(leaders_that_die_make_one),
		cmocka_unit_test(another_network_makes_no_load_balancer),
		cmocka_unit_test(one_that_only_a_dead_leader_asked_for_is_removed),
		cmocka_unit_test(a_controller_that_is_gone_keeps_no_tenant),
		cmocka_unit_test(one_made_again_under_its_name_begins_anew),
		cmocka_unit_test(one_that_goes_while_its_network_is_asked_is_forgotten),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
