#ifndef SIM_FAULT_CLI_H
#define SIM_FAULT_CLI_H

/*
 * fault_cli: `drover sim fault`: something goes wrong in a simulated rack that is running, or no
 * more.
 *
 * argv[0] is "drover sim fault". Exit status as sim/cli.h.
 * Tests: tests/unit/sim/test_cli.c
 */
int sim_fault_cli(int argc, char **argv);

#endif
