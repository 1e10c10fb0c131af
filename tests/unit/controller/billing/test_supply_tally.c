/* Tests the groups in which machines and claims are counted, the marks, and the check. Each world
 * test checks the counts at its end. */
#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/billing/supply_tally.h"
#include "controller/core/counters.h"

static struct supply_tally *tally;
static char text[512];

static int setup(void **state)
{
	struct bench *d;

	bench_setup_fleet(state);
	d = *state;
	tally = supply_tally_new(&d->c);
	return 0;
}

static int teardown(void **state)
{
	supply_tally_free(tally);
	return bench_teardown(state);
}

static void add_machines(const struct supply_machines *g, void *arg)
{
	(void)arg;
	str_format(text + strlen(text), sizeof(text) - strlen(text), "%lld %s %s for %s; ",
		   (long long)g->n, g->provider, machine_state_info[g->state].name,
		   str_or(g->tenant, "nobody"));
}

static void add_claims(const struct supply_claims *g, void *arg)
{
	(void)arg;
	str_format(text + strlen(text), sizeof(text) - strlen(text), "%lld %s %s %s; ",
		   (long long)g->n, g->pool, g->tenant, g->instance_type);
}

static const char *machines(void)
{
	while (supply_tally_step(tally, 1))
		;
	text[0] = '\0';
	supply_tally_each_machines(tally, add_machines, NULL);
	return text;
}

static const char *claims(void)
{
	while (supply_tally_step(tally, 1))
		;
	text[0] = '\0';
	supply_tally_each_claims(tally, add_claims, NULL);
	return text;
}

static void put_machine(struct bench *d, const char *name)
{
	bench_put(d, arena_printf(d->a,
				  "{'kind': 'Machine', 'metadata': {'name': '%s'}, "
				  "'spec': {'providerRef': {'name': 'hall-a'}, 'instanceType': "
				  "'hgx'}, 'status': {'state': 'free'}}",
				  name));
}

static void put_claim(struct bench *d, const char *name, const char *machine)
{
	bench_put(d, arena_printf(
			     d->a,
			     "{'kind': 'NodeClaim', 'metadata': {'name': '%s'}, "
			     "'spec': {'virtualClusterRef': {'name': 'team-a'},"
			     " 'nodePoolRef': {'name': 'h100'}, 'machineRef': {'name': '%s'}, "
			     "'image': {'kubernetesVersion': '1.36',"
			     " 'url': 'https://img.example/n', 'format': 'raw', 'digest': 'sha256:"
			     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}",
			     name, machine));
}

static void alike_objects_are_counted_together(void **state)
{
	struct bench *d = *state;

	put_machine(d, "m-2");
	put_claim(d, "c-1", "m-1");
	put_claim(d, "c-2", "m-2");
	assert_string_equal(machines(), "2 hall-a free for nobody; ");
	assert_string_equal(claims(), "2 h100 team-a hgx; ");
}

static void only_a_marked_object_is_looked_at_again(void **state)
{
	struct bench *d = *state;

	put_machine(d, "m-2");
	put_machine(d, "m-3");
	assert_string_equal(machines(), "3 hall-a free for nobody; ");
	bench_status(d, OBJECT_MACHINE, "m-2", "{'state': 'dirty'}");
	assert_string_equal(machines(), "3 hall-a free for nobody; ");
	supply_tally_machine(tally, "m-2");
	assert_string_equal(machines(), "2 hall-a free for nobody; 1 hall-a dirty for nobody; ");
	bench_status(d, OBJECT_MACHINE, "m-2", "{'tenant': {'name': 'team-a'}}");
	supply_tally_machine(tally, "m-2");
	assert_string_equal(machines(), "2 hall-a free for nobody; 1 hall-a dirty for team-a; ");
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/machines/m-2", NULL);
	bench_run(d, 1000);
	supply_tally_machine(tally, "m-2");
	assert_string_equal(machines(), "2 hall-a free for nobody; ");
	assert_int_equal(supply_tally_check(tally), 0);
}

static void a_mark_of_all_includes_what_has_gone(void **state)
{
	struct bench *d = *state;

	put_claim(d, "c-1", "m-1");
	put_machine(d, "m-2");
	assert_string_equal(claims(), "1 h100 team-a hgx; ");
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/nodeclaims/c-1", NULL);
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/machines/m-2", NULL);
	bench_run(d, 1000);
	supply_tally_all(tally);
	assert_string_equal(claims(), "");
	assert_string_equal(machines(), "1 hall-a free for nobody; ");
}

static void a_claim_that_does_not_count_is_in_no_group(void **state)
{
	struct bench *d = *state;

	put_claim(d, "c-1", "m-1");
	assert_string_equal(claims(), "1 h100 team-a hgx; ");
	bench_status(d, OBJECT_NODE_CLAIM, "c-1", "{'phase': 'Ended'}");
	supply_tally_claim(tally, "c-1");
	assert_string_equal(claims(), "");
}

static double corrections(struct bench *d)
{
	return metric_get(metrics_find(d->c.metrics, "drover_tally_corrections_total"),
			  (const char *const[]){"Machine"});
}

static void the_check_finds_what_was_not_marked(void **state)
{
	struct bench *d = *state;

	if (!d->c.counters)
		d->c.counters = counters_new(&d->c);
	put_machine(d, "m-2");
	assert_string_equal(machines(), "2 hall-a free for nobody; ");
	bench_run(d, SUPPLY_TALLY_CHECK_MS + 1000);
	assert_true(corrections(d) == 0);
	bench_status(d, OBJECT_MACHINE, "m-2", "{'state': 'dirty'}");
	bench_run(d, SUPPLY_TALLY_CHECK_MS + 1000);
	assert_true(corrections(d) == 1);
	assert_string_equal(machines(), "1 hall-a free for nobody; 1 hall-a dirty for nobody; ");
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/machines/m-2", NULL);
	bench_run(d, SUPPLY_TALLY_CHECK_MS + 1000);
	assert_true(corrections(d) == 2);
	assert_string_equal(machines(), "1 hall-a free for nobody; ");
	put_machine(d, "m-2");
	supply_tally_machine(tally, "m-2");
	assert_string_equal(machines(), "2 hall-a free for nobody; ");
	/* A marked object is not wrong, but only late. */
	bench_status(d, OBJECT_MACHINE, "m-2", "{'state': 'dirty'}");
	supply_tally_machine(tally, "m-2");
	bench_run(d, SUPPLY_TALLY_CHECK_MS + 1000);
	assert_true(corrections(d) == 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(alike_objects_are_counted_together),
		T(only_a_marked_object_is_looked_at_again),
		T(a_mark_of_all_includes_what_has_gone),
		T(a_claim_that_does_not_count_is_in_no_group),
		T(the_check_finds_what_was_not_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
