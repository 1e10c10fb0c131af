/*
 * status: `drover status`: the fleet on one screen, once. cli/status_read.c collects the numbers,
 * cli/status_print.c draws them.
 * Tests: tests/unit/cli/test_status.c
 */
#include <argp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"
#include "base/args.h"
#include "base/loop/loop.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "cli/status_print.h"
#include "cli/status_read.h"

static void print_json(struct cli_client *c, const json_t *status)
{
	json_dumpf(status, c->out, JSON_INDENT(2));
	fputc('\n', c->out);
}

/* Prints that the view was not read. Returns the number of lines that this takes on the screen. */
static size_t print_problem(const struct cli_client *c, const char *problem, size_t width)
{
	char line[640];

	if (!problem)
		return 0;
	str_format(line, sizeof(line),
		   "drover's leader does not answer (%.400s), so the fleet is read from "
		   "drover's objects, which list at most 64 waiting pods of a tenant",
		   problem);
	str_printable(line);
	(void)cli_failed(c, "%s", line);
	return width ? (strlen(c->verb) + 2 + strlen(line)) / width + 1 : 0;
}

int cli_do_status(struct cli_client *c, const struct view_where *w)
{
	struct screen_text t = {.colour = cli_colours(c)};
	struct screen s = {.pen = screen_text_pen(&t), .limit = SIZE_MAX};
	OWN(view_client) v = view_client_new(c, w);
	OWN_JSON status = status_read(c, v);
	struct buf text;
	size_t above;

	if (!status)
		return 1;
	if (c->json) {
		print_json(c, status);
		return 0;
	}
	if (c->tty)
		screen_size(&s);
	above = print_problem(c, json_str_at(status, "problem"), s.width);
	/* The last line of the terminal stays free for the prompt. */
	if (s.height)
		s.limit = s.height > above + 2 ? s.height - above - 1 : 1;
	buf_init(&text, 1 << 28);
	t.out = &text;
	status_print(status, loop_wall(c->loop), &s);
	screen_text_end(&t);
	fwrite(text.data, 1, text.len, c->out);
	buf_done(&text);
	return 0;
}

/* --- the command ------------------------------------------------------------------------------ */

struct status_options {
	struct cli_options o;
	struct view_where w;
};

static const struct argp_option options[] = {VIEW_CLIENT_OPTIONS, CLI_OPTION_ROWS};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct status_options *x = st->input;
	error_t rc = view_client_option(key, arg, &x->w);

	if (key == ARGP_KEY_ARG)
		argp_error(st, "unexpected argument: %s; `drover why NAME` shows one object", arg);
	return rc == ARGP_ERR_UNKNOWN ? cli_option(key, arg, st, &x->o) : rc;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Show the fleet on one screen: machines by state and rack, waiting pods, tenants "
	       "with quota and use, what is stopped, and what needs attention.\v"
	       "Machines and pods come from the leader (docs/view.md). If the leader does not "
	       "answer, they come from objects, which list at most 64 waiting pods of a tenant; a "
	       "line on standard error says so.\n\nRacks: MOVING machines are being prepared, "
	       "drained or wiped, OUT are quarantined, OTHER are not managed, gone or unreadable. "
	       "On a pipe all rows are printed.\n\n"
	       "Examples:\n  drover status\n  drover status | less\n"
	       "  drover status -o json | jq .needs.Person\n"
	       "  drover status --view https://10.1.0.5:8444 --view-ca ca.crt\n",
};

int cli_status(int argc, char **argv)
{
	struct status_options x = {.w.ns = "drover-system"};
	struct cli_client c;
	int status;

	args_parse(&argp, argc, argv, &x);
	if (cli_open(&c, argv[0], &x.o) < 0)
		return 1;
	status = cli_do_status(&c, &x.w);
	cli_close(&c);
	return status;
}
