/*
 * up_sim: `drover sim`, whose words are in sim/cli.h.
 * Tests: tests/unit/controller/test_main.c
 */
#include "controller/cli.h"
#include "sim/cli.h"

int cli_sim(int argc, char **argv)
{
	return sim_cli(argc, argv);
}
