/* A tenant sleeps: its machines stay for sleepGrace, then are released without the tenant's API
 * server. A tenant that merely does not answer keeps its machines. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/annotations.h"
#include "base/str.h"
#include "cli/explain_ask.h"
#include "controller/rules/sleep.h"
#include "controller/tenant/sleep.h"
#include "tests/world/leaving.h"

#define CLUSTERS "/apis/" OBJECT_API_VERSION "/virtualclusters/"
#define SETS "/apis/apps/v1/namespaces/vc-team-a/statefulsets"
#define MINUTE_MS (60 * 1000)
#define HOUR_MS (3600 * 1000)
#define GRACE_MS (11 * MINUTE_MS)

/* --- helpers ---------------------------------------------------------------------------------- */

static void asleep_cluster(struct sim_world *w, json_t *spec)
{
	world_do(w, &w->host, "PATCH", CLUSTERS "team-a", json_pack("{s:o}", "spec", spec));
}

static int64_t asleep_generation(struct sim_world *w)
{
	OWN_JSON o = cluster_get(&w->host, "statefulsets.apps/vc-team-a/team-a");

	assert_non_null(o);
	return json_int_at(json_at(o, "metadata"), "generation");
}

/* Scales like `vcluster pause` and `vcluster resume`, with the status of the StatefulSet
 * controller. */
static void asleep_scale(struct sim_world *w, int replicas, bool paused)
{
	world_do(w, &w->host, "PATCH", SETS "/team-a",
		 json_pack("{s:{s:{s:s?}}, s:{s:i}}", "metadata", "annotations", "loft.sh/paused",
			   paused ? "true" : NULL, "spec", "replicas", replicas));
	world_do(w, &w->host, "PATCH", SETS "/team-a/status",
		 json_pack("{s:{s:I, s:i}}", "status", "observedGeneration",
			   (json_int_t)asleep_generation(w), "replicas", replicas));
}

static void asleep_set(struct sim_world *w)
{
	world_do(w, &w->host, "POST", SETS,
		 json_pack("{s:s,s:s,s:{s:s,s:s},s:{s:i,s:s,s:{s:{s:s}},"
			   "s:{s:{s:{s:s}},s:{s:[{s:s,s:s}]}}}}",
			   "apiVersion", "apps/v1", "kind", "StatefulSet", "metadata", "name",
			   "team-a", "namespace", "vc-team-a", "spec", "replicas", 1, "serviceName",
			   "team-a", "selector", "matchLabels", "app", "vcluster", "template",
			   "metadata", "labels", "app", "vcluster", "spec", "containers", "name",
			   "syncer", "image", "vcluster:1"));
	asleep_scale(w, 1, false);
	asleep_cluster(w, json_pack("{s:{s:s,s:s},s:s}", "controlPlane", "namespace", "vc-team-a",
				    "name", "team-a", "sleepGrace", "11m"));
}

/* Starts `servers` machines that each serve a pod of team-a; drover knows the tenant's control
 * plane. */
static void asleep_serving(struct sim_world *w, uint64_t seed, unsigned servers)
{
	char pod[2][8] = {"train", "more"};

	world_start(w, seed, servers);
	w->reasons_have_pages = true;
	world_replica(w);
	asleep_set(w);
	for (unsigned i = 0; i < servers; i++)
		world_pod(w, &w->tenants[0], pod[i]);
	for (unsigned i = 0; i < servers; i++)
		world_wait_running(w, &w->tenants[0], pod[i], 900);
	world_wait_all(w, "serving", 60);
	world_run(w, 15000); /* until the claims' status is up to date */
}

static void asleep_sleep(struct sim_world *w)
{
	w->tenants[0].owed = true;
	asleep_scale(w, 0, true);
	cluster_away(&w->tenants[0], true);
}

static void asleep_wake(struct sim_world *w)
{
	asleep_scale(w, 1, false);
	cluster_away(&w->tenants[0], false);
}

static const char *asleep_condition(struct sim_world *w, struct arena *a, const char *type,
				    const char *member)
{
	OWN_JSON o = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return arena_printf(a, "%s %s", json_str_at(c, "status"),
					    json_str_at(c, member));
	return "";
}

struct asleep_says {
	struct sim_world *w;
	const char *text;
};

static bool tenant_sleep_is(void *arg)
{
	struct asleep_says *s = arg;
	OWN(arena) a = arena_new();

	return str_eq(asleep_condition(s->w, a, TENANT_SLEEP_CONDITION, "reason"), s->text);
}

static void asleep_wait(struct sim_world *w, const char *text, int64_t limit_s)
{
	struct asleep_says s = {w, text};

	world_wait(w, tenant_sleep_is, &s, limit_s, text);
}

static int64_t asleep_since(struct sim_world *w)
{
	OWN_JSON o = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");
	const char *text = json_str_at(o, "status", "asleepSince");
	int64_t ms = 0;

	assert_true(!text || str_to_time(text, &ms));
	return ms;
}

static size_t asleep_debts(struct sim_world *w)
{
	OWN_JSON vc = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");

	return json_array_size(json_at(vc, "status", "debts"));
}

static bool asleep_is_quits(void *arg)
{
	return asleep_debts(arg) == 0;
}

static bool asleep_has_node(struct sim_world *w, const char *name)
{
	char key[200];
	struct store_entry en;

	str_format(key, sizeof(key), "nodes/%s", name);
	return store_get(w->tenants[0].store, key, &en);
}

static bool asleep_left(void *arg)
{
	return !str_eq(((struct server *)arg)->state, "serving");
}

/* Waits until the machine stops serving. Returns the ms from `from` until then. */
static int64_t asleep_leaves(struct sim_world *w, struct server *b, int64_t from, int64_t limit_s)
{
	world_wait(w, asleep_left, b, limit_s, "it leaves");
	return loop_now(w->loop) - from;
}

static void asleep_on_why(const json_t *answer, const struct err *e, void *arg)
{
	json_t **out = arg;

	assert_null(e);
	*out = json_deep_copy(answer);
}

static json_t *asleep_why(struct sim_world *w, const char *target)
{
	struct context *c = controller_context(world_leader(w)->controller);
	struct explain_asker with = {.loop = w->loop, .ns = "drover-system", .plain_ok = true};
	json_t *answer = NULL;

	with.host = c->host;
	with.group = c->group;
	with.http = c->http;
	(void)explain_ask(&with, target, asleep_on_why, &answer);
	world_run(w, 5000);
	assert_non_null(answer);
	return answer;
}

/* --- how sleep is detected -------------------------------------------------------------------- */

static void a_sleeping_tenant_keeps_its_machines_for_the_grace(void **state)
{
	struct sim_world w;
	OWN(arena) a = arena_new();
	struct server *b = &w.servers[0];
	int64_t from;

	(void)state;
	asleep_serving(&w, 700, 1);
	assert_string_equal(asleep_condition(&w, a, "Asleep", "reason"), "False Awake");
	assert_int_equal(asleep_since(&w), 0);
	asleep_sleep(&w);
	from = loop_now(w.loop);
	asleep_wait(&w, "True Paused", 120);
	assert_in_range(loop_wall(w.loop) - asleep_since(&w), 0, 2000);
	world_run(&w, 10000);
	assert_string_equal(asleep_condition(&w, a, "Ready", "reason"), "False Asleep");
	assert_string_equal(asleep_condition(&w, a, "Reachable", "reason"), "False Asleep");
	assert_non_null(
		strstr(asleep_condition(&w, a, "Asleep", "message"),
		       "StatefulSet vc-team-a/team-a is paused; its machines are released after "));
	OWN_JSON machine = asleep_why(&w, "gpu-1");
	OWN_JSON claim = asleep_why(&w, b->claim);
	OWN_JSON pod = asleep_why(&w, "team-a/default/train");
	assert_non_null(json_at(machine, "tenantAsleep", "since"));
	assert_non_null(strstr(json_str_at(claim, "tenantAsleep", "message"), "is paused"));
	assert_string_equal(json_str_at(pod, "lastError", "reason"), "Asleep");
	world_run(&w, GRACE_MS - MINUTE_MS - (loop_now(w.loop) - from));
	assert_string_equal(b->state, "serving");
	assert_true(b->bmc.on);
	assert_int_equal(asleep_debts(&w), 0);
	asleep_wake(&w);
	asleep_wait(&w, "False Awake", 60);
	assert_int_equal(asleep_since(&w), 0);
	world_run(&w, HOUR_MS);
	assert_string_equal(b->state, "serving");
	world_check_serving(&w, &w.tenants[0], "train");
	assert_string_equal(asleep_condition(&w, a, "Ready", "reason"), "True Ok");
	world_stop(&w);
}

static void after_the_grace_they_go_back_without_its_api(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char claim[128];
	int64_t from;

	(void)state;
	asleep_serving(&w, 701, 1);
	str_copy(claim, sizeof(claim), b->claim);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	from = loop_now(w.loop);
	assert_in_range(asleep_leaves(&w, b, from, 2 * 3600), GRACE_MS - 2000, GRACE_MS + 15000);
	assert_string_equal(b->state, "stopping");
	assert_string_equal(world_at(b, "status.leave.reason"), "TenantAsleep");
	leaving_wait_event(&w, &w.host, "TenantAsleep", "team-a has been asleep since ");
	world_wait_state(b, "free", 1800);
	assert_true(server_is_blank(b));
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	assert_int_equal(asleep_debts(&w), 1);
	/* The pending cleanup is still recorded days later, and done when the tenant is back. */
	world_run(&w, 26 * (int64_t)HOUR_MS);
	assert_int_equal(asleep_debts(&w), 1);
	assert_true(asleep_has_node(&w, claim));
	asleep_wake(&w);
	world_wait(&w, asleep_is_quits, &w, 120, "the debt paid");
	assert_false(asleep_has_node(&w, claim));
	assert_false(leaving_was_told(&w.host, "DebtWrittenOff", ""));
	world_stop(&w);
}

static void a_tenant_that_never_gives_back_keeps_its_machines(void **state)
{
	struct sim_world w;
	OWN(arena) a = arena_new();

	(void)state;
	asleep_serving(&w, 702, 1);
	asleep_cluster(&w, json_pack("{s:s}", "sleepGrace", "Never"));
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	world_run(&w, 2 * HOUR_MS);
	assert_string_equal(w.servers[0].state, "serving");
	assert_non_null(
		strstr(asleep_condition(&w, a, "Asleep", "message"), "sleepGrace is Never"));
	asleep_wake(&w);
	world_run(&w, MINUTE_MS);
	world_check_serving(&w, &w.tenants[0], "train");
	world_stop(&w);
}

static void a_tenant_that_only_does_not_answer_is_not_asleep(void **state)
{
	(void)state;
	for (int how = 0; how < 4; how++) {
		struct sim_world w;
		OWN(arena) a = arena_new();

		asleep_serving(&w, 710 + (uint64_t)how, 1);
		if (how == 1) /* the tenant has no spec.controlPlane */
			asleep_cluster(&w, json_pack("{s:n}", "controlPlane"));
		if (how == 1 || how == 2)
			asleep_scale(&w, 0, true);
		if (how == 3) { /* only spec is scaled: pods may still run */
			world_do(&w, &w.host, "PATCH", SETS "/team-a",
				 json_pack("{s:{s:i}}", "spec", "replicas", 0));
		}
		if (how != 2) /* with how == 2 the tenant still answers */
			cluster_away(&w.tenants[0], true);
		world_run(&w, HOUR_MS);
		assert_string_equal(w.servers[0].state, "serving");
		assert_int_equal(asleep_since(&w), 0);
		assert_string_equal(asleep_condition(&w, a, "Asleep", "reason"),
				    how == 1   ? ""
				    : how == 3 ? "False GoingToSleep"
					       : "False Awake");
		assert_string_equal(asleep_condition(&w, a, "Reachable", "reason"),
				    how == 2 ? "True Ok" : "False Unreachable");
		world_stop(&w);
	}
}

static void on_forbidden(struct httpd_req *q, void *arg)
{
	(void)arg;
	httpd_reply_json(q, 403,
			 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
			 "\"message\":\"no\",\"reason\":\"Forbidden\",\"code\":403}");
}

static void whoever_may_not_look_says_so_and_takes_nothing(void **state)
{
	struct sim_world w;
	OWN(arena) a = arena_new();
	struct httpd *forbids;
	int64_t from;

	(void)state;
	asleep_serving(&w, 720, 1);
	forbids = httpd_new(w.host.group);
	httpd_route(forbids, "GET", SETS "/{}", 1 << 16, on_forbidden, NULL);
	apiserver_routes(w.host.api, forbids);
	http_mem_serve(w.net, w.replicas[0].origin, forbids);
	asleep_wait(&w, "Unknown NotPermitted", 360); /* while the tenant is still awake */
	assert_non_null(strstr(asleep_condition(&w, a, "Asleep", "message"),
			       "deploy/tenant-kubeconfig.yaml"));
	leaving_wait_event(&w, &w.host, "NotPermitted", "StatefulSet vc-team-a/team-a");
	asleep_sleep(&w);
	world_run(&w, HOUR_MS);
	assert_string_equal(w.servers[0].state, "serving");
	assert_int_equal(asleep_since(&w), 0);
	http_mem_serve(w.net, w.replicas[0].origin, w.host.httpd);
	httpd_free(forbids);
	asleep_wait(&w, "True Paused", 120);
	from = loop_now(w.loop);
	assert_in_range(asleep_leaves(&w, &w.servers[0], from, 2 * 3600), GRACE_MS - 2000,
			GRACE_MS + 15000);
	world_stop(&w);
}

/* --- the grace period ------------------------------------------------------------------------- */

static void each_sleep_has_its_own_time(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t first, from;

	(void)state;
	asleep_serving(&w, 730, 1);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	world_run(&w, 10 * MINUTE_MS);
	asleep_wake(&w);
	world_run(&w, MINUTE_MS);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	world_run(&w, 10 * MINUTE_MS);
	assert_string_equal(b->state, "serving");
	/* The tenant is scaled up and down again between two reads of the StatefulSet. Its API
	 * server does not answer in between. */
	first = asleep_since(&w);
	asleep_scale(&w, 1, false);
	asleep_scale(&w, 0, false);
	from = loop_now(w.loop);
	asleep_wait(&w, "True ScaledToZero", 60);
	assert_true(asleep_since(&w) > first + 9 * MINUTE_MS);
	assert_in_range(asleep_leaves(&w, b, from, 2 * 3600), GRACE_MS - 2000, GRACE_MS + 45000);
	world_stop(&w);
}

/* The grace period is shorter than the interval between two checks of a serving machine, and no
 * other event triggers a check. */
static void a_short_grace_is_kept_as_well(void **state)
{
	struct sim_world w;
	int64_t from;

	(void)state;
	asleep_serving(&w, 736, 1);
	asleep_cluster(&w, json_pack("{s:s}", "sleepGrace", "1m"));
	w.tenants[0].owed = true;
	cluster_away(&w.tenants[0], true);
	world_run(&w, 5 * MINUTE_MS);
	asleep_scale(&w, 0, true);
	asleep_wait(&w, "True Paused", 120);
	from = loop_now(w.loop);
	assert_in_range(asleep_leaves(&w, &w.servers[0], from, 2 * 3600), MINUTE_MS - 2000,
			MINUTE_MS + 10000);
	world_stop(&w);
}

static void a_clock_that_is_put_forward_does_not_shorten_the_grace(void **state)
{
	struct sim_world w;
	int64_t from;

	(void)state;
	asleep_serving(&w, 731, 1);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	from = loop_now(w.loop);
	world_run(&w, 5 * MINUTE_MS);
	loop_sim_set_clock(w.loop, 30 * (int64_t)HOUR_MS);
	assert_in_range(asleep_leaves(&w, &w.servers[0], from, 2 * 3600), GRACE_MS - 2000,
			GRACE_MS + 15000);
	world_stop(&w);
}

static void a_sleep_that_began_in_the_future_begins_now(void **state)
{
	struct sim_world w;
	int64_t from;

	(void)state;
	asleep_serving(&w, 732, 1);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	world_run(&w, 5 * MINUTE_MS);
	loop_sim_set_clock(w.loop, -20 * (int64_t)HOUR_MS);
	from = loop_now(w.loop);
	world_run(&w, MINUTE_MS);
	assert_in_range(loop_wall(w.loop) - asleep_since(&w), 0, MINUTE_MS + 2000);
	assert_in_range(asleep_leaves(&w, &w.servers[0], from, 2 * 3600), GRACE_MS - 2000,
			GRACE_MS + 60000);
	world_stop(&w);
}

static void a_new_leader_goes_on_counting(void **state)
{
	struct sim_world w;
	int64_t from;

	(void)state;
	asleep_serving(&w, 733, 1);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	from = loop_now(w.loop);
	world_run(&w, 5 * MINUTE_MS);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 4 * MINUTE_MS);
	world_kill(&w.replicas[1]);
	world_run(&w, 4 * MINUTE_MS);
	assert_string_equal(w.servers[0].state, "serving");
	world_replica(&w); /* the new leader reads the tenant's state before it releases machines */
	assert_in_range(asleep_leaves(&w, &w.servers[0], from, 2 * 3600), 13 * MINUTE_MS,
			16 * MINUTE_MS);
	world_wait_state(&w.servers[0], "free", 1800);
	assert_int_equal(asleep_debts(&w), 1);
	world_stop(&w);
}

static void a_tenant_that_was_awake_while_nobody_led_begins_anew(void **state)
{
	struct sim_world w;
	int64_t from;

	(void)state;
	asleep_serving(&w, 734, 1);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	world_run(&w, 10 * MINUTE_MS);
	world_kill(&w.replicas[0]);
	asleep_scale(&w, 1, false);
	world_run(&w, 5 * MINUTE_MS);
	asleep_scale(&w, 0, true);
	from = loop_now(w.loop);
	world_replica(&w);
	assert_in_range(asleep_leaves(&w, &w.servers[0], from, 2 * 3600), GRACE_MS - 2000,
			GRACE_MS + 120000);
	world_stop(&w);
}

/* The StatefulSet cannot be read when the grace period ends. Drover's last observation is then a
 * few seconds old, which is too old to release a machine. */
static void without_a_fresh_look_nothing_goes_back(void **state)
{
	struct sim_world w;
	OWN(arena) a = arena_new();

	(void)state;
	asleep_serving(&w, 735, 1);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	world_run(&w, GRACE_MS - 15000 - (loop_wall(w.loop) - asleep_since(&w)));
	w.refused = "/statefulsets/";
	world_run(&w, 30 * MINUTE_MS);
	assert_string_equal(w.servers[0].state, "serving");
	/* The tenant is awake but does not answer yet. Only a new read of the StatefulSet can show
	 * that it is awake. */
	asleep_scale(&w, 1, false);
	w.refused = NULL;
	world_run(&w, 30 * MINUTE_MS);
	assert_string_equal(w.servers[0].state, "serving");
	assert_string_equal(asleep_condition(&w, a, "Asleep", "reason"), "False Awake");
	world_stop(&w);
}

/* --- what prevents the release ---------------------------------------------------------------- */

static void what_is_held_or_paused_stays(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	OWN(arena) a = arena_new();

	(void)state;
	asleep_serving(&w, 740, 1);
	asleep_cluster(&w, json_pack("{s:b}", "paused", 1));
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	world_run(&w, 20 * MINUTE_MS);
	assert_string_equal(b->state, "serving");
	assert_non_null(strstr(asleep_condition(&w, a, "Asleep", "message"), "spec.paused"));
	leaving_set_pool(&w, json_pack("{s:{s:[{s:s, s:[s]}]}}", "disruption", "budgets", "nodes",
				       "0", "reasons", "TenantAsleep"));
	asleep_cluster(&w, json_pack("{s:b}", "paused", 0));
	world_run(&w, 10 * MINUTE_MS);
	assert_string_equal(b->state, "serving");
	leaving_set_pool(&w, json_pack("{s:b, s:{s:[{s:s, s:[s]}]}}", "paused", 1, "disruption",
				       "budgets", "nodes", "0", "reasons", "Empty"));
	world_run(&w, 10 * MINUTE_MS);
	assert_string_equal(b->state, "serving");
	leaving_set_pool(&w, json_pack("{s:b}", "paused", 0));
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

static void a_cordoned_node_stays(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	asleep_serving(&w, 741, 1);
	leaving_cordon(b, true);
	world_run(&w, 10000);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	world_run(&w, 20 * MINUTE_MS);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 20 * MINUTE_MS);
	assert_string_equal(b->state, "serving");
	world_stop(&w);
}

/* A Drain with `then: Hold` keeps the machine of a sleeping tenant, both after the Hold was reached
 * and while the Drain still waits for the tenant. */
static void what_a_drain_is_to_hold_stays(void **state)
{
	(void)state;
	for (int held = 0; held < 2; held++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		asleep_serving(&w, 743 + (uint64_t)held, 1);
		if (held) {
			leaving_drain(&w, "fans", 0, "  then: Hold\n");
			leaving_wait_target(&w, "Done");
			assert_string_equal(world_at(b, "status.hold.drain"), "fans");
		}
		asleep_sleep(&w);
		asleep_wait(&w, "True Paused", 120);
		if (!held)
			leaving_drain(&w, "fans", 0, "  then: Hold\n");
		world_run(&w, 20 * MINUTE_MS);
		assert_string_equal(b->state, held ? "serving" : "draining");
		world_stop(&w);
	}
}

static void a_deleted_claim_waits_no_longer_than_its_tenants_grace(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t from;

	(void)state;
	asleep_serving(&w, 745, 1);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	from = loop_now(w.loop);
	world_run(&w, 5 * MINUTE_MS);
	world_release(b); /* if team-a were awake, its pods would have an hour */
	world_wait_state(b, "stopping", 3600);
	assert_in_range(loop_now(w.loop) - from, GRACE_MS - 2000, GRACE_MS + 15000);
	world_stop(&w);
}

static void a_drain_without_a_deadline_does_not_wait_for_a_sleeper(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t from;

	(void)state;
	asleep_serving(&w, 742, 1);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	from = loop_now(w.loop);
	leaving_drain(&w, "fans", 0, "  then: Quarantine\n");
	world_wait_state(b, "draining", 60);
	world_run(&w, 10 * MINUTE_MS);
	assert_string_equal(b->state, "draining");
	world_wait_state(b, "stopping", 600);
	assert_in_range(loop_now(w.loop) - from, GRACE_MS - 2000, GRACE_MS + 60000);
	world_wait_state(b, "quarantined", 1800);
	leaving_wait_target(&w, "Done");
	world_stop(&w);
}

/* --- wake-up during release ------------------------------------------------------------------- */

static void one_that_has_begun_to_leave_goes_on_and_the_others_stay(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0], *other = &w.servers[1], *x;
	char claim[128];

	(void)state;
	asleep_serving(&w, 750, 2);
	leaving_set_pool(&w, json_pack("{s:{s:[{s:s}]}}", "disruption", "budgets", "nodes", "1"));
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	world_run(&w, 10 * MINUTE_MS);
	while (str_eq(b->state, "serving") && str_eq(other->state, "serving"))
		world_run(&w, 1000);
	if (str_eq(b->state, "serving")) {
		x = b;
		b = other;
		other = x;
	}
	str_copy(claim, sizeof(claim), other->claim);
	world_kill(&w.replicas[0]); /* the next leader keeps to the disruption budget, too */
	world_replica(&w);
	world_run(&w, MINUTE_MS);
	assert_string_not_equal(b->claim, "");
	assert_string_equal(other->state, "serving");
	asleep_wake(&w);
	w.tenants[0].owed = false;
	world_wait_state(b, "dirty", 600);
	world_run(&w, 30 * MINUTE_MS);
	assert_string_equal(other->state, "serving");
	assert_string_equal(other->claim, claim);
	assert_int_equal(asleep_debts(&w), 0);
	world_stop(&w);
}

static void of_two_tenants_the_one_that_is_awake_gets_what_the_other_slept_on(void **state)
{
	struct sim_world w;

	(void)state;
	asleep_serving(&w, 751, 2);
	world_delete_pod(&w, &w.tenants[0], "more");
	world_pod(&w, &w.tenants[1], "theirs");
	world_wait_running(&w, &w.tenants[1], "theirs", 3600);
	world_pod(&w, &w.tenants[1], "second");
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	world_run(&w, 10 * MINUTE_MS);
	world_check_serving(&w, &w.tenants[1], "theirs");
	world_wait_running(&w, &w.tenants[1], "second", 3600);
	world_check_serving(&w, &w.tenants[1], "second");
	world_check_serving(&w, &w.tenants[1], "theirs");
	assert_int_equal(asleep_debts(&w), 1);
	world_stop(&w);
}

/* The tenant falls asleep while a machine is prepared for it. The machine is released without the
 * tenant, and the pod is served after the wake-up. */
static void what_was_on_its_way_to_a_sleeper_comes_back(void **state)
{
	static const char *const at[] = {"claimed", "imaging", "joining", "gating"};

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 760 + i, 1);
		world_replica(&w);
		asleep_set(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_state(b, at[i], 900);
		asleep_sleep(&w);
		world_wait_state(b, "free", 2 * 3600);
		world_run(&w, 10 * MINUTE_MS);
		assert_string_equal(b->state, "free");
		asleep_wake(&w);
		world_wait(&w, asleep_is_quits, &w, 120, "the debts paid");
		world_wait_running(&w, &w.tenants[0], "train", 3600);
		world_stop(&w);
	}
}

static void leaders_that_die_while_they_go_back_are_followed(void **state)
{
	static const char *const at[] = {"stopping", "isolating", "leaving", "dirty"};

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		asleep_serving(&w, 770 + i, 1);
		asleep_sleep(&w);
		world_wait_state(b, at[i], 3600);
		world_kill(&w.replicas[0]);
		world_replica(&w);
		world_wait_state(b, "free", 1800);
		assert_int_equal(asleep_debts(&w), 1);
		asleep_wake(&w);
		world_wait(&w, asleep_is_quits, &w, 120, "the debt paid");
		world_stop(&w);
	}
}

/* The tenant sleeps, but its pods still wait in drover's last snapshot: no machine is claimed for
 * them. */
static void nothing_is_placed_for_a_sleeper(void **state)
{
	struct sim_world w;
	struct server *second = &w.servers[1];

	(void)state;
	asleep_serving(&w, 752, 1);
	world_pod(&w, &w.tenants[0], "more");
	world_run(&w, 10000);
	asleep_sleep(&w);
	asleep_wait(&w, "True Paused", 120);
	w.nboxes = 2;
	server_init(second, &w, 2);
	world_machine(&w, second);
	world_wait_state(second, "free", 900);
	world_run(&w, 10 * MINUTE_MS);
	assert_string_equal(second->state, "free");
	assert_string_equal(second->claim, "");
	asleep_wake(&w);
	world_wait_running(&w, &w.tenants[0], "more", 900);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleeping_tenant_keeps_its_machines_for_the_grace),
		cmocka_unit_test(after_the_grace_they_go_back_without_its_api),
		cmocka_unit_test(a_tenant_that_never_gives_back_keeps_its_machines),
		cmocka_unit_test(a_tenant_that_only_does_not_answer_is_not_asleep),
		cmocka_unit_test(whoever_may_not_look_says_so_and_takes_nothing),
		cmocka_unit_test(each_sleep_has_its_own_time),
		cmocka_unit_test(a_short_grace_is_kept_as_well),
		cmocka_unit_test(a_clock_that_is_put_forward_does_not_shorten_the_grace),
		cmocka_unit_test(a_sleep_that_began_in_the_future_begins_now),
		cmocka_unit_test(a_new_leader_goes_on_counting),
		cmocka_unit_test(a_tenant_that_was_awake_while_nobody_led_begins_anew),
		cmocka_unit_test(without_a_fresh_look_nothing_goes_back),
		cmocka_unit_test(what_is_held_or_paused_stays),
		cmocka_unit_test(a_cordoned_node_stays),
		cmocka_unit_test(what_a_drain_is_to_hold_stays),
		cmocka_unit_test(a_deleted_claim_waits_no_longer_than_its_tenants_grace),
		cmocka_unit_test(a_drain_without_a_deadline_does_not_wait_for_a_sleeper),
		cmocka_unit_test(one_that_has_begun_to_leave_goes_on_and_the_others_stay),
		cmocka_unit_test(of_two_tenants_the_one_that_is_awake_gets_what_the_other_slept_on),
		cmocka_unit_test(what_was_on_its_way_to_a_sleeper_comes_back),
		cmocka_unit_test(leaders_that_die_while_they_go_back_are_followed),
		cmocka_unit_test(nothing_is_placed_for_a_sleeper),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
