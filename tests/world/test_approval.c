/* Claims that need an approval: nothing is bound, switched on or launched before it. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/approving.h"
#include "tests/world/leaving.h"
#include "tests/world/sky.h"

static void start(struct sim_world *w, uint64_t seed, unsigned servers)
{
	world_start(w, seed, servers);
	w->reasons_have_pages = true;
	approving_ask(w, json_pack("{s:s}", "claims", "Manual"));
	world_replica(w);
	world_wait_all(w, "free", 3600);
}

static void nothing_starts_before_the_approval(void **state)
{
	struct sim_world w;
	OWN_JSON o = NULL;

	(void)state;
	start(&w, 8101, 2);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ApprovalPending");
	world_run(&w, 3 * 3600 * 1000);
	approving_all_rest(&w);
	o = approving_first(&w);
	assert_string_equal(approving_at(o, "status"), "Unknown");
	assert_non_null(strstr(approving_at(o, "message"), "drover approve claim/"));
	assert_int_equal(store_count(w.host.store, APPROVING_CLAIMS), 1);
	assert_int_equal(leaving_events(&w, "ApprovalPending"), 1);
	assert_true(leaving_was_told(&w.tenants[0], "ApprovalPending", "waits for an approval"));
	approving_decide_first(&w, "Approved");
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	json_decref(o);
	o = approving_first(&w);
	assert_string_equal(approving_at(o, "status"), "True");
	assert_non_null(strstr(approving_at(o, "message"), "by alice"));
	world_stop(&w);
}

static void a_leader_change_does_not_lose_the_decision(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 8102, 1);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ApprovalPending");
	world_kill(&w.replicas[0]);
	approving_decide_first(&w, "Approved");
	world_replica(&w);
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	world_stop(&w);
}

/* Asserts that the first claim is the one with this object for 20 s in which no Machine can be
 * written, and that it gets its machine then. The 30 s in which a machine has to accept a claim
 * begin when the leader sees that it may. */
static void has_its_time(struct sim_world *w, const json_t *claim)
{
	OWN_JSON o = NULL;

	w->refused = "/machines/gpu-1/status";
	world_run(w, 20 * 1000);
	w->refused = NULL;
	world_wait_running(w, &w->tenants[0], "train", 3600);
	o = approving_first(w);
	assert_string_equal(json_str_at(o, "metadata", "uid"),
			    json_str_at(claim, "metadata", "uid"));
}

/* The standby has known the claim for hours when it begins to lead. */
static void a_new_leader_leaves_an_approved_claim_its_time(void **state)
{
	struct sim_world w;
	OWN_JSON o = NULL;

	(void)state;
	start(&w, 8109, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ApprovalPending");
	world_run(&w, 3600 * 1000);
	o = approving_first(&w);
	world_kill(&w.replicas[0]);
	w.refused = "/machines/gpu-1/status";
	approving_decide_first(&w, "Approved");
	approving_wait(&w, "Approved");
	has_its_time(&w, o);
	world_stop(&w);
}

static void a_denied_claim_that_needs_no_approval_any_more_has_its_time(void **state)
{
	struct sim_world w;
	OWN_JSON o = NULL;

	(void)state;
	start(&w, 8110, 1);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ApprovalPending");
	approving_decide_first(&w, "Denied");
	approving_wait(&w, "ClaimDenied");
	world_run(&w, 20 * 60 * 1000);
	o = approving_first(&w);
	w.refused = "/machines/gpu-1/status";
	approving_ask(&w, json_pack("{s:s}", "claims", "None"));
	has_its_time(&w, o);
	world_stop(&w);
}

static bool is_first(struct sim_world *w, const json_t *claim)
{
	OWN_JSON o = approving_first(w);

	return o &&
	       str_eq(json_str_at(o, "metadata", "uid"), json_str_at(claim, "metadata", "uid"));
}

/* The reserved machine becomes unusable while its claim waits, and 30 s later the claim ends. */
static void a_claim_whose_machine_fails_is_withdrawn_in_30_s(void **state)
{
	struct sim_world w;
	OWN_JSON o = NULL;

	(void)state;
	start(&w, 8111, 1);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ApprovalPending");
	world_run(&w, 3600 * 1000);
	o = approving_first(&w);
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/machines/gpu-1",
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "drover.dev/quarantine",
			   "01 fans"));
	world_wait_state(&w.servers[0], "quarantined", 60);
	world_run(&w, 20 * 1000);
	assert_true(is_first(&w, o));
	world_run(&w, 15 * 1000);
	assert_false(is_first(&w, o));
	world_stop(&w);
}

struct counted {
	const char *phase;
	unsigned n;
};

static bool count_phase(const json_t *o, void *arg)
{
	struct counted *x = arg;

	x->n += str_eq(json_str_at(o, "status", "phase"), x->phase);
	return true;
}

static bool no_claims(void *arg)
{
	struct sim_world *w = arg;

	return !store_count(w->host.store, APPROVING_CLAIMS);
}

static bool has_claims(void *arg)
{
	return !no_claims(arg);
}

/* A denied claim stays as the record of its denial, holds no machine, and its pods get no other
 * claim until its time is over: one hour if the denial names no time. */
static void what_was_denied_is_not_made_again_at_once(void **state)
{
	struct sim_world w;
	OWN_JSON o = NULL;

	(void)state;
	start(&w, 8103, 1);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ApprovalPending");
	approving_decide_first(&w, "Denied");
	approving_wait(&w, "ClaimDenied");
	world_run(&w, 10 * 60 * 1000);
	o = approving_first(&w);
	assert_string_equal(json_str_at(o, "status", "phase"), "Denied");
	assert_int_equal(store_count(w.host.store, APPROVING_CLAIMS), 1);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 40 * 60 * 1000);
	assert_int_equal(store_count(w.host.store, APPROVING_CLAIMS), 1);
	approving_all_rest(&w);
	assert_true(leaving_was_told(&w.tenants[0], "ClaimDenied", "by alice"));
	/* Another tenant may have the machine, and the quota of the denied claim is free. */
	world_pod(&w, &w.tenants[1], "other");
	world_wait_running(&w, &w.tenants[1], "other", 3600);
	world_stop(&w);
}

static void after_its_time_a_denied_claim_is_asked_for_again(void **state)
{
	struct sim_world w;
	OWN_JSON o = NULL;
	OWN_JSON later = NULL;
	char until[STR_TIME_SIZE];

	(void)state;
	start(&w, 8104, 1);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ApprovalPending");
	o = approving_first(&w);
	approving_decide(&w, json_str_at(o, "metadata", "name"), "Denied",
			 str_time(until, loop_wall(w.loop) + 20 * 60 * 1000));
	approving_wait(&w, "ClaimDenied");
	world_run(&w, 18 * 60 * 1000);
	assert_int_equal(store_count(w.host.store, APPROVING_CLAIMS), 1);
	approving_wait(&w, "ClaimDenied");
	world_run(&w, 4 * 60 * 1000);
	world_wait(&w, has_claims, &w, 120, "a new claim");
	later = approving_first(&w);
	assert_string_not_equal(json_str_at(o, "metadata", "uid"),
				json_str_at(later, "metadata", "uid"));
	approving_wait(&w, "ApprovalPending");
	approving_all_rest(&w);
	world_stop(&w);
}

/* The end of a denial comes while the leader may not act, because its Lease was not renewed. */
static void the_end_of_a_denial_is_not_missed(void **state)
{
	struct sim_world w;
	OWN_JSON o = NULL;
	char until[STR_TIME_SIZE];

	(void)state;
	start(&w, 8113, 1);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ApprovalPending");
	o = approving_first(&w);
	approving_decide(&w, json_str_at(o, "metadata", "name"), "Denied",
			 str_time(until, loop_wall(w.loop) + 600 * 1000));
	world_run(&w, 594100);
	w.lease_fails = true;
	world_run(&w, 6400);
	assert_true(is_first(&w, o));
	w.lease_fails = false;
	world_run(&w, 10 * 1000);
	assert_false(is_first(&w, o));
	assert_null(strstr(w.log, "no longer the leader"));
	world_stop(&w);
}

static void a_claim_that_waits_goes_with_its_pods(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 8105, 1);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ApprovalPending");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_wait(&w, no_claims, &w, 120, "no claim");
	approving_all_rest(&w);
	world_stop(&w);
}

static void one_decision_counts_for_the_whole_gang(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 8106, 3);
	world_gang_pod(&w, &w.tenants[0], "rank-0", "job", "2");
	world_gang_pod(&w, &w.tenants[0], "rank-1", "job", "2");
	approving_wait(&w, "ApprovalPending");
	world_run(&w, 60 * 1000);
	assert_int_equal(store_count(w.host.store, APPROVING_CLAIMS), 2);
	approving_all_rest(&w);
	approving_decide_first(&w, "Approved");
	world_wait_running(&w, &w.tenants[0], "rank-0", 3600);
	world_wait_running(&w, &w.tenants[0], "rank-1", 3600);
	world_stop(&w);
}

/* Returns the number of claims in this phase. */
static unsigned in_phase(struct sim_world *w, const char *phase)
{
	struct counted x = {phase, 0};

	cluster_each(&w->host, APPROVING_CLAIMS, count_phase, &x);
	return x.n;
}

/* The claim that was denied is deleted: the decision stays in the other claims of its gang. */
static void the_decision_on_a_gang_stays_when_its_claim_goes(void **state)
{
	struct sim_world w;
	OWN(arena) a = arena_new();
	OWN_JSON o = NULL;

	(void)state;
	start(&w, 8114, 3);
	world_gang_pod(&w, &w.tenants[0], "rank-0", "job", "2");
	world_gang_pod(&w, &w.tenants[0], "rank-1", "job", "2");
	approving_wait(&w, "ApprovalPending");
	world_run(&w, 60 * 1000);
	approving_decide_first(&w, "Denied");
	world_run(&w, 5 * 1000);
	assert_int_equal(in_phase(&w, "Denied"), 2);
	o = approving_first(&w);
	world_do(&w, &w.host, "DELETE",
		 arena_printf(a, "/apis/drover.dev/v1alpha1/nodeclaims/%s",
			      json_str_at(o, "metadata", "name")),
		 NULL);
	world_run(&w, 20 * 60 * 1000);
	assert_int_equal(in_phase(&w, "Denied"), 1);
	approving_all_rest(&w);
	world_stop(&w);
}

static void a_tenant_that_asks_no_more_gets_its_machine(void **state)
{
	struct sim_world w;
	OWN_JSON o = NULL;

	(void)state;
	start(&w, 8107, 1);
	world_pod(&w, &w.tenants[0], "train");
	approving_wait(&w, "ApprovalPending");
	approving_ask(&w, json_pack("{s:s}", "claims", "None"));
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	o = approving_first(&w);
	assert_string_equal(approving_at(o, "reason"), "ApprovalNotNeeded");
	world_stop(&w);
}

static void no_instance_is_launched_before_the_approval(void **state)
{
	struct sim_world *w = mem_new(struct sim_world);
	struct sky *sky = mem_new(struct sky);
	OWN_JSON o = NULL;

	(void)state;
	world_start(w, 8108, 0);
	sky_start(sky, w, "3");
	approving_ask(w, json_pack("{s:s}", "claims", "Manual"));
	world_replica(w);
	world_pod(w, &w->tenants[0], "train");
	approving_wait(w, "ApprovalPending");
	o = approving_first(w);
	world_run(w, 3600 * 1000);
	assert_true(is_first(w, o));
	assert_int_equal(sky->cloud.asked, 0);
	assert_int_equal(store_count(w->host.store, "machines.drover.dev/"), 0);
	assert_int_equal(store_count(w->host.store, APPROVING_CLAIMS), 1);
	approving_decide_first(w, "Approved");
	world_wait_running(w, &w->tenants[0], "train", 3600);
	sky_stop(sky);
	world_stop(w);
	free(sky);
	free(w);
}

/* A Machine in the status of a claim does not replace its approval. */
static void a_machine_in_status_launches_nothing(void **state)
{
	struct sim_world *w = mem_new(struct sim_world);
	struct sky *sky = mem_new(struct sky);
	OWN(arena) a = arena_new();
	OWN_JSON o = NULL;

	(void)state;
	world_start(w, 8115, 0);
	sky_start(sky, w, "3");
	approving_ask(w, json_pack("{s:s}", "claims", "Manual"));
	world_replica(w);
	world_pod(w, &w->tenants[0], "train");
	approving_wait(w, "ApprovalPending");
	o = approving_first(w);
	world_do(w, &w->host, "PATCH",
		 arena_printf(a, "/apis/drover.dev/v1alpha1/nodeclaims/%s/status",
			      json_str_at(o, "metadata", "name")),
		 json_pack("{s:{s:{s:s, s:s}}}", "status", "machineRef", "name",
			   json_str_at(o, "metadata", "name"), "uid", "none"));
	world_run(w, 3600 * 1000);
	assert_int_equal(sky->cloud.asked, 0);
	assert_int_equal(store_count(w->host.store, "machines.drover.dev/"), 0);
	sky_stop(sky);
	world_stop(w);
	free(sky);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_starts_before_the_approval),
		cmocka_unit_test(a_leader_change_does_not_lose_the_decision),
		cmocka_unit_test(a_new_leader_leaves_an_approved_claim_its_time),
		cmocka_unit_test(a_denied_claim_that_needs_no_approval_any_more_has_its_time),
		cmocka_unit_test(a_claim_whose_machine_fails_is_withdrawn_in_30_s),
		cmocka_unit_test(what_was_denied_is_not_made_again_at_once),
		cmocka_unit_test(after_its_time_a_denied_claim_is_asked_for_again),
		cmocka_unit_test(the_end_of_a_denial_is_not_missed),
		cmocka_unit_test(a_claim_that_waits_goes_with_its_pods),
		cmocka_unit_test(one_decision_counts_for_the_whole_gang),
		cmocka_unit_test(the_decision_on_a_gang_stays_when_its_claim_goes),
		cmocka_unit_test(a_tenant_that_asks_no_more_gets_its_machine),
		cmocka_unit_test(no_instance_is_launched_before_the_approval),
		cmocka_unit_test(a_machine_in_status_launches_nothing),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
