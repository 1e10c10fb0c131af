#ifndef BASE_HTTP_HTTP_ADDRESS_H
#define BASE_HTTP_HTTP_ADDRESS_H

#include <stdbool.h>

/*
 * http_address: recognises local addresses, that is addresses that only this machine or its link
 * answers: loopback, unspecified, link-local (cloud metadata included), multicast, broadcast, and
 * IPv4 addresses of these kinds inside IPv6: mapped, compatible, translated (RFC 2765), NAT64 (RFC
 * 6052, RFC 8215) and 6to4 (RFC 3056).
 */

/* True if text is a local address, written without brackets ("127.0.0.1", "fe80::1%eth0"), or no
 * address at all. */
bool http_address_text_is_local(const char *text);

/* True if a host from a URL, without its brackets, is local. A name is local if it is localhost or
 * below localhost. An IPv4 address counts in every form that resolvers understand (127.1,
 * 0x7f000001, 2130706433). */
bool http_host_is_local(const char *host, bool bracketed);

/* True if certificates may be verified for the name s: a DNS name, or an IPv4 address in dotted
 * decimal form. Other spellings of an address are refused, because one parser would read a name and
 * the next would connect to the address. */
bool http_is_server_name(const char *s);

#endif
