#include "base/args.h"

#include <stddef.h>
#include <stdio.h>

enum { USAGE = 0x7001 };

static error_t parse(int key, char *arg, struct argp_state *st)
{
	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		st->child_inputs[0] = st->input;
		return 0;
	case 'h':
	case '?':
		argp_state_help(st, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case USAGE:
		argp_state_help(st, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void args_parse(const struct argp *p, int argc, char **argv, void *input)
{
	static const struct argp_option options[] = {
		{"help", 'h', NULL, 0, "Give this help list", -1},
		{NULL, '?', NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
		{"usage", USAGE, NULL, 0, "Give a short usage message", 0},
		{0}};
	const struct argp_child children[] = {{p, 0, NULL, 0}, {0}};
	const struct argp all = {.options = options, .parser = parse, .children = children};

	argp_err_exit_status = 2;
	argp_parse(&all, argc, argv, ARGP_NO_HELP, NULL, input);
}
