#ifndef SIM_NETRIS_CLI_H
#define SIM_NETRIS_CLI_H

/* netris_cli: the command `drover sim netris`, which runs a simulated Netris controller as a
 * process; docs/providers/netris.md describes its use. argv[0] is the command's name. Returns the
 * exit status. */
int sim_netris_cli(int argc, char **argv);

#endif
