#include "base/http/http_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include "base/str.h"

static bool ipv4_is_local(uint32_t a)
{
	return a >> 24 == 127 || a >> 24 == 0 || a >> 16 == 0xa9fe || a >> 28 >= 0xe;
}

static uint32_t be32(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool ipv6_is_local(const struct in6_addr *a)
{
	static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
	static const uint8_t nat64_own[6] = {0, 0x64, 0xff, 0x9b, 0, 1};
	static const uint8_t translated[12] = {[8] = 0xff, [9] = 0xff};
	static const uint8_t metadata[16] = {0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54};
	static const uint8_t zero[12];
	const uint8_t *b = a->s6_addr;

	if (IN6_IS_ADDR_LINKLOCAL(a) || IN6_IS_ADDR_MULTICAST(a) || !memcmp(b, metadata, 16))
		return true;
	/* Judge an IPv4 address inside an IPv6 address by its IPv4 part, because the kernel or a
	 * gateway would connect to that. The form with 12 zero bytes includes :: and ::1. */
	if (IN6_IS_ADDR_V4MAPPED(a) || !memcmp(b, nat64, 12) || !memcmp(b, translated, 12) ||
	    !memcmp(b, zero, 12) || !memcmp(b, nat64_own, 6))
		return ipv4_is_local(be32(b + 12));
	return b[0] == 0x20 && b[1] == 0x02 && ipv4_is_local(be32(b + 2));
}

bool http_address_text_is_local(const char *text)
{
	struct in6_addr a6;
	struct in_addr a4;
	char plain[64];

	if (inet_pton(AF_INET, text, &a4) == 1)
		return ipv4_is_local(ntohl(a4.s_addr));
	if (!str_copy(plain, sizeof(plain), text))
		return true;
	plain[strcspn(plain, "%")] = '\0';
	return inet_pton(AF_INET6, plain, &a6) != 1 || ipv6_is_local(&a6);
}

bool http_host_is_local(const char *host, bool bracketed)
{
	struct in_addr a4;
	char name[256];
	size_t n;

	if (bracketed)
		return http_address_text_is_local(host);
	if (!str_copy(name, sizeof(name), host))
		return true;
	n = strlen(name);
	if (n && name[n - 1] == '.')
		name[--n] = '\0';
	if (inet_aton(name, &a4))
		return ipv4_is_local(ntohl(a4.s_addr));
	for (size_t i = 0; i < n; i++)
		if (name[i] >= 'A' && name[i] <= 'Z')
			name[i] = (char)(name[i] + 'a' - 'A');
	return !n || str_eq(name, "localhost") || str_ends(name, ".localhost") ||
	       str_eq(name, "localhost.localdomain") || str_eq(name, "ip6-localhost") ||
	       str_eq(name, "ip6-loopback");
}

bool http_is_server_name(const char *s)
{
	static const char in_label[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	struct in_addr a4;

	if (inet_pton(AF_INET, s, &a4) == 1)
		return true;
	if (inet_aton(s, &a4) || strlen(s) > 253)
		return false;
	for (;;) {
		size_t n = strspn(s, in_label);

		if (n < 1 || n > 63)
			return false;
		if (!s[n])
			/* Refuse a host whose last label is a number, because URL parsers read it
			 * as an IPv4 address (WHATWG URL, 3.5). */
			return strspn(s, "0123456789") != n;
		if (s[n] != '.')
			return false;
		s += n + 1;
	}
}
