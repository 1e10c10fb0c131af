/*
 * top: `drover top`. On a terminal it shows the fleet, updates it every two seconds and reads keys.
 * On a pipe, or as JSON, it prints the whole fleet once. cli/top_view.c draws the view.
 * Tests: tests/unit/cli/test_top.c
 */
#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "base/args.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/str.h"
#include "controller/explain/answer.h"
#include "cli/cli.h"
#include "controller/explain/explain.h"
#include "cli/screen.h"
#include "cli/top_view.h"

#define RACK "topology.drover.dev/rack"
#define AGAIN_MS 2000
#define ESCAPE_MS 50 /* longest time in ms between the bytes that a terminal sends for one key */

/* --- reading ---------------------------------------------------------------------------------- */

struct read {
	struct cli_client *c;
	json_t *machines, *claims;
};

static void on_machine(json_t *o, void *arg)
{
	struct read *r = arg;
	OWN(arena) a = arena_new();
	struct err e;
	void *object;
	json_t *answer;

	if (object_decode(&object_kinds[OBJECT_MACHINE], o, a, &object, &e) < 0) {
		answer = json_pack("{s:s, s:{s:s, s:s}}", "state", "known", "lastError", "reason",
				   "Unreadable", "message", e.text);
		answer_put(answer, "name", json_str_at(o, "metadata", "name"));
	} else {
		answer = explain_object(OBJECT_MACHINE, object, loop_wall(r->c->loop));
		answer_put(answer, "rack",
			   labels_get(&((struct machine *)object)->meta.labels, RACK));
	}
	json_array_append_new(r->machines, answer);
}

/* Adds a claim that is in progress: it is not deleted, ended, failed or serving, and its Node is
 * not Ready yet. */
static void on_claim(json_t *o, void *arg)
{
	struct read *r = arg;
	OWN(arena) a = arena_new();
	const struct node_claim *n;
	struct err e;
	void *object;
	json_t *answer;

	if (object_decode(&object_kinds[OBJECT_NODE_CLAIM], o, a, &object, &e) < 0)
		return;
	n = object;
	if (condition_is_true(&n->status.conditions, "Ready") || n->meta.deletion_timestamp ||
	    str_eq(n->status.phase, "Failed") || str_eq(n->status.phase, "Ended") ||
	    str_eq(n->status.phase, "serving"))
		return;
	answer = explain_object(OBJECT_NODE_CLAIM, n, loop_wall(r->c->loop));
	answer_time(answer, "etaP50", n->status.eta.p50);
	answer_time(answer, "etaP90", n->status.eta.p90);
	json_array_append_new(r->claims, answer);
}

/* Reads all machines and claims into the view v. Returns 0, or -1 with *e and *kind, the kind that
 * could not be read. */
static int read_all(struct cli_client *c, struct top_view *v, enum object_kind_id *kind,
		    struct err *e)
{
	struct read r = {.c = c, .machines = json_array(), .claims = json_array()};

	*kind = OBJECT_MACHINE;
	if (cli_list(c, OBJECT_MACHINE, on_machine, &r, e) == 0) {
		*kind = OBJECT_NODE_CLAIM;
		if (cli_list(c, OBJECT_NODE_CLAIM, on_claim, &r, e) == 0) {
			top_view_trouble(v, NULL);
			top_view_put(v, r.machines, r.claims, loop_wall(c->loop));
			return 0;
		}
	}
	json_decref(r.machines);
	json_decref(r.claims);
	return -1;
}

/* --- once ------------------------------------------------------------------------------------- */

static void print_json(struct cli_client *c, struct top_view *v)
{
	OWN_JSON all = top_view_json(v);

	json_dumpf(all, c->out, JSON_INDENT(2));
	fputc('\n', c->out);
}

int cli_do_top(struct cli_client *c)
{
	struct top_view *v = top_view_new();
	const struct top_screen whole = {0};
	enum object_kind_id kind;
	struct buf text;
	struct err e;
	int status = 0;

	if (read_all(c, v, &kind, &e) < 0) {
		status = cli_unread(c, kind, NULL, &e);
	} else if (c->json) {
		print_json(c, v);
	} else {
		buf_init(&text, 1 << 28);
		top_view_draw(v, &whole, &text);
		fwrite(text.data, 1, text.len, c->out);
		buf_done(&text);
	}
	top_view_free(v);
	return status;
}

/* --- on a terminal ---------------------------------------------------------------------------- */

/* Number of the signal that ends the program; 0: none yet. keys() checks it, so that the terminal
 * is restored before the program ends. */
static volatile sig_atomic_t ended;

static void on_signal(int signum)
{
	ended = signum;
}

static void catch_signals(void (*handler)(int))
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction act = {.sa_handler = handler};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &act, NULL);
	act.sa_handler = handler == SIG_DFL ? SIG_DFL : SIG_IGN;
	/* ignore Ctrl-Z, because a stopped process would leave the terminal in raw mode */
	sigaction(SIGTSTP, &act, NULL);
}

/* Waits at most ms for the next byte from the terminal and returns it; -1: none arrived. */
static int byte_within(int ms)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned char c;

	if (poll(&p, 1, ms) <= 0)
		return -1;
	if (read(STDIN_FILENO, &c, 1) != 1) {
		ended = SIGHUP;
		return -1;
	}
	return c;
}

/* Returns the key of which ESC was the first byte: ESC alone, or an arrow or page key (ECMA-48, as
 * xterm sends them). 0: an unknown key. */
static int escape_key(void)
{
	int c = byte_within(ESCAPE_MS);

	if (c != '[' && c != 'O')
		return TOP_ESCAPE;
	switch (byte_within(ESCAPE_MS)) {
	case 'A':
		return TOP_UP;
	case 'B':
		return TOP_DOWN;
	case '5':
		(void)byte_within(ESCAPE_MS);
		return TOP_PAGE_UP;
	case '6':
		(void)byte_within(ESCAPE_MS);
		return TOP_PAGE_DOWN;
	default:
		return 0;
	}
}

static void show(struct cli_client *c, struct top_view *v)
{
	struct screen size = {0};
	struct top_screen s = {.colour = !getenv("NO_COLOR")};
	struct buf text;

	screen_size(&size);
	s.width = size.width;
	s.height = size.height;
	buf_init(&text, 1 << 22);
	buf_puts(&text, "\033[H\033[2J");
	top_view_draw(v, &s, &text);
	fwrite(text.data, 1, text.len, c->out);
	fflush(c->out);
	buf_done(&text);
}

/* Handles keys until the next update is due. False: the user quits, or a signal arrived. */
static bool keys(struct cli_client *c, struct top_view *v)
{
	int64_t until = loop_clock(c->loop) + AGAIN_MS, rest;
	int key;

	while (!ended && (rest = until - loop_clock(c->loop)) > 0) {
		key = byte_within((int)rest);
		if (key < 0)
			continue;
		if (!top_view_key(v, key == 0x1b ? escape_key() : key))
			return false;
		show(c, v);
	}
	return !ended;
}

static void watch(struct cli_client *c, struct top_view *v)
{
	enum object_kind_id kind;
	struct err e;

	do {
		if (read_all(c, v, &kind, &e) < 0)
			top_view_trouble(v, e.text);
		show(c, v);
	} while (keys(c, v));
}

/* Runs the live view on the alternate screen, with unbuffered input and without echo. Restores the
 * terminal at the end. Returns the exit status. */
static int on_terminal(struct cli_client *c)
{
	struct top_view *v = top_view_new();
	struct termios was, raw;
	enum object_kind_id kind;
	struct err e;

	if (read_all(c, v, &kind, &e) < 0) {
		top_view_free(v);
		return cli_unread(c, kind, NULL, &e);
	}
	if (tcgetattr(STDIN_FILENO, &was) < 0) {
		top_view_free(v);
		return cli_failed(c, "terminal: %s; `drover top | cat` works without one",
				  strerror(errno));
	}
	raw = was;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	catch_signals(on_signal);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs("\033[?1049h\033[?25l", c->out);
	watch(c, v);
	fputs("\033[?25h\033[?1049l", c->out);
	fflush(c->out);
	tcsetattr(STDIN_FILENO, TCSANOW, &was);
	catch_signals(SIG_DFL);
	top_view_free(v);
	return ended && ended != SIGINT ? 128 + ended : 0;
}

/* --- the command ------------------------------------------------------------------------------ */

static const struct argp_option options[] = {CLI_OPTION_ROWS};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	return cli_option(key, arg, st, st->input);
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Show the fleet: machines by state, what each machine does and waits for, claims "
	       "in progress.\v"
	       "On a terminal the view is updated every two seconds: up and down select a "
	       "machine, Enter opens it, s sorts, / filters, ? lists the keys, q quits. On a pipe "
	       "it is printed once.\n\nExamples:\n  drover top\n  drover top | head -3\n"
	       "  drover top -o json | jq '.machines[].state'\n",
};

int cli_top(int argc, char **argv)
{
	struct cli_options o = {0};
	struct cli_client c;
	int status;

	args_parse(&argp, argc, argv, &o);
	if (cli_open(&c, argv[0], &o) < 0)
		return 1;
	status = c.tty && !c.json && isatty(STDIN_FILENO) ? on_terminal(&c) : cli_do_top(&c);
	cli_close(&c);
	return status;
}
