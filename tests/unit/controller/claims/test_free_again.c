#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/claims/free_again.h"

#define S 1000
#define PODS "/api/v1/namespaces/default/pods"

static int setup(void **state)
{
	bench_setup(state);
	bench_tenants(*state);
	bench_fleet(*state);
	return 0;
}

/* Records that three machines of the same type went from serving to free, with 100 s in each
 * state. */
static void measure(struct bench *d, const struct machine *like)
{
	static const enum machine_state way[] = {MACHINE_SERVING,  MACHINE_DRAINING,
						 MACHINE_STOPPING, MACHINE_LEAVING,
						 MACHINE_WIPING,   MACHINE_FREE};
	struct machine was = *like, is = *like;

	for (int i = 0; i < 3; i++)
		for (size_t k = 0; k < sizeof(way) / sizeof(way[0]); k++) {
			was = is;
			is.status.state = machine_state_info[way[k]].name;
			is.status.state_since = (int64_t)(1000000 + 100 * k * S);
			(void)eta_saw(d->eta, &was, &is);
		}
}

static struct machine *machine(struct bench *d, const char *state, int64_t since)
{
	struct machine *m = arena_new_obj(d->a, struct machine);

	*m = *CTX_GET(&d->c, OBJECT_MACHINE, machine, "m-1");
	m->status.state = state;
	m->status.state_since = since;
	return m;
}

static void on_the_way_back_by_what_was_measured(void **state)
{
	struct bench *d = *state;
	const int64_t now = loop_wall(d->c.loop);
	struct eta_span out;
	struct machine *m = machine(d, "wiping", now - 50 * S);

	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
	measure(d, m);
	assert_true(free_again(&d->c, d->tenants, d->eta, m, &out));
	assert_int_equal(out.p50, now + 50 * S);
	/* The machine has been in its state for longer than any recorded sample. */
	m->status.state_since = now - 101 * S;
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
	m->status.state = "stopping";
	assert_true(free_again(&d->c, d->tenants, d->eta, m, &out));
	assert_int_equal(out.p90, now + 199 * S);
	m->status.state = "free";
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
	m->status.state = "booting";
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
}

static void who_does_not_come_back_has_no_time(void **state)
{
	struct bench *d = *state;
	struct machine_quarantine q = {.exit = EXIT_OPERATOR};
	struct machine_leave leave = {.reason = "Drain", .then = DRAIN_RETIRE};
	struct eta_span out;
	struct machine *m = machine(d, "wiping", loop_wall(d->c.loop));

	measure(d, m);
	assert_true(free_again(&d->c, d->tenants, d->eta, m, &out));
	m->status.leave = &leave;
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
	leave.then = DRAIN_RELEASE;
	assert_true(free_again(&d->c, d->tenants, d->eta, m, &out));
	m->spec.management_policy = MACHINE_OBSERVE;
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
	m->spec.management_policy = MACHINE_MANAGE;
	m->meta.deletion_timestamp = 1;
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
	m->meta.deletion_timestamp = 0;
	m->status.state = "quarantined";
	m->status.quarantine = &q;
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
}

static void a_deadline_ends_what_drains(void **state)
{
	struct bench *d = *state;
	const int64_t now = loop_wall(d->c.loop);
	struct machine_leave leave = {.reason = "Drain", .deadline = now + 30 * S};
	struct eta_span out;
	struct machine *m = machine(d, "draining", now);

	measure(d, m);
	assert_true(free_again(&d->c, d->tenants, d->eta, m, &out));
	assert_int_equal(out.p90, now + 400 * S);
	m->status.leave = &leave;
	assert_true(free_again(&d->c, d->tenants, d->eta, m, &out));
	assert_int_equal(out.p90, now + 330 * S);
	/* The machine has drained for longer than any recorded sample, so only its deadline limits
	 * the estimate. */
	m->status.state_since = now - 5000 * S;
	assert_true(free_again(&d->c, d->tenants, d->eta, m, &out));
	assert_int_equal(out.p50, now + 330 * S);
	leave.deadline = now - S;
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
}

static void what_serves_comes_back_when_its_claim_expires(void **state)
{
	struct bench *d = *state;
	struct object_ref claim = {"c-1", "u"};
	struct machine_hold hold = {0};
	struct eta_span out;
	const struct node_claim *n;
	struct machine *m;

	bench_put(d, "{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, 'spec': {"
		     "'virtualClusterRef': {'name': 'team-a', 'uid': 'u'},"
		     "'nodePoolRef': {'name': 'h100', 'uid': 'u'}, 'expireAfter': '10m',"
		     "'image': {'kubernetesVersion': '1.36', 'url': 'http://images/a',"
		     "'format': 'raw', 'digest': 'sha256:"
		     "0000000000000000000000000000000000000000000000000000000000000000'}}}");
	n = CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, "c-1");
	assert_non_null(n);
	m = machine(d, "serving", loop_wall(d->c.loop));
	measure(d, m);
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
	m->status.claim_ref = &claim;
	assert_true(free_again(&d->c, d->tenants, d->eta, m, &out));
	assert_int_equal(out.p50, n->meta.creation_timestamp + 1000 * S);
	m->status.hold = &hold;
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
	m->status.hold = NULL;
	/* The claim is overdue: it waits for a disruption budget, so no time is known. */
	bench_run(d, 700 * S);
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
}

/* Runs a pod on the Node of c-1. seconds: activeDeadlineSeconds of the pod; "": no deadline, so the
 * pod's end is unknown. */
static void runs(struct bench *d, const char *name, const char *seconds)
{
	char now[STR_TIME_SIZE];

	bench_must(d, &d->team, "POST", PODS,
		   arena_printf(
			   d->a,
			   "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s'}, 'spec':"
			   " {'nodeName': 'c-1', %s%s%s 'containers': [{'name': 'c'}]}}",
			   name, *seconds ? "'activeDeadlineSeconds': " : "", seconds,
			   *seconds ? "," : ""));
	bench_must(d, &d->team, "PATCH", arena_printf(d->a, PODS "/%s/status", name),
		   arena_printf(d->a, "{'status': {'phase': 'Running', 'startTime': '%s'}}",
				str_time(now, loop_wall(d->c.loop))));
	bench_run(d, 1000);
}

static void what_serves_comes_back_when_all_its_pods_have_ended(void **state)
{
	struct bench *d = *state;
	struct object_ref claim = {"c-1", "u"};
	struct eta_span out;
	struct machine *m;
	int64_t start;

	bench_put(d, "{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, 'spec': {"
		     "'virtualClusterRef': {'name': 'team-a', 'uid': 'u'},"
		     "'nodePoolRef': {'name': 'h100', 'uid': 'u'},"
		     "'image': {'kubernetesVersion': '1.36', 'url': 'http://images/a',"
		     "'format': 'raw', 'digest': 'sha256:"
		     "0000000000000000000000000000000000000000000000000000000000000000'}}}");
	bench_run(d, 5000);
	assert_true(tenant_usable(tenant_get(d->tenants, "team-a")));
	m = machine(d, "serving", loop_wall(d->c.loop));
	m->status.claim_ref = &claim;
	measure(d, m);
	/* No pod runs on the Node, so it counts as empty since the machine began to serve, which is
	 * now. */
	assert_true(free_again(&d->c, d->tenants, d->eta, m, &out));
	assert_int_equal(out.p50, m->status.state_since + (600 + 300 + 100) * S);
	start = loop_wall(d->c.loop) / S * S;
	runs(d, "short", "1800");
	runs(d, "long", "3600");
	assert_true(free_again(&d->c, d->tenants, d->eta, m, &out));
	assert_in_range(out.p50, start + (3600 + 1000) * S, start + (3600 + 1010) * S);
	runs(d, "endless", "");
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
	bench_must(d, &d->team, "DELETE", PODS "/endless?gracePeriodSeconds=0", NULL);
	bench_run(d, 1000);
	assert_true(free_again(&d->c, d->tenants, d->eta, m, &out));
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'disruption': {'consolidateAfter': 'Never'}}}");
	assert_false(free_again(&d->c, d->tenants, d->eta, m, &out));
}

static void what_will_be_free_some_day_is_known_without_a_time(void **state)
{
	static const struct {
		const char *state;
		bool ever;
	} rows[] = {{"free", false},	 {"known", false},	 {"claimed", true},
		    {"gating", true},	 {"serving", true},	 {"draining", true},
		    {"verifying", true}, {"quarantined", false}, {"retired", false}};
	struct bench *d = *state;
	struct machine_hold hold = {0};
	struct machine *m;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		m = machine(d, rows[i].state, loop_wall(d->c.loop));
		assert_int_equal(free_again_ever(&d->c, m), rows[i].ever);
	}
	m = machine(d, "serving", loop_wall(d->c.loop));
	m->status.hold = &hold;
	assert_false(free_again_ever(&d->c, m));
	m->status.hold = NULL;
	m->spec.management_policy = MACHINE_RETIRE;
	assert_false(free_again_ever(&d->c, m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(on_the_way_back_by_what_was_measured, setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(who_does_not_come_back_has_no_time, setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(a_deadline_ends_what_drains, setup, bench_teardown),
		cmocka_unit_test_setup_teardown(what_serves_comes_back_when_its_claim_expires,
						setup, bench_teardown),
		cmocka_unit_test_setup_teardown(what_serves_comes_back_when_all_its_pods_have_ended,
						setup, bench_teardown),
		cmocka_unit_test_setup_teardown(what_will_be_free_some_day_is_known_without_a_time,
						setup, bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
