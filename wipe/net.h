#ifndef WIPE_NET_H
#define WIPE_NET_H

#include "base/err.h"
#include "wipe/proto.h"

/*
 * net: configures the machine's network before the loop starts, and again when drover has not
 * answered for a minute or longer (agent.h). Blocking: up to 20 s.
 *
 * The NIC is the one with the boot block's MAC; if the boot block has no MAC, each NIC with a link
 * is tried in turn. The address comes from the boot block or from DHCP.
 */
int net_up(const struct proto_boot *b, struct err *e) __attribute__((warn_unused_result));

/* Takes the NICs down, then configures them as net_up() does, with a new DHCP request. Open
 * connections continue if the address does not change. */
int net_renew(const struct proto_boot *b, struct err *e) __attribute__((warn_unused_result));

/* Parses "10.1.0.17/24" into address and mask, network byte order; false: not valid. */
bool net_parse_cidr(const char *text, uint32_t *address, uint32_t *mask);

#endif
