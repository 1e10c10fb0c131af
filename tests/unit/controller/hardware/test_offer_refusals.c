#include "tests/unit/controller/bench.h"

#include "base/market.h"
#include "base/str.h"
#include "controller/hardware/offer_refusals.h"

#define KEPT 64
#define CLOUD "sky"

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_put(d, "{'kind': 'Provider', 'metadata': {'name': '" CLOUD "'},"
		     " 'spec': {'type': 'exec', 'exec': {'command': ['/sky'], 'elastic': true}}}");
	return 0;
}

static struct offer offer(const char *zone, const char *type)
{
	return (struct offer){.region = "r", .zone = zone, .type = type};
}

static void refuse(struct offer_refusals *r, const char *zone, enum err_kind kind,
		   enum err_scope scope)
{
	const struct offer o = offer(zone, "gpu-8");
	struct err e;

	err_note(&e, kind, 0, "the cloud says no");
	e.scope = scope;
	offer_refusals_add(r, CLOUD, &o, &e);
}

static bool is_refused(struct offer_refusals *r, const char *zone, const char *type)
{
	const struct offer o = offer(zone, type);

	return offer_refusals_find(r, CLOUD, &o);
}

static const struct provider_object *provider(struct bench *d)
{
	return CTX_GET(&d->c, OBJECT_PROVIDER, provider_object, CLOUD);
}

static void a_refusal_covers_its_scope_for_three_minutes(void **state)
{
	struct bench *d = *state;
	struct offer_refusals *r = offer_refusals_new(&d->c);

	refuse(r, "a", ERR_CAPACITY, ERR_ZONE);
	assert_true(is_refused(r, "a", "gpu-8"));
	assert_false(is_refused(r, "b", "gpu-8"));
	assert_false(is_refused(r, "a", "gpu-4"));
	bench_run(d, 3 * 60 * 1000 + 1);
	assert_false(is_refused(r, "a", "gpu-8"));
	refuse(r, "a", ERR_QUOTA, ERR_ACCOUNT);
	assert_true(is_refused(r, "b", "gpu-8"));
	assert_false(is_refused(r, "b", "gpu-4"));
	refuse(r, "a", ERR_DENIED, ERR_ACCOUNT);
	assert_true(is_refused(r, "b", "gpu-4"));
	offer_refusals_new_login(r, CLOUD);
	assert_false(is_refused(r, "b", "gpu-4"));
	assert_true(is_refused(r, "b", "gpu-8"));
	offer_refusals_free(r);
}

/* The first is refused again after the others, so the second is the oldest. */
static void of_each_scope_the_newest_is_stored_and_the_oldest_gives_way(void **state)
{
	struct bench *d = *state;
	struct offer_refusals *r = offer_refusals_new(&d->c);
	struct provider_object_status s = {0};
	char zone[8];

	for (int i = 0; i < KEPT; i++) {
		(void)str_format(zone, sizeof(zone), "z%d", i);
		refuse(r, zone, ERR_CAPACITY, ERR_ZONE);
		bench_run(d, 10);
	}
	refuse(r, "z0", ERR_CAPACITY, ERR_ZONE);
	refuse(r, "z0", ERR_CAPACITY, ERR_ZONE);
	assert_true(is_refused(r, "z1", "gpu-8"));
	refuse(r, "new", ERR_CAPACITY, ERR_ZONE);
	assert_true(is_refused(r, "z0", "gpu-8"));
	assert_false(is_refused(r, "z1", "gpu-8"));
	assert_true(is_refused(r, "z2", "gpu-8"));
	assert_true(is_refused(r, "new", "gpu-8"));
	offer_refusals_status(r, provider(d), d->a, &s);
	assert_int_equal(s.refusals.n, KEPT);
	offer_refusals_free(r);
}

/* The clock of the replica that wrote the status is an hour ahead. */
static void a_new_leader_reads_the_status_and_no_other_replica_does(void **state)
{
	struct bench *d = *state;
	struct offer_refusals *r = offer_refusals_new(&d->c);
	char at[STR_TIME_SIZE], until[STR_TIME_SIZE];
	const int64_t ahead = loop_wall(d->l) + 3600 * 1000;
	const struct offer o = offer("a", "gpu-8");

	bench_status(d, OBJECT_PROVIDER, CLOUD,
		     arena_printf(d->a,
				  "{'refusals': [{'region': 'r', 'zone': 'a', 'instanceType': "
				  "'gpu-8', 'message': 'no', 'time': '%s', 'until': '%s'}]}",
				  str_time(at, ahead), str_time(until, ahead + 60000)));
	d->c.leading = false;
	assert_null(offer_refusals_find(r, CLOUD, &o));
	d->c.leading = true;
	assert_non_null(offer_refusals_find(r, CLOUD, &o));
	assert_string_equal(offer_refusals_find(r, CLOUD, &o)->message, "no");
	bench_run(d, 60000);
	assert_null(offer_refusals_find(r, CLOUD, &o));
	offer_refusals_free(r);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_refusal_covers_its_scope_for_three_minutes),
		T(of_each_scope_the_newest_is_stored_and_the_oldest_gives_way),
		T(a_new_leader_reads_the_status_and_no_other_replica_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
