#ifndef WIPE_NET_H
#define WIPE_NET_H

#include "base/err.h"
#include "wipe/proto.h"

/*
 * net: the machine's address, before the loop starts.  Blocking.
 *
 * The NIC is the one with the boot block's MAC; without one, each with a link is
 * tried in turn.  The address is the boot block's or comes from DHCP.
 */
int net_up(const struct proto_boot *b, struct err *e) __attribute__((warn_unused_result));

/* "10.1.0.17/24" to address and mask, network byte order; false: it is none. */
bool net_parse_cidr(const char *text, uint32_t *address, uint32_t *mask);

#endif
