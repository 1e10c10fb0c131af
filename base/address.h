#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * address: compares the addresses of callers, as listeners and connections tell them.
 *
 * A text is "10.1.0.17", "10.1.0.17:5012", "fd00::17" or "[fd00::17]:5012"; the port does not
 * count. IPv4 that came through an IPv6 socket (::ffff:10.1.0.17, RFC 4291 section 2.5.5.2) is the
 * IPv4 address.
 */
#define ADDRESS_TEXT 48

/* Without the port, in the one spelling of inet_ntop(); false: no IP address, and out is "". */
bool address_host(const char *text, char out[static ADDRESS_TEXT]);

/* "10.1.0.17", or a service there, "10.1.0.17:6443": host as above, and its port from 1; 0: none
 * was named. False: it is neither, and nothing is written. */
bool address_service(const char *text, char host[static ADDRESS_TEXT], uint16_t *port);

/* Of one host. What is no IP address (the name of a peer without a network) equals the same text
 * alone. */
bool address_same(const char *a, const char *b);

/* "10.1.0.0/24" or "fd00::/64" without a bit beyond the prefix. */
bool address_is_network(const char *cidr);
/* The sign of a - b as they are counted, of two IP addresses of one family; 0 else. */
int address_order(const char *a, const char *b);
/* In one of the networks.  A text that is none has nothing in it. */
bool address_in(const char *text, const char *const *cidrs, size_t n);

#endif
