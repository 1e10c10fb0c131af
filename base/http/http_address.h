#ifndef BASE_HTTP_HTTP_ADDRESS_H
#define BASE_HTTP_HTTP_ADDRESS_H

#include <stdbool.h>

/*
 * http_address: addresses that only this machine or its link answers: loopback, unspecified,
 * link-local (cloud metadata among them), multicast, broadcast, and IPv4 ones of these kinds inside
 * IPv6: mapped, compatible, translated (RFC 2765), NAT64 (RFC 6052, RFC 8215) and 6to4 (RFC 3056).
 */

/* An address as text without brackets ("127.0.0.1", "fe80::1%eth0"); text that is no address is
 * local. */
bool http_address_text_is_local(const char *text);

/* A host as it stands in a URL, brackets taken off. A name is local when it is one of localhost's;
 * an IPv4 address in each form that resolvers understand (127.1, 0x7f000001, 2130706433) is taken
 * for one. */
bool http_host_is_local(const char *host, bool bracketed);

/* A name that a certificate is checked for: a DNS name, or an IPv4 address in its four decimal
 * parts. No other spelling of an address, which one reader takes for a name and the next one
 * connects to. */
bool http_is_server_name(const char *s);

#endif
