#ifndef BASE_ARGS_H
#define BASE_ARGS_H

#include <argp.h>

/*
 * args: argp_parse() as every program of drover wants it: -h and --help (and -?) show the help and
 * exit with 0, wrong usage exits with 2. argv[0] is the name in help and errors.
 * Tests: tests/unit/cli/test_main.c
 */
void args_parse(const struct argp *p, int argc, char **argv, void *input);

#endif
