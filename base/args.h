#ifndef BASE_ARGS_H
#define BASE_ARGS_H

#include <argp.h>

/*
 * args: calls argp_parse() with the conventions of all drover programs: -h, --help and -? show the
 * help and exit with status 0; wrong usage exits with status 2. argv[0] is the program's name in
 * help and errors. If it begins with ARGS_PLUGIN, the examples in the help show that name too.
 * Tests: tests/unit/cli/test_main.c
 */
#define ARGS_PLUGIN "kubectl drover"

void args_parse(const struct argp *p, int argc, char **argv, void *input);

/* Returns text with each command line of drover in it written as one of ARGS_PLUGIN; the caller
 * frees it. A command line begins with "drover " at the start of text, after two blanks, or after
 * "`", "| ", "; " or "<(". Other mentions of drover stay. */
char *args_as_plugin(const char *text);

#endif
