/* Tests which drifted claims wait for a replacement, and after which plans the replacement is
 * created. tests/world/test_drift.c tests the replacement as a whole. */
#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/claims/replacements.h"
#include "controller/core/claim_index.h"

static struct replacements *replacements;
static unsigned kicks;

static void on_kick(void *arg)
{
	(void)arg;
	kicks++;
}

static void put(struct bench *d, const char *name, const char *notes, const char *status)
{
	bench_put(d, arena_printf(
			     d->a,
			     "{'kind': 'NodeClaim', "
			     "'metadata': {'name': '%s', 'annotations': %s}, 'spec': "
			     "{'virtualClusterRef': {'name': 'team-a'}, "
			     "'nodePoolRef': {'name': 'h100'}, "
			     "'requirements': [{'key': 'node.kubernetes.io/instance-type', "
			     "'operator': 'In', 'values': ['hgx']}],"
			     "'resources': {'requests': {'nvidia.com/gpu': '3'}}, "
			     "'machineRef': {'name': 'x-%s'}, "
			     "'image': {'kubernetesVersion': '1.36', "
			     "'url': 'https://img.example/n', 'format': 'raw', 'digest': 'sha256:"
			     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}",
			     name, notes, name));
	bench_status(d, OBJECT_NODE_CLAIM, name, status);
}

#define READY                                                                                      \
	"{'phase': 'serving', 'conditions': [{'type': 'Ready', "                                   \
	"'status': 'True', 'reason': 'Ready', "                                                    \
	"'message': '', 'lastTransitionTime': '2026-01-01T00:00:00Z', 'observedGeneration': 1}]}"

static int setup(void **state)
{
	struct bench *d;

	bench_setup_fleet(state);
	d = *state;
	replacements = replacements_new(&d->c, on_kick, NULL);
	kicks = 0;
	put(d, "old-1", "{}", READY);
	put(d, "old-2", "{}", READY);
	return 0;
}

static int teardown(void **state)
{
	replacements_free(replacements);
	return bench_teardown(state);
}

static const struct node_claim *claim(struct bench *d, const char *name)
{
	return CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, name);
}

static void expect(struct bench *d, const char *name, const char *text)
{
	const char *is = str_or(replacements_awaited(replacements, claim(d, name)), "nothing");

	if (!str_eq(is, text))
		fail_msg("%s waits for: %s", name, is);
}

static void one_is_looked_for_at_a_time_and_none_is_denied(void **state)
{
	struct bench *d = *state;
	struct world *w = world_new();
	struct plan empty = {0}, busy = {.nclaims = 1};
	struct plan_claim out;

	expect(d, "old-1", "looks for a machine to replace it");
	assert_int_equal(kicks, 1);
	expect(d, "old-1", "looks for a machine to replace it");
	assert_int_equal(kicks, 1);
	expect(d, "old-2", "waits for the replacements of other Nodes");
	/* The plan opened claims of its own, which come first; the replacement must wait for the
	 * next plan. */
	assert_null(replacements_plan(replacements, &busy, w, false, d->a, &out));
	expect(d, "old-1", "looks for a machine to replace it");
	assert_null(replacements_plan(replacements, &empty, w, false, d->a, &out));
	expect(d, "old-1", "nothing");
	expect(d, "old-2", "looks for a machine to replace it");
	bench_run(d, STAND_IN_DENIED_MS);
	expect(d, "old-1", "waits for the replacements of other Nodes");
	world_free(w);
}

static void who_waits_for_a_machine_comes_first(void **state)
{
	struct bench *d = *state;
	struct plan empty = {0}, holds = {.nholds = 1};
	struct world *w = world_sync_world(d->sync);
	struct plan_claim out;

	bench_run(d, 20000);
	expect(d, "old-1", "looks for a machine to replace it");
	assert_null(replacements_plan(replacements, &empty, w, true, d->a, &out));
	expect(d, "old-1", "nothing");
	bench_run(d, STAND_IN_DENIED_MS + 1000);
	expect(d, "old-1", "looks for a machine to replace it");
	assert_null(replacements_plan(replacements, &holds, w, false, d->a, &out));
	expect(d, "old-1", "nothing");
}

static void what_is_there_is_awaited_until_it_is_ready(void **state)
{
	struct bench *d = *state;

	put(d, "new-1", "{'drover.dev/replaces': 'old-1'}", "{'phase': 'imaging'}");
	claim_index_put(d->c.claim_index, "new-1", claim(d, "new-1"));
	expect(d, "old-1", "waits until its replacement is Ready");
	assert_true(replacements_is_one(&d->c, claim(d, "new-1")));
	assert_false(replacements_is_one(&d->c, claim(d, "old-1")));
	bench_status(d, OBJECT_NODE_CLAIM, "new-1", READY);
	expect(d, "old-1", "nothing");
	assert_int_equal(kicks, 0);
	bench_status(d, OBJECT_NODE_CLAIM, "new-1", "{'phase': 'Failed'}");
	expect(d, "old-1", "looks for a machine to replace it");
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/nodeclaims/old-1", NULL);
	bench_run(d, 1000);
	assert_false(replacements_is_one(&d->c, claim(d, "new-1")));
}

static void what_waits_for_an_approval_keeps_the_old_node(void **state)
{
	struct bench *d = *state;

	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    "{'spec': {'approval': {'claims': 'Manual'}}}");
	put(d, "new-1", "{'drover.dev/replaces': 'old-1'}", "{'phase': 'Pending'}");
	claim_index_put(d->c.claim_index, "new-1", claim(d, "new-1"));
	expect(d, "old-1", "waits until its replacement is approved (drover get claims)");
	/* The other Node's replacement is looked for meanwhile. */
	expect(d, "old-2", "looks for a machine to replace it");
	bench_status(d, OBJECT_NODE_CLAIM, "new-1",
		     "{'phase': 'Denied', 'approval': {'decision': 'Denied', 'by': 'alice', "
		     "'at': '2026-01-01T00:00:00Z'}}");
	expect(d, "old-1",
	       "its replacement was denied; drover makes another one when the denial ends");
	bench_status(d, OBJECT_NODE_CLAIM, "new-1",
		     "{'phase': 'Pending', 'approval': {'decision': 'Approved', 'by': 'alice', "
		     "'at': '2026-01-01T00:00:00Z'}}");
	expect(d, "old-1", "waits until its replacement is Ready");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(one_is_looked_for_at_a_time_and_none_is_denied),
		T(who_waits_for_a_machine_comes_first),
		T(what_is_there_is_awaited_until_it_is_ready),
		T(what_waits_for_an_approval_keeps_the_old_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
