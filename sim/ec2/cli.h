#ifndef SIM_EC2_CLI_H
#define SIM_EC2_CLI_H

/* ec2_cli: the command `drover sim ec2`, which runs the simulated EC2 as a process (docs/sim.md).
 * Returns the exit status. */
int sim_ec2_cli(int argc, char **argv);

#endif
