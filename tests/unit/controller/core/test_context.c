#include "tests/unit/testing.h"

#include <string.h>
#include "controller/core/context.h"
#include "tests/unit/controller/bench.h"

static void on_started(int64_t transitions, void *arg)
{
	(void)transitions;
	(void)arg;
}

static void on_stopped(void *arg)
{
	(void)arg;
}

/* A queued call is checked again just before it is sent: meanwhile the lease may be too old, the
 * clock wrong, or another replica the leader. */
static void nothing_may_be_changed_on_an_old_lease_or_by_a_wrong_clock(void **state)
{
	struct bench *d = *state;
	struct kube_lease_spec s = {.client = d->c.host,
				    .ns = BENCH_NS,
				    .name = "lead",
				    .identity = "bench",
				    .on_started = on_started,
				    .on_stopped = on_stopped};
	struct err e;

	d->c.lease = kube_lease_new(d->g, &s);
	assert_int_equal(ctx_may_change(&d->c, &e), -1); /* This replica is not the leader yet. */
	bench_run(d, 5000);
	assert_true(ctx_may_act(&d->c));
	assert_ok(ctx_may_change(&d->c, &e), &e);
	d->c.leading = false;
	assert_int_equal(ctx_may_change(&d->c, &e), -1);
	d->c.leading = true;
	loop_sim_set_clock(d->l, 120 * 1000);
	assert_false(ctx_may_act(&d->c));
	assert_int_equal(ctx_may_change(&d->c, &e), -1);
	assert_int_equal(e.kind, ERR_UNAVAILABLE);
	assert_non_null(strstr(e.text, "or the clock differs"));
	kube_lease_free(d->c.lease);
	d->c.lease = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			nothing_may_be_changed_on_an_old_lease_or_by_a_wrong_clock, bench_setup,
			bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
