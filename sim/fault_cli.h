#ifndef SIM_FAULT_CLI_H
#define SIM_FAULT_CLI_H

/*
 * fault_cli: `drover sim fault`: adds, shows and removes faults of a running simulated rack.
 *
 * argv[0] is "drover sim fault". Exit status as for sim_cli().
 * Tests: tests/unit/sim/test_cli.c
 */
int sim_fault_cli(int argc, char **argv);

#endif
