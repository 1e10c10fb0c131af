/*
 * address: represents every address as 16 bytes, IPv4 addresses mapped into IPv6, so that one
 * comparison serves both families.
 * Tests: tests/unit/base/test_address.c
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#include "base/address.h"
#include "base/str.h"

#define BYTES 16
#define V4_AT 12 /* Offset of the four IPv4 bytes in an IPv4-mapped IPv6 address. */

static const uint8_t mapped[V4_AT] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static bool is_v4(const uint8_t b[static BYTES])
{
	return memcmp(b, mapped, sizeof(mapped)) == 0;
}

static bool read_ip(const char *text, uint8_t out[static BYTES])
{
	memcpy(out, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, out + V4_AT) == 1 || inet_pton(AF_INET6, text, out) == 1;
}

/* Reads an address with or without a port; ignores the port. */
static bool read_host(const char *text, uint8_t out[static BYTES])
{
	char host[ADDRESS_TEXT];
	const char *end, *colon;

	if (!text)
		return false;
	if (*text == '[') {
		end = strchr(++text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
	} else {
		colon = strchr(text, ':');
		end = colon && colon == strrchr(text, ':') ? colon : text + strlen(text);
	}
	if ((size_t)(end - text) >= sizeof(host))
		return false;
	memcpy(host, text, (size_t)(end - text));
	host[end - text] = '\0';
	return read_ip(host, out);
}

bool address_host(const char *text, char out[static ADDRESS_TEXT])
{
	uint8_t b[BYTES];

	out[0] = '\0';
	if (!read_host(text, b))
		return false;
	return is_v4(b) ? inet_ntop(AF_INET, b + V4_AT, out, ADDRESS_TEXT) != NULL
			: inet_ntop(AF_INET6, b, out, ADDRESS_TEXT) != NULL;
}

bool address_service(const char *text, char host[static ADDRESS_TEXT], uint16_t *port)
{
	char out[ADDRESS_TEXT];
	const char *colon = text ? strrchr(text, ':') : NULL;
	int64_t n = 0;

	if (!address_host(text, out))
		return false;
	if (colon && (*text == '[' ? colon[-1] == ']' : colon == strchr(text, ':')) &&
	    !str_to_i64(colon + 1, 1, UINT16_MAX, &n))
		return false;
	memcpy(host, out, ADDRESS_TEXT);
	*port = (uint16_t)n;
	return true;
}

bool address_same(const char *a, const char *b)
{
	uint8_t x[BYTES], y[BYTES];
	bool xs = read_host(a, x), ys = read_host(b, y);

	if (xs != ys || !a || !b)
		return false;
	return xs ? memcmp(x, y, BYTES) == 0 : str_eq(a, b);
}

/* Reads a network in CIDR form; an IPv4 network is mapped into IPv6. *bits: length of the prefix in
 * the IPv6 form, 0 to 128. */
static bool read_network(const char *cidr, uint8_t out[static BYTES], unsigned *bits)
{
	const char *slash = cidr ? strchr(cidr, '/') : NULL;
	char host[ADDRESS_TEXT];
	int64_t n;

	if (!slash || (size_t)(slash - cidr) >= sizeof(host))
		return false;
	memcpy(host, cidr, (size_t)(slash - cidr));
	host[slash - cidr] = '\0';
	/* Accept only digits without a leading zero as prefix length, as net/netip and the API
	 * server do. */
	if (slash[1] == '+' || (slash[1] == '0' && slash[2]))
		return false;
	if (!read_ip(host, out) || !str_to_i64(slash + 1, 0, strchr(host, ':') ? 128 : 32, &n))
		return false;
	*bits = (unsigned)n + (strchr(host, ':') ? 0 : 8 * V4_AT);
	return true;
}

static bool bit(const uint8_t b[static BYTES], unsigned i)
{
	return b[i / 8] & 0x80u >> i % 8;
}

bool address_is_network(const char *cidr)
{
	uint8_t b[BYTES];
	unsigned bits;

	if (!read_network(cidr, b, &bits))
		return false;
	for (unsigned i = bits; i < 8 * BYTES; i++)
		if (bit(b, i))
			return false;
	return true;
}

int address_order(const char *a, const char *b)
{
	uint8_t x[BYTES], y[BYTES];

	return read_host(a, x) && read_host(b, y) && is_v4(x) == is_v4(y) ? memcmp(x, y, BYTES) : 0;
}

bool address_in(const char *text, const char *const *cidrs, size_t n)
{
	uint8_t b[BYTES], net[BYTES];
	unsigned bits, same;

	if (!read_host(text, b))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!read_network(cidrs[i], net, &bits))
			continue;
		for (same = 0; same < bits && bit(b, same) == bit(net, same); same++)
			;
		if (same == bits)
			return true;
	}
	return false;
}
