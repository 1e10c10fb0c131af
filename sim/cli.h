#ifndef SIM_CLI_H
#define SIM_CLI_H

/*
 * cli: `drover sim`: a rack by itself, and the driver of its switch.
 *
 * argv[0] is "drover sim", argv[1] what of it: rack, bcm, port-move, fault, netris, ec2. Exit
 * status: 0 done, 1 failed (said why on standard error), 2 wrong usage.
 */
int sim_cli(int argc, char **argv);

#endif
