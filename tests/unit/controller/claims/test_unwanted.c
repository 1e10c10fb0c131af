/* Tests which claims are unwanted (no pod is planned on them) after each plan.
 * tests/world/test_join.c tests what happens to the claim and its machine. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/claims/unwanted.h"

static struct unwanted *unwanted;
static unsigned told;

static void on_notice(enum notice what, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	told += what == NOTICE_CLAIM;
}

/* Adds claim `name`, created by drover or (by_hand) by an operator. machine_state: state of m-1,
 * which accepted the claim; NULL: no machine is known. */
static const struct node_claim *put_claim(struct bench *d, const char *name, bool by_hand,
					  const char *machine_state)
{
	bench_put(d, arena_printf(
			     d->a,
			     "{'kind': 'NodeClaim', 'metadata': {'name': '%s'%s}, "
			     "'spec': {'virtualClusterRef': "
			     "{'name': 'team-a'}, 'nodePoolRef': {'name': 'h100'}, "
			     "'machineRef': {'name': 'm-1'}, "
			     "'image': {'kubernetesVersion': '1.36', "
			     "'url': 'https://img.example/n', 'format': 'raw', "
			     "'digest': 'sha256:"
			     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}",
			     name, by_hand ? "" : ", 'annotations': {'drover.dev/for-pods': '2'}"));
	if (machine_state)
		bench_status(
			d, OBJECT_MACHINE, "m-1",
			arena_printf(
				d->a, "{'state': '%s', 'claimRef': {'name': '%s', 'uid': '%s'}}",
				machine_state, name,
				CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, name)->meta.uid));
	return CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, name);
}

static int setup(void **state)
{
	struct bench *d;

	bench_setup_fleet(state);
	d = *state;
	d->c.on_notice = on_notice;
	told = 0;
	unwanted = unwanted_new(&d->c, d->tenants);
	return 0;
}

static int teardown(void **state)
{
	unwanted_free(unwanted);
	return bench_teardown(state);
}

/* Passes a plan with one pod of this outcome; outcome -1: a plan without pods. */
static void plan(int outcome, const char *target, enum plan_reason_code why)
{
	struct plan_reason r = {.pool = "", .code = why};
	struct plan_pod pod = {.tenant = "team-a",
			       .ns = "default",
			       .name = "train",
			       .outcome = (enum plan_outcome)outcome,
			       .target = target,
			       .reasons = &r,
			       .nreasons = 1};
	struct plan p = {.pods = &pod, .npods = outcome >= 0};

	unwanted_plan(unwanted, &p);
}

static void a_claim_is_unwanted_from_when_no_pod_is_placed_on_it(void **state)
{
	struct bench *d = *state;
	const struct node_claim *n = put_claim(d, "c-1", false, "claimed");

	plan(PLAN_ON_CLAIM, "c-1", 0);
	assert_int_equal(unwanted_ms(unwanted, n), -1);
	assert_int_equal(told, 0);
	plan(-1, NULL, 0);
	assert_int_equal(unwanted_ms(unwanted, n), 0);
	assert_int_equal(told, 1);
	bench_run(d, 7000);
	told = 0;
	plan(PLAN_ON_CLAIM, "c-2", 0); /* The pod is planned on a different claim. */
	assert_int_equal(unwanted_ms(unwanted, n), 7000);
	assert_int_equal(told, 0);
	plan(PLAN_ON_CLAIM, "c-1", 0);
	assert_int_equal(unwanted_ms(unwanted, n), -1);
	assert_int_equal(told, 1);
	/* A pod that no machine can serve does not make the claim wanted. */
	plan(PLAN_NOTHING, NULL, PLAN_TOO_BIG);
	assert_int_equal(unwanted_ms(unwanted, n), 0);
	unwanted_clear(unwanted);
	assert_int_equal(unwanted_ms(unwanted, n), -1);
}

static void what_a_plan_does_not_say_takes_no_claim_away(void **state)
{
	static const struct {
		enum plan_outcome outcome;
		enum plan_reason_code why;
	} cases[] = {
		{PLAN_ON_NODE, 0},
		{PLAN_NOTHING, PLAN_OVER_BUDGET},
		{PLAN_NOTHING, PLAN_TENANT},
	};
	const struct node_claim *n = put_claim(*state, "c-1", false, "claimed");

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		plan(cases[i].outcome, NULL, cases[i].why);
		assert_int_equal(unwanted_ms(unwanted, n), -1);
	}
	plan(-1, NULL, 0);
	assert_int_equal(unwanted_ms(unwanted, n), 0);
}

static void a_claim_that_a_person_made_stays(void **state)
{
	const struct node_claim *n = put_claim(*state, "c-1", true, "claimed");

	plan(-1, NULL, 0);
	assert_int_equal(unwanted_ms(unwanted, n), -1);
}

static void a_machine_that_was_written_to_goes_on(void **state)
{
	struct bench *d = *state;
	const struct node_claim *n = put_claim(d, "c-1", false, "claimed");

	plan(-1, NULL, 0);
	assert_int_equal(unwanted_ms(unwanted, n), 0);
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'imaging'}");
	/* The claim is wanted at once, before the next plan is made. */
	assert_int_equal(unwanted_ms(unwanted, n), -1);
	plan(-1, NULL, 0);
	assert_int_equal(unwanted_ms(unwanted, n), -1);
}

/* After a backup was restored, drover does not know what the machine has done: the claim is never
 * unwanted. */
static void a_claim_without_a_machine_or_with_a_node_stays(void **state)
{
	struct bench *d = *state;
	const struct node_claim *n = put_claim(d, "c-1", false, NULL);

	plan(-1, NULL, 0);
	assert_int_equal(unwanted_ms(unwanted, n), -1);
	n = put_claim(d, "c-2", false, "claimed");
	plan(-1, NULL, 0);
	assert_int_equal(unwanted_ms(unwanted, n), 0);
	bench_must(d, &d->team, "POST", "/api/v1/nodes",
		   "{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'c-2'}}");
	bench_run(d, 1000);
	assert_int_equal(unwanted_ms(unwanted, n), -1);
}

/* The tenant does not answer, so all pods of the claim may still exist. */
static void of_a_tenant_that_is_not_heard_no_claim_is_taken_back(void **state)
{
	struct bench *d = *state;
	const struct node_claim *n = put_claim(d, "c-1", false, "claimed");

	plan(-1, NULL, 0);
	assert_int_equal(unwanted_ms(unwanted, n), 0);
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'paused': true}}");
	assert_int_equal(unwanted_ms(unwanted, n), -1);
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'paused': false}}");
	assert_true(unwanted_ms(unwanted, n) >= 0);
	bench_away(d, &d->team, true);
	bench_run(d, 120000);
	assert_false(tenant_usable(tenant_get(d->tenants, "team-a")));
	assert_int_equal(unwanted_ms(unwanted, n), -1);
	plan(-1, NULL, 0);
	bench_away(d, &d->team, false);
	bench_run(d, 120000);
	assert_true(tenant_usable(tenant_get(d->tenants, "team-a")));
	/* The tenant answers again, but no plan has seen its pods yet. */
	assert_int_equal(unwanted_ms(unwanted, n), -1);
	plan(-1, NULL, 0);
	assert_int_equal(unwanted_ms(unwanted, n), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_claim_is_unwanted_from_when_no_pod_is_placed_on_it),
		T(what_a_plan_does_not_say_takes_no_claim_away),
		T(a_claim_that_a_person_made_stays),
		T(a_machine_that_was_written_to_goes_on),
		T(a_claim_without_a_machine_or_with_a_node_stays),
		T(of_a_tenant_that_is_not_heard_no_claim_is_taken_back),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
