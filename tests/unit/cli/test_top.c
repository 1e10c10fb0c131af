/* Tests `drover top`: the drawn screen, the keys, and the fleet that is printed once, with a client
 * on the simulated loop. */
#include "tests/unit/cli/verb.h"
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "cli/cli.h"
#include "cli/top_view.h"
#include "cli/verbs.h"

static char *drawn;

static const char *draw(struct top_view *v, size_t width, size_t height)
{
	const struct top_screen s = {.width = width, .height = height};
	struct buf b;

	buf_init(&b, 1 << 20);
	top_view_draw(v, &s, &b);
	free(drawn);
	drawn = buf_give(&b);
	return drawn;
}

static void assert_drawn(const char *what)
{
	if (!strstr(drawn, what))
		fail_msg("want '%s' in:\n%s", what, drawn);
}

static void assert_undrawn(const char *what)
{
	if (strstr(drawn, what))
		fail_msg("'%s' is in:\n%s", what, drawn);
}

#define NOW INT64_C(1800000000000) /* 2027-01-15T08:00:00Z */

static json_t *machine(const char *name, const char *state, const char *since, const char *tenant)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "kind", "Machine", "name", name, "state",
			 state, "since", since, "tenant", tenant);
}

/* Returns a view of a fleet whose machines are in different states. */
static struct top_view *fleet(void)
{
	struct top_view *v = top_view_new();
	json_t *ms = json_array(), *cs = json_array(), *m;

	json_array_append_new(ms, machine("gpu-free", "free", "2027-01-15T07:00:00Z", ""));
	json_array_append_new(ms,
			      machine("gpu-serves", "serving", "2027-01-14T08:00:00Z", "team-a"));
	m = machine("gpu-wipes", "wiping", "2027-01-15T07:58:00Z", "team-b");
	json_object_set_new(m, "progress",
			    json_pack("{s:s, s:I, s:I}", "phase", "overwrite", "doneBytes",
				      (json_int_t)50, "totalBytes", (json_int_t)100));
	json_array_append_new(ms, m);
	m = machine("gpu-broken", "quarantined", "2027-01-15T05:00:00Z", "team-b");
	json_object_set_new(m, "quarantine",
			    json_pack("{s:s, s:s}", "reason", "DriveFailed", "message", "nvme0"));
	json_array_append_new(ms, m);
	json_array_append_new(cs,
			      json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "name", "h100-x", "pool",
					"h100", "tenant", "team-a", "state", "booting", "etaP50",
					"2027-01-15T08:20:00Z", "etaP90", "2027-01-15T08:31:00Z"));
	top_view_put(v, ms, cs, NOW);
	return v;
}

static void type(struct top_view *v, const char *keys)
{
	for (; *keys; keys++)
		assert_true(top_view_key(v, *keys));
}

/* Asserts that text a is drawn before text b. */
static void assert_order(const char *a, const char *b)
{
	const char *x = strstr(drawn, a), *y = strstr(drawn, b);

	if (!x || !y || x > y)
		fail_msg("want %s before %s in:\n%s", a, b, drawn);
}

static void who_needs_a_person_stands_first(void **state)
{
	struct top_view *v = fleet();

	(void)state;
	draw(v, 120, 30);
	assert_drawn("4 machines  free 1  serving 1  wiping 1  quarantined 1");
	assert_drawn("> gpu-broken");
	assert_order("gpu-broken", "gpu-wipes");
	assert_order("gpu-wipes", "gpu-serves");
	assert_order("gpu-serves", "gpu-free");
	assert_drawn("DriveFailed");
	assert_drawn("overwrite [#####     ] 50 %");
	assert_drawn("08:20 to 08:31 UTC");
	assert_drawn("24h");
	top_view_free(v);
}

static void keys_sort_and_filter(void **state)
{
	struct top_view *v = fleet();

	(void)state;
	type(v, "s"); /* The first s sorts by name. */
	draw(v, 120, 30);
	assert_drawn("by name");
	assert_order("gpu-free", "gpu-serves");
	type(v, "/TEAM-b\n");
	draw(v, 120, 30);
	assert_drawn("filter: TEAM-b (2 of 4)");
	assert_drawn("gpu-wipes");
	assert_undrawn("gpu-serves");
	type(v, "/zz\n");
	draw(v, 120, 30);
	assert_drawn("no machine matches the filter");
	type(v, "\n"); /* Enter has no row to open. */
	assert_true(top_view_key(v, TOP_ESCAPE));
	draw(v, 120, 30);
	assert_drawn("gpu-serves");
	/* While the user types a filter, q is a letter. */
	type(v, "/q");
	assert_true(top_view_key(v, 0x7f));
	assert_true(top_view_key(v, TOP_ESCAPE));
	assert_false(top_view_key(v, 'q'));
	top_view_free(v);
}

static void a_machine_is_chosen_by_name_and_opened(void **state)
{
	struct top_view *v = fleet();
	json_t *ms = json_array();

	(void)state;
	assert_true(top_view_key(v, TOP_DOWN));
	draw(v, 120, 30);
	assert_drawn("> gpu-wipes");
	/* The machine stays selected, although its row has moved. */
	json_array_append_new(ms, machine("a-new-one", "quarantined", "2027-01-15T05:00:00Z", ""));
	json_array_append_new(ms, machine("b-new-one", "quarantined", "2027-01-15T05:00:00Z", ""));
	json_array_append_new(ms,
			      machine("gpu-wipes", "verifying", "2027-01-15T07:59:00Z", "team-b"));
	top_view_put(v, ms, json_array(), NOW);
	draw(v, 120, 30);
	assert_drawn("> gpu-wipes");
	type(v, "\n");
	draw(v, 120, 30);
	assert_drawn("Machine gpu-wipes");
	assert_drawn("verifying");
	assert_undrawn("a-new-one");
	assert_true(top_view_key(v, TOP_ESCAPE));
	assert_true(top_view_key(v, TOP_PAGE_DOWN));
	assert_true(top_view_key(v, TOP_PAGE_UP));
	assert_true(top_view_key(v, TOP_UP));
	draw(v, 120, 30);
	assert_drawn("> a-new-one");
	type(v, "?");
	draw(v, 120, 30);
	assert_drawn("sort by the next column");
	top_view_free(v);
}

static size_t longest_line(const char *text, size_t *lines)
{
	size_t most = 0, n = 0;

	*lines = 0;
	for (; *text; text++) {
		if (*text == '\n') {
			++*lines;
			n = 0;
		} else if (++n > most) {
			most = n;
		}
	}
	return most;
}

static void no_line_is_wider_and_no_screen_longer(void **state)
{
	struct top_view *v = top_view_new();
	json_t *ms = json_array();
	char name[64];
	size_t lines;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		str_format(name, sizeof(name), "a-machine-with-a-rather-long-name-%d", i);
		json_array_append_new(ms,
				      machine(name, "serving", "2027-01-15T05:00:00Z", "team-a"));
	}
	top_view_put(v, ms, json_array(), NOW);
	assert_in_range(longest_line(draw(v, 40, 12), &lines), 1, 40);
	assert_in_range(lines, 8, 11);
	assert_drawn("> a-machine");
	for (int i = 0; i < 500; i++)
		assert_true(top_view_key(v, TOP_DOWN));
	assert_in_range(longest_line(draw(v, 80, 5), &lines), 1, 80);
	assert_true(lines <= 4);
	/* The screen scrolls so that the selected row is visible. */
	assert_drawn("> ");
	draw(v, 0, 0);
	longest_line(drawn, &lines);
	assert_int_equal(lines, 1002);
	assert_undrawn("> ");
	top_view_free(v);
}

static void texts_of_others_move_no_cursor(void **state)
{
	struct top_view *v = top_view_new();
	json_t *ms = json_array(),
	       *m = machine("gpu-1", "wiping", "2027-01-15T05:00:00Z", "x\033[2J");

	(void)state;
	json_object_set_new(m, "lastError",
			    json_pack("{s:s}", "reason",
				      "Bad\033]0;owned\007\xc2\x9b"
				      "2J"));
	json_array_append_new(ms, m);
	top_view_put(v, ms, json_array(), NOW);
	top_view_trouble(v, "gone\rfor good");
	draw(v, 200, 20);
	assert_undrawn("\033");
	assert_undrawn("\007");
	assert_undrawn("\xc2\x9b");
	assert_drawn("gone?for good");
	top_view_free(v);
}

/* --- the command ------------------------------------------------------------------------------ */

static struct cli_client c;
static char *said;
static size_t said_len;

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	c = (struct cli_client){.verb = "drover top",
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

static void once_it_is_a_table_or_json(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'wiping'}");
	assert_int_equal(cli_do_top(&c), 0);
	fflush(c.out);
	assert_non_null(strstr(said, "wiping 1"));
	assert_non_null(strstr(said, "  m-1 "));
	rewind(c.out);
	c.json = true;
	assert_int_equal(cli_do_top(&c), 0);
	fflush(c.out);
	{
		OWN_JSON all = json_loadb(said, said_len, JSON_DISABLE_EOF_CHECK, NULL);

		assert_string_equal(
			json_str_at(json_array_get(json_object_get(all, "machines"), 0), "name"),
			"m-1");
	}
}

static void a_cluster_that_cannot_be_read_is_told(void **state)
{
	struct bench *d = *state;

	d->host.denied = true;
	verb_errors_begin();
	assert_int_equal(cli_do_top(&c), 1);
	verb_errors_end("the cluster does not know this user");
	d->host.denied = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_needs_a_person_stands_first),
		cmocka_unit_test(keys_sort_and_filter),
		cmocka_unit_test(a_machine_is_chosen_by_name_and_opened),
		cmocka_unit_test(no_line_is_wider_and_no_screen_longer),
		cmocka_unit_test(texts_of_others_move_no_cursor),
		cmocka_unit_test_setup_teardown(once_it_is_a_table_or_json, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cluster_that_cannot_be_read_is_told, setup,
						teardown),
	};
	int failed;

	cmocka_set_test_filter(getenv("ONLY"));
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(drawn);
	return failed;
}
