#ifndef CLI_UP_PORTS_H
#define CLI_UP_PORTS_H

#include <stdint.h>

/*
 * ports: the TCP ports of `drover up` on 127.0.0.1, as offsets from the first one, so that a
 * kubeconfig stays valid after a restart.
 */
#define UP_TENANTS 2

enum up_port {
	UP_PORT_HOST,
	/* First of UP_TENANTS ports, one for each tenant's API server */
	UP_PORT_TENANT,
	UP_PORT_AGENT = UP_PORT_TENANT + UP_TENANTS,
	UP_PORT_MEDIA,
	UP_PORT_OPS,
	UP_PORT_IMAGES,
	/* Port of the rack's listener for operators and for the program that moves switch ports */
	UP_PORT_RACK,
	/* Port of the simulated BMCs, each of which has an address of its own */
	UP_PORT_BMC,
	/* Port of the view (controller/view/view.h), which the command line reads */
	UP_PORT_VIEW,
	UP_PORTS,
};

/* Returns the URL of a port on loopback, such as "https://127.0.0.1:16442", malloc'd. first: port
 * with offset 0. */
char *up_url(int64_t first, const char *scheme, enum up_port port);

#endif
