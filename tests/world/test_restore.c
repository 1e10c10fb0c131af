/* A restored backup gives every object a new UID, but serving machines keep serving. Also tests
 * records that a restore made outdated. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/str.h"
#include "tests/world/approving.h"
#include "tests/world/leaving.h"

#define GROUP "/apis/drover.dev/v1alpha1"

struct put_back {
	struct sim_world *w;
	const char *keys[16];
	char *values[16];
	size_t n;
	bool statuses;
	struct arena *a;
};

static bool remake(const struct store_entry *en, void *arg)
{
	struct put_back *pb = arg;
	struct err e;
	OWN_JSON o = json_parse(en->value, en->value_len, &e);
	json_t *meta = json_object_get(o, "metadata");

	assert_true(pb->n < 16);
	json_object_set_new(meta, "uid",
			    json_string(arena_printf(pb->a, "restored-%zu-%s", pb->n,
						     json_str_at(meta, "name"))));
	json_object_set_new(
		meta, "resourceVersion",
		json_string(arena_printf(pb->a, "%llu",
					 (unsigned long long)store_rev(pb->w->host.store) + 1)));
	if (!pb->statuses)
		json_object_del(o, "status");
	pb->keys[pb->n] = arena_strdup(pb->a, en->key);
	pb->values[pb->n++] = json_text(o);
	return true;
}

/* Restores objects like Velero while no drover runs: same names, new UIDs. */
static void put_back(struct sim_world *w, const char *const *kinds, bool statuses)
{
	struct put_back pb = {.w = w, .statuses = statuses, .a = arena_new()};
	struct store_change ch[16];
	struct err e;
	uint64_t rev;

	world_kill(&w->replicas[w->nreplicas - 1]);
	for (; *kinds; kinds++)
		store_list(w->host.store, arena_printf(pb.a, "%s.drover.dev/", *kinds), NULL, 0,
			   remake, &pb);
	for (size_t i = 0; i < pb.n; i++)
		ch[i] = (struct store_change){.key = pb.keys[i],
					      .value = pb.values[i],
					      .value_len = strlen(pb.values[i]),
					      .if_rev = -1};
	assert_ok(store_commit(w->host.store, ch, pb.n, &rev, NULL, NULL, &e), &e);
	for (size_t i = 0; i < pb.n; i++)
		free(pb.values[i]);
	arena_free(pb.a);
	w->restored |= !statuses; /* the invariants recorded the lost status */
	world_replica(w);
}

static const char *const everything[] = {"nodepools",  "virtualclusters", "machines",
					 "nodeclaims", "providers",	  NULL};
static const char *const owners[] = {"nodepools", "virtualclusters", NULL};
static const char *const claims[] = {"nodeclaims", NULL};

static void still_serves(struct sim_world *w, struct server *b)
{
	assert_int_equal(b->doing, SERVER_OS);
	assert_true(leaving_runs_still(w));
	assert_int_equal(b->switched_off, 0);
}

static json_t *claim_of(struct sim_world *w, const char *name)
{
	OWN(arena) a = arena_new();

	return cluster_get(&w->host, arena_printf(a, "nodeclaims.drover.dev/%s", name));
}

static void work_goes_on_when_everything_has_a_new_uid(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 600);
	OWN_JSON n = NULL;
	char claim[128];

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	put_back(&w, everything, true);
	world_run(&w, 4 * 3600 * 1000);
	still_serves(&w, b);
	assert_string_equal(b->state, "serving");
	assert_string_equal(b->claim, claim);
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "ClaimReplaced");
	n = claim_of(&w, claim);
	assert_non_null(n);
	assert_null(json_at(n, "metadata", "deletionTimestamp"));
	assert_true(leaving_was_told(&w.host, "OwnerReplaced", "another UID"));
	world_stop(&w);
}

static json_t *uid_of(const json_t *o)
{
	return json_at(o, "metadata", "uid");
}

static bool is_rebound(void *arg)
{
	struct server *b = arg;
	OWN_JSON n = claim_of(b->world, b->claim);

	return json_equal(uid_of(n), json_at(b->object, "status", "claimRef", "uid"));
}

static void a_person_says_that_it_is_the_same_and_all_is_as_it_was(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 601);
	int64_t tenancy = b->tenancy;
	OWN_JSON left = NULL;
	char claim[128];

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	put_back(&w, everything, true);
	world_wait_reason(b, "ClaimReplaced", 300);
	world_patch_machine(b, json_pack("{s:{s:s,s:s,s:s}}", "approval", "action", "Adopt", "id",
					 "after-the-backup", "claim", b->claim));
	world_wait(&w, is_rebound, b, 60, "the claim is the one that it serves");
	world_run(&w, 3600 * 1000);
	still_serves(&w, b);
	assert_int_equal(b->tenancy, tenancy);
	world_release(b);
	world_wait_state(b, "free", 1800);
	left = claim_of(&w, claim);
	assert_null(left);
	world_stop(&w);
}

static void nobody_adopts_what_another_machine_runs(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 602);

	(void)state;
	put_back(&w, everything, true);
	world_wait_reason(b, "ClaimReplaced", 300);
	leaving_patch_node(b, "/status",
			   json_pack("{s:{s:{s:s}}}", "status", "nodeInfo", "systemUUID",
				     "4c4c4544-0035-3410-8050-000000000000"));
	world_patch_machine(b, json_pack("{s:{s:s,s:s,s:s}}", "approval", "action", "Adopt", "id",
					 "after-the-backup", "claim", b->claim));
	world_wait_reason(b, "NodeIdentityMismatch", 60);
	world_run(&w, 600 * 1000);
	assert_false(is_rebound(b));
	still_serves(&w, b);
	world_stop(&w);
}

static void deleting_the_claim_that_came_back_gives_the_machine_back(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 603);
	char claim[128];
	OWN_JSON left = NULL;

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	put_back(&w, everything, true);
	world_wait_reason(b, "ClaimReplaced", 300);
	world_release(b);
	world_wait_state(b, "free", 1800);
	world_run(&w, 120 * 1000);
	left = claim_of(&w, claim);
	assert_null(left);
	world_stop(&w);
}

static void owners_with_new_uids_take_no_claim_along(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 604);
	OWN_JSON n = NULL;

	(void)state;
	put_back(&w, owners, true);
	world_run(&w, 4 * 3600 * 1000);
	still_serves(&w, b);
	assert_string_equal(b->state, "serving");
	n = claim_of(&w, b->claim);
	assert_null(json_at(n, "metadata", "deletionTimestamp"));
	assert_true(leaving_was_told(&w.host, "OwnerReplaced", "VirtualCluster"));
	/* The pool is deleted after all: the machine leaves. */
	world_do(&w, &w.host, "DELETE", GROUP "/nodepools/gpus", NULL);
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

static void a_claim_with_a_new_uid_is_not_a_deleted_one(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 605);

	(void)state;
	put_back(&w, claims, true);
	world_run(&w, 4 * 3600 * 1000);
	still_serves(&w, b);
	assert_string_equal(b->state, "serving");
	world_stop(&w);
}

/* A claim is restored without its status, from files or by Velero. Only the Machine shows that it
 * serves this claim. */
static void a_claim_that_came_back_without_its_status_is_not_one_that_nobody_took(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 612);
	char claim[128];
	OWN_JSON n = NULL;

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	put_back(&w, claims, false);
	world_run(&w, 4 * 3600 * 1000);
	still_serves(&w, b);
	assert_string_equal(b->state, "serving");
	n = claim_of(&w, claim);
	assert_non_null(n);
	world_stop(&w);
}

/* All objects are restored without status, as Velero does by default. */
static void nothing_is_touched_where_statuses_were_lost_too(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 606);
	char claim[128];
	OWN_JSON n = NULL;

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	put_back(&w, everything, false);
	world_wait_reason(b, "PowerStateUnexpected", 300);
	world_run(&w, 4 * 3600 * 1000);
	assert_string_equal(b->state, "known");
	still_serves(&w, b);
	n = claim_of(&w, claim);
	assert_non_null(n); /* the claim shows which tenant the machine serves */
	world_patch_machine(b, json_pack("{s:{s:s,s:s,s:s}}", "approval", "action", "Adopt", "id",
					 "after-the-backup", "claim", claim));
	world_wait_state(b, "serving", 300);
	still_serves(&w, b);
	world_stop(&w);
}

/* A restored claim of a serving machine waits for no approval, although its tenant asks for them
 * and the claim's status was lost. Neither its pods, which are placed, nor a denial ends it. */
static void an_approval_is_not_for_what_serves_already(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 613);
	char claim[128];
	OWN_JSON n = NULL;

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	approving_ask(&w, json_pack("{s:s}", "claims", "Manual"));
	put_back(&w, claims, false);
	world_run(&w, 3600 * 1000);
	still_serves(&w, b);
	approving_decide(&w, claim, "Denied", NULL);
	world_run(&w, 3 * 3600 * 1000);
	still_serves(&w, b);
	assert_string_equal(b->state, "serving");
	n = claim_of(&w, claim);
	assert_non_null(n);
	assert_null(json_at(n, "metadata", "deletionTimestamp"));
	assert_string_not_equal(str_or(json_str_at(n, "status", "phase"), ""), "Denied");
	world_stop(&w);
}

/* After a restore without any status the machine may run for a claim that waits for its approval.
 * The claim stays, and the adoption of the machine is the operator's approval of it. */
static void a_claim_that_waits_may_be_adopted(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 614);
	char claim[128];
	OWN_JSON n = NULL;

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	approving_ask(&w, json_pack("{s:s}", "claims", "Manual"));
	put_back(&w, everything, false);
	world_wait_reason(b, "PowerStateUnexpected", 300);
	world_run(&w, 4 * 3600 * 1000);
	still_serves(&w, b);
	n = claim_of(&w, claim);
	assert_non_null(n);
	world_patch_machine(b, json_pack("{s:{s:s,s:s,s:s}}", "approval", "action", "Adopt", "id",
					 "after-the-backup", "claim", claim));
	world_wait_state(b, "serving", 300);
	still_serves(&w, b);
	world_stop(&w);
}

static void no_machine_is_adopted_for_a_denied_claim(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 615);
	char claim[128];
	OWN_JSON n = NULL;

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	approving_ask(&w, json_pack("{s:s}", "claims", "Manual"));
	put_back(&w, everything, false);
	world_wait_reason(b, "PowerStateUnexpected", 300);
	approving_decide(&w, claim, "Denied", NULL);
	world_patch_machine(b, json_pack("{s:{s:s,s:s,s:s}}", "approval", "action", "Adopt", "id",
					 "after-the-backup", "claim", claim));
	world_wait_reason(b, "ClaimDenied", 300);
	world_run(&w, 3 * 3600 * 1000);
	assert_string_equal(b->state, "known");
	still_serves(&w, b);
	n = claim_of(&w, claim);
	assert_non_null(n);
	world_stop(&w);
}

/* The Machine object was deleted by force and created anew. The claim that names the old object
 * ends nevertheless. */
static void a_claim_ends_although_its_machine_was_made_anew(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 607);
	OWN_JSON left = NULL;
	OWN_JSON node = NULL;
	char claim[128], key[200];

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	w.restored = true;
	world_do(&w, &w.host, "DELETE", GROUP "/machines/gpu-1", NULL);
	world_do(&w, &w.host, "PATCH", GROUP "/machines/gpu-1",
		 json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	world_machine(&w, b);
	world_wait_reason(b, "PowerStateUnexpected", 300);
	str_format(key, sizeof(key), GROUP "/nodeclaims/%s", claim);
	world_do(&w, &w.host, "DELETE", key, NULL);
	world_run(&w, 600 * 1000);
	left = claim_of(&w, claim);
	assert_non_null(left); /* the machine was not observed off yet */
	json_decref(left);
	left = NULL;
	world_patch_machine(
		b, json_pack("{s:{s:s,s:s}}", "approval", "action", "Wipe", "id", "it-is-over"));
	world_wait_state(b, "free", 1800);
	world_run(&w, 300 * 1000);
	left = claim_of(&w, claim);
	assert_null(left);
	str_format(key, sizeof(key), "nodes/%s", claim);
	node = cluster_get(&w.tenants[0], key);
	assert_null(node);
	world_stop(&w);
}

/* The backup contains an older journal with a lower fence; the newest fence is known only to the
 * fabric. */
static void a_fence_that_only_the_fabric_remembers_is_caught_up_with(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 608);

	(void)state;
	b->fence += 6;
	world_release(b);
	world_wait_reason(b, "NetworkNotConfirmed", 300);
	world_wait_state(b, "free", 3600);
	assert_null(strstr(w.log, "DuplicateIdentity"));
	world_stop(&w);
}

/* Replaces the command statuses of each drive by a number, which makes the record invalid. */
static void spoil_record(struct sim_world *w, const char *name)
{
	OWN(arena) a = arena_new();
	const char *key = arena_printf(a, "wiperecords.drover.dev/%s", name);
	OWN_JSON o = cluster_get(&w->host, key);
	struct store_change ch = {.key = key, .if_rev = -1};
	struct err e;
	uint64_t rev;
	json_t *d;
	size_t i;
	char *text;

	assert_non_null(o);
	json_array_foreach (json_at(o, "spec", "devices"), i, d)
		json_object_set_new(d, "rawStatus", json_integer(0));
	json_object_set_new(json_at(o, "metadata"), "resourceVersion",
			    json_string(arena_printf(
				    a, "%llu", (unsigned long long)store_rev(w->host.store) + 1)));
	text = json_text(o);
	ch.value = text;
	ch.value_len = strlen(text);
	assert_ok(store_commit(w->host.store, &ch, 1, &rev, NULL, NULL, &e), &e);
	free(text);
}

/* A record of an old release proves nothing: the machine is wiped again before a tenant gets it. */
static void a_record_that_cannot_be_read_gives_no_machine_away(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char first[80], path[160];

	(void)state;
	world_start(&w, 612, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	str_copy(first, sizeof(first), world_at(b, "status.lastWipe.record"));
	world_kill(&w.replicas[0]);
	spoil_record(&w, first);
	world_replica(&w);
	world_run(&w, 30000);
	assert_string_equal(b->state, "free"); /* no pod needs the machine yet */
	leaving_wait_event(&w, &w.host, "ValidationFailed", "spec.devices[0].rawStatus");
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "EraseUnverified", 300);
	leaving_wait_event(&w, &w.host, "EraseUnverified", first);
	assert_false(json_true_at(b->object, "status", "clean"));
	/* drover does not overwrite the invalid record. */
	world_wait_reason(b, "RecordNotKept", 300);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "spec.devices[0].rawStatus: want a list, got 0; save a copy"));
	world_run(&w, 300000);
	assert_false(str_eq(b->state, "free") || b->claim[0]);
	str_format(path, sizeof(path), GROUP "/wiperecords/%s", first);
	world_do(&w, &w.host, "DELETE", path, NULL);
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_goes_on_when_everything_has_a_new_uid),
		cmocka_unit_test(a_person_says_that_it_is_the_same_and_all_is_as_it_was),
		cmocka_unit_test(nobody_adopts_what_another_machine_runs),
		cmocka_unit_test(deleting_the_claim_that_came_back_gives_the_machine_back),
		cmocka_unit_test(owners_with_new_uids_take_no_claim_along),
		cmocka_unit_test(a_claim_with_a_new_uid_is_not_a_deleted_one),
		cmocka_unit_test(
			a_claim_that_came_back_without_its_status_is_not_one_that_nobody_took),
		cmocka_unit_test(nothing_is_touched_where_statuses_were_lost_too),
		cmocka_unit_test(an_approval_is_not_for_what_serves_already),
		cmocka_unit_test(a_claim_that_waits_may_be_adopted),
		cmocka_unit_test(no_machine_is_adopted_for_a_denied_claim),
		cmocka_unit_test(a_claim_ends_although_its_machine_was_made_anew),
		cmocka_unit_test(a_record_that_cannot_be_read_gives_no_machine_away),
		cmocka_unit_test(a_fence_that_only_the_fabric_remembers_is_caught_up_with),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
