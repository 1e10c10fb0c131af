#ifndef BASE_ARGS_H
#define BASE_ARGS_H

#include <argp.h>

/*
 * args: calls argp_parse() with the conventions of all drover programs: -h, --help and -? show the
 * help and exit with status 0; wrong usage exits with status 2. argv[0] is the program's name in
 * help and errors.
 * Tests: tests/unit/cli/test_main.c
 */
void args_parse(const struct argp *p, int argc, char **argv, void *input);

#endif
