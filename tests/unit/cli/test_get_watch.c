/* Tests `drover get -w` on the simulated loop: the table, and the rows after it. */
#include "tests/unit/cli/verb.h"
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/get_watch.h"

static struct cli_client c;
static char *said;
static size_t said_len;

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	c = (struct cli_client){.verb = "drover get",
				.loop = d->l,
				.group = d->g,
				.host = d->c.host,
				.out = open_memstream(&said, &said_len)};
	return 0;
}

static int teardown(void **state)
{
	fclose(c.out);
	free(said);
	return bench_teardown(state);
}

static void assert_said(const char *what)
{
	fflush(c.out);
	if (!strstr(said, what))
		fail_msg("want '%s' in: %s", what, said);
}

static size_t lines(void)
{
	size_t n = 0;

	fflush(c.out);
	for (const char *s = said; *s; s++)
		n += *s == '\n';
	return n;
}

static void a_row_follows_for_each_change_in_the_same_columns(void **state)
{
	struct bench *d = *state;
	OWN(get_watch) w = get_watch_new(&c, &(struct cli_get_options){0}, OBJECT_MACHINE, NULL);

	assert_non_null(w);
	bench_run(d, 1000);
	assert_said("NAME   STATE   SINCE   CLAIM");
	assert_said("m-1    free    ");
	assert_int_equal(lines(), 2);
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'quarantined'}");
	bench_run(d, 1000);
	assert_said("\nm-1    quarantined   ");
	assert_int_equal(lines(), 3);
	bench_put(d, "{'kind': 'Machine', 'metadata': {'name': 'm-2'}, 'spec': {'providerRef': "
		     "{'name': 'hall-a'}}}");
	bench_run(d, 1000);
	assert_said("\nm-2    -       ");
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/machines/m-2", NULL);
	bench_run(d, 1000);
	assert_said("\nm-2    deleted   -       -");
	assert_int_equal(lines(), 5);
}

static void what_shows_in_no_column_makes_no_row(void **state)
{
	struct bench *d = *state;
	OWN(get_watch) w = get_watch_new(&c, &(struct cli_get_options){0}, OBJECT_MACHINE, NULL);

	assert_non_null(w);
	bench_run(d, 1000);
	bench_patch(d, OBJECT_MACHINE, "m-1", "{'metadata': {'labels': {'rack': 'r1'}}}");
	bench_run(d, 1000);
	assert_int_equal(lines(), 2);
}

static void a_name_or_labels_choose(void **state)
{
	struct bench *d = *state;
	OWN(get_watch)
	one = get_watch_new(&c, &(struct cli_get_options){.headless = true}, OBJECT_MACHINE, "m-9");
	OWN(get_watch)
	some = get_watch_new(&c, &(struct cli_get_options){.headless = true, .selector = "rack=r1"},
			     OBJECT_MACHINE, NULL);

	assert_non_null(one);
	assert_non_null(some);
	bench_run(d, 1000);
	assert_int_equal(lines(), 0);
	bench_patch(d, OBJECT_MACHINE, "m-1", "{'metadata': {'labels': {'rack': 'r1'}}}");
	bench_run(d, 1000);
	assert_said("m-1 ");
	assert_int_equal(lines(), 1);
}

static void what_cannot_be_begun_is_said(void **state)
{
	static const char *targets[] = {"machines"};
	struct bench *d = *state;
	const struct cli_get_options look = {.targets = targets, .n = 1, .watch = true};

	d->host.denied = true;
	verb_errors_begin();
	assert_int_equal(cli_do_get(&c, &look), 1);
	verb_errors_end("the cluster does not know this user");
	d->host.denied = false;
	bench_must(d, &d->host, "DELETE",
		   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/drains.drover.dev",
		   NULL);
	targets[0] = "drains";
	verb_errors_begin();
	assert_int_equal(cli_do_get(&c, &look), 1);
	verb_errors_end("this cluster has no type drains.drover.dev");
}

static void a_wrong_command_line_is_refused_by_name(void **state)
{
	static const struct {
		const char *args[5], *said;
	} rows[] = {
		{{"machines", "-w", "-ojson", NULL}, "the only -o it accepts is wide"},
		{{"machines,pools", "-w", NULL}, "--watch: give one type"},
		{{"machine", "m-1", "m-2", "-w", NULL}, "at most one name"},
		{{"machine/m-1", "machine/m-2", "-w", NULL}, "at most one name"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(verb_run("drover get", cli_get_objects, NULL, rows[i].args), 2);
		verb_assert_said(rows[i].said);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_row_follows_for_each_change_in_the_same_columns),
		T(what_shows_in_no_column_makes_no_row),
		T(a_name_or_labels_choose),
		T(what_cannot_be_begun_is_said),
		cmocka_unit_test(a_wrong_command_line_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
