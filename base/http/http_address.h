#ifndef BASE_HTTP_HTTP_ADDRESS_H
#define BASE_HTTP_HTTP_ADDRESS_H

#include <stdbool.h>

/*
 * http_address: recognises local addresses. A local address is one that only this machine or its
 * link answers: loopback, unspecified, link-local (cloud metadata included), multicast, broadcast.
 * It may also be an IPv4 address of these kinds inside an IPv6 address: mapped, compatible,
 * translated (RFC 2765), NAT64 (RFC 6052, RFC 8215) and 6to4 (RFC 3056).
 */

/* True if text is a local address, written without brackets ("127.0.0.1", "fe80::1%eth0"), or no
 * address at all. */
bool http_address_text_is_local(const char *text);

/* True if a host from a URL is local; bracketed: host was in brackets, which are removed. A name is
 * local if it is localhost or below localhost. An IPv4 address is recognised in every form that
 * resolvers understand (127.1, 0x7f000001, 2130706433). */
bool http_host_is_local(const char *host, bool bracketed);

/* True if s may be used as the name in certificate verification: a DNS name, or an IPv4 address in
 * dotted decimal form. Other spellings of an address are refused, because one parser would read
 * such a text as a name while the next one would connect to the address. */
bool http_is_server_name(const char *s);

#endif
