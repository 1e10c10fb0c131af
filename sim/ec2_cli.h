#ifndef SIM_EC2_CLI_H
#define SIM_EC2_CLI_H

/* ec2_cli: `drover sim ec2`: the simulated EC2 as a process (docs/sim.md). */
int sim_ec2_cli(int argc, char **argv);

#endif
