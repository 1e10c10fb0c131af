/* Tests that the list of waiting pods is published as a whole, and at most every ten seconds. */
#include "tests/unit/testing.h"

#include <string.h>

#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "controller/claims/waiting.h"

#define WALL INT64_C(1764000000000)

struct bed {
	struct context c;
	struct arena *a;
	struct waiting *w;
	unsigned published;
	struct virtual_cluster vc;
};

static void on_published(void *arg)
{
	((struct bed *)arg)->published++;
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));

	b->c.loop = loop_sim_new(7, WALL);
	b->c.group = loop_group_new(b->c.loop, "test");
	b->a = arena_new();
	b->w = waiting_new(&b->c, on_published, b);
	b->vc.meta.name = "team-a";
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;

	waiting_free(b->w);
	arena_free(b->a);
	loop_group_free(b->c.group);
	loop_free(b->c.loop);
	free(b);
	return 0;
}

static void run(struct bed *b, int64_t ms)
{
	loop_sim_run_until(b->c.loop, loop_now(b->c.loop) + ms);
}

static void put(struct bed *b, const char *pod, int64_t place, const char *reason,
		const char *claim)
{
	waiting_put(b->w, &(struct waiting_row){.tenant = "team-a",
						.at = {.pod = pod,
						       .place = place,
						       .reason = reason,
						       .message = "m",
						       .claim = claim}});
}

/* Passes a plan in which only this pod waits (NULL: none), then runs for ms. */
static void plan(struct bed *b, const char *pod, int64_t place, const char *reason, int64_t ms)
{
	waiting_begin(b->w);
	if (pod)
		put(b, pod, place, reason, NULL);
	waiting_end(b->w);
	run(b, ms);
}

/* Writes the status as supply_status does. Returns false if nothing had to be written. */
static bool writes(struct bed *b)
{
	struct virtual_cluster_waits out;
	const bool changed = waiting_status(b->w, &b->vc, b->a, &out);

	for (size_t i = 0; changed && i < out.n; i++) {
		/* Copies the texts, as the API server stores a copy. */
		out.v[i].pod = arena_strdup(b->a, out.v[i].pod);
		out.v[i].message = arena_strdup(b->a, out.v[i].message);
		out.v[i].claim = arena_strdup(b->a, out.v[i].claim);
	}
	if (changed)
		b->vc.status.waiting = out;
	return changed;
}

static void nothing_is_written_before_a_plan_was_gone_through(void **state)
{
	struct bed *b = *state;

	b->vc.status.waiting = (struct virtual_cluster_waits){
		.v = &(struct virtual_cluster_waiting){.pod = "ns/old", .reason = "r"}, .n = 1};
	assert_false(writes(b));
	waiting_begin(b->w);
	put(b, "ns/p", 1, "NoCapacity", NULL);
	run(b, WAITING_MS);
	assert_false(writes(b));
	plan(b, "ns/q", 2, "NoCapacity", 1); /* The unfinished list with ns/p is dropped. */
	assert_int_equal(b->published, 1);
	assert_true(writes(b));
	assert_int_equal(b->vc.status.waiting.n, 1);
	assert_string_equal(b->vc.status.waiting.v[0].pod, "ns/q");
}

static void lists_are_published_at_most_every_ten_seconds_and_the_newest_counts(void **state)
{
	struct bed *b = *state;

	/* No pod waits: publishing an empty list does not delay the next list. */
	plan(b, NULL, 0, NULL, 1);
	assert_int_equal(b->published, 0);
	plan(b, "ns/p", 5, "NoCapacity", 1);
	assert_int_equal(b->published, 1);
	for (int i = 4; i > 1; i--)
		plan(b, "ns/p", i, "NoCapacity", 1000);
	assert_int_equal(b->published, 1);
	assert_true(writes(b));
	assert_int_equal(b->vc.status.waiting.v[0].place, 5);
	run(b, WAITING_MS);
	assert_int_equal(b->published, 2);
	assert_true(writes(b));
	assert_int_equal(b->vc.status.waiting.v[0].place, 2);
	assert_false(writes(b));
	plan(b, NULL, 0, NULL, WAITING_MS);
	assert_true(writes(b));
	assert_int_equal(b->vc.status.waiting.n, 0);
}

static void since_is_when_reason_and_claim_became_these(void **state)
{
	struct bed *b = *state;
	int64_t since;

	plan(b, "ns/p", 5, "NoCapacity", WAITING_MS);
	assert_true(writes(b));
	since = b->vc.status.waiting.v[0].since;
	assert_true(since >= WALL);
	plan(b, "ns/p", 4, "NoCapacity", WAITING_MS);
	assert_true(writes(b));
	assert_int_equal(b->vc.status.waiting.v[0].since, since);
	plan(b, "ns/p", 4, "QuotaExceeded", WAITING_MS);
	assert_true(writes(b));
	assert_true(b->vc.status.waiting.v[0].since > since);
	since = b->vc.status.waiting.v[0].since;
	waiting_begin(b->w);
	put(b, "ns/p", 4, "QuotaExceeded", "c-1");
	waiting_end(b->w);
	run(b, WAITING_MS);
	assert_true(writes(b));
	assert_true(b->vc.status.waiting.v[0].since > since);
}

/* Passes a plan in which n pods wait. */
static void plan_long(struct bed *b, size_t n, const char *reason)
{
	waiting_begin(b->w);
	for (size_t i = 0; i < n; i++)
		put(b, arena_printf(b->a, "ns/p-%zu", i), (int64_t)i + 1, reason, NULL);
	waiting_end(b->w);
}

/* Becomes true after a few turns. */
static bool a_few_turns(void *arg)
{
	return ++*(unsigned *)arg > 2;
}

static void a_long_list_is_published_in_several_turns_and_the_next_one_after_it(void **state)
{
	struct bed *b = *state;
	const struct waiting_row *rows;
	struct loop_stats before;
	unsigned turns = 0;
	int64_t since;
	size_t n;

	plan_long(b, 3 * WAITING_ROWS, "NoCapacity");
	before = loop_stats(b->c.loop);
	run(b, 1);
	assert_int_equal(b->published, 1);
	assert_true(loop_stats(b->c.loop).turns - before.turns >= 3);
	rows = waiting_rows(b->w, &n);
	assert_int_equal(n, 3 * WAITING_ROWS);
	since = rows[n - 1].at.since;

	/* The last pod waits for the same reason in the next list, which comes while this one is
	 * published. */
	run(b, WAITING_MS);
	plan_long(b, 3 * WAITING_ROWS, "NoCapacity");
	assert_true(loop_sim_run_cond(b->c.loop, a_few_turns, &turns, loop_now(b->c.loop) + 1));
	assert_int_equal(b->published, 1);
	plan_long(b, 1, "QuotaExceeded");
	run(b, 1);
	assert_int_equal(b->published, 2);
	rows = waiting_rows(b->w, &n);
	assert_int_equal(n, 3 * WAITING_ROWS);
	assert_int_equal(rows[n - 1].at.since, since);
	run(b, WAITING_MS);
	assert_int_equal(b->published, 3);
	rows = waiting_rows(b->w, &n);
	assert_int_equal(n, 1);
	assert_true(rows[0].at.since > since);
}

static void a_list_is_bounded_in_rows_and_bytes(void **state)
{
	struct bed *b = *state;
	char text[2000];
	const struct virtual_cluster_waits *v = &b->vc.status.waiting;

	memset(text, 'x', sizeof(text));
	/* A two-byte character lies across the length limit. */
	memcpy(text + VIRTUAL_CLUSTER_MESSAGE_MAX - 1, "\xc3\xa9", 2);
	text[sizeof(text) - 1] = '\0';
	waiting_begin(b->w);
	for (int i = 0; i < 2 * VIRTUAL_CLUSTER_WAITING_MAX; i++)
		waiting_put(b->w,
			    &(struct waiting_row){.tenant = "team-a",
						  .at = {.pod = arena_printf(b->a, "ns/p-%d", i),
							 .place = i + 1,
							 .reason = "r",
							 .message = i ? text : "bad \xff byte"}});
	waiting_end(b->w);
	run(b, 1);
	assert_true(writes(b));
	assert_int_equal(v->n, VIRTUAL_CLUSTER_WAITING_MAX);
	assert_int_equal(v->v[v->n - 1].place, VIRTUAL_CLUSTER_WAITING_MAX);
	assert_string_equal(v->v[0].message, "bad ? byte");
	assert_int_equal(strlen(v->v[1].message), VIRTUAL_CLUSTER_MESSAGE_MAX - 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void readers_get_all_pods_of_all_tenants_in_the_order_of_the_queue(void **state)
{
	struct bed *b = *state;
	const struct waiting_row *rows;
	const uint64_t none = waiting_number(b->w);
	uint64_t first;
	size_t n;

	run(b, 1);
	assert_null(waiting_rows(b->w, &n));
	assert_int_equal(n, 0);
	for (int again = 0; again < 2; again++) {
		waiting_begin(b->w);
		for (int i = 0; i < 2 * VIRTUAL_CLUSTER_WAITING_MAX; i++)
			waiting_put(b->w, &(struct waiting_row){
						  .tenant = i % 2 ? "team-b" : "team-a",
						  .at = {.pod = arena_printf(b->a, "ns/p-%d", i),
							 .place = i + 1,
							 .reason = again && i == 1 ? "Other" : "r",
							 .message = "m"},
						  .p50 = 10 + i,
						  .p90 = 20 + i});
		waiting_end(b->w);
		if (!again) {
			run(b, 1);
			first = waiting_number(b->w);
			assert_int_not_equal(first, none);
		}
	}
	run(b, WAITING_MS);
	assert_int_not_equal(waiting_number(b->w), first);
	rows = waiting_rows(b->w, &n);
	assert_int_equal(n, 2 * VIRTUAL_CLUSTER_WAITING_MAX);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(rows[i].tenant, i % 2 ? "team-b" : "team-a");
		assert_int_equal(rows[i].at.place, i + 1);
		assert_int_equal(rows[i].p50, 10 + i);
		assert_int_equal(rows[i].p90, 20 + i);
		/* Only the second pod's reason changed with the second list. */
		if (i == 1)
			assert_true(rows[i].at.since > WALL + 1000);
		else
			assert_true(rows[i].at.since < WALL + 1000);
	}
}

/* Puts a list with two pods of a gang, and between them one of another tenant's gang. */
static void put_gangs(struct bed *b, int64_t p50, const char *reason)
{
	struct waiting_gang gang = {.name = "train", .size = 4, .begun = 1};
	const struct waiting_row rows[] = {
		{.tenant = "team-a", .at = {.pod = "ns/p-0"}, .p50 = p50, .p90 = 40},
		{.tenant = "team-b", .at = {.pod = "ns/p-0"}, .p50 = 5, .p90 = 6},
		{.tenant = "team-a", .at = {.pod = "ns/p-1"}, .p50 = 10, .p90 = 50},
	};

	waiting_begin(b->w);
	for (size_t i = 0; i < 3; i++) {
		struct waiting_row row = rows[i];

		row.gang = &gang;
		row.at.reason = i == 2 ? reason : "r";
		row.at.message = "m";
		waiting_put(b->w, &row);
	}
	waiting_end(b->w);
	run(b, WAITING_MS);
}

static void the_pods_of_a_gang_are_counted_together(void **state)
{
	struct bed *b = *state;
	const struct waiting_row *rows;
	size_t n;

	put_gangs(b, 20, "r");
	rows = waiting_rows(b->w, &n);
	assert_int_equal(n, 3);
	assert_ptr_equal(rows[0].gang, rows[2].gang);
	assert_string_equal(rows[0].gang->name, "train");
	assert_int_equal(rows[0].gang->size, 4);
	assert_int_equal(rows[0].gang->begun, 1);
	assert_int_equal(rows[0].gang->waiting, 2);
	assert_int_equal(rows[0].gang->first, 0);
	assert_int_equal(rows[0].gang->p50, 20);
	assert_int_equal(rows[0].gang->p90, 50);
	assert_int_equal(rows[1].gang->waiting, 1);
	assert_int_equal(rows[1].gang->first, 1);
	assert_int_equal(rows[1].gang->p90, 6);

	/* One expected time is unknown, and the second pod waits for another reason by now. */
	put_gangs(b, 0, "Other");
	rows = waiting_rows(b->w, &n);
	assert_int_equal(rows[0].gang->p50, 0);
	assert_int_equal(rows[0].gang->p90, 50);
	assert_true(rows[2].at.since > rows[0].at.since);
	assert_int_equal(rows[0].gang->since, rows[0].at.since);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nothing_is_written_before_a_plan_was_gone_through),
		T(lists_are_published_at_most_every_ten_seconds_and_the_newest_counts),
		T(since_is_when_reason_and_claim_became_these),
		T(a_long_list_is_published_in_several_turns_and_the_next_one_after_it),
		T(a_list_is_bounded_in_rows_and_bytes),
		T(readers_get_all_pods_of_all_tenants_in_the_order_of_the_queue),
		T(the_pods_of_a_gang_are_counted_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
