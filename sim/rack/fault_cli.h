#ifndef SIM_RACK_FAULT_CLI_H
#define SIM_RACK_FAULT_CLI_H

/*
 * fault_cli: the command `drover sim fault`, which adds, shows and removes faults of a running
 * simulated rack.
 *
 * argv[0] is "drover sim fault". Returns the exit status: 0 success, 1 failure, 2 wrong usage.
 * Tests: tests/unit/sim/test_cli.c
 */
int sim_fault_cli(int argc, char **argv);

#endif
