/* Tests the rows of what needs attention: which objects and pods have one, their order, texts. */
#include "tests/unit/controller/bench.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "controller/claims/waiting.h"
#include "controller/explain/pod_remedy.h"
#include "controller/view/attention.h"

struct bed {
	struct bench *d;
	struct waiting *waiting;
	struct view_source source;
	struct attention *attention;
};

static void on_published(void *arg)
{
	(void)arg;
}

static struct attention *changes_to;

static void on_change(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	bench_to_provisioner(d, kind, name, object);
	if (changes_to)
		attention_changed(changes_to, kind, name);
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));
	struct bench *d;

	assert_int_equal(bench_setup_fleet((void **)&b->d), 0);
	d = b->d;
	d->on_change = on_change;
	b->waiting = waiting_new(&d->c, on_published, b);
	b->source = (struct view_source){.c = &d->c, .waiting = b->waiting, .process = 1};
	b->attention = changes_to = attention_new(&b->source);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	changes_to = NULL;
	attention_free(b->attention);
	waiting_free(b->waiting);
	free(b);
	return bench_teardown((void **)&d);
}

/* Returns row i, after checking that there are n rows. */
static const json_t *row(struct bed *b, size_t i, size_t n)
{
	const json_t *rows = attention_rows(b->attention);
	char *text = json_dumps(rows, 0);

	if (json_array_size(rows) != n)
		fail_msg("want %zu rows, got %s", n, text);
	free(text);
	return json_array_get(rows, i);
}

static void assert_member(const json_t *o, const char *key, const char *want)
{
	assert_string_equal(str_or(json_str_at(o, key), "absent"), want);
}

/* Returns the time `ms` from now in the form of RFC 3339. */
static const char *at(struct bed *b, int64_t ms)
{
	char t[STR_TIME_SIZE];

	return arena_strdup(b->d->a, str_time(t, loop_wall(b->d->l) + ms));
}

static void quarantine(struct bed *b, const char *since)
{
	bench_status(b->d, OBJECT_MACHINE, "m-1",
		     arena_printf(b->d->a,
				  "{'state': 'quarantined', 'stateSince': '%s', 'tenant': {'name': "
				  "'team-a', 'uid': 't'}, 'quarantine': {'reason': 'DriveMissing', "
				  "'message': 'eui.2 was not seen', 'exit': 'operator', 'since': "
				  "'%s'}}",
				  since, since));
}

static void a_stuck_machine_has_reason_help_and_command(void **state)
{
	struct bed *b = *state;
	const char *since = at(b, -7200000);
	const json_t *m, *command;

	(void)row(b, 0, 0);
	quarantine(b, since);
	m = row(b, 0, 1);
	assert_member(m, "need", "Person");
	assert_member(m, "owner", "operator");
	assert_member(m, "kind", "Machine");
	assert_member(m, "name", "m-1");
	assert_member(m, "tenant", "team-a");
	assert_member(m, "object", "machine/m-1");
	assert_member(m, "state", "quarantined");
	assert_member(m, "since", since);
	assert_member(m, "reason", "DriveMissing");
	assert_member(m, "text", "eui.2 was not seen");
	assert_member(m, "waitingFor", "an operator");
	assert_true(json_array_size(json_object_get(m, "help")) > 0);
	command = json_array_get(json_object_get(m, "commands"), 0);
	assert_true(str_starts(json_string_value(command), "drover approve m-1"));
	bench_status(b->d, OBJECT_MACHINE, "m-1", "{'state': 'free', 'quarantine': null}");
	(void)row(b, 0, 0);
}

static void the_worst_comes_first_and_a_deleted_object_goes(void **state)
{
	struct bed *b = *state;

	bench_patch(b->d, OBJECT_PROVIDER, "hall-a", "{'spec': {'paused': true}}");
	quarantine(b, at(b, -60000));
	bench_status(b->d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     arena_printf(b->d->a,
				  "{'conditions': [{'type': 'Ready', 'status': 'False', 'reason': "
				  "'Unreachable', 'message': 'x', 'lastTransitionTime': '%s'}]}",
				  at(b, -7200000)));
	assert_member(row(b, 0, 3), "object", "virtualcluster/team-a");
	assert_member(row(b, 0, 3), "tenant", "team-a");
	assert_member(row(b, 1, 3), "object", "machine/m-1");
	assert_member(row(b, 2, 3), "object", "provider/hall-a");
	assert_member(row(b, 2, 3), "need", "Held");
	bench_must(b->d, &b->d->host, "DELETE", "/apis/drover.dev/v1alpha1/machines/m-1", NULL);
	bench_run(b->d, 5000);
	assert_member(row(b, 0, 2), "object", "virtualcluster/team-a");
}

static void a_machine_becomes_slow_without_a_change(void **state)
{
	struct bed *b = *state;

	bench_status(
		b->d, OBJECT_MACHINE, "m-1",
		arena_printf(b->d->a,
			     "{'state': 'attaching', 'stateSince': '%s', 'operation': {'step': "
			     "'place tenant/team-a', 'waitingFor': 'Device', 'deadline': '%s'}}",
			     at(b, 0), at(b, 600000)));
	(void)row(b, 0, 0);
	bench_run(b->d, 120000);
	assert_member(row(b, 0, 1), "need", "Slow");
	assert_non_null(json_str_at(row(b, 0, 1), "waitingFor"));
}

/* Publishes a list with n pods that wait for reason. */
static void queue(struct bed *b, int n, const char *reason, const char *gang, int64_t p90)
{
	struct waiting_gang of = {.name = gang};

	waiting_begin(b->waiting);
	for (int i = 0; i < n; i++)
		waiting_put(b->waiting,
			    &(struct waiting_row){.tenant = i == 3 ? "team-b" : "team-a",
						  .gang = gang ? &of : NULL,
						  .at = {.pod = arena_printf(b->d->a, "ns/p-%d", i),
							 .place = i + 1,
							 .reason = reason,
							 .message = "too large\x1b[31m"},
						  .p90 = p90});
	waiting_end(b->waiting);
	bench_run(b->d, WAITING_MS);
}

static void pods_that_wait_for_a_change_are_combined_by_tenant_and_reason(void **state)
{
	struct bed *b = *state;
	const json_t *p;

	queue(b, 4, "TooBig", NULL, 0);
	(void)row(b, 0, 0);
	bench_run(b->d, NEED_POD_CHANGE_MS);
	p = row(b, 0, 2);
	assert_member(p, "need", "Tenant");
	assert_member(p, "owner", "tenant");
	assert_member(p, "kind", "Pod");
	assert_member(p, "namespace", "ns");
	assert_member(p, "name", "p-0");
	assert_member(p, "tenant", "team-a");
	assert_member(p, "object", "pod/team-a/ns/p-0");
	assert_member(p, "reason", "TooBig");
	assert_member(p, "text", "too large\x1b[31m");
	assert_member(p, "state", "waiting");
	assert_int_equal(json_int_at(p, "pods"), 3);
	assert_int_equal(json_array_size(json_object_get(p, "help")), 1);
	assert_int_equal(json_array_size(json_object_get(p, "commands")), 0);
	assert_member(row(b, 1, 2), "tenant", "team-b");
	queue(b, 0, "TooBig", NULL, 0);
	(void)row(b, 0, 0);
}

static void a_row_of_pods_has_the_earliest_time_and_the_most_urgent_need(void **state)
{
	struct bed *b = *state;
	struct waiting_row r = {.tenant = "team-a",
				.at = {.pod = "ns/p-1", .reason = "TooBig", .message = "m"}};
	char since[STR_TIME_SIZE];
	size_t n;

	waiting_begin(b->waiting);
	waiting_put(b->waiting, &r);
	waiting_end(b->waiting);
	bench_run(b->d, WAITING_MS);
	str_time(since, waiting_rows(b->waiting, &n)[0].at.since);
	bench_run(b->d, 60000);
	waiting_begin(b->waiting);
	r.at.pod = "ns/p-0";
	waiting_put(b->waiting, &r);
	r.at.pod = "ns/p-1";
	r.p90 = loop_wall(b->d->l);
	waiting_put(b->waiting, &r);
	waiting_end(b->waiting);
	bench_run(b->d, WAITING_MS + NEED_POD_CHANGE_MS);
	assert_member(row(b, 0, 1), "name", "p-0");
	assert_int_equal(json_int_at(row(b, 0, 1), "pods"), 2);
	assert_member(row(b, 0, 1), "since", since);
	assert_member(row(b, 0, 1), "need", "Slow");
}

static void pods_in_their_turn_are_listed_after_an_hour_and_a_gang_by_its_name(void **state)
{
	struct bed *b = *state;

	queue(b, 3, "GangNotWhole", "ns/gangs/train", 0);
	bench_run(b->d, NEED_POD_QUEUE_MS - 60000);
	(void)row(b, 0, 0);
	bench_run(b->d, 60000);
	assert_member(row(b, 0, 1), "kind", "Gang");
	assert_member(row(b, 0, 1), "gang", "ns/gangs/train");
	assert_member(row(b, 0, 1), "need", "Waits");
	assert_member(row(b, 0, 1), "owner", "drover");
}

static void a_pod_beyond_its_expected_time_is_slow(void **state)
{
	struct bed *b = *state;

	queue(b, 1, "NoCapacity", NULL, loop_wall(b->d->l) + 60000);
	(void)row(b, 0, 0);
	bench_run(b->d, 60000);
	assert_member(row(b, 0, 1), "need", "Slow");
	/* no help that tells the operator to ask the operator */
	queue(b, 1, "NoPool", NULL, loop_wall(b->d->l));
	bench_run(b->d, 60000);
	assert_member(row(b, 0, 1), "reason", "NoPool");
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(row(b, 0, 1), "help"), 0)),
		pod_operator_remedy("NoPool"));
}

static void the_version_changes_with_the_rows_only(void **state)
{
	struct bed *b = *state;
	char first[VIEW_VERSION_SIZE], second[VIEW_VERSION_SIZE];

	quarantine(b, at(b, -7200000));
	attention_version(b->attention, first);
	bench_patch(b->d, OBJECT_MACHINE, "m-1", "{'metadata': {'labels': {'x': 'y'}}}");
	bench_run(b->d, 120000);
	assert_string_equal(attention_version(b->attention, second), first);
	quarantine(b, at(b, -60000));
	assert_string_not_equal(attention_version(b->attention, second), first);
}

/* Records changes of 20000 objects. */
static void change_many(struct bed *b)
{
	char name[32];

	for (int i = 0; i < 20000; i++) {
		str_format(name, sizeof(name), "c-%d", i);
		attention_changed(b->attention, OBJECT_NODE_CLAIM, name);
	}
}

static void many_changes_without_a_reader_cost_no_memory(void **state)
{
	struct bed *b = *state;
	size_t before;

	(void)row(b, 0, 0);
	before = mallinfo2().uordblks;
	change_many(b);
	/* 20000 names would take more than 1 MB */
	assert_true(mallinfo2().uordblks < before + (1u << 19));
	quarantine(b, at(b, -60000));
	assert_member(row(b, 0, 1), "object", "machine/m-1");
	bench_must(b->d, &b->d->host, "DELETE", "/apis/drover.dev/v1alpha1/machines/m-1", NULL);
	change_many(b);
	bench_run(b->d, 5000);
	(void)row(b, 0, 0);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_stuck_machine_has_reason_help_and_command),
		T(the_worst_comes_first_and_a_deleted_object_goes),
		T(a_machine_becomes_slow_without_a_change),
		T(pods_that_wait_for_a_change_are_combined_by_tenant_and_reason),
		T(a_row_of_pods_has_the_earliest_time_and_the_most_urgent_need),
		T(pods_in_their_turn_are_listed_after_an_hour_and_a_gang_by_its_name),
		T(a_pod_beyond_its_expected_time_is_slow),
		T(the_version_changes_with_the_rows_only),
		T(many_changes_without_a_reader_cost_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
