#include "sim/cli.h"

#include <stdio.h>
#include "base/str.h"
#include "sim/bcm/cli.h"
#include "sim/ec2/cli.h"
#include "sim/netris/cli.h"
#include "sim/rack/cli.h"
#include "sim/rack/fault_cli.h"

int sim_cli(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} verbs[] = {{"rack", sim_rack_cli},	       {"bcm", sim_bcm_cli},
		     {"port-move", sim_port_move_cli}, {"fault", sim_fault_cli},
		     {"netris", sim_netris_cli},       {"ec2", sim_ec2_cli}};

	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		char title[32];

		if (!str_eq(argv[1], verbs[i].name))
			continue;
		str_format(title, sizeof(title), "drover sim %s", argv[1]);
		argv[1] = title;
		return verbs[i].run(argc - 1, argv + 1);
	}
	if (argc > 2 && str_eq(argv[1], "help")) {
		char *again[] = {argv[0], argv[2], (char[]){"--help"}, NULL};

		return sim_cli(3, again);
	}
	if (argc > 1 &&
	    (str_eq(argv[1], "--help") || str_eq(argv[1], "-h") || str_eq(argv[1], "help"))) {
		puts("drover sim rack         a rack of simulated servers with Redfish BMCs\n"
		     "drover sim bcm          a simulated rack that is managed by a BCM head node\n"
		     "drover sim port-move    the network driver of the switch of a simulated "
		     "rack\n"
		     "drover sim fault        add, show or remove faults of a running simulated "
		     "rack\n"
		     "drover sim netris       a simulated Netris controller with its switches\n"
		     "drover sim ec2          a simulated Amazon EC2 that accounts the cost of "
		     "instances");
		return 0;
	}
	fputs("drover sim: want rack, bcm, port-move, fault, netris or ec2; see `drover sim rack "
	      "--help`\n",
	      stderr);
	return 2;
}
