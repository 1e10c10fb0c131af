#ifndef SIM_RACK_CLI_H
#define SIM_RACK_CLI_H

#include "sim/common/run.h"
#include "sim/rack/rack.h"

/*
 * cli: the commands `drover sim rack` and `drover sim port-move` (the driver of the rack's switch).
 * argv[0] is the command's name. Return the exit status.
 * Tests: tests/unit/sim/test_cli.c
 */
int sim_rack_cli(int argc, char **argv);
int sim_port_move_cli(int argc, char **argv);

/* --- for commands that simulate more than a rack ---------------------------------------------- */

#define SIM_RACK_SPOKEN 32
struct sim_rack_options {
	/* racks: 0 means one for each SIM_RACK_MACHINES machines. */
	int64_t machines, racks, drives, drive_gib, speed;
	const char *listen, *data, *faults, *user;
	bool open, plain;
	struct {
		/* Name or file of a dialect, or directory of a mockup. */
		const char *name;
		bool tree;
	} spoken[SIM_RACK_SPOKEN];
	size_t nspoken;
};
/* What the command has beside the rack. Each function may be NULL. */
struct sim_rack_more {
	/* Name of the command, for messages. */
	const char *verb;
	/* Returns the URL of the head node that manages the rack; valid until end(). */
	const char *(*head_url)(const struct sim_rack_options *o, void *arg);
	/* Begins before the rack listens; its password and certificates are those in *r. */
	int (*begin)(struct sim_run *r, const struct sim_rack_options *o, struct sim_rack *rack,
		     void *arg, struct err *e);
	/* Prints how to use it, after the text about the rack. */
	void (*tell)(void *arg);
	/* Ends before the rack does; called also if begin() was not called or failed. */
	void (*end)(void *arg);
};
/* Keys of SIM_RACK_OPTIONS that are no letters. */
enum {
	RACK_PUBLIC = 256,
	RACK_USER,
	RACK_DRIVES,
	RACK_DRIVE_GIB,
	RACK_PACE,
	RACK_PLAIN,
	RACK_DIALECT,
	RACK_TREE,
	RACK_RACKS,
	RACK_KEYS_END
};
#define SIM_RACK_OPTIONS                                                                           \
	{"machines", 'm', "N", 0, "Number of machines (100)", 0},                                  \
		{"racks", RACK_RACKS, "N", 0, "Number of racks (one for each 16 machines)", 0},    \
		{"listen", 'l', "ADDRESS:PORT", 0, "Listener of all BMCs (0.0.0.0:8443)", 0},      \
		{"data",                                                                           \
		 'd',                                                                              \
		 "DIR",                                                                            \
		 0,                                                                                \
		 "Directory for state, certificates and password (drover-rack)",                   \
		 0},                                                                               \
		{"faults", 'f', "FILE", 0, "Faults (docs/sim.md)", 0},                             \
		{"user", RACK_USER, "NAME", 0, "Account of the BMCs (admin)", 0},                  \
		{"drives", RACK_DRIVES, "N", 0, "Number of drives in each machine (2)", 0},        \
		{"drive-gib", RACK_DRIVE_GIB, "N", 0, "Size of each drive, sparse (16)", 0},       \
		{"speed", RACK_PACE, "N", 0, "Factor by which boots and wipes are faster (1)", 0}, \
		{"dialect",                                                                        \
		 RACK_DIALECT,                                                                     \
		 "NAME",                                                                           \
		 0,                                                                                \
		 "Make of the BMCs, or a dialect file; may be repeated: machines use them in "     \
		 "turn (`list` names all)",                                                        \
		 0},                                                                               \
		{"tree",                                                                           \
		 RACK_TREE,                                                                        \
		 "DIR",                                                                            \
		 0,                                                                                \
		 "BMCs with the resources of this Redfish mockup; may be repeated: machines "      \
		 "use them in turn",                                                               \
		 0},                                                                               \
		{"public", RACK_PUBLIC, NULL, 0, "Also answer clients on other computers", 0},     \
	{                                                                                          \
		"plain", RACK_PLAIN, NULL, 0, "HTTP without TLS", 0                                \
	}
/* argp parser of SIM_RACK_OPTIONS; the parser's input is a struct sim_rack_options. */
error_t sim_rack_parse(int key, char *arg, struct argp_state *st);
/* Runs the rack and `more` until a signal. arg: passed to the functions of *more. Returns the exit
 * status. */
int sim_rack_serve(struct sim_rack_options *o, const struct sim_rack_more *more, void *arg);

#endif
