#include "base/args.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

enum {
	USAGE = 0x7001,
	/* Maximum size of a help text, in bytes. */
	HELP_MAX = 1 << 20,
};

char *args_as_plugin(const char *text)
{
	static const char *const before[] = {"  ", "`", "| ", "; ", "<("};
	static const char command[] = "drover ";
	struct buf b;

	buf_init(&b, HELP_MAX);
	buf_puts(&b, "");
	for (const char *at = text; *at; at++) {
		bool begins = at == text;

		for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
			size_t n = strlen(before[i]);

			begins |= (size_t)(at - text) >= n && strncmp(at - n, before[i], n) == 0;
		}
		if (begins && str_starts(at, command))
			buf_puts(&b, "kubectl ");
		buf_put(&b, at, 1);
	}
	return buf_steal(&b);
}

/* Rewrites a text of the help. argp frees the result. */
static char *filter(int key, const char *text, void *input)
{
	(void)input;
	if (!text || (key != ARGP_KEY_HELP_POST_DOC && key != ARGP_KEY_HELP_PRE_DOC))
		return (char *)text;
	return args_as_plugin(text);
}

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
	struct argp own = *p;
	const struct argp_child children[] = {{&own, 0, NULL, 0}, {0}};
	const struct argp all = {.options = options, .parser = parse, .children = children};

	if (argc > 0 && str_starts(argv[0], ARGS_PLUGIN))
		own.help_filter = filter;
	argp_err_exit_status = 2;
	argp_parse(&all, argc, argv, ARGP_NO_HELP, NULL, input);
}
