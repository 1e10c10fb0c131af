#ifndef SIM_CLI_H
#define SIM_CLI_H

/*
 * cli: the command `drover sim`, which runs simulators as separate processes, and the driver of the
 * rack's switch.
 *
 * argv[0] is "drover sim", argv[1] the subcommand: rack, bcm, port-move, fault, netris or ec2. Exit
 * status: 0 success, 1 failure (message on standard error), 2 wrong usage.
 */
int sim_cli(int argc, char **argv);

#endif
