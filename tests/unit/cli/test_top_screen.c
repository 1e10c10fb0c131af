/* Tests the screen of `drover top` on a pseudo terminal: sizes, terminal types, locales, keys,
 * resizing, stopping, and the number of bytes of an update. */
#include "tests/unit/testing.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/str.h"
#include "cli/top_screen.h"
#include "tests/unit/cli/pty.h"

#define NOW INT64_C(1800000000000) /* 2027-01-15T08:00:00Z */

static struct pty p;
static volatile sig_atomic_t resized;

static void on_resize(int signum)
{
	(void)signum;
	resized = 1;
}

static void put_machine(struct top_view *v, const char *name, const char *state, int rack)
{
	char r[32];

	str_format(r, sizeof(r), "r%d", rack);
	top_view_machine(v, name,
			 json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "kind", "Machine", "name",
				   name, "state", state, "since", "2027-01-15T07:00:00Z", "tenant",
				   "team-a\033[2Jx", "rack", r));
}

/* Runs on the terminal: shows the screen of a view with n machines (*arg). Key u updates a machine;
 * key e shows the action that the view asked for. */
static int run(void *arg)
{
	int n = *(int *)arg;
	struct sigaction resize = {.sa_handler = on_resize};
	struct top_view *v = top_view_new();
	struct top_action a;
	struct err e;
	bool go_on = true;
	char name[32];

	for (int i = 0; i < n; i++) {
		str_format(name, sizeof(name), "gpu-%05d", i);
		put_machine(v, name, i == 3 ? "quarantined" : i % 4 ? "serving" : "free", i / 16);
	}
	top_view_now(v, NOW);
	if (top_screen_open(stdin, stdout, &e) < 0) {
		printf("%s\n", e.text);
		return 3;
	}
	sigaction(SIGWINCH, &resize, NULL);
	while (go_on) {
		struct pollfd f = {.fd = STDIN_FILENO, .events = POLLIN};

		top_screen_draw(v);
		if (poll(&f, 1, 20000) > 0)
			go_on = top_screen_keys(v);
		if (resized)
			top_screen_resized();
		resized = 0;
		a = top_view_action(v);
		if (a.verb == TOP_RETRY)
			put_machine(v, "gpu-00001", "draining", 0);
		else if (a.verb != TOP_NOTHING)
			top_view_said(v, a.reason);
	}
	top_screen_close();
	top_view_free(v);
	return 0;
}

static void begin(size_t width, size_t height, const char *type, const char *locale, int n)
{
	pty_start(&p, width, height, type, locale, run, &n);
	pty_await(&p, "gpu-00003");
	pty_await(&p, "q: quit");
}

static void each_size_has_what_fits(void **state)
{
	(void)state;
	unsetenv("NO_COLOR");
	begin(40, 12, "vt100", "C", 20);
	assert_null(strstr(pty_screen(&p), "TENANT"));
	assert_null(strstr(pty_screen(&p), "RACKS "));
	pty_type(&p, "\t");
	pty_await(&p, "2 RACKS");
	pty_await(&p, ">r0 !###");
	pty_await(&p, "####....");
	pty_type(&p, "q");
	assert_int_equal(pty_end(&p), 0);

	begin(80, 24, "vt100", "C", 20);
	assert_non_null(strstr(pty_screen(&p), "2 RACKS"));
	assert_non_null(strstr(pty_screen(&p), "TENANT"));
	assert_non_null(strstr(pty_screen(&p), "team-a?[2J"));
	assert_null(strstr(pty_screen(&p), "RACK DOING"));
	pty_type(&p, "q");
	assert_int_equal(pty_end(&p), 0);

	begin(200, 60, "xterm-256color", "C.UTF-8", 20);
	assert_non_null(strstr(pty_screen(&p), "RACK DOING"));
	assert_non_null(strstr(pty_screen(&p), "!\u25a0\u25a0\u25a0"));
	assert_non_null(strstr(pty_screen(&p), "gpu-00019"));
	assert_true(p.colours > 0);
	pty_type(&p, "q");
	assert_int_equal(pty_end(&p), 0);
}

static void no_colour_means_none(void **state)
{
	(void)state;
	setenv("NO_COLOR", "1", 1);
	begin(80, 24, "xterm-256color", "C", 20);
	assert_int_equal(p.colours, 0);
	assert_null(strstr(pty_screen(&p), "\u25a0"));
	pty_type(&p, "q");
	assert_int_equal(pty_end(&p), 0);
	unsetenv("NO_COLOR");
}

static void a_terminal_without_a_cursor_is_refused(void **state)
{
	int n = 1;

	(void)state;
	pty_start(&p, 80, 24, "dumb", "C", run, &n);
	pty_await(&p, "terminal type 'dumb' is unknown or cannot move the cursor");
	assert_int_equal(pty_end(&p), 3);
	pty_start(&p, 80, 24, "no-such-type", "C", run, &n);
	pty_await(&p, "terminal type 'no-such-type' is unknown");
	assert_int_equal(pty_end(&p), 3);
}

static void an_update_sends_few_bytes(void **state)
{
	size_t before;

	(void)state;
	begin(80, 24, "vt100", "C", 20);
	pty_type(&p, "/gpu-00001\n");
	pty_await(&p, "(1 of 20)");
	pty_type(&p, "r");
	pty_await(&p, "retry gpu-00001? y: yes");
	before = p.bytes;
	pty_type(&p, "y");
	pty_await(&p, "draining");
	pty_await(&p, "(1 of 20)");
	assert_in_range(p.bytes - before, 1, 300);
	pty_type(&p, "q");
	assert_int_equal(pty_end(&p), 0);
}

static void a_question_comes_first(void **state)
{
	(void)state;
	begin(80, 24, "xterm", "C", 20);
	pty_type(&p, "Q");
	pty_await(&p, "quarantine gpu-00003, reason: _");
	pty_type(&p, "\nRMA 88x\1771\n");
	pty_await(&p, "quarantine gpu-00003? y: yes; any other key: no");
	pty_type(&p, "n");
	pty_await(&p, "?: help");
	pty_type(&p, "QRMA 881\ny");
	pty_await(&p, "Esc: back");
	assert_non_null(strstr(pty_screen(&p), "RMA 881"));
	pty_type(&p, "\033");
	pty_await(&p, "?: help");
	pty_type(&p, "?");
	pty_await(&p, "draw again");
	pty_type(&p, "\033");
	pty_await(&p, "MACHINE");
	pty_type(&p, "\033OB\n"); /* down */
	pty_await(&p, "Machine gpu-00001");
	pty_type(&p, "q");
	assert_int_equal(pty_end(&p), 0);
}

static void ten_thousand_machines_scroll(void **state)
{
	(void)state;
	begin(80, 24, "xterm", "C", 10000);
	assert_non_null(strstr(pty_screen(&p), "10000 machines"));
	assert_non_null(strstr(pty_screen(&p), "625 RACKS"));
	pty_type(&p, "s\033OF");
	pty_await(&p, "> gpu-09999");
	for (int i = 0; i < 50; i++)
		pty_type(&p, "\033[5~");
	pty_await(&p, "> gpu-09499");
	pty_type(&p, "\t");
	pty_await(&p, ">r0");
	pty_type(&p, "\033OF\n");
	pty_await(&p, "filter: rack=r99 (16 of 10000)");
	pty_type(&p, "q");
	assert_int_equal(pty_end(&p), 0);
}

static void it_follows_the_size_and_stops_and_ends(void **state)
{
	(void)state;
	begin(80, 24, "xterm", "C", 60);
	pty_resize(&p, 40, 12);
	pty_await(&p, "60 machines");
	pty_without(&p, "TENANT");
	pty_await(&p, "q: quit");
	pty_resize(&p, 120, 40);
	pty_await(&p, "RACK DOING");
	pty_type(&p, "\032"); /* Ctrl-Z */
	pty_await(&p, "[stopped]");
	pty_without(&p, "[stopped]");
	pty_await(&p, "RACK DOING");
	pty_type(&p, "\003"); /* Ctrl-C */
	assert_int_equal(pty_end(&p), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_size_has_what_fits),
		cmocka_unit_test(no_colour_means_none),
		cmocka_unit_test(a_terminal_without_a_cursor_is_refused),
		cmocka_unit_test(an_update_sends_few_bytes),
		cmocka_unit_test(a_question_comes_first),
		cmocka_unit_test(ten_thousand_machines_scroll),
		cmocka_unit_test(it_follows_the_size_and_stops_and_ends),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
