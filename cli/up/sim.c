/*
 * sim: `drover sim`; sim/cli.h describes its subcommands.
 * Tests: tests/unit/cli/test_main.c
 */
#include "cli/cli.h"
#include "sim/cli.h"

int cli_sim(int argc, char **argv)
{
	return sim_cli(argc, argv);
}
