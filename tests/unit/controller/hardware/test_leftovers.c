/* Tests that cleanups recorded for a deleted VirtualCluster (leftovers) do not apply to a new one
 * of the same name, and when a cleanup is given up. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/clock_jumps.h"
#include "controller/hardware/leftovers.h"

#define TEAM_A "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a"
#define LAST_TRY_MS (10 * 60 * 1000)

/* Result of in_progress() for every leftover: true while a call is in progress */
static bool busy;
static unsigned freed;

static struct leftover *make(const struct virtual_cluster *vc, void *arg)
{
	(void)vc;
	(void)arg;
	return mem_new(struct leftover);
}

static bool in_progress(const struct leftover *l)
{
	(void)l;
	return busy;
}

static void drop(void *l)
{
	freed++;
	free(l);
}

static struct leftovers *start(struct bench *d)
{
	const struct leftovers_spec s = {
		.c = &d->c, .make = make, .in_progress = in_progress, .free = drop};

	busy = false;
	freed = 0;
	d->c.clock_jumps = clock_jumps_new(&d->c);
	bench_fleet(d);
	return leftovers_new(&s);
}

static void stop(struct bench *d, struct leftovers *ls)
{
	leftovers_free(ls);
	clock_jumps_free(d->c.clock_jumps);
	d->c.clock_jumps = NULL;
}

static const struct virtual_cluster *team_a(struct bench *d)
{
	return CTX_GET(&d->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, "team-a");
}

static void make_again(struct bench *d)
{
	bench_must(d, &d->host, "DELETE", TEAM_A, NULL);
	bench_put(d, "{'apiVersion': '" OBJECT_API_VERSION "', 'kind': 'VirtualCluster',"
		     " 'metadata': {'name': 'team-a'},"
		     " 'spec': {'kubeconfigSecretRef': {'name': 'team-a', 'key': 'config'},"
		     " 'quota': {'maxNodes': 8}}}");
	bench_run(d, 1000);
}

static void one_made_again_under_its_name_gets_an_entry_of_its_own(void **state)
{
	struct bench *d = *state;
	struct leftovers *ls = start(d);
	struct leftover *first = leftovers_of(ls, team_a(d));

	assert_string_equal(first->tenant, "team-a");
	assert_ptr_equal(leftovers_of(ls, team_a(d)), first);
	assert_ptr_equal(leftover_cluster(first), team_a(d));
	first->told = true;
	make_again(d);
	assert_ptr_equal(leftovers_find(ls, "team-a"), first);
	assert_null(leftover_cluster(first));
	assert_false(leftovers_of(ls, team_a(d))->told);
	assert_int_equal(freed, 1);
	stop(d, ls);
}

/* The answer of the call is passed to the first leftover, which must exist until then. */
static void an_entry_whose_call_is_under_way_stays(void **state)
{
	struct bench *d = *state;
	struct leftovers *ls = start(d);
	struct leftover *first = leftovers_of(ls, team_a(d));

	busy = true;
	make_again(d);
	leftovers_sweep(ls);
	assert_null(leftovers_of(ls, team_a(d)));
	assert_ptr_equal(leftovers_find(ls, "team-a"), first);
	busy = false;
	leftovers_sweep(ls);
	assert_null(leftovers_find(ls, "team-a"));
	assert_int_equal(freed, 1);
	stop(d, ls);
}

static void what_is_owed_is_given_up_after_ten_minutes_and_said_once(void **state)
{
	struct bench *d = *state;
	struct leftovers *ls = start(d);
	struct virtual_cluster vc = *team_a(d);
	struct leftover *l = leftovers_of(ls, &vc);

	vc.meta.deletion_timestamp = loop_wall(d->l);
	bench_run(d, LAST_TRY_MS - 1000);
	assert_false(leftover_given_up(l, &vc, "WayLeft", "it may be left"));
	/* A step of the wall clock does not count towards the ten minutes. */
	loop_sim_set_clock(d->l, 50000);
	assert_false(leftover_given_up(l, &vc, "WayLeft", "it may be left"));
	loop_sim_set_clock(d->l, -50000);
	bench_run(d, 2000);
	assert_true(leftover_given_up(l, &vc, "WayLeft", "it may be left"));
	assert_true(leftover_given_up(l, &vc, "WayLeft", "it may be left"));
	bench_run(d, 5000);
	assert_int_equal(bench_events(&d->host, "WayLeft"), 1);
	stop(d, ls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			one_made_again_under_its_name_gets_an_entry_of_its_own, bench_setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(an_entry_whose_call_is_under_way_stays, bench_setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(
			what_is_owed_is_given_up_after_ten_minutes_and_said_once, bench_setup,
			bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
