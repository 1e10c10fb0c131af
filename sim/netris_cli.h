#ifndef SIM_NETRIS_CLI_H
#define SIM_NETRIS_CLI_H

/* netris_cli: `drover sim netris`: a simulated Netris controller by itself;
 * docs/providers/netris.md is for its users. argv[0] is its name; gives the exit status. */
int sim_netris_cli(int argc, char **argv);

#endif
