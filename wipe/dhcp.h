#ifndef WIPE_DHCP_H
#define WIPE_DHCP_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * dhcp: a minimal DHCPv4 client (RFC 2131, 2132). It gets an address before the loop starts, and
 * again when the network is restarted (agent.h). The lease is never renewed otherwise: a boot of
 * the agent lasts for one operation, and the provisioning network should grant leases that last
 * longer.
 */
#define DHCP_SIZE 576
enum { DHCP_DISCOVER = 1, DHCP_OFFER = 2, DHCP_REQUEST = 3, DHCP_ACK = 5, DHCP_NAK = 6 };

/* Addresses in network byte order; 0: not provided. */
struct dhcp_lease {
	uint32_t address, mask, router, dns[2], server;
};

/* Builds a message of DHCP_SIZE bytes in out. lease: the accepted offer, for DHCP_REQUEST;
 * otherwise unused. */
void dhcp_build(uint8_t out[static DHCP_SIZE], int type, const uint8_t mac[static 6], uint32_t xid,
		const struct dhcp_lease *lease);
/* Returns the type of a reply to xid and mac and fills in *out. 0: the packet is not a DHCP reply,
 * or is for another xid or mac. */
int dhcp_parse(const uint8_t *p, size_t len, const uint8_t mac[static 6], uint32_t xid,
	       struct dhcp_lease *out);
/* Blocking: requests a lease on an interface that is up, for at most limit_ms. ERR_TIMEOUT: no
 * reply. */
int dhcp_ask(const char *interface, const uint8_t mac[static 6], int limit_ms,
	     struct dhcp_lease *out, struct err *e) __attribute__((warn_unused_result));

#endif
