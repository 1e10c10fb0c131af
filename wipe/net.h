#ifndef WIPE_NET_H
#define WIPE_NET_H

#include "base/err.h"
#include "wipe/proto.h"

/*
 * net: the machine's address, before the loop starts, and again when nothing is heard. Blocking: up
 * to 20 s.
 *
 * The NIC is the one with the boot block's MAC; without one, each with a link is tried in turn. The
 * address is the boot block's or comes from DHCP.
 */
int net_up(const struct proto_boot *b, struct err *e) __attribute__((warn_unused_result));

/* Its cards down, and up as above: the address is asked for again. Connections that are open go on
 * where it stays. */
int net_renew(const struct proto_boot *b, struct err *e) __attribute__((warn_unused_result));

/* "10.1.0.17/24" to address and mask, network byte order; false: it is none. */
bool net_parse_cidr(const char *text, uint32_t *address, uint32_t *mask);

#endif
