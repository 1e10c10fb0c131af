#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * address: compares IP addresses as listeners and connections report them.
 *
 * A text is "10.1.0.17", "10.1.0.17:5012", "fd00::17" or "[fd00::17]:5012". The port does not
 * count. An IPv4 address mapped into IPv6 (::ffff:10.1.0.17, RFC 4291 section 2.5.5.2) equals the
 * IPv4 address.
 */
#define ADDRESS_TEXT 48

/* Writes the address without its port to out, in the spelling of inet_ntop(). False: text is no IP
 * address; out is then "". */
bool address_host(const char *text, char out[static ADDRESS_TEXT]);

/* Reads an address with an optional port: "10.1.0.17" or "10.1.0.17:6443". Writes the address to
 * host as address_host() does, and the port to *port; 0 means no port. False: text is neither form;
 * host and *port are unchanged. */
bool address_service(const char *text, char host[static ADDRESS_TEXT], uint16_t *port);

/* True if both texts have the same IP address. Texts that are no IP addresses (names of peers in
 * tests) are compared as strings. */
bool address_same(const char *a, const char *b);

/* True for "10.1.0.0/24" or "fd00::/64" with no bit set beyond the prefix. */
bool address_is_network(const char *cidr);
/* Compares two addresses of the same family as numbers: negative if a is smaller, positive if b is
 * smaller, 0 if they are equal. Also returns 0 if a or b is no address, or if the families
 * differ. */
int address_order(const char *a, const char *b);
/* True if the address is in one of the n networks in cidrs. A network that is not valid CIDR
 * contains no address. */
bool address_in(const char *text, const char *const *cidrs, size_t n);

#endif
