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
	struct buf b;

	buf_init(&b, 1 << 20);
	top_view_print(v, width, height, &b);
	free(drawn);
	drawn = buf_steal(&b);
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

/* Adds machines and claims, and sets the time; takes ownership of both arrays. */
static void put(struct top_view *v, json_t *machines, json_t *claims)
{
	json_t *o;
	size_t i;

	json_array_foreach (machines, i, o)
		top_view_machine(v, json_str_at(o, "name"), json_incref(o));
	json_array_foreach (claims, i, o)
		top_view_claim(v, json_str_at(o, "name"), json_incref(o));
	top_view_now(v, NOW);
	json_decref(machines);
	json_decref(claims);
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
	put(v, ms, cs);
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
	put(v, ms, json_array());
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

static void an_opened_row_shows_what_belongs_to_it(void **state)
{
	struct top_view *v = fleet();
	char why[2000] = "";

	(void)state;
	assert_null(top_view_opened(v));
	type(v, "\n");
	assert_string_equal(top_view_opened(v), "machine/gpu-broken");
	draw(v, 40, 20);
	assert_drawn("Machine gpu-broken");
	assert_drawn("reading the related objects");
	/* the answer to a row that was closed since, and to the open one */
	top_view_answer(v, "machine/gpu-free", machine("gpu-free", "free", "", ""), NULL);
	draw(v, 40, 20);
	assert_undrawn("gpu-free");
	top_view_answer(v, "machine/gpu-broken", NULL, "no rights\033[31m");
	draw(v, 40, 20);
	assert_drawn("Machine gpu-broken");
	assert_drawn("not complete: no rights?[31m");
	for (int i = 0; i < 40; i++)
		str_format(why + strlen(why), sizeof(why) - strlen(why), "cause %d, with words. ",
			   i);
	top_view_answer(v, "machine/gpu-broken",
			json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "kind", "Machine", "name",
				  "gpu-broken", "state", "leaving", "lastError", "reason",
				  "DriveFailed", "message", why),
			NULL);
	draw(v, 40, 12);
	assert_drawn("leaving");
	assert_undrawn("not complete");
	assert_undrawn("reading the objects");
	assert_undrawn("cause 39");
	assert_true(top_view_key(v, TOP_END));
	draw(v, 40, 12);
	assert_drawn("cause 39");
	/* The last answer stays when the machine is deleted or cannot be read. */
	top_view_machine(v, "gpu-broken", NULL);
	top_view_answer(v, "machine/gpu-broken", NULL, "there is no Machine gpu-broken");
	draw(v, 120, 30);
	assert_drawn("cause 39");
	assert_drawn("not updated: there is no Machine gpu-broken");
	assert_true(top_view_key(v, TOP_ESCAPE));
	assert_null(top_view_opened(v));
	draw(v, 120, 30);
	assert_undrawn("gpu-broken");
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
	put(v, ms, json_array());
	assert_in_range(longest_line(draw(v, 40, 12), &lines), 1, 40);
	assert_int_equal(lines, 12);
	assert_drawn("> a-machine");
	for (int i = 0; i < 500; i++)
		assert_true(top_view_key(v, TOP_DOWN));
	assert_in_range(longest_line(draw(v, 80, 5), &lines), 1, 80);
	assert_int_equal(lines, 5);
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
	put(v, ms, json_array());
	top_view_trouble(v, "gone\rfor good");
	draw(v, 200, 20);
	assert_undrawn("\033");
	assert_undrawn("\007");
	assert_undrawn("\xc2\x9b");
	assert_drawn("gone?for good");
	top_view_free(v);
}

static json_t *pod(const char *name, int place, const char *claim)
{
	return json_pack("{s:s, s:s, s:{s:i, s:s, s:s, s:s, s:s*}}", "kind", "Pod", "name", name,
			 "now", "place", place, "reason", "NoCapacity", "message",
			 "all taken\033[2J", "since", "2027-01-15T07:50:00Z", "claim", claim);
}

/* An opened pod must not be taken for a machine of the panel to which the key leads. */
static void a_key_that_leads_to_another_panel_closes_the_row(void **state)
{
	struct top_view *v = fleet();

	(void)state;
	top_view_queue(v, "t", json_pack("[o]", pod("t/n/p", 1, NULL)));
	draw(v, 40, 12);
	type(v, "\t\t\n");
	assert_string_equal(top_view_opened(v), "t/n/p");
	type(v, "/");
	draw(v, 40, 12);
	assert_null(top_view_opened(v));
	assert_drawn("> gpu-broken");
	type(v, "\n\t\t\n");
	assert_string_equal(top_view_opened(v), "t/n/p");
	type(v, "\t");
	draw(v, 40, 12);
	assert_null(top_view_opened(v));
	assert_drawn("> gpu-broken");
	top_view_free(v);
}

static void the_queue_has_place_and_expected_start(void **state)
{
	struct top_view *v = fleet();

	(void)state;
	top_view_queue(v, "team-a",
		       json_pack("[o, o]", pod("team-a/x/later", 2, NULL),
				 pod("team-a/x/never", 0, NULL)));
	top_view_queue(v, "team-b",
		       json_pack("[o, o]", pod("team-b/x/first", 1, NULL),
				 pod("team-b/x/booting", 0, "h100-x")));
	draw(v, 120, 40);
	assert_order("- team-b/x/booting", "1 team-b/x/first");
	assert_order("1 team-b/x/first", "2 team-a/x/later");
	assert_order("2 team-a/x/later", "- team-a/x/never");
	assert_drawn("10m 08:20 to 08:31 UTC  NoCapacity: all taken?[2J");
	/* On a small screen the queue has a panel of its own. */
	draw(v, 40, 12);
	assert_undrawn("team-b/x/first");
	assert_drawn("queue (4)");
	type(v, "\t\tj\n");
	draw(v, 40, 12);
	assert_drawn("Pod team-b/x/first");
	assert_true(top_view_key(v, TOP_ESCAPE));
	draw(v, 40, 12);
	assert_drawn(">    1 team-b/x/first   unknown");
	assert_drawn("team-b/x/booting 08:20");
	/* A tenant without a pod leaves the queue. */
	top_view_queue(v, "team-a", NULL);
	draw(v, 40, 12);
	assert_undrawn("team-a");
	top_view_free(v);
}

static void progress_has_rate_and_time_left(void **state)
{
	struct top_view *v = top_view_new();
	json_t *m = machine("gpu-1", "wiping", "2027-01-15T07:00:00Z", "");

	(void)state;
	json_object_set_new(m, "progress",
			    json_pack("{s:s, s:I, s:I, s:I}", "phase", "overwrite", "doneBytes",
				      INT64_C(1000000000), "totalBytes", INT64_C(7000000000),
				      "bytesPerSecond", INT64_C(50000000)));
	top_view_machine(v, "gpu-1", m);
	top_view_now(v, NOW);
	draw(v, 120, 20);
	assert_drawn("overwrite [#         ] 14 % 50 MB/s 2m left");
	/* The agent's expectedEnd takes precedence over the rate. */
	json_object_set_new(json_object_get(m, "progress"), "expectedEnd",
			    json_string("2027-01-15T08:45:00Z"));
	draw(v, 120, 20);
	assert_drawn("14 % 50 MB/s 45m left");
	draw(v, 40, 12);
	assert_drawn("wiping      14 % 45m l");
	top_view_free(v);
}

static void racks_are_blocks(void **state)
{
	struct top_view *v = top_view_new();
	json_t *m;
	char name[32];

	(void)state;
	for (int i = 0; i < 70; i++) {
		str_format(name, sizeof(name), "gpu-%02d", i);
		m = machine(name,
			    i == 5   ? "quarantined"
			    : i == 6 ? "wiping"
			    : i % 2  ? "serving"
				     : "free",
			    "2027-01-15T07:00:00Z", "");
		json_object_set_new(m, "rack", json_string(i < 8 ? "r1" : i < 40 ? "r2" : "r3"));
		top_view_machine(v, name, m);
	}
	draw(v, 80, 24);
	assert_drawn(" 3 RACKS   ! operator  x fails  ~ changes  # serves  . rests");
	assert_drawn(" r1 !~###...");
	assert_drawn(" r2 ################........+8");
	/* Enter on a rack shows its machines. */
	type(v, "\tjj\n");
	draw(v, 80, 24);
	assert_drawn("filter: rack=r3 (30 of 70)");
	assert_undrawn("gpu-39");
	assert_true(top_view_key(v, TOP_ESCAPE));
	type(v, "/state=quarantined\n");
	draw(v, 80, 24);
	assert_drawn("(1 of 70)");
	top_view_free(v);
}

static void an_action_is_for_the_machine_that_was_asked_about(void **state)
{
	struct top_view *v = fleet();
	struct top_action a;

	(void)state;
	type(v, "r");
	draw(v, 80, 24);
	assert_drawn("retry gpu-broken? y: yes; any other key: no");
	assert_int_equal(top_view_action(v).verb, TOP_NOTHING);
	/* The machine is deleted before the user answers the question. */
	top_view_machine(v, "gpu-broken", NULL);
	draw(v, 80, 24);
	assert_drawn("> gpu-wipes");
	type(v, "y");
	assert_true(top_view_waits(v));
	a = top_view_action(v);
	assert_int_equal(a.verb, TOP_RETRY);
	assert_string_equal(a.machine, "gpu-broken");
	assert_false(top_view_waits(v));
	/* Any key other than y means no. Esc cancels the input of a reason. */
	type(v, "l\n");
	assert_false(top_view_waits(v));
	type(v, "Dnew fan");
	assert_true(top_view_key(v, TOP_ESCAPE));
	assert_false(top_view_waits(v));
	type(v, "X\nold\ny"); /* An empty reason is not accepted. */
	a = top_view_action(v);
	assert_int_equal(a.verb, TOP_RETIRE);
	assert_string_equal(a.machine, "gpu-wipes");
	assert_string_equal(a.reason, "old");
	/* A question that is longer than a line is wrapped and shown in full. */
	type(v, "Qa reason with more words than fit in one line of it");
	draw(v, 40, 12);
	assert_drawn("quarantine gpu-wipes, reason: a reason\nwith more words than fit in one "
		     "line of\nit_");
	assert_true(top_view_key(v, TOP_ESCAPE));
	/* No action is asked for while the racks are shown. */
	type(v, "\tr");
	draw(v, 80, 24);
	assert_undrawn("retry");
	top_view_free(v);
}

static void long_texts_are_wrapped_and_scroll(void **state)
{
	struct top_view *v = fleet();
	char text[4096] = "";

	(void)state;
	for (int i = 0; i < 30; i++)
		str_format(text + strlen(text), sizeof(text) - strlen(text),
			   "line %d has words that a small screen wraps\n", i);
	top_view_said(v, text);
	draw(v, 40, 12);
	assert_drawn("line 0 has words that a small screen\nwraps\nline 1 ");
	assert_undrawn("line 29");
	assert_true(top_view_key(v, TOP_END));
	draw(v, 40, 12);
	assert_drawn("line 29 has words");
	assert_true(top_view_key(v, TOP_HOME));
	draw(v, 40, 12);
	assert_drawn("line 0 has");
	type(v, "\n");
	draw(v, 40, 12);
	assert_drawn("gpu-broken");
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
		cmocka_unit_test(an_opened_row_shows_what_belongs_to_it),
		cmocka_unit_test(no_line_is_wider_and_no_screen_longer),
		cmocka_unit_test(texts_of_others_move_no_cursor),
		cmocka_unit_test(a_key_that_leads_to_another_panel_closes_the_row),
		cmocka_unit_test(the_queue_has_place_and_expected_start),
		cmocka_unit_test(progress_has_rate_and_time_left),
		cmocka_unit_test(racks_are_blocks),
		cmocka_unit_test(an_action_is_for_the_machine_that_was_asked_about),
		cmocka_unit_test(long_texts_are_wrapped_and_scroll),
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
