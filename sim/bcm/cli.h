#ifndef SIM_BCM_CLI_H
#define SIM_BCM_CLI_H

/* cli: the command `drover sim bcm`, which runs a simulated head node over a rack as a process
 * (docs/sim.md). argv[0] is the command's name. Returns the exit status. */
int sim_bcm_cli(int argc, char **argv);

#endif
